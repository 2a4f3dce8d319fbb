"""Test the page "Senses" by driving it as a visitor would."""

from collections.abc import Callable

from app.catalog import examples
from app.engine.models import Engine
from app.features.senses.task import senses

PAGE = "pages/11_senses.py"
TEXT = "the river bank\nthe cat sat on the bank\n\nbank on the dog."


def test_the_page_opens_with_its_first_example(visit: Callable) -> None:
    page = visit(PAGE)
    assert page.warnings == page.errors == ""
    first = examples("senses")[0].values
    assert page.at.text_area(key="text").value == first["text"]
    assert page.at.text_input(key="target").value == first["target"]
    assert set(page.pictures) == {"senses", "senses-layers"}  # only the open tab is computed
    assert page.pictures["senses"].count("bx-se-mark ") == 2 * 6
    for example in examples("senses"):
        page.click(example.label)
        assert page.warnings == page.errors == ""
        lines = [line for line in str(example.values["text"]).splitlines() if line]
        assert len(lines) >= 6
        assert page.pictures["senses"].count("bx-se-mark ") == 2 * len(lines)


def test_a_layer_is_chosen_and_kept_in_the_address(visit: Callable, tiny_engine: Engine) -> None:
    for layer, name in ((-1, "input"), (1, "1")):
        page = visit(PAGE, text=TEXT, target="bank", after=name)
        result = senses(tiny_engine, TEXT, "bank", layer=layer)
        assert f"{result.at_home} of 3" in page.words
        assert f"{result.means(within=False)[layer + 1]:.2f} between" in page.words


def test_a_word_that_is_not_there_gets_a_sentence(visit: Callable) -> None:
    page = visit(PAGE, text=TEXT, target="dog")
    assert "“dog” is in fewer than two places of these 3 sentences" in page.warnings
    assert page.pictures == {} and page.errors == ""
    assert "at least two" in visit(PAGE).type("").warnings

"""The tab of the tokenizer with the vectors of the input."""

from collections.abc import Callable

from app.engine.models import Engine
from app.features.input import task, view

PAGE, TAB = "pages/1_tokenizer.py", {"text": "the cat sat", "tab": "vectors"}


def test_the_tab_has_the_picture_and_the_numbers_of_one_vector(
    visit: Callable, tiny_engine: Engine
) -> None:
    page = visit(PAGE, **TAB, value="3")
    assert page.warnings == page.errors == ""
    result = task.input(tiny_engine, "the cat sat")
    assert page.pictures["input"].count("<image ") == 2 * (5 * len(result) + 1)  # wide and narrow
    assert view.number(float(result.sum[2, 3])) in page.words
    assert "cat, number 3" in page.words and "× gamma" in page.words
    assert page.at.query_params["tab"] == "vectors"


def test_a_click_chooses_a_piece(visit: Callable, tiny_engine: Engine) -> None:
    page = visit(PAGE, **TAB).pick("piece", 3)
    assert page.at.number_input(key="place").value == 3
    result = task.input(tiny_engine, "the cat sat")
    assert view.number(float(result.normalised[3, 0])) in page.words
    assert "sat, number 0" in page.words


def test_padding_is_that_of_the_page(visit: Callable) -> None:
    assert "[PAD]" not in visit(PAGE, **TAB).words
    page = visit(PAGE, **TAB, pad="8")
    assert page.words.count("[PAD]") >= 3 and page.at.number_input(key="place").max == 7

"""Test the fill-mask page by driving it as a visitor would."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from app.catalog import examples
from app.features.fill_mask.task import fill_mask
from app.models import Engine
from bert_core import BertForPreTraining
from bert_core.bundled import bundled_names
from tests.conftest import save_tiny

PAGE = "pages/2_fill_mask.py"


def charts(page) -> list[dict]:
    """Return the bars of every chart on the page."""
    return [json.loads(chart.proto.spec)["data"][0] for chart in page.at.get("plotly_chart")]


def pick(page, number: int):
    """Choose a word to hide."""
    page.at.button_group(key="_hide").set_value(number)
    return page.run()


def test_the_page_opens_with_an_answer(visit: Callable) -> None:
    page = visit(PAGE)
    assert page.at.title[0].value == "Fill-mask"
    assert len(charts(page)) == 1
    assert "bx-filled" in page.markup
    assert page.warnings == page.errors == ""


@pytest.mark.parametrize("example", examples("fill_mask"), ids=lambda row: row.label)
def test_every_example_has_a_mask_and_an_answer(visit: Callable, example) -> None:
    page = visit(PAGE).click(example.label)
    assert len(charts(page)) == str(example.values["text"]).count("[MASK]") > 0
    assert page.at.text_input(key="word").value == example.values.get("word", "")
    assert page.errors == ""


def test_the_chart_holds_the_tasks_own_numbers(visit: Callable, tiny_engine: Engine) -> None:
    page = visit(PAGE, text="the [MASK] sat", k="4")
    slot = fill_mask(tiny_engine, "the [MASK] sat", top_k=4).slots[0]
    assert charts(page)[0]["x"] == pytest.approx([c.probability for c in slot.candidates])
    assert page.at.get("plotly_chart")[0].proto.alt


def test_every_chart_has_a_text_alternative_and_a_table(visit: Callable) -> None:
    page = visit(PAGE, text="the [MASK] sat on the [MASK]")
    drawn = page.at.get("plotly_chart")
    assert len(drawn) == 2
    assert all("most probable first" in chart.proto.alt for chart in drawn)
    assert len(page.at.dataframe) == 2
    assert len(page.at.dataframe[0].value) == 5


def test_a_click_hides_the_word_at_that_place_only(visit: Callable) -> None:
    page = pick(visit(PAGE, text="the cat saw the cat"), 4)
    assert page.at.text_area(key="text").value == "the cat saw the [MASK]"
    assert len(charts(page)) == 1
    pick(page, 0)
    assert page.at.text_area(key="text").value == "[MASK] cat saw the [MASK]"
    assert len(charts(page)) == 2


def test_a_hidden_word_can_be_brought_back(visit: Callable) -> None:
    page = pick(visit(PAGE, text="the cat [MASK]"), 1)
    page.click("Bring the last word back")
    assert page.at.text_area(key="text").value == "the cat [MASK]"


def test_a_text_that_was_changed_since_is_not_taken_back(visit: Callable) -> None:
    page = pick(visit(PAGE, text="the cat [MASK]"), 1)
    assert "Bring the last word back" in [button.label for button in page.at.button]
    page.type("a dog [MASK]")
    assert "Bring the last word back" not in [button.label for button in page.at.button]


def test_a_text_without_a_mask_gets_an_offer_that_works(visit: Callable) -> None:
    page = visit(PAGE).type("the cat sat.")
    assert "Nothing is hidden" in page.at.info[0].value
    assert charts(page) == []
    page.click("Put [MASK] at the end")
    assert page.at.text_area(key="text").value == "the cat sat [MASK]."
    assert len(charts(page)) == 1


def test_a_named_word_is_ranked(visit: Callable) -> None:
    page = visit(PAGE, text="the [MASK] sat", word="cat", k="1")
    assert "cat has" in page.words
    assert len(charts(page)[0]["x"]) in {1, 2}


@pytest.mark.parametrize(("word", "told"), [("playing", "2 pieces"), ("Ω", "cannot spell")])
def test_a_word_that_fits_no_mask_gets_a_sentence(visit: Callable, word: str, told: str) -> None:
    page = visit(PAGE, text="the [MASK] sat", word=word)
    assert told in page.warnings
    assert len(charts(page)) == 1


def test_nasty_texts_never_become_markup(visit: Callable, nasty: str) -> None:
    page = visit(PAGE, word=nasty[:80]).type(nasty)
    assert page.errors == ""
    assert "<script" not in page.markup
    assert "<img" not in page.markup
    labels = [option.content for option in page.at.button_group(key="_hide").proto.options]
    assert not any("](" in label and "\\]" not in label for label in labels)


def test_an_empty_text_gets_a_friendly_word(visit: Callable) -> None:
    page = visit(PAGE).type("")
    assert "empty" in page.warnings
    assert charts(page) == []
    assert "SHA-256" in page.words


def test_a_text_longer_than_the_model_is_answered_and_the_page_says_how(visit: Callable) -> None:
    page = visit(PAGE).type("the cat sat " * 60 + "on the [MASK] " + "dog " * 60)
    assert len(charts(page)) == 1
    assert "reads 48 at once" in page.words
    assert "Words 122 to 241 of 243." in " ".join(c.value for c in page.at.caption)
    pick(page, 119)
    assert page.at.text_area(key="text").value.endswith("dog [MASK] dog ")


def test_too_many_masks_are_refused_with_numbers(visit: Callable) -> None:
    page = visit(PAGE).type("[MASK] " * 30)
    assert "30 masks" in page.warnings
    assert "20" in page.warnings


def test_the_address_seeds_every_setting(visit: Callable) -> None:
    page = visit(PAGE, text="a [MASK]", k="9", word="dog")
    assert page.at.text_area(key="text").value == "a [MASK]"
    assert page.at.slider(key="k").value == 9
    assert page.at.text_input(key="word").value == "dog"


def test_settings_out_of_range_in_the_address_are_ignored(visit: Callable) -> None:
    page = visit(PAGE, k="9999")
    assert 1 <= page.at.slider(key="k").value <= 20
    assert page.errors == page.warnings == ""


def test_an_untrained_head_is_announced_before_any_number(
    visit: Callable, monkeypatch: pytest.MonkeyPatch, untrained_folder: Path
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(untrained_folder))
    page = visit(PAGE)
    assert "no trained weights" in page.words
    assert "noise" in page.words
    assert len(page.at.get("plotly_chart")) == 0
    page = visit(PAGE, noise="true")
    first = next(e for e in page.at.main if e.type == "html" and "bx-untrained" in e.proto.body)
    kinds = [element.type for element in page.at.main]
    assert kinds.index("plotly_chart") > list(page.at.main).index(first)


def test_a_model_that_is_not_there_is_told_and_nothing_else_is_drawn(
    visit: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", "no-such-model")
    page = visit(PAGE)
    assert "no-such-model" in page.errors
    assert len(page.at.text_area) == 0


def test_a_model_whose_weights_are_no_numbers_is_told_and_nothing_else_is_drawn(
    visit: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = save_tiny(tmp_path / "diverged", BertForPreTraining)
    model = BertForPreTraining.from_pretrained(folder)
    with torch.no_grad():
        model.cls.predictions.transform.dense.bias[7] = float("nan")
    model.save_pretrained(folder)
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(folder))
    page = visit(PAGE, text="the [MASK] sat")
    assert "cls.predictions.transform.dense.bias (1 of 32 values)" in page.errors.replace("\\", "")
    assert "nan" not in page.words and len(page.at.text_area) == 0


@pytest.mark.skipif(
    "explorer-mini-uncased" not in bundled_names(), reason="the bundled weights are not here"
)
def test_the_bundled_model_gives_sensible_answers(
    visit: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BERT_EXPLORER_MODEL")
    page = visit(PAGE, text="He wrote a [MASK] to his mother every week.")
    assert "no trained weights" not in page.words
    assert "comes with the program" in page.words
    frame = page.at.dataframe[0].value
    assert "letter" in set(frame["piece"])
    assert frame["probability"].iloc[0] > 0.05

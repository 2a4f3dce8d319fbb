"""Test the fill-mask page by driving it as a visitor would."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
import torch

from app.catalog import examples
from app.engine.models import Engine
from app.features.fill_mask.task import fill_mask
from app.features.fill_mask.task_surprise import surprise
from app.features.fill_mask.task_together import fill_together
from bert_core import BertForPreTraining
from tests.conftest import save_tiny
from tests.drawings import elements

PAGE = "pages/2_fill_mask.py"


def gaps(page: Any) -> list[str]:
    """Return the pictures of the candidates, one per mask."""
    named = page.pictures.items()
    return [markup for name, markup in named if re.fullmatch(r"fill-mask-\d+", name)]


def numbers(markup: str) -> list[float]:
    """Return the numbers of a picture's table that are saved with eight digits."""
    cells = (each.attributes.get("data-value", "") for each in elements(markup, "td"))
    return [float(value) for value in cells if "." in value or "e" in value]


@pytest.mark.parametrize("example", examples("fill_mask")[-4:], ids=lambda row: row.label)
def test_every_example_has_a_mask_and_an_answer(visit: Callable, example: Any) -> None:
    page = visit(PAGE)
    assert "bx-filled" in page.markup
    page.at.button(key=f"_example_{examples('fill_mask').index(example)}").click()
    page.run()
    assert len(gaps(page)) == str(example.values["text"]).count("[MASK]") > 0
    assert page.at.text_input(key="word").value == example.values.get("word", "")
    assert ("fill-mask-pair-1" in page.pictures) == ("pair" in example.values)


@pytest.mark.parametrize("page", [PAGE, "pages/4_attention.py"])
def test_a_link_opens_the_words_in_another_order(visit: Callable, page: str) -> None:
    at = visit(page, text="the cat sat on the [MASK] mat", mixed="3")
    assert "Read in another order (number 3)" in at.words
    assert at.at.text_area(key="text").value == "the cat sat on the [MASK] mat"
    at.at.slider(key="mixed").set_value(0)
    assert "another order" not in at.run().words


def test_a_click_on_a_shuffled_word_hides_it_where_it_was_read(
    visit: Callable, tiny_engine: Engine
) -> None:
    page = visit(PAGE, text="the cat sat on the [MASK] mat", mixed="3")
    read = fill_mask(tiny_engine, "the cat sat on the [MASK] mat", shuffle=3).text
    page.pick("hide", 0)
    assert page.at.text_area(key="text").value == read.replace(read.split()[0], "[MASK]", 1)
    assert page.at.slider(key="mixed").value == 0


def test_the_picture_holds_the_tasks_own_numbers(visit: Callable, tiny_engine: Engine) -> None:
    page = visit(PAGE, text="the [MASK] sat", k="4")
    slot = fill_mask(tiny_engine, "the [MASK] sat", top_k=4).slots[0]
    assert numbers(gaps(page)[0]) == pytest.approx([c.probability for c in slot.candidates])


def test_a_click_hides_the_word_at_that_place_only(visit: Callable) -> None:
    page = visit(PAGE, text="the cat saw the cat").pick("hide", 4)
    assert page.at.text_area(key="text").value == "the cat saw the [MASK]"
    assert len(gaps(page)) == 1
    page.pick("hide", 0)
    assert page.at.text_area(key="text").value == "[MASK] cat saw the [MASK]"
    assert len(gaps(page)) == 2


def test_a_mask_at_the_end_leaves_the_order_to_the_slider(visit: Callable) -> None:
    page = visit(PAGE, text="the cat sat on the mat", mixed="3").click("Put [MASK] at the end")
    assert page.at.text_area(key="text").value == "the cat sat on the mat [MASK]."
    assert page.at.slider(key="mixed").value == 3


@pytest.mark.parametrize(
    ("mixed", "typed"), [(0, "the [MASK] sat on [MASK]"), (3, "the ___ sat on [MASK]")]
)
def test_a_filled_gap_opens_the_attention_page_on_its_row(
    visit: Callable, mixed: int, typed: str
) -> None:
    page = visit("app.py")
    page.at.switch_page(PAGE).run()
    page.type("the ___ sat on [MASK]")
    page.choose("mixed", mixed)
    assert 'data-pick="attend"' in page.markup
    states = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            st, "switch_page", lambda page, query_params: states.append((page, query_params))
        )
        page.pick("attend", 1)
    assert states == [("pages/4_attention.py", {"row": "5", "cell": "5.5"})]
    texts = page.at.session_state["_texts"]
    assert texts["attention", "text"] == typed  # shuffled there, by the same slider


def test_a_text_without_a_mask_shows_how_expected_its_words_are(
    visit: Callable, tiny_engine: Engine
) -> None:
    page = visit(PAGE).type("the cat sat.")
    assert page.pictures == {}
    found = surprise(tiny_engine, fill_mask(tiny_engine, "the cat sat."))
    shown = numbers(page.markup)
    assert shown[::3] == pytest.approx([each.probability for each in found.pieces])
    assert "Click a word to hide it." in page.words
    page.click("Put [MASK] at the end")
    assert page.at.text_area(key="text").value == "the cat sat [MASK]."
    assert len(gaps(page)) == 1


def test_only_the_open_tab_is_computed(visit: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = []
    score = Engine.score_rows
    monkeypatch.setattr(
        Engine, "score_rows", lambda self, ids, at: rows.append(len(ids)) or score(self, ids, at)
    )
    visit(PAGE, text="the [MASK] sat [MASK]")
    assert rows == []
    page = visit(PAGE, text="the [MASK] sat [MASK]", tab="Odd word")
    assert rows == [2] and "bx-fm-pieces" in page.markup
    page = visit(PAGE, text="the [MASK] sat [MASK]", tab="Gaps together")
    assert rows == [2, 1, 10] and "fill-mask-together" in page.pictures
    page = visit(PAGE, text="the [MASK] sat [MASK]", pair="the/a")
    assert rows[3:] == [1, 1, 2, 2] and "fill-mask-pair-2" in page.pictures


def test_the_tabs_take_their_settings_from_the_address(
    visit: Callable, tiny_engine: Engine
) -> None:
    page = visit(
        PAGE, text="the [MASK] sat [MASK]", tab="Gaps together", pieces="2", order="Surest first"
    )
    found = fill_mask(tiny_engine, "the [MASK] sat [MASK]")
    best = fill_together(tiny_engine, found, most=2, order="certain").fillings
    shown = numbers(page.pictures["fill-mask-together"])
    assert shown[1::2] == pytest.approx([each.per_piece for each in best])


def test_what_costs_much_is_computed_on_demand(
    visit: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "the cat sat on the mat " * 7 + "[MASK] [MASK]"
    page = visit(PAGE, text=long, tab="Gaps together", pieces="4")
    assert "fill-mask-together" not in page.pictures
    button = next(each for each in page.at.button if each.label.startswith("Search"))
    assert "tokens" in button.label
    page.click(button.label)
    assert "fill-mask-together" in page.pictures


def test_a_tab_that_cannot_answer_says_why_and_the_rest_stays(visit: Callable) -> None:
    page = visit(PAGE, text="the [MASK] sat", pair="he / she")
    assert "neither" in page.warnings and len(gaps(page)) == 1
    assert len(page.at.code) == 1


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
    assert page.pictures == {} and len(page.at.text_area) == 0

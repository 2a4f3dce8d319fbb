"""Test the page "Why?", and its fold on the pages whose answers it explains."""

from collections.abc import Callable
from html import escape
from typing import Any

import pytest
import streamlit as st

from app.engine.models import Engine
from app.faces.streamlit.features import why as controls
from app.features.why import task, view, view_duel
from app.features.why.result import METHODS
from app.features.why.task import why
from app.features.why.task_texts import Row
from bert_core.analysis import attribute
from bert_core.errors import InputError

PAGE = "pages/14_why.py"
TEXT = "the cat [MASK] on the mat"
FOLDS = {
    "fill_mask": ("pages/2_fill_mask.py", {"text": TEXT}),
    "qa": ("pages/5_qa.py", {"text": "the cat sat on the mat.", "question": "the cat?"}),
    "ner": ("pages/6_ner.py", {"text": "the cat sat on the mat dog"}),
    "next_sentence": ("pages/3_next_sentence.py", {"text": "the cat.", "text_pair": "a dog."}),
    "classification": ("pages/8_classification.py", {"text": "the cat sat on the mat"}),
}


def test_the_page_opens_with_its_first_example(visit: Callable) -> None:
    page = visit(PAGE)
    assert page.warnings == page.errors == ""
    page = visit(PAGE, why_test="true")
    assert page.warnings == page.errors == ""
    assert set(page.pictures) == {"why", "why-curves"}
    assert "Survives deletion" in page.words or "Does not survive deletion" in page.words


def test_only_the_chosen_method_is_computed_until_the_others_are_asked_for(
    visit: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def counted(*args: Any, method: str, **more: Any) -> Any:
        asked.append(method + more.get("layers", ""))
        return attribute(*args, method=method, **more)

    monkeypatch.setattr(task, "attribute", counted)
    text = "the cat sat on the [MASK] dog"
    visit(PAGE, text=text)
    assert asked == ["integrated_gradients"]
    visit(PAGE, text=text, why_method="Gradient")
    assert asked == ["integrated_gradients", "gradient"]
    visit(PAGE, text=text, why_tab="All methods", baseline="[PAD]")
    assert sorted(asked[2:]) == sorted(
        {"integrated_gradients", "attentionlast", *METHODS} - {"gradient", "attention_last"}
    )  # what was computed is kept; only integrated gradients depend on the baseline
    before = len(asked)
    visit(PAGE, text=text, why_test="true", baseline="[PAD]")
    assert len(asked) == before


def test_a_file_has_all_methods_though_the_page_shows_one(
    visit: Callable, tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: list[Callable[[], bytes]] = []
    monkeypatch.setattr(
        st, "download_button", lambda _, make, *__, **___: files.append(make) or False
    )
    page = visit(PAGE, text=TEXT)
    assert "why-methods" not in page.pictures
    kept = files[0]().decode()
    result = why(tiny_engine, TEXT)
    assert escape(view.methods(result).alt) in kept
    assert str(view.verdict(result, result.duel)) in kept


@pytest.mark.parametrize("of", FOLDS)
def test_the_fold_explains_the_answer_of_its_page_when_it_is_open(
    visit: Callable, tiny_engine: Engine, of: str
) -> None:
    script, given = FOLDS[of]
    assert "why" not in visit(script, **given).pictures
    page = visit(script, **given, why="true", why_test="true", why_method="Shapley")
    assert page.errors == page.warnings == ""
    pair = given.get("question", given.get("text_pair", ""))
    result = why(tiny_engine, given["text"], pair, of=of, method="shapley")
    drawn = view.text(result)
    assert str(drawn.wide) in page.pictures["why"]
    assert str(view_duel.curves(result, result.duel).wide) in page.pictures["why-curves"]
    assert view.leaders(result).split(".")[0] in page.words


def test_the_link_has_the_method_the_target_and_the_tab(
    visit: Callable, tiny_engine: Engine
) -> None:
    page = visit(
        PAGE, of="Question answering", text="the cat sat on the mat.", text_pair="the cat?",
        why_target="end", why_method="Grad × in", why_tab="All methods",
    )  # fmt: skip
    assert page.errors == page.warnings == ""
    result = why(
        tiny_engine, "the cat sat on the mat.", "the cat?", of="qa", target="end",
        method="gradient_x_input",
    )  # fmt: skip
    assert set(page.pictures) == {"why", "why-duel", "why-methods"}
    assert str(view.text(result).wide) in page.pictures["why"]
    page = visit(PAGE, text=TEXT, why_method="x", why_target="<b>", of="?", baseline="?")
    assert page.errors == "" and "why" in page.pictures


def test_a_long_text_is_explained_when_asked_and_stays(visit: Callable) -> None:
    page = visit(PAGE, text="the cat sat on the mat. " * 5 + TEXT)
    assert page.pictures == {}
    page.click("Explain this text (43 tokens)")
    assert "why" in page.pictures
    assert "why" in page.choose("why_method", "occlusion").pictures


def test_the_duel_over_texts_begins_and_continues(
    visit: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:

    row = Row(0, tuple((0.5 - n / 20, n / 20) for n in range(10)), (True,) * 5 + (False,) * 4)

    def few(*_: object, done: tuple[Row, ...], **__: object):
        yield from (row, row)
        if not done:
            raise InputError("Wait 5 seconds.")

    monkeypatch.setattr(controls, "duels", few)
    page = visit(PAGE, text=TEXT, why_tab="50 texts")
    assert "why-texts" not in page.pictures
    page.click("Compare over 50 shipped texts")
    assert "Wait 5 seconds" in page.warnings
    assert "Means over 2 shipped texts" in page.words  # what was measured is not lost
    page.click("Continue after 2")
    assert "Means over 4 shipped texts" in page.words and "why-texts" in page.pictures
    assert page.run().pictures["why-texts"]

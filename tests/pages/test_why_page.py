"""Test the page "Why?", and its fold on the pages whose answers it explains."""

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from app.engine.models import Engine
from app.features.why import task, view, view_check
from app.features.why.task import why
from bert_core import BertForSequenceClassification
from bert_core.analysis import attribute
from tests.conftest import save_tiny

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


def test_only_the_chosen_method_is_computed_and_what_was_computed_is_kept(
    visit: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def counted(*args: Any, method: str, **more: Any) -> Any:
        asked.append(method)
        return attribute(*args, method=method, **more)

    monkeypatch.setattr(task, "attribute", counted)
    text = "the cat sat on the [MASK] dog"
    visit(PAGE, text=text)
    visit(PAGE, text=text, why_method="occlusion")
    assert asked == ["integrated_gradients", "occlusion"]
    visit(PAGE, text=text, why_method="occlusion", why_test="true")
    assert len(asked) == 2


def test_a_file_has_the_test_though_the_page_has_not_computed_it(
    visit: Callable, tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: list[Callable[[], bytes]] = []
    monkeypatch.setattr(
        st, "download_button", lambda _, make, *__, **___: files.append(make) or False
    )
    page = visit(PAGE, text=TEXT)
    assert "why-curves" not in page.pictures
    kept = files[0]().decode()
    result = why(tiny_engine, TEXT)
    assert escape(view_check.curves(result, result.check).alt) in kept
    assert str(view_check.verdict(result.check)) in kept


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
    assert str(view.text(result)) in page.pictures["why"]
    assert str(view_check.curves(result, result.check).wide) in page.pictures["why-curves"]
    assert view.leaders(result).split(".")[0] in page.words


def test_the_link_has_the_method_and_the_target(visit: Callable, tiny_engine: Engine) -> None:
    page = visit(
        PAGE, of="Question answering", text="the cat sat on the mat.", text_pair="the cat?",
        why_target="end", why_method="occlusion", why_test="true",
    )  # fmt: skip
    assert page.errors == page.warnings == ""
    result = why(
        tiny_engine, "the cat sat on the mat.", "the cat?", of="qa", target="end",
        method="occlusion",
    )  # fmt: skip
    assert set(page.pictures) == {"why", "why-curves"}
    assert str(view.text(result)) in page.pictures["why"]


@pytest.mark.parametrize("method", ["x", "rollout", "Grad × in"])
def test_a_link_to_a_method_that_there_is_not_opens_the_page_and_says_so(
    visit: Callable, method: str
) -> None:
    page = visit(PAGE, text=TEXT, why_method=method, why_target="<b>", of="?", baseline="?")
    assert page.errors == "" and "why" in page.pictures
    said = " ".join(each.value for each in page.at.caption)
    assert f"method={method}" in said and "baseline=?" in said  # which is no setting any more


def test_a_long_text_is_explained_when_asked_and_stays(visit: Callable) -> None:
    page = visit(PAGE, text="the cat sat on the mat. " * 5 + TEXT)
    assert page.pictures == {}
    page.click("Explain this text (43 tokens)")
    assert "why" in page.pictures
    assert "why" in page.choose("why_method", "occlusion").pictures


def test_a_model_without_the_first_head_opens_with_what_it_can(
    visit: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = save_tiny(tmp_path / "own", BertForSequenceClassification)
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(folder))
    page = visit(PAGE)
    assert page.errors == page.warnings == "" and "why" in page.pictures
    assert page.at.selectbox(key="of").value == "classification"
    assert page.at.text_area(key="text").value.startswith("I expected to hate it")
    page = visit("pages/12_xray.py")
    assert page.errors == page.warnings == "" and "xray" in page.pictures
    assert page.at.text_area(key="text").value == "The film was not bad."

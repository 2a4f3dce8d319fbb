"""Test the tab of multiple choice from a visitor's point of view."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.features.multiple_choice import view as view
from bert_core import BertForMultipleChoice, BertForSequenceClassification
from tests.conftest import save_tiny

PAGE = "pages/8_classification.py"
ANSWER = 'role="status"'
ASKED = {
    "tab": "multiple_choice",
    "context": "the cat",
    "choices": "sat on the mat\n\na dog\nthe river",
}

Visit = Callable[..., Any]


def test_the_tab_opens_with_an_example_and_refuses_a_single_choice(visit: Visit) -> None:
    page = visit(PAGE, tab="multiple_choice")
    assert page.warnings == page.errors == "" and "multiple-choice" in page.pictures
    assert "Found 1 choice; expected 2 to 8" in visit(PAGE, **{**ASKED, "choices": "one"}).warnings


@pytest.mark.parametrize(
    ("head", "there"),
    [(BertForSequenceClassification, "classification"), (BertForMultipleChoice, "multiple-choice")],
)
def test_a_model_with_one_of_the_two_heads_answers_with_it(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: Any, there: str
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(save_tiny(tmp_path / "one", head)))
    page = visit(PAGE, **ASKED)
    assert set(page.pictures) == {there} and page.errors == page.warnings == ""

"""Test the tab of multiple choice from a visitor's point of view."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.engine.models import Engine
from app.features.multiple_choice import view as view
from app.features.multiple_choice.task import multiple_choice
from app.words.format import signed
from bert_core import BertForMultipleChoice, BertForSequenceClassification
from tests.conftest import save_tiny
from tests.drawings import printed

PAGE = "pages/8_classification.py"
ANSWER = 'role="status"'
ASKED = {
    "tab": "multiple_choice",
    "context": "the cat",
    "choices": "sat on the mat\n\na dog\nthe river",
}

Visit = Callable[..., Any]


def test_the_page_shows_the_tasks_own_numbers(visit: Visit, tiny_engine: Engine) -> None:
    page = visit(PAGE, **ASKED)
    result = multiple_choice(tiny_engine, "the cat", ("sat on the mat", "a dog", "the river"))
    assert printed(page.pictures["multiple-choice"]) == [
        f"{view.percent(each.probability)}, logit {signed(each.logit, 2)}"
        for each in result.choices
    ]
    assert view.screen(result).headline.partition("” ")[2] in page.words
    assert "alibrated" in page.words


def test_another_order_gives_the_same_answer(visit: Visit) -> None:
    verdicts, numbers = [], []
    for order in ("sat on the mat\na dog\nthe river", "the river\nsat on the mat\na dog"):
        page = visit(PAGE, **{**ASKED, "choices": order})
        verdicts.append(page.markup[page.markup.rindex(ANSWER) :].partition("</div>")[0])
        numbers.append(sorted(printed(page.pictures["multiple-choice"])))
    assert verdicts[0] == verdicts[1] and numbers[0] == numbers[1]


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

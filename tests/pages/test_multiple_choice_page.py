"""Test the multiple-choice page from a visitor's point of view."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.catalog import examples
from app.engine.models import Engine
from app.features.multiple_choice import view as view
from app.features.multiple_choice.task import multiple_choice
from app.words.format import signed
from tests.drawings import printed

PAGE = "pages/9_multiple_choice.py"
ANSWER = 'role="status"'
ASKED = {"text": "the cat", "choices": "sat on the mat\n\na dog\nthe river"}

Visit = Callable[..., Any]


def test_the_first_example_is_answered_at_once(visit: Visit) -> None:
    page = visit(PAGE)
    first = examples("multiple_choice")[0]
    assert page.at.text_area(key="choices").value == first.values["choices"]
    assert first.note in page.words
    assert ANSWER in page.markup and page.warnings == page.errors == ""


def test_the_page_shows_the_tasks_own_numbers(visit: Visit, tiny_engine: Engine) -> None:
    page = visit(PAGE, **ASKED)
    result = multiple_choice(tiny_engine, "the cat", ("sat on the mat", "a dog", "the river"))
    assert printed(page.pictures["multiple-choice"]) == [
        f"{view.percent(each.probability)}, logit {signed(each.logit, 2)}"
        for each in result.choices
    ]
    assert str(view.verdict(result)) in page.markup


def test_another_order_gives_the_same_answer(visit: Visit) -> None:
    verdicts, numbers = [], []
    for order in ("sat on the mat\na dog\nthe river", "the river\nsat on the mat\na dog"):
        page = visit(PAGE, text="the cat", choices=order)
        verdicts.append(page.markup[page.markup.index(ANSWER) :].partition("</div>")[0])
        numbers.append(sorted(printed(page.pictures["multiple-choice"])))
    assert verdicts[0] == verdicts[1] and numbers[0] == numbers[1]


@pytest.mark.parametrize("number", range(len(examples("multiple_choice"))))
def test_every_example_gives_an_answer(visit: Visit, number: int) -> None:
    page = visit(PAGE, **ASKED)
    page.at.button(key=f"_example_{number}").click()
    page.run()
    row = examples("multiple_choice")[number]
    assert page.at.text_area(key="text").value == row.values["text"]
    assert page.at.text_area(key="choices").value == row.values["choices"]
    assert page.warnings == page.errors == "" and ANSWER in page.markup


@pytest.mark.parametrize("empty", ["text", "choices"])
def test_an_empty_box_is_met_with_an_invitation(visit: Visit, empty: str) -> None:
    page = visit(PAGE, **ASKED).type(" ", key=empty)
    assert "Write a context" in page.at.info[0].value and ANSWER not in page.markup


@pytest.mark.parametrize(("choices", "found"), [("one", 1), ("a\n" * 9, 9)])
def test_too_few_or_too_many_choices_are_told(visit: Visit, choices: str, found: int) -> None:
    page = visit(PAGE, **ASKED).type(choices, key="choices")
    assert f"Found {found} choices; expected 2 to 8" in page.warnings


def test_nasty_texts_are_answered_and_never_become_markup(visit: Visit, nasty: str) -> None:
    choice = " ".join(nasty.split())
    page = visit(PAGE).type(f"a {nasty}").type(f"b {choice}\nc", key="choices")
    shown = page.markup + "".join(page.pictures.values())
    assert ANSWER in shown and "<script" not in shown and "<img" not in shown


def test_an_untrained_head_is_announced_before_any_number(
    visit: Visit, headless_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(headless_folder))
    page = visit(PAGE, **ASKED)
    assert "no trained weights" in page.markup and ANSWER not in page.markup

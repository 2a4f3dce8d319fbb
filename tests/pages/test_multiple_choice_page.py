"""Test the multiple-choice page from a visitor's point of view."""

from collections.abc import Callable
from typing import Any

from app.engine.models import Engine
from app.features.multiple_choice import view as view
from app.features.multiple_choice.task import multiple_choice
from app.words.format import signed
from tests.drawings import printed

PAGE = "pages/9_multiple_choice.py"
ANSWER = 'role="status"'
ASKED = {"text": "the cat", "choices": "sat on the mat\n\na dog\nthe river"}

Visit = Callable[..., Any]


def test_the_page_shows_the_tasks_own_numbers(visit: Visit, tiny_engine: Engine) -> None:
    page = visit(PAGE, **ASKED)
    result = multiple_choice(tiny_engine, "the cat", ("sat on the mat", "a dog", "the river"))
    assert printed(page.pictures["multiple-choice"]) == [
        f"{view.percent(each.probability)}, logit {signed(each.logit, 2)}"
        for each in result.choices
    ]
    says, more, _ = view._answer(result)
    assert f"The model’s answer: {says}" in page.words and more in page.words
    assert "alibrated" in page.words


def test_another_order_gives_the_same_answer(visit: Visit) -> None:
    verdicts, numbers = [], []
    for order in ("sat on the mat\na dog\nthe river", "the river\nsat on the mat\na dog"):
        page = visit(PAGE, text="the cat", choices=order)
        verdicts.append(page.markup[page.markup.index(ANSWER) :].partition("</div>")[0])
        numbers.append(sorted(printed(page.pictures["multiple-choice"])))
    assert verdicts[0] == verdicts[1] and numbers[0] == numbers[1]

"""The home page: one sentence and a question, six small results, and what is said without them."""

from collections.abc import Callable
from typing import Any

import pytest

from app.overview import FIRST

HOME = "pages/0_home.py"


def test_the_visitors_question_is_asked_and_without_one_a_question_that_fits(
    tiny_model: object, visit: Callable[..., Any]
) -> None:
    page = visit(HOME)
    assert page.at.text_area(key="text").value == FIRST
    assert page.at.text_area(key="question").placeholder == "Where did Ada Lovelace live?"
    assert "Where did Ada Lovelace live?" in page.words
    page.type("What did  she\nwrite?", key="question")
    assert "What did she write?" in page.words
    assert "Where did Ada Lovelace live?" not in page.words


def test_an_empty_sentence_is_answered_with_what_to_do(
    tiny_model: object, visit: Callable[..., Any]
) -> None:
    page = visit(HOME, text=" ")
    assert [box.value for box in page.at.info] == [
        "Write a sentence to see what BERT does with it."
    ]
    assert 'class="bx-door"' not in page.markup


def test_other_scripts_are_warned_of_as_on_the_pages(
    tiny_model: object, visit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BERT_EXPLORER_MODEL")  # the bundled vocabulary
    page = visit(HOME, text="Привет, как дела?")
    assert "3 words in Cyrillic letters: its vocabulary has hardly any words" in page.words
    assert "Cyrillic" not in page.type("How are you?").words

"""Rows refuse what no batch could be made of, and say what they found."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy
import pytest

from bert_core.errors import InputError
from bert_core.finetuning import Choices, LabelledText, Question, TaggedWords

PASSAGE = "The mill by the river burned down in 1871 and was never built again."


def test_an_answer_has_to_stand_where_the_row_says() -> None:
    with pytest.raises(InputError, match=r"'1871', but the text at answer_start=36 .* is ' 187'"):
        Question("When did it burn?", PASSAGE, "1871", 36)
    assert Question("When did it burn?", PASSAGE, "1871", 37).answer_start == 37


@pytest.mark.parametrize("start", [-4, len(PASSAGE) - 2, 1000])
def test_an_answer_that_reaches_out_of_the_passage_is_refused(start: int) -> None:
    with pytest.raises(InputError, match=f"answer_start={start} of the passage .68 characters"):
        Question("What?", PASSAGE, "ain. ", start)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Question("What?", PASSAGE, ""), "or None if it contains no answer"),
        (lambda: Question("What?", PASSAGE, " ", 3), "or None if it contains no answer"),
        (lambda: TaggedWords(("one", "two"), (1,)), "2 words and 1 tag"),
        (lambda: TaggedWords("ab", (1, 2)), "the string 'ab'"),  # type: ignore[arg-type]
        (lambda: TaggedWords(("a",), ("B-PER",)), "'B-PER'; expected whole"),  # type: ignore[arg-type]
        (lambda: LabelledText("good", "positive"), "'positive'; expected a number"),  # type: ignore[arg-type]
        (lambda: Choices("He", ("ran", "sat"), 2), "label is 2, and there are 2 choices"),
        (lambda: Choices("He", ("ran", "sat"), -1), "label is -1"),
        (lambda: Choices("He", "ran", 0), "the string 'ran'"),  # type: ignore[arg-type]
    ],
)
def test_rows_that_cannot_be_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_a_long_text_is_not_repeated_in_full() -> None:
    with pytest.raises(InputError) as refusal:
        Question("Why? " * 500, PASSAGE * 50, "because", 0)
    assert len(str(refusal.value)) < 400


def test_numbers_of_other_libraries_are_numbers() -> None:
    assert TaggedWords(("a",), (numpy.int64(3),)).tags == (3,)  # type: ignore[arg-type]
    assert LabelledText("a", numpy.float32(0.5)).label == 0.5  # type: ignore[arg-type]


def test_rows_are_equal_by_value_and_cannot_be_changed() -> None:
    row = LabelledText("one", 1)
    assert row == LabelledText("one", 1, None)
    with pytest.raises(FrozenInstanceError):
        row.label = 0  # type: ignore[misc]

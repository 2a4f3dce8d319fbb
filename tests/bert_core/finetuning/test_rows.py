"""Rows, budgets and batches that cannot be are refused; which rows a step sees."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from bert_core.errors import InputError
from bert_core.finetuning import (
    Batch,
    Budget,
    Choices,
    LabelledText,
    Question,
    RowBatches,
    TaggedWords,
    TrainerSettings,
    linear_decay,
)

PASSAGE = "The mill by the river burned down in 1871 and was never built again."


def numbers(rows: Sequence[int]) -> Batch:
    return Batch({"input_ids": torch.tensor(rows)})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Question("When?", PASSAGE, "1871", 36), "'1871', but the .*=36 .* is ' 187'"),
        (lambda: Question("When?", PASSAGE, "ain. ", -4), "answer_start=-4 of the passage .68"),
        (lambda: Question("When?", PASSAGE, "ain. ", 66), "answer_start=66 of the passage .68"),
        (lambda: Question("When?", PASSAGE, "ain. ", 999), "answer_start=999 of the passage .68"),
        (lambda: Question("What?", PASSAGE, ""), "or None if it contains no answer"),
        (lambda: Question("What?", PASSAGE, " ", 3), "or None if it contains no answer"),
        (lambda: TaggedWords(("one", "two"), (1,)), "2 words and 1 tag"),
        (lambda: TaggedWords("ab", (1, 2)), "the string 'ab'"),  # type: ignore[arg-type]
        (lambda: TaggedWords(("a",), ("B-PER",)), "'B-PER'; expected whole"),  # type: ignore[arg-type]
        (lambda: LabelledText("good", "positive"), "'positive'; expected a number"),  # type: ignore[arg-type]
        (lambda: Choices("He", ("ran", "sat"), 2), "label is 2, and there are 2 choices"),
        (lambda: Choices("He", ("ran", "sat"), -1), "label is -1"),
        (lambda: Choices("He", "ran", 0), "the string 'ran'"),  # type: ignore[arg-type]
        (lambda: RowBatches([], numbers, batch_size=4), "0 rows"),
        (lambda: RowBatches([1], numbers, batch_size=0), "batch_size is 0"),
        (lambda: Budget(), "steps=None and minutes=None"),
        (lambda: Budget(5, 5.0), "steps=5 and minutes=5.0"),
        (lambda: Budget(0), "steps=0"),
        (lambda: Budget(minutes=0.0), "minutes=0.0"),
        (lambda: TrainerSettings(Budget(1), layer_decay=0.0), "layer_decay is 0.0"),
        (lambda: TrainerSettings(Budget(1), layer_decay=float("nan")), "layer_decay is nan"),
        (lambda: TrainerSettings(Budget(1), decay_share=1.5), "decay_share is 1.5"),
    ],
)
def test_what_cannot_be_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_the_rate_rises_to_the_peak_and_falls_to_zero() -> None:
    assert [Budget(steps=4).progress(step, 1e9) for step in (0, 1, 4, 9)] == [0.0, 0.25, 1.0, 1.0]
    assert [Budget(minutes=2.0).progress(7, s) for s in (0.0, 30.0, 500.0)] == [0.0, 0.25, 1.0]
    factors = [linear_decay(step, step / 100, 10) for step in range(101)]
    assert factors[0] == pytest.approx(0.1)
    assert max(factors) == factors[9]
    assert factors[9:] == sorted(factors[9:], reverse=True)
    assert factors[-1] == 0.0
    assert linear_decay(0, 0.0, 0) == 1.0


def seen(batches: RowBatches[int], steps: Sequence[int]) -> list[int]:
    return [row for step in steps for row in batches(step, 0.0)[0]["input_ids"].tolist()]


@pytest.mark.parametrize(("rows", "size"), [(12, 4), (10, 4), (3, 8), (1, 1), (7, 7)])
def test_every_row_comes_once_an_epoch(rows: int, size: int) -> None:
    batches = RowBatches(range(rows), numbers, batch_size=size, seed=3)
    found = seen(batches, range(5 * rows))
    assert len(found) == 5 * rows * size
    for first in range(0, len(found), rows):
        assert sorted(found[first : first + rows]) == list(range(rows))


def test_a_step_depends_on_the_seed_and_its_number_alone() -> None:
    batches = RowBatches(range(20), numbers, batch_size=10, seed=1)
    orders = [seen(batches, [2 * number, 2 * number + 1]) for number in range(4)]
    orders.append(seen(RowBatches(range(20), numbers, batch_size=10, seed=2), [0, 1]))
    assert len({tuple(order) for order in orders}) == 5
    for step in (7, 0, 5, 5, 2):
        assert seen(batches, [step]) == orders[step // 2][10 * (step % 2) :][:10]

"""Which rows a step sees: each once a round, and always the same for the same step."""

from collections.abc import Sequence

import pytest
import torch

from bert_core.errors import InputError
from bert_core.finetuning import Batch, RowBatches


def numbers(rows: Sequence[int]) -> Batch:
    return Batch({"input_ids": torch.tensor(rows)})


def seen(batches: RowBatches[int], steps: Sequence[int]) -> list[int]:
    return [row for step in steps for row in batches(step, 0.0)[0]["input_ids"].tolist()]


@pytest.mark.parametrize(("rows", "size"), [(12, 4), (10, 4), (3, 8), (1, 1), (7, 7)])
def test_every_row_comes_once_a_round(rows: int, size: int) -> None:
    batches = RowBatches(range(rows), numbers, batch_size=size, seed=3)
    steps = 5 * rows
    found = seen(batches, range(steps))
    assert len(found) == steps * size
    for first in range(0, len(found), rows):
        assert sorted(found[first : first + rows]) == list(range(rows))


def test_every_round_and_every_seed_has_an_order_of_its_own() -> None:
    batches = RowBatches(range(20), numbers, batch_size=10, seed=1)
    orders = [seen(batches, [2 * number, 2 * number + 1]) for number in range(4)]
    orders.append(seen(RowBatches(range(20), numbers, batch_size=10, seed=2), [0, 1]))
    assert len({tuple(order) for order in orders}) == 5


def test_a_step_does_not_depend_on_what_was_asked_before() -> None:
    whole = seen(RowBatches(range(10), numbers, batch_size=4, seed=1), range(12))
    jumping = RowBatches(range(10), numbers, batch_size=4, seed=1)
    for step in (11, 0, 7, 7, 2):
        assert seen(jumping, [step]) == whole[4 * step : 4 * step + 4]


def test_a_round_is_counted_in_steps() -> None:
    assert RowBatches(range(10), numbers, batch_size=4).steps_per_round == 2.5


def test_nothing_to_learn_from_is_refused() -> None:
    with pytest.raises(InputError, match="0 rows"):
        RowBatches([], numbers, batch_size=4)
    with pytest.raises(InputError, match="batch_size is 0"):
        RowBatches([1], numbers, batch_size=0)

"""Choosing the rows of each training step."""

import random
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from bert_core.errors import InputError
from bert_core.finetuning.batches import Batch

Row = TypeVar("Row")


class RowBatches(Generic[Row]):
    """A `BatchSource` that returns every row once per epoch, reshuffled each epoch.

    The rows of a step depend only on the seed and the step's number, so a resumed training sees the
    same rows as an uninterrupted one. If the rows do not fill the last batch of an epoch, it
    continues with rows of the next.

    Args:
        rows: the training rows.
        make: rows -> batch, such as `functools.partial(text_batch, tokenizer, max_length=128)`.
        batch_size: number of rows per step.
        seed: seed of the shuffling.

    Raises:
        InputError: there are no rows, or `batch_size` is not positive.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        make: Callable[[Sequence[Row]], Batch],
        *,
        batch_size: int,
        seed: int = 0,
    ) -> None:
        if not rows or batch_size < 1:
            raise InputError(
                f"There are {len(rows)} rows, and batch_size is {batch_size}; expected at least "
                "one row and a batch_size of at least 1."
            )
        self.rows, self.make = rows, make
        self.batch_size, self.seed = batch_size, seed
        self._order: tuple[int, list[int]] = (-1, [])

    @property
    def steps_per_round(self) -> float:
        """Number of steps per epoch."""
        return len(self.rows) / self.batch_size

    def rows_of(self, step: int) -> list[Row]:
        """Return the rows of a step."""
        first = step * self.batch_size
        return [self._row(place) for place in range(first, first + self.batch_size)]

    def __call__(self, step: int, progress: float) -> list[Batch]:
        """Return the batch of a step, in a list of one."""
        return [self.make(self.rows_of(step))]

    def _row(self, place: int) -> Row:
        """Return the row at an index into the concatenation of all epochs."""
        round_number, offset = divmod(place, len(self.rows))
        if self._order[0] != round_number:
            order = list(range(len(self.rows)))
            random.Random(f"{self.seed} {round_number}").shuffle(order)
            self._order = round_number, order
        return self.rows[self._order[1][offset]]

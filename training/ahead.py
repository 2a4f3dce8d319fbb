"""Building batches ahead of their steps in separate processes.

On a card, one step takes a quarter of a second, and building its batches takes the CPU just as
long. The builders are processes, not threads, because most of their work is in Python.
"""

import itertools
import multiprocessing
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

from torch.utils.data import DataLoader, Dataset

from bert_core.finetuning import BatchSource, Budget


class _Steps(Dataset[bytes]):
    """The parts of every step, as bytes, which need no shared memory or open files."""

    def __init__(self, source: BatchSource, budget: Budget, clock: Any) -> None:
        self.source, self.budget, self.clock = source, budget, clock

    def __getitem__(self, step: int) -> bytes:
        by_steps = self.budget.steps is not None
        progress = self.budget.progress(step, 0.0) if by_steps else self.clock.value
        return pickle.dumps(list(self.source(step, progress)), pickle.HIGHEST_PROTOCOL)


class BuiltAhead:
    """A `BatchSource` that returns another source's batches, built ahead of time.

    The source must be picklable and depend only on step and progress. With a budget in minutes, the
    progress of later steps is not known: they are built with that of the latest step. Without
    processes, each batch is built when it is asked for.
    """

    def __init__(self, source: BatchSource, budget: Budget, *, processes: int) -> None:
        self.source, self.budget, self.processes = source, budget, processes
        self._next = 0
        self._steps: Iterator[bytes] | None = None

    def __call__(self, step: int, progress: float) -> Sequence[Any]:
        """Return the parts of a step; an error raised while building them is raised here."""
        if not self.processes:
            return self.source(step, progress)
        if self._steps is None or step != self._next:
            self._begin(step)
        self._clock.value = progress
        assert self._steps is not None
        self._next = step + 1
        parts: Sequence[Any] = pickle.loads(next(self._steps))  # noqa: S301 - ours
        return parts

    def _begin(self, step: int) -> None:
        spawn = multiprocessing.get_context("spawn")  # CUDA does not survive a fork
        self._clock = spawn.Value("d", 0.0)
        last = self.budget.steps
        self._steps = iter(
            DataLoader(
                _Steps(self.source, self.budget, self._clock),
                batch_size=None,
                sampler=itertools.count(step) if last is None else range(step, last),
                num_workers=self.processes,
                multiprocessing_context=spawn,
            )
        )

    def close(self) -> None:
        """Stop the processes and discard what they have built."""
        self._steps = None

"""Building batches ahead of their steps in separate processes.

On a GPU, one step takes a quarter of a second, and building its batches takes the CPU just as
long. The builders are processes, not threads, because most of their work is in Python.
"""

import multiprocessing
import multiprocessing.connection
import os
import pickle
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any

import torch

from bert_core.errors import InputError
from bert_core.finetuning import Budget

_SOURCE: list[Any] = []  # in a builder process: the batch source it builds from


class BuiltAhead:
    """A `BatchSource` that returns another source's batches, built ahead of time.

    Args:
        source: the source, (step, progress) -> parts; must be picklable and depend only on these
            two arguments.
        budget: the training's budget. In minutes, the progress of later steps is not known: they
            are built with that of the step that asks for them.
        processes: number of builder processes; they end with the training, even if it is killed.
        ahead: number of steps to build in advance; by default two per process.

    Raises:
        InputError: `processes` is less than 1.
    """

    def __init__(
        self, source: Any, budget: Budget, *, processes: int, ahead: int | None = None
    ) -> None:
        if processes < 1:
            raise InputError(f"processes is {processes}; give at least 1.")
        self.budget = budget
        self.ahead = 2 * processes if ahead is None else max(1, ahead)
        self._waiting: dict[int, Future[bytes]] = {}
        self._pool = ProcessPoolExecutor(
            processes,
            multiprocessing.get_context("spawn"),  # CUDA does not survive a fork
            _begin,
            (pickle.dumps(source),),
        )

    def __call__(self, step: int, progress: float) -> Sequence[Any]:
        """Return the parts of a step; an error raised while building them is raised here."""
        steps = self.budget.steps
        last = step + 1 + self.ahead if steps is None else min(step + 1 + self.ahead, steps)
        for coming in range(step, max(step + 1, last)):
            if coming not in self._waiting:
                share = progress if steps is None else self.budget.progress(coming, 0.0)
                self._waiting[coming] = self._pool.submit(_build, coming, share)
        parts: Sequence[Any] = pickle.loads(self._waiting.pop(step).result())  # noqa: S301 - ours
        return parts

    def close(self) -> None:
        """Stop the processes and discard what they have built."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._waiting.clear()


def _begin(source: bytes) -> None:
    """Initialise a builder process."""
    torch.set_num_threads(1)
    _SOURCE[:] = [pickle.loads(source)]  # noqa: S301 - from the training's own process
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Exit as soon as the training's process has ended, even if it was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(0)


def _build(step: int, progress: float) -> bytes:
    """Build the parts of a step, as bytes, which need no shared memory or open files."""
    return pickle.dumps(list(_SOURCE[0](step, progress)), protocol=pickle.HIGHEST_PROTOCOL)

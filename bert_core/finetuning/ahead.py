"""Batches built ahead of their steps, in processes of their own.

A graphics card takes a quarter of a second for a step whose batches take a processor as long to
build. The builders are processes, not threads, because most of their work is Python's.
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
from bert_core.finetuning.schedule import Budget

_SOURCE: list[Any] = []  # of a builder process: what it builds from


class BuiltAhead:
    """A `BatchSource` that gives what another gives, built before it is asked for.

    Args:
        source: step and progress -> parts; picklable, and a function of these two alone.
        budget: of the training, in steps, so that the progress of later steps is known.
        processes: that build side by side; a stopped training leaves none behind.
        ahead: steps that are built before they are needed; by default two a process.

    Raises:
        InputError: the budget is one of minutes, or there is no process to build.
    """

    def __init__(
        self, source: Any, budget: Budget, *, processes: int, ahead: int | None = None
    ) -> None:
        if budget.steps is None:
            raise InputError(
                f"The budget is {budget.minutes} minutes. Building ahead needs one in steps, "
                "because the progress of later steps has to be known."
            )
        if processes < 1:
            raise InputError(f"There are {processes} processes to build batches; give at least 1.")
        self.budget, self.steps = budget, budget.steps
        self.ahead = 2 * processes if ahead is None else max(1, ahead)
        self._waiting: dict[int, Future[bytes]] = {}
        self._pool = ProcessPoolExecutor(
            processes,
            multiprocessing.get_context("spawn"),  # a copy of a process that uses CUDA is broken
            _begin,
            (pickle.dumps(source),),
        )

    def __call__(self, step: int, progress: float) -> Sequence[Any]:
        """Return the parts of a step; an error in building them is raised here."""
        for coming in range(step, max(step + 1, min(step + 1 + self.ahead, self.steps))):
            if coming not in self._waiting:
                share = progress if coming == step else self.budget.progress(coming, 0.0)
                self._waiting[coming] = self._pool.submit(_build, coming, share)
        parts: Sequence[Any] = pickle.loads(self._waiting.pop(step).result())  # noqa: S301 - ours
        return parts

    def close(self) -> None:
        """End the processes; what they have built is dropped."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._waiting.clear()


def _begin(source: bytes) -> None:
    """Set a builder process up."""
    torch.set_num_threads(1)
    _SOURCE[:] = [pickle.loads(source)]  # noqa: S301 - from the training's own process
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait for the training's process to end, killed or not, and end too."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(0)


def _build(step: int, progress: float) -> bytes:
    """Build the parts of a step; as bytes they need neither shared memory nor open files."""
    return pickle.dumps(list(_SOURCE[0](step, progress)), protocol=pickle.HIGHEST_PROTOCOL)

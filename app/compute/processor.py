"""The processor of the process: who computes now, and on how many threads."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

from app.settings import settings

T = TypeVar("T")

_LONG = 192
"""Tokens from which on a second thread saves more than it costs."""

_MOST_THREADS = 8
"""Beyond this even a long input gains little."""


class Processor:
    """Lets a few passes compute at once, each on its share of the cores.

    A long input that finds nobody else computing or waiting takes all shares: on two cores it
    then takes little more than half the time. Whoever comes meanwhile waits for that one pass
    instead of computing against it, so that there are never more threads than cores.

    Args:
        threads: processor threads of a pass that may have others beside it.
        runs: passes that may run at the same time.
    """

    def __init__(self, threads: int, runs: int) -> None:
        self._threads = threads
        self._shares = runs
        self._taken = 0
        self._waiting = 0
        self._change = threading.Condition()
        # Every visit of a page is a new thread, for which the system would fetch memory and
        # helpers anew; these stay.
        self._pool = ThreadPoolExecutor(runs, thread_name_prefix="compute")

    def run(self, work: Callable[[], T], *, tokens: int) -> T:
        """Wait for a turn, and do some work in inference mode on the threads it may have.

        Args:
            work: what to compute; it must not ask for a turn itself.
            tokens: how many tokens that are, all rows of the batch together.
        """
        shares = self._take(long=tokens >= _LONG)
        try:
            most = max(self._threads, _MOST_THREADS)
            threads = min(self._threads * shares, most)
            return self._pool.submit(self._compute, work, threads).result()
        finally:
            with self._change:
                self._taken -= shares
                self._change.notify_all()

    def _compute(self, work: Callable[[], T], threads: int) -> T:
        """Do the work; runs in a thread of the pool, to which the number of threads belongs."""
        torch.set_num_threads(threads)
        try:
            with torch.inference_mode():
                return work()
        finally:
            torch.set_num_threads(self._threads)  # new threads start with the last number set

    def _take(self, *, long: bool) -> int:
        """Wait until there is a free share, and take it; all of them for a long input alone."""
        with self._change:
            self._waiting += 1
            try:
                self._change.wait_for(lambda: self._taken < self._shares)
            finally:
                self._waiting -= 1
            alone = self._taken == 0 and self._waiting == 0
            shares = self._shares if long and alone else 1
            self._taken += shares
            return shares


# One for the process, not one per engine: the processor is what is scarce.
PROCESSOR = Processor(settings().threads, settings().runs)

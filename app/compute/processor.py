"""Share the processor between forward passes, and set how many threads each one gets."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

from app.settings import settings

T = TypeVar("T")

_LONG = 192
"""Number of tokens from which a second thread saves more time than it costs."""

_MOST_THREADS = 8
"""Thread count beyond which even a long input gains little."""


class Processor:
    """Runs a few passes at once, each on its share of the cores.

    A long input takes all shares if no other pass is running or waiting: on two cores it then
    takes little more than half the time. Passes that arrive meanwhile wait for it rather than
    compete with it, so there are never more threads than cores.

    Args:
        threads: processor threads per pass while others may run at the same time.
        runs: maximum number of passes that run at the same time.
    """

    def __init__(self, threads: int, runs: int) -> None:
        self._threads = threads
        self._shares = runs
        self._taken = 0
        self._waiting = 0
        self._change = threading.Condition()
        # Every page visit runs in a new thread, which would need fresh memory and worker threads
        # each time. The threads of this pool are reused.
        self._pool = ThreadPoolExecutor(runs, thread_name_prefix="compute")

    def run(self, work: Callable[[], T], *, tokens: int) -> T:
        """Wait for a turn, then run `work` in inference mode on its share of the threads.

        Args:
            work: the computation; it must not call `run` itself.
            tokens: number of tokens in all rows of the batch together.
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
        """Do the work in a thread of the pool; PyTorch keeps the thread count per thread."""
        torch.set_num_threads(threads)
        try:
            with torch.inference_mode():
                return work()
        finally:
            torch.set_num_threads(self._threads)  # new threads start with the last number set

    def _take(self, *, long: bool) -> int:
        """Wait for a free share and take it; a long input with no competitors takes them all."""
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


# One per process, not one per engine: the processor is the scarce resource.
PROCESSOR = Processor(settings().threads, settings().runs)

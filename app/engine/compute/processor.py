"""Share the processor between forward passes, and set how many threads each one gets."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

from app.engine.compute.fair import FairQueue
from app.engine.compute.visitor import ALLOWANCES, Visit, current_visit
from app.engine.counted import TURNS
from app.settings import settings

T = TypeVar("T")

_LONG = 192
"""Number of tokens from which a second thread saves more time than it costs."""

_MOST_THREADS = 8
"""Thread count beyond which even a long input gains little."""

_UNNOTICED = 1.0  # seconds of waiting after which a visitor is told how many are before
_TELL_EVERY = 0.5  # seconds


class Processor:
    """Runs a few passes at once, each on its share of the cores.

    A long input takes all shares if no other pass is running or waiting: on two cores it then
    takes little more than half the time. Passes that arrive meanwhile wait for it rather than
    compete with it, so there are never more threads than cores.

    Turns are fair between visitors, not between passes: next is the visitor who has been served
    for the shortest time (`FairQueue`). So a visitor with a short sentence waits for
    at most the passes under way, however many windows of long texts others have waiting.

    Args:
        threads: processor threads per pass while others may run at the same time.
        runs: maximum number of passes that run at the same time.
    """

    def __init__(self, threads: int, runs: int) -> None:
        self.threads = threads
        self._shares = runs
        self._taken = 0
        self._queue = FairQueue[None]()  # what it serves are seconds
        self._change = threading.Condition()
        # Every page visit runs in a new thread, which would need fresh memory and worker threads
        # each time. The threads of this pool are reused.
        self._pool = ThreadPoolExecutor(runs, thread_name_prefix="compute")

    @property
    def waiting(self) -> int:
        """Passes that wait for their turn."""
        return len(self._queue.waiting)

    @contextmanager
    def turn(self, tokens: int) -> Iterator[int]:
        """Wait for a turn, and have it for the block; yield its number of threads.

        Args:
            tokens: of all rows of the batch together.

        Raises:
            InputError: the visitor has used up what it may use.
        """
        visit = current_visit()
        ALLOWANCES.admit(visit)
        shares, start = self._take(visit, long=tokens >= _LONG)
        begin = time.monotonic()
        try:
            visit.tell(None)
            yield min(self.threads * shares, max(self.threads, _MOST_THREADS))
        finally:
            took = time.monotonic() - begin
            ALLOWANCES.charge(visit, took)
            visit.used += took
            with self._change:
                self._taken -= shares
                self._queue.served[visit.name] = start + took
                self._change.notify_all()

    def run(self, work: Callable[[], T], *, tokens: int, training: bool = False) -> T:
        """Run `work` in inference mode, in a turn and on its share of the threads.

        Args:
            work: the computation; it must not call `run` itself.
            tokens: of all rows of the batch together.
            training: run it with gradients instead.

        Raises:
            InputError: the visitor has used up what it may use.
        """

        def compute() -> T:
            torch.set_num_threads(threads)  # PyTorch keeps their number per thread
            try:
                with torch.inference_mode(not training):
                    return work()
            finally:
                torch.set_num_threads(self.threads)  # new threads start with the last number set

        with self.turn(tokens) as threads:
            return self._pool.submit(compute).result()

    def _take(self, visit: Visit, *, long: bool) -> tuple[int, float]:
        """Wait for a free share and take it; a long input with no competitors takes them all.

        Returns:
            The number of shares, and the seconds for which the visitor had been served.
        """
        with self._change:
            own = self._queue.join(visit.name, None)
            try:
                patience = _UNNOTICED if visit.told else None
                while not self._change.wait_for(
                    lambda: self._taken < self._shares and own is self._queue.first(), patience
                ):
                    patience = _TELL_EVERY
                    before = self._taken + self._queue.before(own)
                    self._change.release()  # so that the others are not held up
                    try:
                        visit.tell(before)
                    finally:
                        self._change.acquire()
                start = self._queue.begin(own)
            finally:
                self._queue.leave(own)
                self._change.notify_all()  # another one is first now
            alone = self._taken == 0 and not self._queue.waiting
            shares = self._shares if long and alone else 1
            self._taken += shares
            return shares, start


# One per process, not one per engine: the processor is the scarce resource.
PROCESSOR = Processor(settings().threads, settings().runs)
"""The one place where the models compute."""
TURNS.set_function(lambda: PROCESSOR.waiting)

"""Share the processor between forward passes, and set how many threads each one gets."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import torch

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


@dataclass(slots=True, eq=False)
class _Waiting:
    """A pass that waits for its turn; the one with the lowest rank is next."""

    visitor: str
    number: int  # in order of arrival


class Processor:
    """Runs a few passes at once, each on its share of the cores.

    A long input takes all shares if no other pass is running or waiting: on two cores it then
    takes little more than half the time. Passes that arrive meanwhile wait for it rather than
    compete with it, so there are never more threads than cores.

    Turns are fair between visitors, not between passes: next is the visitor who has been served
    for the shortest time (start-time fair queueing). So a visitor with a short sentence waits for
    at most the passes under way, however many windows of long texts others have waiting.

    Args:
        threads: processor threads per pass while others may run at the same time.
        runs: maximum number of passes that run at the same time.
    """

    def __init__(self, threads: int, runs: int) -> None:
        self._threads = threads
        self._shares = runs
        self._taken = 0
        self._queue: list[_Waiting] = []
        self._arrived = 0
        self._served: dict[str, float] = {}  # seconds by visitor, counted from a common start
        self._start = 0.0  # where a visitor starts who has not been served lately
        self._change = threading.Condition()
        # Every page visit runs in a new thread, which would need fresh memory and worker threads
        # each time. The threads of this pool are reused.
        self._pool = ThreadPoolExecutor(runs, thread_name_prefix="compute")

    @property
    def waiting(self) -> int:
        """Passes that wait for their turn."""
        return len(self._queue)

    def run(self, work: Callable[[], T], *, tokens: int, training: bool = False) -> T:
        """Wait for a turn, then run `work` in inference mode on its share of the threads.

        Args:
            work: the computation; it must not call `run` itself.
            tokens: number of tokens in all rows of the batch together.
            training: run it with gradients instead of in inference mode.

        Raises:
            InputError: the visitor has used up what it may use.
        """
        visit = current_visit()
        ALLOWANCES.admit(visit)
        shares, start = self._take(visit, long=tokens >= _LONG)
        begin = time.monotonic()
        try:
            visit.tell(None)
            most = max(self._threads, _MOST_THREADS)
            threads = min(self._threads * shares, most)
            return self._pool.submit(self._compute, work, threads, training).result()
        finally:
            took = time.monotonic() - begin
            ALLOWANCES.charge(visit, took)
            visit.used += took
            with self._change:
                self._taken -= shares
                self._served[visit.name] = start + took
                self._change.notify_all()

    def _compute(self, work: Callable[[], T], threads: int, training: bool) -> T:
        """Do the work in a thread of the pool; PyTorch keeps the thread count per thread."""
        torch.set_num_threads(threads)
        try:
            with torch.inference_mode(not training):
                return work()
        finally:
            torch.set_num_threads(self._threads)  # new threads start with the last number set

    def _take(self, visit: Visit, *, long: bool) -> tuple[int, float]:
        """Wait for a free share and take it; a long input with no competitors takes them all.

        Returns:
            The number of shares, and the seconds for which the visitor had been served.
        """
        with self._change:
            self._arrived += 1
            own = _Waiting(visit.name, self._arrived)
            self._queue.append(own)
            try:
                patience = _UNNOTICED if visit.told else None
                while not self._change.wait_for(lambda: self._is_next(own), patience):
                    patience = _TELL_EVERY
                    self._tell(visit, own)
            finally:
                self._queue.remove(own)
                self._change.notify_all()  # another one is first now
            self._start, _ = self._rank(own)
            self._served = {who: at for who, at in self._served.items() if at > self._start}
            alone = self._taken == 0 and not self._queue
            shares = self._shares if long and alone else 1
            self._taken += shares
            return shares, self._start

    def _tell(self, visit: Visit, own: _Waiting) -> None:
        """Tell a visitor how many are before it, without holding up the others."""
        before = self._taken + sum(self._rank(each) < self._rank(own) for each in self._queue)
        self._change.release()
        try:
            visit.tell(before)
        finally:
            self._change.acquire()

    def _is_next(self, own: _Waiting) -> bool:
        return self._taken < self._shares and own is min(self._queue, key=self._rank)

    def _rank(self, waiting: _Waiting) -> tuple[float, int]:
        """Return the order of turns: who has been served least, then who came first."""
        return max(self._start, self._served.get(waiting.visitor, 0.0)), waiting.number


# One per process, not one per engine: the processor is the scarce resource.
PROCESSOR = Processor(settings().threads, settings().runs)
"""The one place where the models compute."""
TURNS.set_function(lambda: PROCESSOR.waiting)

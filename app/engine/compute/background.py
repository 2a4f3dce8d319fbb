"""Work that takes minutes: done once for all who ask, in a thread of its own.

A page that is drawn again finds the work where it was. The work ends when no one waits for it any
more: the last visitor has cancelled, or none has asked for a while.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import partial
from typing import Generic, TypeVar

from app.engine.compute.visitor import current_visit

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
Progress = Callable[[int, int], None]

_LOOK = 0.2  # seconds between two looks at the work of another thread


class _Unwanted(Exception):
    """Ends work that no one waits for."""


class Job(Generic[T]):
    """Work in a thread of its own, and those who wait for it.

    Args:
        patience: seconds after which a visitor who has not asked again no longer waits.
        clock: returns the time in seconds.
    """

    def __init__(self, patience: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.ended = threading.Event()
        self.done, self.total = 0, 0
        self.result: T
        self.error: Exception | None = None
        self._patience, self._clock = patience, clock
        self._seen: dict[object, float] = {}
        self._given_up = False
        self._lock = threading.Lock()

    def see(self, visitor: object) -> bool:
        """Note that a visitor waits; return False if the work is already given up."""
        with self._lock:
            if not self._given_up:
                self._seen[visitor] = self._clock()
            return not self._given_up

    def leave(self, visitor: object) -> int:
        """Note that a visitor no longer waits; return how many still do."""
        with self._lock:
            self._seen.pop(visitor, None)
            return self._count()

    @property
    def wanted(self) -> bool:
        """Whether anyone waits; without anyone, the work is given up."""
        with self._lock:
            self._given_up = self._given_up or not self._count()
            return not self._given_up

    def step(self, done: int, total: int) -> None:
        """Note progress; called by the work, which ends here if no one waits for it."""
        self.done, self.total = done, total
        if not self.wanted:
            raise _Unwanted

    def begin(self, work: Callable[[], T], name: str) -> None:
        """Do the work in a thread; what it raises is kept for those who wait."""

        def run() -> None:
            try:
                self.result = work()
            except Exception as error:  # noqa: BLE001 - raised again for those who wait
                self.error = error
            self.ended.set()

        threading.Thread(target=run, name=name, daemon=True).start()

    def _count(self) -> int:
        now = self._clock()
        return sum(now - seen < self._patience for seen in self._seen.values())


class Background(Generic[K, T]):
    """Work by key, each done once; the last results are kept.

    Args:
        kept: number of results.
        patience: seconds after which a visitor who has not asked again no longer waits. It may
            look at other pages meanwhile.
        clock: returns the time in seconds.
    """

    def __init__(
        self, kept: int = 4, patience: float = 120.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._kept, self._patience, self._clock = kept, patience, clock
        self._lock = threading.Lock()
        self._jobs: OrderedDict[K, Job[T]] = OrderedDict()  # longest unused first

    def result(self, key: K, work: Callable[[Progress], T], progress: Progress | None = None) -> T:
        """Wait for the result of some work, which is begun if it is not under way.

        Args:
            key: everything the result depends on.
            work: computes it, and calls its argument with the steps done and their number.
            progress: called in this thread with the same. If it raises, the visitor waits no
                longer here, but the work goes on for a while, in case it asks again.
        """
        job, visitor = self.begin(key, work), current_visit().name
        while not job.ended.wait(_LOOK):
            job.see(visitor)
            if progress is not None and job.total:
                progress(job.done, job.total)
        if job.error is None:
            return job.result
        with self._lock, suppress(KeyError):
            if self._jobs[key] is job:
                del self._jobs[key]
        if isinstance(job.error, _Unwanted):  # cancelled just before this visitor asked
            return self.result(key, work, progress)
        raise job.error

    def begin(self, key: K, work: Callable[[Progress], T]) -> Job[T]:
        """Return the job of some work, begun if it is not under way; the visitor wants it now."""
        visitor = current_visit().name
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                job = self._jobs[key] = Job(self._patience, self._clock)
                job.see(visitor)
                job.begin(partial(work, job.step), "background")
            self._jobs.move_to_end(key)
            finished = [each for each, other in self._jobs.items() if other.ended.is_set()]
            for each in finished[: -self._kept]:
                del self._jobs[each]
        job.see(visitor)
        return job

    def cancel(self, key: K) -> None:
        """Wait no longer; the work ends at its next step if no one else waits for it."""
        with self._lock:
            if key in self._jobs:
                self._jobs[key].leave(current_visit().name)

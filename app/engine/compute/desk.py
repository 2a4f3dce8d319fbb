"""Places where calls from outside the pages are worked on, shared out fairly among visitors.

The processor gives turns to forward passes; a call also reads its text, cuts it into pieces and
writes its answer. Without places of their own, sixty books of one visitor would be read before the
sentence of the next.
"""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from app.engine.compute.fair import FairQueue, Waiting
from app.engine.counted import CALLS
from bert_core.errors import BertError

T = TypeVar("T")


class BusyError(BertError):
    """Too many calls are waiting; one that comes so many seconds later may be taken."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    work: Callable[[], Any]
    future: "Future[Any]"


class Desk:
    """Works on a few calls at a time, in the order of a `FairQueue`.

    Args:
        places: calls that are worked on at the same time.
        each: those of one visitor among them.
        waiting: calls of one visitor that may wait.
        in_all: calls that may wait.
    """

    def __init__(self, places: int, *, each: int, waiting: int, in_all: int) -> None:
        self._places, self._each, self._waiting, self._in_all = places, each, waiting, in_all
        self._queue = FairQueue[_Job]()
        self._at_work: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(places, thread_name_prefix="desk")

    @property
    def waiting(self) -> int:
        """Calls that wait for a place."""
        return len(self._queue.waiting)

    def submit(self, visitor: str, work: Callable[[], T]) -> "Future[T]":
        """Do the work in a thread when it is the visitor's turn, in the context of this call.

        A future that is cancelled before its turn leaves the line.

        Raises:
            BusyError: too many calls are waiting already.
        """
        future: Future[T] = Future()
        with self._lock:
            if sum(each.visitor == visitor for each in self._queue.waiting) >= self._waiting:
                raise BusyError(
                    f"{self._waiting} of your calls are waiting, as many as this server keeps for "
                    "a visitor. Wait for their answers.",
                    5,
                )
            if self.waiting >= self._in_all:
                raise BusyError("The server is busy. Try again in a few seconds.", 5)
            own = self._queue.join(visitor, _Job(partial(copy_context().run, work), future))
            future.add_done_callback(lambda _: self._leave(own))
            self._begin()
        return future

    def _begin(self) -> None:
        """Give free places to those who are next; the caller holds the lock."""
        while self._at_work.total() < self._places:
            own = self._queue.first(lambda visitor: self._at_work[visitor] < self._each)
            if own is None:
                return
            start = self._queue.begin(own)
            if own.job.future.set_running_or_notify_cancel():
                self._queue.served[own.visitor] = start + 1
                self._at_work[own.visitor] += 1
                self._pool.submit(self._do, own.visitor, own.job)

    def _do(self, visitor: str, job: _Job) -> None:
        end: Callable[[Any], None] = job.future.set_result
        try:
            result = job.work()
        except BaseException as error:  # noqa: BLE001 - raised where the future is waited for
            end, result = job.future.set_exception, error
        with self._lock:
            self._at_work[visitor] -= 1
            if not self._at_work[visitor]:
                del self._at_work[visitor]
            self._begin()
        end(result)

    def _leave(self, own: Waiting[_Job]) -> None:
        """Take a call that was cancelled out of the line."""
        if own.job.future.cancelled():
            with self._lock:
                self._queue.leave(own)


DESK = Desk(8, each=2, waiting=100, in_all=1_000)
"""Where the calls of programs, and of the Gradio pages, are worked on."""
CALLS.set_function(lambda: DESK.waiting)

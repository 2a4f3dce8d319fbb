"""Places where calls from outside the pages are worked on, shared out fairly among visitors.

The processor gives turns to forward passes; a call also reads its text, cuts it into pieces and
writes its answer. Without places of their own, sixty books of one visitor would be read before the
sentence of the next.
"""

import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from app.engine.counted import CALLS
from bert_core.errors import BertError

T = TypeVar("T")


class BusyError(BertError):
    """Too many calls are waiting; a later one may be taken.

    Attributes:
        seconds: how long to wait.
    """

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    work: Callable[[], Any]
    future: "Future[Any]"


class Desk:
    """Works on a few calls at a time; next is a visitor who was not served lately.

    Args:
        places: calls that are worked on at the same time.
        each: those of one visitor among them.
        waiting: calls of one visitor that may wait.
        in_all: calls that may wait.
    """

    def __init__(self, places: int, *, each: int, waiting: int, in_all: int) -> None:
        self._places, self._each, self._waiting, self._in_all = places, each, waiting, in_all
        self._lines: dict[str, deque[_Job]] = {}  # by visitor; the one served last is the last
        self._at_work: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(places, thread_name_prefix="desk")

    @property
    def waiting(self) -> int:
        """Calls that wait for a place."""
        with self._lock:
            return sum(map(len, self._lines.values()))

    def submit(self, visitor: str, work: Callable[[], T]) -> "Future[T]":
        """Do the work in a thread when it is the visitor's turn, in the context of this call.

        A future that is cancelled before its turn leaves the line.

        Raises:
            BusyError: too many calls are waiting already.
        """
        future: Future[T] = Future()
        with self._lock:
            line = self._lines.get(visitor, ())
            if len(line) >= self._waiting:
                raise BusyError(
                    f"{self._waiting} of your calls are waiting, as many as this server keeps for "
                    "a visitor. Wait for their answers.",
                    5,
                )
            if sum(map(len, self._lines.values())) >= self._in_all:
                raise BusyError("The server is busy. Try again in a few seconds.", 5)
            job = _Job(partial(copy_context().run, work), future)
            self._lines.setdefault(visitor, deque()).append(job)
            future.add_done_callback(lambda _: self._leave(visitor, job))
            self._begin()
        return future

    def _begin(self) -> None:
        """Give free places to the visitors who have waited longest; the caller holds the lock."""
        while self._at_work.total() < self._places:
            free = (who for who in self._lines if self._at_work[who] < self._each)
            visitor = next(free, None)
            if visitor is None:
                return
            line = self._lines.pop(visitor)
            job = line.popleft()
            if line:
                self._lines[visitor] = line  # now the last
            if job.future.set_running_or_notify_cancel():
                self._at_work[visitor] += 1
                self._pool.submit(self._do, visitor, job)

    def _do(self, visitor: str, job: _Job) -> None:
        try:
            result = job.work()
        except BaseException as error:  # noqa: BLE001 - raised where the future is waited for
            self._free(visitor)
            job.future.set_exception(error)
        else:
            self._free(visitor)
            job.future.set_result(result)

    def _free(self, visitor: str) -> None:
        with self._lock:
            self._at_work[visitor] -= 1
            if not self._at_work[visitor]:
                del self._at_work[visitor]
            self._begin()

    def _leave(self, visitor: str, job: _Job) -> None:
        """Take a call that was cancelled out of the line."""
        if not job.future.cancelled():
            return
        with self._lock:
            line = self._lines.get(visitor)
            if line and job in line:
                line.remove(job)
            if line is not None and not line:
                del self._lines[visitor]


DESK = Desk(8, each=2, waiting=100, in_all=1_000)
"""Where the calls of programs, and of the Gradio pages, are worked on."""
CALLS.set_function(lambda: DESK.waiting)

"""Run work once for all threads that ask for it at the same time."""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Generic, TypeVar

from app.engine.compute.visitor import LimitError

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class SharedRuns(Generic[K, T]):
    """Runs work by key, never twice at the same time for the same key.

    A caller that asks while a run with the same key is in progress waits for it and shares its
    result or its exception. Nothing is cached: a later call runs the work again.

    What concerns only the caller who does the work is not shared: the end of its page, if the
    visitor left (a `BaseException` of Streamlit), and a limit that it has reached. One of the
    waiting callers then does the work.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[K, Future[T]] = {}

    def run(self, key: K, work: Callable[[], T]) -> T:
        """Do the work, or wait for the run of this key that is in progress."""
        while True:
            with self._lock:
                slot = self._under_way.get(key)
                mine = slot is None
                if slot is None:
                    slot = self._under_way[key] = Future()
            if mine:
                return self._done(key, slot, work)
            with suppress(CancelledError):  # then it is someone else's turn to do the work
                return slot.result()

    def _done(self, key: K, slot: "Future[T]", work: Callable[[], T]) -> T:
        """Do the work, and pass the result or the exception to all waiting callers."""
        try:
            result = work()
        except BaseException as error:
            self._end(key)
            if isinstance(error, Exception) and not isinstance(error, LimitError):
                slot.set_exception(error)
            else:
                slot.cancel()
            raise
        self._end(key)
        slot.set_result(result)
        return result

    def _end(self, key: K) -> None:
        with self._lock:
            del self._under_way[key]

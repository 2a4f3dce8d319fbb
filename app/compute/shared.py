"""Run work once for all threads that ask for it at the same time."""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class SharedRuns(Generic[K, T]):
    """Runs work by key, never twice at the same time for the same key.

    A caller that asks while a run with the same key is in progress waits for it and shares its
    result or its exception. Nothing is cached: a later call runs the work again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[K, Future[T]] = {}

    def run(self, key: K, work: Callable[[], T]) -> T:
        """Do the work, or wait for the run of this key that is in progress."""
        with self._lock:
            slot = self._under_way.get(key)
            mine = slot is None
            if slot is None:
                slot = self._under_way[key] = Future()
        if mine:
            self._fill(key, slot, work)
        return slot.result()

    def _fill(self, key: K, slot: "Future[T]", work: Callable[[], T]) -> None:
        """Do the work, and pass the result or the exception to all waiting callers."""
        try:
            result = work()
        except BaseException as error:
            self._end(key)
            slot.set_exception(error)
            if not isinstance(error, Exception):
                raise
            return
        self._end(key)
        slot.set_result(result)

    def _end(self, key: K) -> None:
        with self._lock:
            del self._under_way[key]

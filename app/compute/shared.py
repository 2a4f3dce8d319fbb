"""Work that several threads ask for at the same time and that is done once for all of them."""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class SharedRuns(Generic[K, T]):
    """Runs work by its key, never twice at the same time.

    Who asks while a run with the same key is under way waits for that one, and shares its result
    or its failure. Nothing is kept: who asks later has the work done again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[K, Future[T]] = {}

    def run(self, key: K, work: Callable[[], T]) -> T:
        """Do the work, or wait for the run of this key that is under way."""
        with self._lock:
            slot = self._under_way.get(key)
            mine = slot is None
            if slot is None:
                slot = self._under_way[key] = Future()
        if mine:
            self._fill(key, slot, work)
        return slot.result()

    def _fill(self, key: K, slot: "Future[T]", work: Callable[[], T]) -> None:
        """Do the work; everybody who waits gets the result or the failure."""
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

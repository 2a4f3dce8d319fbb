"""A cache of results, each made once for all who ask: a second look needs no second run."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import Any, TypeVar

from app.engine.compute.visitor import LimitError

T = TypeVar("T")


@dataclass(slots=True)
class _Kept:
    made: Any
    weight: int
    used: float  # when it was last asked for


class Cache:
    """Results by key; the least recently used leaves first.

    Threads that ask for the same missing result share one computation and its failure: a class
    that is given a sentence runs the model once. Failures are not kept. What concerns only the
    caller who does the work is not shared: the end of its page, if the visitor left (a
    `BaseException` of Streamlit), and a limit that it has reached. One of the waiting callers then
    does the work.

    Args:
        limit: the most that the kept results may weigh together; a heavier one is never kept.
        most: how many are kept; None for any number.
        least: how many are kept whatever they weigh.
        lasts: seconds for which a result is kept after it was last asked for, so that memory does
            not grow with the length of a lesson.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        limit: int,
        *,
        most: int | None = None,
        least: int = 0,
        lasts: float = float("inf"),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limit, self._most, self._least = limit, most, least
        self._lasts, self._clock = lasts, clock
        self._lock = threading.RLock()
        self.held = 0
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()  # longest unused first
        self._under_way: dict[Hashable, Future[Any]] = {}

    def get(
        self, key: Hashable, make: Callable[[], T], size: Callable[[T], int] | None = None
    ) -> T:
        """Return the result for a key, computing it if it is not in the cache.

        Args:
            key: everything the result depends on, including the model.
            make: computes the result.
            size: returns the size of the result, in bytes; without it, the result is shared with
                those who ask meanwhile, and not kept.
        """
        while True:
            with self._lock:
                found: T | None = self.find(key)
                if found is not None:
                    return found
                slot = self._under_way.get(key)
                mine = slot is None
                if slot is None:
                    slot = self._under_way[key] = Future()
            if mine:
                return self._made(key, slot, make, size)
            with suppress(CancelledError):  # then it is someone else's turn to do the work
                shared: T = slot.result()
                return shared

    def find(self, key: Hashable) -> Any:
        """Return what is kept for a key; None if there is nothing."""
        with self._lock:
            self._drop()
            kept = self._kept.get(key)
            if kept is None:
                return None
            kept.used = self._clock()
            self._kept.move_to_end(key)
            return kept.made

    def keep(self, made: object, weight: int, key: Hashable = None) -> Hashable:
        """Keep what is made already; return its key, a random one if none is given."""
        key = key or token_urlsafe(12)
        with self._lock:
            if key in self._kept:
                self.held -= self._kept.pop(key).weight
            if weight <= self.limit or self._least:
                self._kept[key] = _Kept(made, weight, self._clock())
                self.held += weight
            self._drop()
        return key

    def drop(self, key: Hashable, made: object) -> bool:
        """Drop a result unless it has been replaced; return whether it was there."""
        with self._lock:
            there = key in self._kept and self._kept[key].made is made
            if there:
                self.held -= self._kept.pop(key).weight
            return there

    def drop_old(self) -> bool:
        """Drop what no one has asked for in a while; return whether there was any."""
        with self._lock:
            return self._drop()

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._kept.clear()
            self.held = 0

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """The keys of what is kept, least recently used first."""
        with self._lock:
            return tuple(self._kept)

    def _made(
        self,
        key: Hashable,
        slot: "Future[Any]",
        make: Callable[[], T],
        size: Callable[[T], int] | None,
    ) -> T:
        """Compute a result, and pass it or the exception to all waiting callers."""
        try:
            made = make()
            weight = size(made) if size else 0
        except BaseException as error:
            del self._under_way[key]
            if isinstance(error, Exception) and not isinstance(error, LimitError):
                slot.set_exception(error)
            else:
                slot.cancel()
            raise
        with self._lock:
            del self._under_way[key]
            if size:
                self.keep(made, weight, key)
        slot.set_result(made)
        return made

    def _drop(self) -> bool:
        """Drop what is too much or too old; the caller holds the lock."""
        before, old = len(self._kept), self._clock() - self._lasts
        while len(self._kept) > self._least:
            full = self.held > self.limit or len(self._kept) > (self._most or len(self._kept))
            if not full and next(iter(self._kept.values())).used > old:
                break
            self.held -= self._kept.popitem(last=False)[1].weight
        return len(self._kept) < before

    def __len__(self) -> int:
        return len(self._kept)


RECENT = Cache(256 * 2**20, lasts=200.0)
"""Room for three inputs of 512 tokens (6 layers of 12 heads), or some two thousand sentences."""

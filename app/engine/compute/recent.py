"""A cache of recent results, so that looking at a text again needs no second pass."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

from app.engine.compute.shared import SharedRuns

T = TypeVar("T")


@dataclass(slots=True)
class _Kept:
    """A result, its size in bytes, and when it was last asked for."""

    made: Any
    weight: int
    used: float


class RecentResults:
    """A least-recently-used cache of expensive results, bounded by their size in bytes.

    Without it, a click on another head of the same text would run the whole model again. A result
    larger than the limit is never kept. Threads that ask for the same missing result share one
    computation: a class that is given a sentence runs the model once. A result that no one has
    asked for in a while is dropped, so that memory does not grow with the length of the lesson.

    Args:
        limit: maximum number of bytes kept.
        lasts: seconds for which a result is kept after it was last asked for.
        clock: returns the time in seconds.
    """

    def __init__(
        self, limit: int, lasts: float = 200.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit, self._lasts, self._clock = limit, lasts, clock
        self._held = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()  # longest unused first
        self._runs = SharedRuns[Hashable, Any]()

    def get(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """Return the result for a key, computing it if it is not in the cache.

        Args:
            key: everything the result depends on, including the model.
            make: computes the result.
            size: returns the size of the result in bytes.
        """
        kept = self._find(key)
        if kept is not None:
            made: T = kept.made
            return made
        shared: T = self._runs.run(key, lambda: self._make(key, make, size))
        return shared

    def drop_old(self) -> None:
        """Drop what no one has asked for in a while, even if no one asks for anything."""
        with self._lock:
            self._drop()

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._kept.clear()
            self._held = 0

    def _find(self, key: Hashable) -> "_Kept | None":
        """Return what is kept for a key, now the latest used; None if there is nothing."""
        with self._lock:
            self._drop()
            kept = self._kept.get(key)
            if kept is not None:
                kept.used = self._clock()
                self._kept.move_to_end(key)
            return kept

    def _make(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """Compute a result and keep it, unless a run that has just ended did so."""
        kept = self._find(key)
        if kept is not None:
            found: T = kept.made
            return found
        made = make()
        weight = size(made)
        with self._lock:
            if weight <= self._limit:
                self._kept[key] = _Kept(made, weight, self._clock())
                self._held += weight
            self._drop()
        return made

    def _drop(self) -> None:
        """Drop what is too much or too old; the caller holds the lock."""
        old = self._clock() - self._lasts
        while self._kept:
            first = next(iter(self._kept.values()))
            if self._held <= self._limit and first.used > old:
                return
            self._kept.popitem(last=False)
            self._held -= first.weight

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def limit(self) -> int:
        """Maximum number of bytes kept."""
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        with self._lock:
            self._limit = limit
            self._drop()

    @property
    def held(self) -> int:
        """Number of bytes in the cache."""
        return self._held


RECENT = RecentResults(256 * 2**20)
"""Room for three inputs of 512 tokens (6 layers of 12 heads), or some two thousand sentences."""

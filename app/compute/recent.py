"""A cache of recent results, so that looking at a text again needs no second pass."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class RecentResults:
    """A least-recently-used cache of expensive results, bounded by their size in bytes.

    Without it, a click on another head of the same text would run the whole model again. A result
    larger than the limit is never kept. Two threads that ask for the same missing result may
    both compute it: that costs time once and needs no lock around the model.

    Args:
        limit: maximum number of bytes kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """Return the result for a key, computing it if it is not in the cache.

        Args:
            key: everything the result depends on, including the model.
            make: computes the result.
            size: returns the size of the result in bytes.
        """
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                kept: T = self._kept[key][0]
                return kept
        made = make()
        weight = size(made)
        with self._lock:
            if weight <= self._limit and key not in self._kept:
                self._kept[key] = (made, weight)
                self._held += weight
            while self._held > self._limit:
                _, (_, freed) = self._kept.popitem(last=False)
                self._held -= freed
        return made

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def limit(self) -> int:
        """Maximum number of bytes kept."""
        return self._limit

    @property
    def held(self) -> int:
        """Number of bytes in the cache."""
        return self._held


RECENT = RecentResults(256 * 2**20)
"""Room for three inputs of 512 tokens (6 layers of 12 heads), or some two thousand sentences."""

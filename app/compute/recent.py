"""The last results of the process, so that a second look at a text needs no second pass."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class RecentResults:
    """Results that are expensive to compute again, bounded by the bytes they hold.

    A click on another head of the same text would otherwise run the whole model again. The
    result unused for longest leaves first; one that is larger than the limit is never kept.
    Two threads that ask for the same missing result may both compute it: that costs time once
    and needs no lock around the model.

    Args:
        limit: bytes kept at most.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """Return the result of a key, made now if it is not here.

        Args:
            key: everything the result depends on, the model included.
            make: computes the result.
            size: says how many bytes it holds.
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
        """Bytes kept at most."""
        return self._limit

    @property
    def held(self) -> int:
        """Bytes held now."""
        return self._held


RECENT = RecentResults(256 * 2**20)
"""Three inputs of 512 tokens through 6 layers of 12 heads, or some two thousand sentences."""

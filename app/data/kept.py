"""What visitors have on a page for a while, under random keys; bounded over all of them."""

import threading
from collections import OrderedDict
from secrets import token_urlsafe
from typing import Generic, TypeVar

from app.data.tables import Table
from app.data.work import Work

T = TypeVar("T")
_MOST = 128 * 2**20  # bytes


class Kept(Generic[T]):
    """Values in memory, at most so many bytes; those not asked for the longest go first.

    >>> kept = Kept[str](10)
    >>> first, second = kept.keep("a", 6), kept.keep("b", 6)
    >>> kept.find(first), kept.find(second)
    (None, 'b')
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[str, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, value: T, size: int, key: str = "") -> str:
        """Keep a value of so many bytes; return its key, a random one if none is given."""
        key = key or token_urlsafe(12)
        with self._lock:
            self._values[key] = (value, size)
            self._values.move_to_end(key)
            while sum(each for _, each in self._values.values()) > self._most:
                self._values.popitem(last=False)
        return key

    def find(self, key: str) -> T | None:
        """Return what is under a key; None if nothing is, or no longer."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]


TABLES = Kept[Table](_MOST)
"""The tables that visitors have uploaded or pasted."""

WORKS = Kept[Work](_MOST)
"""Their answers, and those of our samples."""

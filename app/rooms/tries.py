"""Limits on attempts per minute."""

import time
from collections import Counter
from collections.abc import Callable

_MINUTE = 60.0  # seconds
_MOST_KEYS = 20_000  # in one minute; later ones wait for the next


class Tries:
    """Counts tries by whom they are of, anew in each minute.

    Args:
        most: how many each may have in a minute.
        clock: returns the time in seconds.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._minute = 0
        self._counts: Counter[str] = Counter()

    def are_left(self, of: str) -> bool:
        """Return whether there is one more."""
        if (minute := int(self._clock() // _MINUTE)) != self._minute:
            self._minute, self._counts = minute, Counter()
        return self._counts[of] < self._most and len(self._counts) < _MOST_KEYS

    def take(self, of: str) -> bool:
        """Count one; return whether it was allowed."""
        allowed = self.are_left(of)
        self._counts[of] += allowed
        return allowed

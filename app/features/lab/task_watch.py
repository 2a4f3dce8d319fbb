"""Watching together: the link by which others look at a lab that is not theirs."""

import secrets
import time
from collections.abc import Callable

from app.settings import settings
from bert_core.errors import InputError

SHARED = 8
"""Most labs with a link at the same time; each stays in memory until its link ends."""

WATCHERS = 30
"""Most visitors who watch one lab."""

_PRESENT = 60.0  # seconds after which a watcher who asks no more has left
_HOUR = 3_600.0  # seconds


class Share:
    """The link to a lab, and its watchers. The key says nothing about the lab; it is not stored.

    Args:
        clock: returns the time in seconds.

    Attributes:
        key: what only those know who were given the link.
        until: when it ends, by the clock.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.key = secrets.token_urlsafe(16)
        self.until = clock() + settings().hours * _HOUR
        self._seen: dict[str, float] = {}

    @property
    def is_open(self) -> bool:
        """Whether the link leads anywhere: for some hours, where classes are switched on."""
        return settings().classes and self._clock() < self.until

    def opens(self, key: str) -> bool:
        """Return whether this is its key, in a time that tells nothing of it."""
        return secrets.compare_digest(self.key.encode(), key.encode(errors="replace"))

    @property
    def watchers(self) -> int:
        """How many have looked lately."""
        now = self._clock()
        return sum(now - at <= _PRESENT for at in list(self._seen.values()))

    def enter(self, who: str) -> None:
        """Note that a visitor looks.

        Raises:
            InputError: as many watch as may.
        """
        now = self._clock()
        seen = {name: at for name, at in self._seen.items() if now - at <= _PRESENT}
        if who not in seen and len(seen) >= WATCHERS:
            raise InputError(
                f"{len(seen)} are watching this run, as many as this server allows. "
                "Try again in a minute."
            )
        self._seen = seen | {who: now}

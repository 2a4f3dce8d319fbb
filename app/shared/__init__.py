"""What visitors share across the servers of one site.

- `memory.py`: in the memory of this process, for a site of one server; the default.
- `redis_store.py`: in Redis (`BERT_EXPLORER_SHARED`), for several; imported with that setting only.

Both have four kinds of things, all with a bound and an end: shelves (texts of links), tries
(counted anew in each minute), ledgers (what visitors may still use) and documents (class rooms).
"""

from collections.abc import Callable
from functools import cache
from typing import Protocol, TypeVar

from app.settings import settings
from app.shared.memory import Documents, Ledger, Memory, Shelf, Tries

T = TypeVar("T")


class Shared(Protocol):
    """Makes them; those of one name are the same on every server."""

    def begin(self) -> None:
        """Connect, if there is something to connect to; a server calls this once."""

    @property
    def state(self) -> str:
        """Where things are: "memory", or whether the store is "reached" or "away"."""

    def secret(self) -> str:
        """Return a random key, the same on every server."""

    def shelf(self, name: str, most: int, size: int) -> Shelf:
        """Return a shelf of at most so many entries, and bytes in all."""

    def tries(self, name: str, most: int) -> Tries:
        """Return tries: so many each in a minute."""

    def ledger(self, name: str) -> Ledger:
        """Return a ledger."""

    def documents(
        self, name: str, write: Callable[[T], object], read: Callable[[object], T]
    ) -> Documents[T]:
        """Return documents.

        Args:
            name: of their kind.
            write: makes a value what JSON can say.
            read: makes it a value again.
        """


@cache
def shared() -> Shared:
    """Return what the setting names."""
    if not settings().shared:
        return Memory()
    from app.shared.redis_store import Redis

    return Redis(settings().shared)

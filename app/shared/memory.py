"""Things with a bound and an end, in the memory of this process; safe to use from all threads."""

import secrets
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Generic, TypeVar

from bert_core.errors import BertError

T = TypeVar("T")
Clock = Callable[[], float]
Texts = Mapping[str, str]

DAY = 24 * 60 * 60  # seconds
MINUTE = 60.0  # seconds
MOST_NAMES = 20_000  # whose tries are counted in one minute; later ones wait for the next
MOST_ACCOUNTS = 20_000  # the longest unused one is dropped


class AwayError(BertError):
    """What the servers share cannot be reached now, and nothing here replaces it."""


@dataclass(frozen=True, slots=True)
class _Kept:
    texts: Texts
    size: int  # bytes
    until: float  # by the clock


class Shelf:
    """Texts under random keys, kept for a day, bounded in number and size; the oldest go first.

    Args:
        most: number of entries.
        size: bytes of all texts together.
        clock: returns the time in seconds.
    """

    def __init__(self, most: int, size: int, clock: Clock = time.monotonic) -> None:
        self._most, self._most_bytes, self._clock = most, size, clock
        self._entries: OrderedDict[str, _Kept] = OrderedDict()  # oldest first
        self._size = 0
        self._lock = threading.Lock()

    def keep(self, texts: Texts) -> str:
        """Keep texts, and return the key under which they are found."""
        key = secrets.token_urlsafe(12)
        size = sum(len(text.encode(errors="surrogatepass")) for text in texts.values())
        with self._lock:
            self._entries[key] = _Kept(dict(texts), size, self._clock() + DAY)
            self._size += size
            while len(self._entries) > self._most or self._size > self._most_bytes:
                self._drop_oldest()
            self._drop_expired()
        return key

    def find(self, key: str) -> Texts | None:
        """Return the texts of a key; None if there are none, or no longer."""
        with self._lock:
            self._drop_expired()
            entry = self._entries.get(key)
        return entry.texts if entry else None

    def _drop_expired(self) -> None:
        now = self._clock()
        while self._entries and next(iter(self._entries.values())).until <= now:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        _, entry = self._entries.popitem(last=False)
        self._size -= entry.size


class Tries:
    """Counts tries by whom they are of, anew in each minute.

    Args:
        most: how many each may have in a minute.
        clock: returns the time in seconds.
    """

    def __init__(self, most: int, clock: Clock = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._minute = 0
        self._counts: Counter[str] = Counter()

    def are_left(self, of: str) -> bool:
        """Return whether there is one more."""
        return self._ask(of, take=False)

    def take(self, of: str) -> bool:
        """Count one; return whether it was allowed."""
        return self._ask(of, take=True)

    def _ask(self, of: str, take: bool) -> bool:
        if (minute := self._now()) != self._minute:
            self._minute, self._counts = minute, Counter()
        left = self._counts[of] < self._most and len(self._counts) < MOST_NAMES
        if left and take:
            self._counts[of] += 1
        return left

    def _now(self) -> int:
        return int(self._clock() // MINUTE)


@dataclass(frozen=True, slots=True)
class Account:
    """Whose balance, and how much of it grows back in a minute and is the most it can be."""

    of: Annotated[str, "a name"]
    requests: Annotated[float, "in a minute"]
    seconds: Annotated[float, "in a minute"]


@dataclass(frozen=True, slots=True)
class Balance:
    """What is left of an account."""

    requests: float
    seconds: float


class Ledger:
    """Balances that grow back evenly (token buckets), so who pauses has the whole minute's again.

    Args:
        clock: returns the time in seconds.
        most: accounts that are remembered.
    """

    def __init__(self, clock: Clock = time.monotonic, most: int = MOST_ACCOUNTS) -> None:
        self._clock, self._most = clock, most
        self._balances: OrderedDict[str, tuple[Balance, float]] = OrderedDict()
        self._lock = threading.Lock()

    def draw(
        self, accounts: Sequence[Account], *, requests: int = 0, seconds: float = 0.0
    ) -> list[Balance]:
        """Draw from accounts; return what was left of each before.

        Args:
            accounts: whose.
            requests: drawn from all of them if all have as many, and time left; else from none.
            seconds: drawn in any case; a balance may then be negative.
        """
        now = self._clock()
        with self._lock:
            before = [self._grown(each, now) for each in accounts]
            if not all(left.seconds > 0 and left.requests >= requests for left in before):
                requests = 0
            for account, left in zip(accounts, before, strict=True):
                self._balances.pop(account.of, None)
                drawn = Balance(left.requests - requests, left.seconds - seconds)
                self._balances[account.of] = drawn, now
            while len(self._balances) > self._most:
                self._balances.popitem(last=False)
        return before

    def _grown(self, account: Account, now: float) -> Balance:
        full = Balance(account.requests, account.seconds)
        left, at = self._balances.get(account.of, (full, now))
        minutes = max(0.0, now - at) / MINUTE
        return Balance(
            min(full.requests, left.requests + minutes * full.requests),
            min(full.seconds, left.seconds + minutes * full.seconds),
        )

    def __len__(self) -> int:
        return len(self._balances)


# Gets the key of a document that has changed, and its value before and after.
Listener = Callable[[str, T | None, T | None], None]


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """A document as it is kept; each change counts its version up."""

    value: T
    until: float  # by the clock
    group: str = ""
    version: int = 1


class Documents(Generic[T]):
    """Values under keys, which functions of them replace.

    Args:
        clock: returns the time in seconds.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._entries: dict[str, Entry[T]] = {}
        self._listening: list[Listener[T]] = []
        self._lock = threading.RLock()

    def listen(self, listener: Listener[T]) -> None:
        """Tell a function of every change, in whatever thread it is noticed."""
        self._listening.append(listener)

    def known(self) -> dict[str, T]:
        """Return all of them as this process has last heard of them."""
        now = self._clock()
        return {key: each.value for key, each in list(self._entries.items()) if now < each.until}

    def find(self, key: str) -> T | None:
        """Return a value; None if there is none, or no longer.

        Raises:
            AwayError: this cannot be known now; so of `add`, `change` and `drop`.
        """
        return self.known().get(key)

    def add(
        self, key: str, value: T, *, seconds: float, group: str, most: int, most_of_group: int
    ) -> tuple[int, int] | None:
        """Keep a new value for some seconds, unless there are as many as there may be.

        Returns:
            None, or how many there are already: in all, and of the group.
        """
        with self._lock:
            self.sweep()
            of_group = sum(each.group == group for each in self._entries.values())
            if len(self._entries) >= most or of_group >= most_of_group:
                return len(self._entries), of_group
            self._put(key, Entry(value, self._clock() + seconds, group))
        return None

    def change(self, key: str, turn: Callable[[T], T]) -> T | None:
        """Replace a value by what a function makes of it; None if there is none.

        Raises:
            BertError: the function does, and nothing is changed.
        """
        with self._lock:
            self.sweep()
            entry = self._entries.get(key)
            if entry is None:
                return None
            value = turn(entry.value)
            self._put(key, replace(entry, value=value, version=entry.version + 1))
        return value

    def drop(self, key: str) -> None:
        """Forget a value."""
        self._put(key, None)

    def sweep(self) -> None:
        """Forget what is over."""
        for key in set(self._entries) - set(self.known()):
            self._put(key, None)

    def _put(self, key: str, entry: Entry[T] | None) -> None:
        """Note what a key has from now on, unless something newer is known, and tell of it."""
        with self._lock:
            before = self._entries.get(key)
            if entry is None:
                self._entries.pop(key, None)
            elif before is None or before.version < entry.version:
                self._entries[key] = entry
            else:
                return
        was, now = before.value if before else None, entry.value if entry else None
        for listener in self._listening if was != now else ():
            listener(key, was, now)


class Memory:
    """Makes them in this process, the default; a subclass for many servers has each name once.

    Args:
        clock: returns the time in seconds.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self.clock, self._secret = clock, secrets.token_hex(32)

    def begin(self) -> None:
        """Connect, if there is something to connect to; a server calls this once."""

    @property
    def state(self) -> str:
        """Where things are: "memory", or whether the store is "reached" or "away"."""
        return "memory"

    def secret(self) -> str:
        """Return a random key, the same on every server; its own until a store is reached."""
        return self._secret

    def shelf(self, name: str, most: int, size: int) -> Shelf:
        """Return a shelf of at most so many entries, and bytes in all."""
        return Shelf(most, size, self.clock)

    def tries(self, name: str, most: int) -> Tries:
        """Return tries: so many each in a minute."""
        return Tries(most, self.clock)

    def ledger(self, name: str) -> Ledger:
        """Return a ledger."""
        return Ledger(self.clock)

    def documents(
        self, name: str, write: Callable[[T], object], read: Callable[[object], T]
    ) -> Documents[T]:
        """Return documents.

        Args:
            name: of their kind.
            write: makes a value what JSON can say.
            read: makes it a value again.
        """
        return Documents(self.clock)

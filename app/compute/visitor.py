"""Who the current work is for, and what a visitor may use in a minute.

A front end wraps what it does for a visitor in `visiting`; all computing passes through
`app.compute.processor`, which asks here. Work outside of it, such as the warm-up, belongs to no one
and is not limited.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from app.settings import settings
from bert_core.errors import InputError


class LimitError(InputError):
    """A visitor has used up what it may use for now; this concerns no one else."""


Told = Callable[[int | None], None]

_MINUTE = 60.0  # seconds
_MOST_VISITORS = 10_000  # accounts; the longest unused one is dropped


@dataclass(slots=True)
class Visit:
    """One request of a visitor.

    Attributes:
        name: of the visitor; "" for no one.
        told: called while the visitor waits with how many are before, and with None at its turn.
        counted: whether it has been counted as a request.
        waiting: whether the visitor has been told to wait.
    """

    name: str
    told: Told | None = None
    counted: bool = False
    waiting: bool = False

    def tell(self, before: int | None) -> None:
        """Tell the visitor how many are before it; None if it is its turn."""
        if self.told is not None and (self.waiting or before is not None):
            self.waiting = before is not None
            self.told(before)


_VISIT: ContextVar[Visit | None] = ContextVar("visit", default=None)


@contextmanager
def visiting(name: str, told: Told | None = None) -> Iterator[None]:
    """Let the computing in the block count as one request of a visitor.

    Args:
        name: anything that tells visitors apart, such as a session's id; never shown or logged.
        told: see `Visit`; called in the thread of the block.
    """
    token = _VISIT.set(Visit(name, told))
    try:
        yield
    finally:
        _VISIT.reset(token)


def current_visit() -> Visit:
    """Return the request that the current work is for."""
    return _VISIT.get() or Visit("")


@dataclass(slots=True)
class _Account:
    """What a visitor may still use; both numbers grow back with time."""

    requests: float
    seconds: float
    at: float  # when they were last brought up to date


class Allowances:
    """Requests and seconds of computing that each visitor may use in a minute.

    What was used grows back evenly, so a visitor who pauses may begin again with the whole minute's
    allowance (a token bucket).

    Args:
        requests: in a minute.
        seconds: of computing in a minute.
        clock: returns the time in seconds.
    """

    def __init__(
        self, requests: int, seconds: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._requests, self._seconds, self._clock = requests, seconds, clock
        self._accounts: OrderedDict[str, _Account] = OrderedDict()
        self._lock = threading.Lock()

    def admit(self, visit: Visit) -> None:
        """Count a request at its first computation.

        Raises:
            LimitError: the visitor has used up a limit; the message says which, and for how long.
        """
        if not visit.name:
            return
        with self._lock:
            account = self._account(visit.name)
            if account.seconds <= 0:
                raise LimitError(
                    f"Your requests took {self._seconds} seconds of computing within a minute, as "
                    "much as this server gives each visitor. "
                    f"{_wait((1 - account.seconds) / self._seconds)}, or give a shorter text."
                )
            if not visit.counted and account.requests < 1:
                raise LimitError(
                    f"You asked for {self._requests} answers within a minute, as many as this "
                    f"server gives each visitor. {_wait((1 - account.requests) / self._requests)}."
                )
            account.requests -= not visit.counted
            visit.counted = True

    def charge(self, visit: Visit, seconds: float) -> None:
        """Subtract the seconds that a computation took."""
        if visit.name:
            with self._lock:
                self._account(visit.name).seconds -= seconds

    def _account(self, name: str) -> _Account:
        """Return a visitor's account, brought up to date; the caller holds the lock."""
        now = self._clock()
        account = self._accounts.pop(name, None)
        if account is None:
            account = _Account(self._requests, self._seconds, now)
        share = (now - account.at) / _MINUTE
        account.requests = min(self._requests, account.requests + share * self._requests)
        account.seconds = min(self._seconds, account.seconds + share * self._seconds)
        account.at = now
        self._accounts[name] = account
        while len(self._accounts) > _MOST_VISITORS:
            self._accounts.popitem(last=False)
        return account

    def __len__(self) -> int:
        return len(self._accounts)


def _wait(minutes: float) -> str:
    seconds = max(1, round(minutes * _MINUTE))
    return f"Wait {seconds} second{'s' * (seconds != 1)}"


def check_text(text: str) -> None:
    """Reject a text that is longer than the site takes.

    Raises:
        InputError: the message has both lengths.
    """
    limit = settings().text_chars
    if len(text) > limit:
        raise InputError(
            f"The text has {len(text):,} characters; this site accepts at most {limit:,}. "
            "Shorten it."
        )


def check_windows(count: int) -> None:
    """Reject a text that is cut into more windows than the site computes.

    Raises:
        InputError: the message has both numbers.
    """
    limit = settings().windows
    if count > limit:
        raise InputError(
            f"The model would read this text in {count:,} windows; this site computes at most "
            f"{limit:,} for one answer. Shorten the text."
        )


ALLOWANCES = Allowances(settings().requests, settings().seconds)
"""What the visitors of this process may use."""

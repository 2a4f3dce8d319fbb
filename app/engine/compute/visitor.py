"""Who the current work is for, and what a visitor may use in a minute.

A front end wraps what it does for a visitor in `visiting`; all computing passes through
`app.engine.compute.processor`, which asks here. Work outside of it, such as the warm-up, belongs to
no one and is not limited.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated

from app.settings import NO_LIMIT, settings
from app.shared import shared
from app.shared.memory import Account, Balance, Ledger
from bert_core.errors import InputError, count


class LimitError(InputError):
    """A visitor has used up what it may use for so many seconds; this concerns no one else."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class Cancelled(BaseException):
    """No one waits for the answer any more. It passes through whatever handles errors."""


Told = Callable[[int | None], None]

_MINUTE = 60.0  # seconds
_VISITOR = "visitor "
_SHARING = 10  # visitors of one network address who may use their whole allowance together
_EACH, _TOGETHER = "for each visitor", "for all visitors of one network address together"


@dataclass(slots=True)
class Visit:
    """One request of a visitor."""

    name: Annotated[str, 'of the visitor; "" for no one']
    told: Annotated[Told | None, "called with how many are before; at its turn with None"] = None
    network: Annotated[str, 'its network address; "" if that has no limit of its own'] = ""
    counted: Annotated[bool, "whether it has been counted as a request"] = False
    waiting: Annotated[bool, "whether the visitor has been told to wait"] = False
    cancelled: Annotated[bool, "whether it has gone: its next computation raises `Cancelled`"] = (
        False
    )
    interface: Annotated[str, 'through which it came; "" for none'] = ""
    used: Annotated[float, "seconds of computing that it took here so far"] = 0.0

    def tell(self, before: int | None) -> None:
        """Tell the visitor how many are before it; None if it is its turn."""
        if self.told is not None and (self.waiting or before is not None):
            self.waiting = before is not None
            self.told(before)


_VISIT: ContextVar[Visit | None] = ContextVar("visit", default=None)


@contextmanager
def visiting(visit: Visit) -> Iterator[None]:
    """Let the computing in the block count as this request.

    Its name is anything that tells visitors apart, such as a session's id, and is never shown or
    logged. `told` is called in the thread of the block.
    """
    token = _VISIT.set(visit)
    try:
        yield
    finally:
        _VISIT.reset(token)


def current_visit() -> Visit:
    """Return the request that the current work is for."""
    return _VISIT.get() or Visit("")


class Allowances:
    """Requests and seconds of computing that each visitor may use in a minute.

    What was used grows back evenly, so a visitor who pauses may begin again with the whole minute's
    allowance (a token bucket). All visitors of one network address together may use ten times as
    much, whatever they call themselves.

    Who has used what is in `ledger`, one of its own if None.
    """

    def __init__(
        self,
        requests: int,
        seconds: int,
        clock: Callable[[], float] = time.monotonic,
        ledger: Ledger | None = None,
    ) -> None:
        self._requests, self._seconds = requests, seconds
        self._ledger = Ledger(clock) if ledger is None else ledger

    def admit(self, visit: Visit, *, count: bool = True) -> None:
        """Count a request, once, unless a limit has been used up; or ask whether it would be.

        Raises:
            Cancelled: no one waits for it any more.
            LimitError: a limit is used up; the message says which, and for how long.
        """
        if visit.cancelled:
            raise Cancelled
        accounts, wanted = self._accounts_of(visit), int(not visit.counted)
        left = self._ledger.draw(accounts, requests=wanted if count else 0)
        for account, balance in zip(accounts, left, strict=True):
            self._check(account, balance, wanted)
        visit.counted = visit.counted or count

    def charge(self, visit: Visit, seconds: float) -> None:
        """Subtract the seconds that a computation took."""
        self._ledger.draw(self._accounts_of(visit), seconds=seconds)

    def _check(self, account: Account, left: Balance, wanted: int) -> None:
        """Refuse what an account cannot pay for."""
        if left.seconds <= 0:
            minutes, end = (1 - left.seconds) / account.seconds, ", or shorten the text."
            limit = f"{account.seconds:.0f} seconds of computing"
        elif left.requests < wanted:
            minutes, end = (1 - left.requests) / account.requests, "."
            limit = f"{account.requests:.0f} answers"
        else:
            return
        whom = _EACH if account.of.startswith(_VISITOR) else _TOGETHER
        wait = max(1, round(minutes * _MINUTE))
        says = f"Rate limit reached ({limit} a minute {whom}). Wait {count(wait, 'second')}{end}"
        raise LimitError(says, wait)

    def _accounts_of(self, visit: Visit) -> list[Account]:
        """Return the accounts that a request is charged to; none if there is no limit."""
        if min(self._requests, self._seconds) >= NO_LIMIT:
            return []
        rows = (_VISITOR, visit.name, 1), ("network ", visit.network, _SHARING)
        return [
            Account(kind + who, self._requests * share, self._seconds * share)
            for kind, who, share in rows
            if who
        ]


def check_text(text: str) -> None:
    """Reject a text that is longer than the site takes (`InputError`)."""
    limit = settings().text_chars
    if len(text) > limit:
        raise InputError(
            f"The text has {len(text):,} characters; this site accepts at most {limit:,}. "
            "Shorten it."
        )


def check_windows(count: int, *, least: int = 0) -> None:
    """Reject a text that is cut into more windows than the site computes (`InputError`).

    `least` are computed in any case.
    """
    limit = max(settings().windows, least)
    if count > limit:
        raise InputError(
            f"The model would read this text in {count:,} windows; this site computes at most "
            f"{limit:,} for one answer. Shorten the text."
        )


ALLOWANCES = Allowances(
    settings().requests, settings().seconds, ledger=shared().ledger("allowances")
)
"""What the visitors of this site may use."""

"""Calls of strangers: counted, worked on in their turn, and refused with a status and a sentence.

Every interface that programs can reach asks here: the JSON API, MCP, Gradio's pages and clients.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable
from concurrent.futures import Future
from http import HTTPStatus
from typing import TypeVar

from app.engine.compute.desk import DESK, BusyError
from app.engine.compute.visitor import ALLOWANCES, LimitError, Visit, visiting
from app.engine.counted import count_refusal
from app.log import cause
from bert_core.errors import BertError, DownloadError

T = TypeVar("T")

_LOG = logging.getLogger("app")
_STATUSES: tuple[tuple[type[BertError], HTTPStatus], ...] = (  # the first that fits
    (LimitError, HTTPStatus.TOO_MANY_REQUESTS),
    (BusyError, HTTPStatus.SERVICE_UNAVAILABLE),
    (DownloadError, HTTPStatus.SERVICE_UNAVAILABLE),
    (BertError, HTTPStatus.UNPROCESSABLE_ENTITY),
)


PAUSE = 0.5
"""Seconds before a visitor is told that the rate limit is reached. Twelve programs that call on
without a pause of their own would otherwise keep the interpreter from the pages."""


class Refusal(Exception):
    """Why a call has no answer: a status of HTTP, a sentence for its sender, and the seconds after
    which another try may succeed; 0 if there is no such time.
    """

    def __init__(self, status: int, message: str, seconds: int = 0) -> None:
        super().__init__(message)
        self.status, self.message, self.seconds = int(status), message, seconds

    async def pause(self) -> None:
        """Wait before a visitor is told that the rate limit is reached."""
        if self.status == HTTPStatus.TOO_MANY_REQUESTS:
            await asyncio.sleep(PAUSE)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer."""
        return {"Retry-After": str(self.seconds)} if self.seconds else {}


def refused(error: Exception) -> Refusal:
    """Say why a call has no answer; errors of `bert_core` are written for people."""
    if isinstance(error, Refusal):
        return error
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            count_refusal(status)
            return Refusal(status, str(error), getattr(error, "seconds", 0))
    count_refusal(HTTPStatus.INTERNAL_SERVER_ERROR)
    return Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, apology(error))


def apology(error: Exception) -> str:
    """Return what a visitor gets to read of a bug of ours: a number, which the log has, too.

    The log gets the `cause`, not the exception's own message, which may quote what was typed.
    """
    number = secrets.token_hex(4)
    _LOG.error("error %s: %s", number, cause(error))
    return (
        f"Sorry, something went wrong on our side. It is logged as {number}, without your text. "
        "Try another text."
    )


def check(visit: Visit, *, count: bool) -> None:
    """Refuse a call beyond its visitor's rate limit, before anything is computed.

    With `count` it is one answer less; otherwise a later call of this function counts it.

    Raises:
        Refusal: 429.
    """
    try:
        ALLOWANCES.admit(visit, count=count)
    except LimitError as error:
        raise refused(error) from None


def submit(visit: Visit, work: Callable[[], T]) -> "Future[T]":
    """Do the work of a call in a thread, when it is its visitor's turn.

    Raises:
        Refusal: 429 or 503; the visitor, or all together, have too many calls waiting.
    """

    def done() -> T:
        with visiting(visit):
            return work()

    check(visit, count=True)
    try:
        return DESK.submit(visit.name, done)
    except BusyError as error:
        raise refused(error) from None

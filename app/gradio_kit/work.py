"""Run a task for a page, an endpoint or a tool, and turn errors into messages."""

import logging
import secrets
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import anyio
import gradio as gr
from anyio.to_thread import run_sync
from gradio.utils import LRUCache

from app.gradio_kit.limits import AT_ONCE, UNFETCHED, WAITING
from app.log import cause
from bert_core.errors import BertError

T = TypeVar("T")
TASKS = "tasks"
"""One queue for all calls that compute."""

_LOG = logging.getLogger("app")
_BUSY = "The server is busy. Try again in a few seconds."


class Refusal(gr.Error):
    """A message for the caller. It is not an error of the program, so nothing is logged."""

    def __init__(self, message: str) -> None:
        super().__init__(message, print_exception=False)

    def __str__(self) -> str:
        return str(self.message)


def message_of(error: Exception) -> str:
    """Say what went wrong.

    Errors of `bert_core` are written for people. Everything else is our bug: the caller gets an
    apology with a number, and the log gets the same number with its `cause`, without the
    exception's own message, which may quote what the visitor typed.
    """
    if isinstance(error, BertError):
        return str(error)
    if isinstance(error, gr.Error):
        return str(error.message)
    number = secrets.token_hex(4)
    _LOG.error("error %s: %s", number, cause(error))
    return (
        f"Sorry, something went wrong on our side. It is logged as {number}, without your text. "
        "Try another text."
    )


class Face(gr.Blocks):
    """Blocks whose every call, from whichever route, ends with a result or with a `Refusal`.

    Gradio prints the traceback of any other exception, and the message of some of them contains
    the inputs.
    """

    async def process_api(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Process a call."""
        try:
            return await super().process_api(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - the last line of defence of this face
            raise Refusal(message_of(error)) from None

    def validate_inputs(self, block_fn: Any, inputs: list[Any]) -> None:
        """Refuse a call with too few or too many values, or of what only browsers do."""
        if block_fn.fn is None:
            raise Refusal("There is no such endpoint.")
        expected = len(block_fn.inputs)
        if len(inputs) != expected:
            raise Refusal(f"Found {len(inputs)} values; expected {expected}.")


class Unfetched(LRUCache[str, Any]):
    """Answers by caller until they are fetched, and which calls they belong to.

    Gradio keeps 2,000 and never forgets the calls, so that every one would cost memory for good.

    Args:
        calls: the numbers of calls by caller.
    """

    def __init__(self, calls: dict[str, set[str]]) -> None:
        super().__init__(UNFETCHED)
        self._calls = calls

    def __setitem__(self, caller: str, answers: Any) -> None:
        """Keep a place for the answers of a caller; forget the oldest one if there are too many."""
        super().__setitem__(caller, answers)
        for gone in self._calls.keys() - self.keys():
            del self._calls[gone]


async def in_turn(work: Callable[[], T]) -> T:
    """Do the work in a thread, a few at a time; who computes when is decided in `app.compute`.

    Raises:
        Refusal: too many are waiting already.
    """
    seats = _seats()
    if seats.statistics().tasks_waiting >= WAITING:
        raise Refusal(_BUSY)
    return await run_sync(work, limiter=seats)


@cache
def _seats() -> anyio.CapacityLimiter:
    return anyio.CapacityLimiter(AT_ONCE)

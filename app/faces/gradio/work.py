"""Run a task for a page or a call through Gradio's queue, and turn errors into messages."""

import asyncio
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TypeVar

import gradio as gr

from app.compat.gradio import Calls
from app.engine.calls import refused, submit
from app.engine.compute.visitor import Visit
from app.records.visitors import Visitor, announced
from app.words.format import count

T = TypeVar("T")

_VISITOR: ContextVar[Visitor] = ContextVar("visitor", default=Visitor())  # noqa: B039 - frozen


class Refusal(gr.Error):
    """A message for the caller. It is not an error of the program, so nothing is logged."""

    def __init__(self, message: str) -> None:
        super().__init__(message, print_exception=False)

    def __str__(self) -> str:
        return str(self.message)


def message_of(error: Exception) -> str:
    """Say what went wrong."""
    return str(error.message) if isinstance(error, gr.Error) else refused(error).message


class Face(Calls):
    """Blocks whose every call, from whichever route, ends with a result or with a `Refusal`."""

    def begin(self, headers: Mapping[str, str] | None) -> None:
        """Remember who calls."""
        _VISITOR.set(announced(headers) if headers is not None else Visitor())

    def refusal(self, error: Exception) -> Exception:
        """Say what went wrong, without the inputs."""
        return Refusal(message_of(error))

    def check(self, expected: int | None, found: int) -> None:
        """Refuse a call with too few or too many values, or of what only browsers do."""
        if expected is None:
            raise Refusal("There is no such endpoint.")
        if found != expected:
            raise Refusal(f"Found {count(found, 'value')}; expected {expected}.")


async def in_turn(work: Callable[[], T]) -> T:
    """Do the work of a call in a thread, when it is its visitor's turn.

    Raises:
        Refusal: the visitor's rate limit is reached, or too many are waiting already.
    """
    visitor = _VISITOR.get()
    visit = Visit(visitor.name, network=visitor.network, interface="gradio")
    try:
        return await asyncio.wrap_future(submit(visit, work))
    finally:
        visit.cancelled = True

"""Run a task for a page or a call through Gradio's queue, and turn errors into messages."""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

import gradio as gr
from gradio.state_holder import SessionState, StateHolder
from gradio.utils import LRUCache

from app.engine.calls import refused, submit
from app.engine.compute.visitor import Visit
from app.faces.gradio.limits import UNFETCHED
from app.records.visitors import Visitor, announced

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


class Face(gr.Blocks):
    """Blocks whose every call, from whichever route, ends with a result or with a `Refusal`.

    Gradio prints the traceback of any other exception, and the message of some of them contains
    the inputs.
    """

    async def process_api(self, *values: Any, **named: Any) -> dict[str, Any]:
        """Process a call; `request` is what came from the browser or the client."""
        request = named.get("request")
        _VISITOR.set(announced(request.headers) if request else Visitor())
        try:
            return await super().process_api(*values, **named)
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


class Session(SessionState):
    """What Gradio keeps of a page: nothing, because each call brings all its values.

    Gradio would write the configuration of all components anew for each, for a link to the page as
    it is; that took 50 ms of the processor.
    """

    def __init__(self, blocks: gr.Blocks) -> None:
        self.blocks_config = blocks.default_config
        self.config_values: dict[int, Any] = {}
        self.state_data: dict[int, Any] = {}
        self._state_ttl: dict[int, Any] = {}
        self.is_closed = False
        self.STATE_TTL_WHEN_CLOSED = 0

    def __setitem__(self, key: int, value: Any) -> None:
        """Keep nothing."""

    def _update_config(self, key: int) -> None: ...

    def _update_value_in_config(self, key: int, value: Any) -> None: ...


class Holder(StateHolder):
    """The sessions of the pages."""

    def __getitem__(self, session_id: str) -> SessionState:
        """Return a session, a new one if it is not known."""
        if session_id not in self.session_data:
            self.session_data[session_id] = Session(self.blocks)
        return super().__getitem__(session_id)


async def in_turn(work: Callable[[], T]) -> T:
    """Do the work of a call in a thread, when it is its visitor's turn.

    Raises:
        Refusal: the visitor has used up its allowance, or too many are waiting already.
    """
    visitor = _VISITOR.get()
    visit = Visit(visitor.name, network=visitor.network)
    try:
        return await asyncio.wrap_future(submit(visit, work))
    finally:
        visit.cancelled = True

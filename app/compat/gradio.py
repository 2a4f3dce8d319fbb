"""What Gradio does not document, and what it is needed for.

- Every call, from whichever route, ends with a result or with a message: Gradio prints the
  traceback of any other exception, and the message of some of them contains the inputs (`Calls`).
- Pages without building the application anew at each end of one (`begin_page`).
- A queue that drops answers that are never fetched, and its pauses (`limit_queue`, `is_waiting`).
- Sessions that keep nothing (`own_sessions`).
- Which error says that there is no such endpoint (`UnknownCall`).
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import gradio as gr
import gradio.routes
from gradio.route_utils import FnIndexInferError as UnknownCall
from gradio.state_holder import SessionState, StateHolder
from gradio.utils import LRUCache

__all__ = ["UnknownCall"]


class Calls(gr.Blocks):
    """Blocks that are told of every call."""

    @abstractmethod
    def begin(self, headers: Mapping[str, str] | None) -> None:
        """Take note of a call by the headers of its request; None for one from within."""

    @abstractmethod
    def refusal(self, error: Exception) -> Exception:
        """Return what a caller is told of an error."""

    @abstractmethod
    def check(self, expected: int | None, found: int) -> None:
        """Refuse a call with too few or too many values; None for what only browsers do."""

    async def process_api(self, *values: Any, **named: Any) -> dict[str, Any]:
        """Process a call; `request` is what came from the browser or the client."""
        request = named.get("request")
        self.begin(request.headers if request else None)
        try:
            return await super().process_api(*values, **named)
        except Exception as error:  # noqa: BLE001 - the last line of defence of this face
            raise self.refusal(error) from None

    def validate_inputs(self, block_fn: Any, inputs: list[Any]) -> None:
        """Check a call before its values are used."""
        self.check(None if block_fn.fn is None else len(block_fn.inputs), len(inputs))


def begin_page(face: gr.Blocks, slug: str, title: str) -> None:
    """Do what `face.route` does, without leaving the face.

    Gradio builds the whole application at each end of a page: twelve times, 2 s of a core.
    """
    face.pages.append((slug, title, False))  # not in Gradio's own menu
    face.current_page = slug


# -- the queue -------------------------------------------------------------------------------------


class Unfetched(LRUCache[str, Any]):
    """Answers by caller until they are fetched, and which calls they belong to.

    Gradio keeps 2,000 and never forgets the calls, so that every one would cost memory for good.
    """

    def __init__(self, calls: dict[str, set[str]], most: int) -> None:
        super().__init__(most)
        self.calls = calls

    def __setitem__(self, caller: str, answers: Any) -> None:
        """Keep a place for the answers of a caller; forget the oldest one if there are too many."""
        super().__setitem__(caller, answers)
        for gone in self.calls.keys() - self.keys():
            del self.calls[gone]


def limit_queue(
    face: gr.Blocks, *, threads: int, unfetched: int, pause: float, progress_pause: float
) -> None:
    """Set what `face.queue` has no options for; call it after that.

    Args:
        face: the pages.
        threads: most calls at once.
        unfetched: callers whose answers are kept until they are fetched.
        pause: seconds between two looks at an empty queue.
        progress_pause: seconds between two looks at the progress of calls.
    """
    queue = face._queue
    queue.pending_messages_per_session = Unfetched(queue.pending_event_ids_session, unfetched)
    queue.max_thread_count = threads
    queue.sleep_when_free = pause
    queue.progress_update_sleep_when_free = progress_pause


def is_waiting(face: gr.Blocks, session: str | None) -> bool:
    """Return whether a session has a call in the queue, or an answer to fetch."""
    return session in face._queue.pending_messages_per_session


def is_unfetched(face: gr.Blocks, call: str) -> bool:
    """Return whether a call in two steps has an answer, or will have one, that was not fetched."""
    return call in face._queue.pending_event_ids_session.get(call, ())


# -- sessions --------------------------------------------------------------------------------------


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


def own_sessions(face: gr.Blocks, most: int) -> None:
    """Let applications that are made from now on have so many sessions, which keep nothing."""
    face.state_session_capacity = most
    vars(gradio.routes)["StateHolder"] = Holder

"""After an upgrade of Gradio: what of its undocumented side is not as it was."""

import asyncio
import inspect
from collections.abc import Callable
from typing import TypeVar

import gradio as gr
import gradio.blocks
import gradio.queueing
import gradio.routes
import pytest
from gradio.state_holder import SessionState, StateHolder

from app.compat import gradio as compat

T = TypeVar("T")


def made(build: Callable[[], T]) -> T:
    """Build inside a running loop: without one, Gradio leaves dozens open."""

    async def inside() -> T:
        return build()

    return asyncio.run(inside())


def echo(text: str) -> str:
    """Return a text.

    Args:
        text: any

    Returns:
        the same
    """
    return text


def echoing(kind: type[gr.Blocks] = gr.Blocks) -> gr.Blocks:
    """Build a face with one endpoint."""

    def build() -> gr.Blocks:
        with kind() as face:
            gr.api(echo, api_name="echo")
        return face

    return made(build)


def test_every_call_passes_where_it_is_watched() -> None:
    for name in ("process_api", "validate_inputs"):
        assert hasattr(gr.Blocks, name), f"Blocks.{name} is gone: errors of calls are printed"
    routes = inspect.getsource(gradio.routes) + inspect.getsource(gradio.route_utils)
    assert ".process_api(" in routes, "routes do not call Blocks.process_api any more"
    assert ".validate_inputs(" in inspect.getsource(gradio.blocks)


def test_a_call_with_a_wrong_number_of_values_is_refused_by_us() -> None:
    class Watched(compat.Calls):
        begun = 0

        def begin(self, headers: object) -> None:
            self.begun += 1

        def refusal(self, error: Exception) -> Exception:
            return LookupError(str(error))

        def check(self, expected: int | None, found: int) -> None:
            raise ValueError(f"{found} instead of {expected}")

    face = echoing(Watched)
    (function,) = face.fns.values()
    with pytest.raises(LookupError, match="0 instead of 1"):
        asyncio.run(face.process_api(function, []))
    assert face.begun == 1


def test_a_page_can_be_begun_without_building_the_application() -> None:
    def build() -> gr.Blocks:
        with gr.Blocks() as face:
            compat.begin_page(face, "ner", "Names")
            gr.Textbox(label="Text")
        return face

    face = made(build)
    assert ("ner", "Names", False) in face.pages, "pages are kept in another form"
    assert any(row[0] == "ner" for row in face.config["pages"]), "the page is not in the config"


def test_the_queue_has_the_limits_that_are_set() -> None:
    face = echoing()
    made(face.queue)
    queue = vars(face._queue)
    for name in (
        *("pending_messages_per_session", "pending_event_ids_session", "max_thread_count"),
        *("sleep_when_free", "progress_update_sleep_when_free"),
    ):
        assert name in queue, f"the queue has no {name}: answers are kept, or pauses grow"
        assert f"self.{name}" in inspect.getsource(gradio.queueing)
    compat.limit_queue(face, threads=3, unfetched=2, pause=0.5, progress_pause=0.25)
    assert not compat.is_waiting(face, "nobody")
    face._queue.pending_messages_per_session["somebody"] = 1
    assert compat.is_waiting(face, "somebody")


def test_sessions_are_made_where_ours_are_put(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradio.routes, "StateHolder", StateHolder)
    face = echoing()
    compat.own_sessions(face, 7)
    app = made(lambda: gradio.routes.App.create_app(face))
    assert isinstance(app.state_holder, compat.Holder), "App makes its sessions elsewhere"
    assert app.state_holder.capacity == 7, "the number of sessions is set elsewhere"
    missing = vars(SessionState(face)).keys() - vars(compat.Session(face)).keys()
    assert not missing, f"sessions have {missing} now, which ours lack"


def test_a_call_of_no_endpoint_has_an_error_of_its_own() -> None:
    assert issubclass(compat.UnknownCall, Exception)
    assert "FnIndexInferError" in inspect.getsource(gradio.route_utils)

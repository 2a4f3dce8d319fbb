"""After an upgrade of Gradio: what of its undocumented side is not as it was."""

import asyncio
import importlib
from collections.abc import Callable
from pathlib import Path
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


def test_a_component_gets_no_stub_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import gradio\nclass OwnBox(gradio.Textbox): pass\n"
    (tmp_path / "component_of_a_test.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert importlib.import_module("component_of_a_test").OwnBox
    assert not list(tmp_path.glob("*.pyi")), "create_or_modify_pyi is not what writes them"


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


def test_sessions_are_made_where_ours_are_put(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradio.routes, "StateHolder", StateHolder)
    face = echoing()
    compat.own_sessions(face, 7)
    app = made(lambda: gradio.routes.App.create_app(face))
    assert isinstance(app.state_holder, compat.Holder), "App makes its sessions elsewhere"
    assert app.state_holder.capacity == 7, "the number of sessions is set elsewhere"
    missing = vars(SessionState(face)).keys() - vars(compat.Session(face)).keys()
    assert not missing, f"sessions have {missing} now, which ours lack"

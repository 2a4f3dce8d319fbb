"""The model is loaded while the server answers: what waits for it, and what does not."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from app.engine.loading import LOADING, Loading
from app.faces.streamlit import site
from app.server import later, start
from app.settings import BUNDLED_MODEL
from tests.visits import opened

ROOT = Path(__file__).resolve().parents[3]


def test_others_wait_for_the_end_of_the_work_even_if_it_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda found: failed.append(found.exc_type))
    loading, may = Loading(), threading.Event()
    assert loading.is_over()

    def work() -> None:
        may.wait()
        raise LookupError

    thread = loading.begin(work)
    assert not loading.is_over()
    may.set()
    loading.wait()
    assert loading.is_over()
    thread.join()
    assert failed == [LookupError]


def test_programs_wait_until_the_model_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    loading, may, answered = Loading(), threading.Event(), []
    monkeypatch.setattr(later, "LOADING", loading)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        answered.append(loading.is_over())

    async def ask() -> None:
        loading.begin(lambda: bool(may.wait()))
        asked = asyncio.ensure_future(later.Loaded(app)({}, None, None))  # type: ignore[arg-type]
        await asyncio.sleep(0.2)
        assert answered == []
        may.set()
        await asked

    asyncio.run(ask())
    assert answered == [True]


def test_server_and_menu_do_not_wait_for_pytorch() -> None:
    code = "import sys, app.server.start, app.faces.streamlit.site as s; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert not {"torch", "gradio"} & set(told.stdout.split())
    assert "streamlit" in told.stdout.split()


def test_a_page_shows_its_head_while_the_model_is_loaded_and_then_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heads = []
    draw = site._draw_head

    def drawn(slug: str) -> None:
        heads.append(slug)
        draw(slug)

    may = threading.Event()
    loading = Loading()
    thread = loading.begin(lambda: bool(may.wait()))
    monkeypatch.setattr(loading, "wait", lambda: (may.set(), thread.join()))
    monkeypatch.setattr(site, "LOADING", loading)
    monkeypatch.setattr(site, "_draw_head", drawn)
    page = opened("app.py")
    assert heads == [""]
    assert page.text_area(key="text").value
    assert not any(site._SOON in each.proto.body for each in page.get("html"))


@pytest.mark.parametrize(
    ("model", "device", "usual"),
    [
        ("", "", True),
        (BUNDLED_MODEL, "cpu", True),
        (".", "", False),
        ("", "cuda:0", False),
    ],
)
def test_only_what_cannot_be_missing_is_loaded_late(
    model: str, device: str, usual: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", model)
    monkeypatch.setenv("BERT_EXPLORER_DEVICE", device)
    assert start._is_usual() is usual
    assert LOADING.is_over()

"""Routes: what is closed, what is too long, and errors outside the tasks."""

import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from app.engine import calls
from app.engine.compute.visitor import Allowances
from app.faces.gradio.routes import OwnRoutes
from app.faces.paper.answers import BODY_BYTES
from app.records.visitors import Visitor
from tests.app.faces.gradio.conftest import Served, ask, told
from tests.compat.gradio import open_sessions

FILE = "/etc/passwd"
CLOSED = f"""
gradio_api/file={FILE} gradio_api/file=app.py gradio_api/file=http://192.0.2.1/
gradio_api/file/{FILE} gradio_api/proxy=http://192.0.2.1/ gradio_api/upload_progress?upload_id=x
gradio_api/deep_link?session_hash=x gradio_api/monitoring gradio_api/monitoring/summary monitoring
pwa_icon gradio_api/runs gradio_api/dev/reload gradio_api/custom_component/x/client/y/z
gradio_api/stream/a/b/1/playlist.m3u8 gradio_api/mcp/ gradio_api/mcp/sse gradio_api/run/fill_mask
gradio_api/mcp/messages/ static/../../../../app.py static/..%2f..%2f..%2fapp.py
static/%2e%2e/%2e%2e/routes.py static//{FILE} assets/%2e%2e/%2e%2e/%2e%2e/%2e%2e{FILE}
svelte/..%5c..%5croutes.py fill_mask/../../app.py login logout""".split()
POSTS = ["upload", "component_server", "process_recording", "stream/x", "login", "mcp/messages/"]


def test_what_no_page_needs_is_closed_and_the_rest_is_open(served: Served) -> None:
    for path in CLOSED:
        found = served.get(path)
        assert found.status_code in {403, 404}, (path, found.text[:200])
        assert "root:" not in found.text and "import " not in found.text
    for path in POSTS:
        assert served.post(path, files={"files": ("x.txt", b"marker")}).status_code == 404, path
    for path in ("", "config", "theme.css", "gradio_api/info", "gradio_api/queue/status"):
        assert served.get(path).status_code == 200, path


def test_a_request_that_is_too_long_is_refused_as_soon_as_it_is(served: Served) -> None:
    found = served.post("queue/join", {"data": ["a" * BODY_BYTES, 5, "", 0, ""]})
    assert found.status_code == 413 and f"{BODY_BYTES:,} bytes" in found.text
    parts = (b"a" * 100_000 for _ in range(1_000))
    assert served.post("queue/join", content=parts).status_code == 413


@pytest.mark.parametrize("body", ["[" * 100_000, '{"data":' + "[" * 50_000, "{", "[]", "null", ""])
def test_what_is_no_call_is_refused(served: Served, body: str) -> None:
    found = served.post("queue/join", content=body, headers={"Content-Type": "application/json"})
    assert found.status_code in {400, 422}
    assert "Traceback" not in found.text


def test_a_request_cannot_rename_the_server(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = {"X-Forwarded-Host": "evil.example"}
    for path in ("", "config", "gradio_api/info", "gradio_api/openapi.json"):
        assert "evil.example" not in served.get(path, headers=claim).text, path
    monkeypatch.setenv("SPACE_HOST", "owner-name.hf.space")
    own = {"X-Forwarded-Host": "owner-name.hf.space", "X-Forwarded-Proto": "https"}
    assert "https://owner-name.hf.space/gradio" in served.get("config", headers=own).text


# -- errors ----------------------------------------------------------------------------------------


def app_that(answers: Callable[[Request], Response]) -> ASGIApp:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await answers(Request(scope, receive))(scope, receive, send)

    return OwnRoutes(app, SimpleNamespace())  # type: ignore[arg-type]


def test_an_error_of_ours_is_an_apology_with_the_number_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_: Request) -> Response:
        raise ValueError(marker)

    marker = "-".join(["text", "of", "a", "visitor"])

    with caplog.at_level(logging.ERROR, "app"):
        found = TestClient(app_that(broken)).get("/config")
    assert found.status_code == 500
    number = found.json()["error"].partition("logged as ")[2][:8]
    assert f"error {number}: ValueError" in caplog.text
    assert marker not in caplog.text + found.text


# -- calls through the queue -----------------------------------------------------------------------


def test_a_call_of_a_visitor_who_used_up_its_allowance_is_refused_before_gradio_sees_it(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowances = Allowances(2, 1_000, clock=lambda: 0.0)
    monkeypatch.setattr(calls, "ALLOWANCES", allowances)
    me = Visitor("somebody", "192.0.2.1")
    assert not [each for each in range(2) if "error" in ask(served, "fill_mask", me)]
    before = open_sessions(served.blocks)
    body = {"data": [], "fn_index": 0, "session_hash": "new"}
    found = served.post("queue/join", body, headers=told(me))
    assert found.status_code == 429 and found.headers["retry-after"]
    assert "2 answers a minute" in found.json()["detail"]
    assert open_sessions(served.blocks) == before


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("call/fill_mask", {"data": ["a [MASK]", 1, "", 0, ""]}),
        ("call/v2/fill_mask", {"text": "a [MASK]", "top_k": 1}),
    ],
)
def test_a_call_in_two_steps_is_counted_and_its_answer_fetched_once(
    served: Served, path: str, body: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "ALLOWANCES", Allowances(1, 1_000, clock=lambda: 0.0))
    monkeypatch.setattr(calls, "PAUSE", 0.01)
    me = told(Visitor("somebody", "192.0.2.1"))
    begun = served.post(path, body, headers=me)
    answer = f"gradio_api/call/fill_mask/{begun.json()['event_id']}"
    name, data = served.get(answer).text.strip().split("\n")[-2:]
    assert name == "event: complete" and '"slots"' in data
    assert served.get(answer).status_code == 404
    refused = served.post(path, body, headers=me)
    assert refused.status_code == 429 and refused.headers["retry-after"]


def test_a_stream_of_no_session_is_refused_and_not_logged(
    served: Served, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.WARNING):
        for query in ("", "?session_hash=nobody", "?session_hash="):
            found = served.get(f"gradio_api/queue/data{query}")
            assert found.status_code == 404 and "no such call" in found.json()["detail"]
    assert "".join(capfd.readouterr()) + caplog.text == ""

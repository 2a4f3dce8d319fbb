"""The Gradio interface on a port of the loopback, as the site's server mounts it."""

import json
import secrets
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.routing import Mount

from app.records.visitors import Visitor
from app.server.later import Later, mounted
from tests.compat.gradio import number_of

PATIENCE = 120  # seconds; a slow machine is not a failure


@dataclass
class Served:
    """The running interface.

    Attributes:
        address: where it is.
        face: the application.
        connected: every address that the process has connected to since before it was built.
    """

    address: str
    face: Later
    connected: list[Any] = field(default_factory=list)

    @property
    def blocks(self) -> Any:
        """What was built; it is there once a request has been answered."""
        self.get("gradio_api/app_id")
        assert self.face._app is not None
        (mount,) = [each for each in self.face._app.routes if isinstance(each, Mount)]
        return mount.app.get_blocks()  # type: ignore[attr-defined]

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Fetch a path below the interface, without reading certificates: there is no TLS."""
        return httpx.get(f"{self.address}/{path}", timeout=PATIENCE, verify=False, **options)

    def post(self, path: str, json: object = None, **options: Any) -> httpx.Response:
        """Post to a path of the API."""
        address = f"{self.address}/gradio_api/{path}"
        return httpx.post(address, json=json, timeout=PATIENCE, verify=False, **options)


def told(visitor: Visitor) -> dict[str, str]:
    """What the gate says of a visitor."""
    headers = MutableHeaders()
    headers.update(visitor.headers)
    return dict(headers.items())


def ask(served: Served, slug: str, visitor: Visitor | None = None, *values: object) -> Any:
    """Call an endpoint through Gradio's queue, as its pages and its client do."""
    fn = next(each for each in served.blocks.fns.values() if each.api_name == slug)
    given = values or ("the [MASK] sat", 2, "", 0, "")
    session, headers = secrets.token_hex(5), told(visitor or Visitor())
    body = {"data": given, "fn_index": number_of(fn), "session_hash": session}
    joined = served.post("queue/join", body, headers=headers)
    if joined.status_code != 200:
        return joined.json()
    stream = served.get(f"gradio_api/queue/data?session_hash={session}", headers=headers).text
    events = [json.loads(each.removeprefix("data: ")) for each in stream.strip().split("\n\n")]
    return next(each for each in events if each["msg"] == "process_completed")["output"]


@pytest.fixture(scope="session")
def server() -> Iterator[Served]:
    """Serve the interface until the end of the session."""
    connected: list[Any] = []
    sys.addaudithook(
        lambda event, given: connected.append(given[1]) if event == "socket.connect" else None
    )
    face = mounted(threading.Event())
    site = Starlette(routes=[Mount("/gradio", app=face)], lifespan=face.lifespan)
    running = uvicorn.Server(uvicorn.Config(site, port=0, log_level="error", lifespan="on"))
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started:
        assert thread.is_alive()
        time.sleep(0.02)
    port = running.servers[0].sockets[0].getsockname()[1]
    yield Served(f"http://127.0.0.1:{port}/gradio", face, connected)
    running.should_exit = True
    thread.join(PATIENCE)


@pytest.fixture
def served(server: Served, tiny_model: Path) -> Served:
    """The interface, with the tiny model as the one it starts with."""
    return server

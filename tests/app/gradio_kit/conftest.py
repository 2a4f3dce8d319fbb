"""The second face on a port of the loopback, as the site's server mounts it."""

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
from starlette.routing import Mount

from app.gradio_kit import Later, mounted

PATIENCE = 120  # seconds; a slow machine is not a failure


@dataclass
class Served:
    """The running face.

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
        """Fetch a path below the face."""
        return httpx.get(f"{self.address}/{path}", timeout=PATIENCE, **options)

    def post(self, path: str, json: object = None, **options: Any) -> httpx.Response:
        """Post to a path of the API."""
        address = f"{self.address}/gradio_api/{path}"
        return httpx.post(address, json=json, timeout=PATIENCE, **options)


@pytest.fixture(scope="session")
def server() -> Iterator[Served]:
    """Serve the face until the end of the session."""
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
    """The face, with the tiny model as the one it starts with."""
    return server

"""The interface for programs on a port of the loopback, behind the gate, in its own loop."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from app.faces.api import API, TOOLS, Programs
from app.server.elsewhere import Elsewhere
from app.server.gate import Gate
from app.server.names import names_of
from app.server.nonces import Nonced
from app.server.policy import Policy
from app.server.sessions import Cookies, Sessions
from tests.strangers import PATIENCE, face, running

COOKIES = Cookies("k" * 32)
GRADIO = "/gradio"


@dataclass(frozen=True)
class Api:
    """The running interface, at an address, and a client."""

    address: str
    client: httpx.Client

    def post(self, path: str, json: object = None, **options: Any) -> httpx.Response:
        """Post to a path of the server; `content` is sent as it is."""
        options.setdefault("content", dumps(json))
        return self.client.post(path, **options)


def visitor() -> dict[str, str]:
    """The headers of a new visitor whose cookie this server gave."""
    return {"Cookie": COOKIES.new(secure=False, framed=False).partition(";")[0]}


@pytest.fixture(scope="session")
def server() -> Iterator[Api]:
    programs = Elsewhere(Nonced(Programs(face(), below="", gradio=GRADIO)), nullcontext)
    site = Starlette(lifespan=programs.lifespan)
    plain = Policy().plain

    def gate(port: int) -> Gate:
        return Gate(
            site,
            programs,
            below={GRADIO: plain, API: plain, TOOLS: plain},
            names=names_of("127.0.0.1", port, "desk", ()),
            policy=Policy(),
            cookies=COOKIES,
            sessions=Sessions(30, 100, 200),
            closed=(),
        )

    with running(gate, 500) as found:
        address = f"http://127.0.0.1:{found.port}"
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            yield Api(address, client)


@pytest.fixture
def api(server: Api, tiny_model: Path) -> Api:
    """The interface, with the tiny model as the one it starts with."""
    return server

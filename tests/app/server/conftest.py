"""A server on the loopback, with its limits low."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from app.server.gate import Gate
from app.server.names import names_of
from app.server.nonces import Nonced
from app.server.policy import Policy
from app.server.sessions import Cookies, Sessions
from tests.strangers import Running, face, running

COOKIES = Cookies("k" * 32)


@pytest.fixture
def served() -> Iterator[Running]:
    """The gate with its limits low."""

    def gate(port: int) -> Gate:
        return Gate(
            face(),
            Nonced(Starlette(routes=[Mount("/gradio", face()), Mount("/api", face())])),
            below={"/gradio": Policy().second, "/api": Policy().plain},
            names=names_of("127.0.0.1", port, "desk", ("public.example",)),
            policy=Policy(),
            cookies=COOKIES,
            sessions=Sessions(2, 3, 4),
            closed=("/_stcore/agent", "/_stcore/metrics"),
        )

    with running(gate, 20) as found:
        yield found

"""After an upgrade of uvicorn or websockets: what of the undocumented side is not as it was."""

import asyncio
import inspect

import pytest
import uvicorn

from app.compat import uvicorn as compat
from app.compat.uvicorn import HttpConnection, SocketConnection

CONFIG = uvicorn.Config(lambda: None, ws_ping_interval=None)


def connection(kind: type) -> object:
    """Make a connection without a client."""
    return kind(config=CONFIG, server_state=compat.State(), app_state={})


def test_a_connection_has_the_parts_that_are_read() -> None:
    async def made() -> None:
        found = connection(HttpConnection)
        assert isinstance(found, HttpConnection)
        for name in ("cycle", "conn", "connections", "limit_concurrency", "loop", "transport"):
            assert hasattr(found, name), f"H11Protocol has no {name}: limits fail"
        assert found.is_half_read and found.is_silent, "h11 says otherwise what has arrived"
        assert not (found.is_asked or found.is_answering or found.is_sending)
        assert not (found.one_too_many or found.is_leaving)

    CONFIG.load_app = lambda: None  # type: ignore[method-assign]
    asyncio.run(made())


@pytest.mark.parametrize(
    ("kind", "hooks"),
    [
        (HttpConnection, ("handle_websocket_upgrade", "send_400_response", "shutdown")),
        (SocketConnection, ("handle_text", "handle_cont", "shutdown", "stop_keepalive")),
        (compat.Server, ("capture_signals", "startup")),
    ],
)
def test_uvicorn_calls_what_is_replaced(kind: type, hooks: tuple[str, ...]) -> None:
    above = kind.__mro__[1]
    for name in hooks:
        assert hasattr(above, name), f"{above.__name__} has no {name} any more"
        uses = sum(
            inspect.getsource(module).count(f".{name}")
            for module in (inspect.getmodule(above), uvicorn.server)
            if module is not None
        )
        assert uses, f"nothing calls {above.__name__}.{name} any more: ours is never called"


def test_a_cycle_has_what_ends_the_work_on_a_request() -> None:
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

    source = inspect.getsource(RequestResponseCycle)
    for name in ("disconnected", "message_event", "keep_alive", "response_started"):
        assert f"self.{name}" in source, f"RequestResponseCycle.{name} is gone: work goes on unread"


def test_what_must_be_first_in_a_busy_loop_is_first() -> None:
    called: list[str] = []

    async def busy() -> None:
        server = compat.Server(CONFIG, lambda: None)
        server._loop = asyncio.get_running_loop()
        server._loop.call_soon(lambda: called.append("waited"))
        server.call_first(lambda: called.append("first"))
        await asyncio.sleep(0.01)

    asyncio.run(busy())
    assert called[0] == "first", "what is ready is kept elsewhere: clients learn late of the end"
    assert "waited" in called

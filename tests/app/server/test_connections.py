"""Connections that take their time, and too many of them."""

import asyncio
import socket
import sys
import time
from contextlib import ExitStack

import pytest
from starlette.types import Receive, Scope, Send

from app.compat.uvicorn import Connection
from app.server import running
from bert_core.errors import ConfigError
from tests.strangers import HANDSHAKE, PATIENCE, Served, everything, header, status, until


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "seconds", 0.4)


def head(served: Served, line: str = "GET /echo HTTP/1.1") -> str:
    return f"{line}\r\nHost: localhost:{served.port}\r\n"


def test_half_a_request_is_not_waited_for(served: Served) -> None:
    body = f"{head(served, 'POST /echo HTTP/1.1')}Content-Length: 100\r\n\r\nhalf"
    for half in ("G", "GET /echo HTTP/1.1\r\nHost: localhost", body):
        answer = served.say(half)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert header(answer, "x-content-type-options") == "nosniff"
    assert served.say("") == b""  # who says nothing is left without a word


def test_more_bytes_do_not_buy_more_time(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as line:
        line.sendall(head(served).encode())
        for number in range(5):
            line.sendall(f"X-{number}: 1\r\n".encode())
            time.sleep(0.1)
        assert everything(line).startswith(b"HTTP/1.1 408 ")


def test_a_slow_answer_is_not_a_slow_request(served: Served) -> None:
    with ExitStack() as stack:
        line = opened(stack, served, 1, head(served, "GET /sleep HTTP/1.1") + "\r\n")
        assert at_once(line, 0.6) == (b"", False)


def test_a_websocket_may_stay(served: Served) -> None:
    keys = "\r\n".join((*HANDSHAKE, "", ""))
    with ExitStack() as stack:
        line = opened(stack, served, 1, head(served, "GET /stream HTTP/1.1") + keys)
        said, is_over = at_once(line, 0.6)
        assert said.startswith(b"HTTP/1.1 101 ") and not is_over


def test_what_is_not_a_request_is_refused(
    served: Served, capfd: pytest.CaptureFixture[str]
) -> None:
    long = b"GET / HTTP/1.1\r\n" + b"x" * 99_999
    for nonsense in (b"\x16\x03\x01\x02\x00\x01\x00", b"NO SUCH THING\r\n\r\n", long):
        answer = served.say(nonsense)
        assert answer.split(b" ", 2)[1] in {b"400", b"408"}
        assert header(answer, "x-content-type-options") == "nosniff"
        assert header(answer, "server") == "" == capfd.readouterr().err


def opened(stack: ExitStack, served: Served, network: int, sent: str = "") -> socket.socket:
    """Connect from an address of this machine."""
    line = socket.create_connection(
        ("127.0.0.1", served.port), timeout=PATIENCE, source_address=(f"127.0.0.{network}", 0)
    )
    stack.enter_context(line)
    line.sendall(sent.encode())
    return line


def test_beyond_the_limit_connections_are_refused_and_the_others_go_on(served: Served) -> None:
    half = head(served)
    with ExitStack() as stack:
        lines = [opened(stack, served, 2 + number % 5, half) for number in range(20)]
        refused = served.ask("/echo")
        assert status(refused) == 503 and header(refused, "connection") == "close"
        assert b"Try again in a minute" in refused
        lines[0].close()
        until(lambda: b"200 OK" in served.ask("/echo"))


@pytest.mark.parametrize("kept", [False, True])
def test_of_one_address_a_quarter_may_wait_and_the_next_is_answered(
    served: Served, kept: bool
) -> None:
    with ExitStack() as stack:
        lines = []
        for _ in range(8):
            lines.append(opened(stack, served, 1, head(served) + "\r\n" if kept else ""))
            assert not kept or status(at_once(lines[-1])[0]) == 200
        assert status(served.ask("/echo")) == 200
        assert [at_once(line)[1] for line in lines] == [True] * 4 + [False] * 4
        assert status(served.ask("/echo")) == 200


def at_once(line: socket.socket, moment: float = 0.05) -> tuple[bytes, bool]:
    """Return what arrives within a moment, and whether that was the end of the connection."""
    line.settimeout(moment)
    said = b""
    try:
        while part := line.recv(65_536):
            said += part
    except TimeoutError:
        return said, False
    return said, True


class Limits:
    """A substitute for the system's limit on open files."""

    RLIMIT_NOFILE = 7

    def __init__(self, soft: int, hard: int) -> None:
        self.found = soft, hard

    def getrlimit(self, _: int) -> tuple[int, int]:
        return self.found

    def setrlimit(self, _: int, wanted: tuple[int, int]) -> None:
        self.found = wanted


@pytest.mark.parametrize(
    ("soft", "hard", "allowed", "raised"),
    [
        (1_024, 4_096, 1_000, 1_150),
        (1_024, 1_024, 874, 1_024),
        (20_000, 20_000, 1_000, 20_000),
        (256, -1, 1_000, 1_150),
        (-1, -1, 1_000, -1),
    ],
)
def test_as_many_connections_as_the_system_allows(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, allowed: int, raised: int
) -> None:
    limits = Limits(soft, hard)
    monkeypatch.setitem(sys.modules, "resource", limits)
    assert running.affordable(1_000) == allowed
    assert limits.found[0] == raised
    monkeypatch.setitem(sys.modules, "resource", Limits(100, 100))
    with pytest.raises(ConfigError, match="allows 100 open files; expected more than 150"):
        running.affordable(1_000)


@pytest.mark.parametrize(
    ("proxy", "set_to", "in_space", "address"),
    [
        ("10.16.1.2", None, True, "198.51.100.7"),  # the proxy of a Space
        ("203.0.113.1", None, True, "203.0.113.1"),
        ("10.16.1.2", None, False, "10.16.1.2"),
        ("172.17.0.1", "172.17.0.1", False, "198.51.100.7"),
        ("10.16.1.2", "127.0.0.1", True, "10.16.1.2"),
    ],
)
def test_a_proxy_is_believed_if_it_is_that_of_a_space_or_named(
    monkeypatch: pytest.MonkeyPatch, proxy: str, set_to: str | None, in_space: bool, address: str
) -> None:
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    if set_to is not None:
        monkeypatch.setenv("FORWARDED_ALLOW_IPS", set_to)
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["client"][0])

    config = running.configured(app, 10, in_space=in_space)
    config.load()
    claim = (b"x-forwarded-for", b"192.0.2.1, 198.51.100.7")  # the first is the visitor's own claim
    scope = {"type": "http", "client": (proxy, 1), "scheme": "http", "headers": [claim]}
    asyncio.run(config.loaded_app(scope, None, None))  # type: ignore[arg-type]
    assert seen == [address]

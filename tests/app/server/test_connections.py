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
from tests.strangers import PATIENCE, Served, everything, header, status, until


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "seconds", 1.0)


def head(served: Served, line: str = "GET /echo HTTP/1.1") -> str:
    return f"{line}\r\nHost: localhost:{served.port}\r\n"


@pytest.mark.parametrize(
    "half",
    [
        "G",
        "GET /echo HTTP/1.1\r\nHost: localhost",
        "POST /echo HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 100\r\n\r\nhalf",
    ],
)
def test_half_a_request_is_not_waited_for(served: Served, half: str) -> None:
    answer = served.say(half.format(port=served.port))
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert header(answer, "x-content-type-options") == "nosniff"


def test_more_bytes_do_not_buy_more_time(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as line:
        line.sendall(head(served).encode())
        for number in range(5):
            line.sendall(f"X-{number}: 1\r\n".encode())
            time.sleep(0.25)
        assert everything(line).startswith(b"HTTP/1.1 408 ")


def test_who_says_nothing_is_left_without_a_word(served: Served) -> None:
    assert served.say("") == b""


def test_a_slow_answer_is_not_a_slow_request(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=1) as line:
        line.sendall((head(served, "GET /sleep HTTP/1.1") + "\r\n").encode())
        with pytest.raises(TimeoutError):
            line.recv(1)


def test_a_websocket_may_stay(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=1) as line:
        keys = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        upgrade = f"Connection: Upgrade\r\nUpgrade: websocket\r\n{keys}\r\n"
        line.sendall((head(served, "GET /stream HTTP/1.1") + upgrade).encode())
        assert line.recv(65_536).startswith(b"HTTP/1.1 101 ")
        with pytest.raises(TimeoutError):
            everything(line)


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"NO SUCH THING\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"x" * 99_999,
    ],
)
def test_what_is_not_a_request_is_refused(
    served: Served, nonsense: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = served.say(nonsense)
    assert answer.split(b" ", 2)[1] in {b"400", b"408"}
    assert header(answer, "x-content-type-options") == "nosniff" and header(answer, "server") == ""
    assert capfd.readouterr().err == ""


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


def test_of_one_address_a_quarter_may_be_silent_and_others_go_on(served: Served) -> None:
    with ExitStack() as stack:
        said = [at_once(opened(stack, served, 2)) for _ in range(8)]
        assert [status(answer) if is_over else 0 for answer, is_over in said] == [0] * 5 + [429] * 3
        assert status(served.ask("/echo")) == 200


def test_of_one_address_a_quarter_may_be_kept_open_and_the_next_is_answered(
    served: Served,
) -> None:
    with ExitStack() as stack:
        lines = []
        for _ in range(8):
            lines.append(opened(stack, served, 1, head(served) + "\r\n"))
            assert status(at_once(lines[-1])[0]) == 200
        assert status(served.ask("/echo")) == 200
        assert sum(not at_once(line)[1] for line in lines) <= 5


def at_once(line: socket.socket) -> tuple[bytes, bool]:
    """Return what arrives within a moment, and whether that was the end of the connection."""
    line.settimeout(0.05)
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


def test_a_system_that_allows_hardly_any_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
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

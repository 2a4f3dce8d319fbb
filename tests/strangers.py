"""Servers on the loopback and a client of plain bytes, for tests of what strangers may do.

The server is either ours with small stand-ins for both interfaces, or the whole site.
"""

import asyncio
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from app.records.visitors import announced
from app.server.running import Server, configured

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 120  # seconds; a slow machine is not a failure
PAGE = "<!DOCTYPE html><script>let one</script><p>A page.</p><script src='x.js'></script>"


@dataclass(frozen=True)
class Served:
    """A running server."""

    port: int

    def say(self, text: str | bytes, *, wait: float = PATIENCE) -> bytes:
        """Send bytes on a connection, and return everything until the server ends it."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as line:
            line.sendall(text.encode() if isinstance(text, str) else text)
            return everything(line)

    def ask(self, path: str, *headers: str, method: str = "GET", host: str = "") -> bytes:
        """Send one request."""
        host = host or f"localhost:{self.port}"
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers]
        return self.say("\r\n".join(lines) + "\r\n\r\n")

    def knock(self, path: str, *headers: str, host: str = "") -> bytes:
        """Ask for a websocket; return the first part of the answer."""
        host = host or f"localhost:{self.port}"
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}", *HANDSHAKE, *headers]
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as line:
            line.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            return line.recv(65_536)


HANDSHAKE = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)


def everything(line: socket.socket) -> bytes:
    """Return what arrives until the other side ends the connection."""
    parts = []
    while part := line.recv(65_536):
        parts.append(part)
    return b"".join(parts)


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def header(answer: bytes, name: str) -> str:
    """Return a header of an answer; "" if it is not there."""
    lines = answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    return next((value for key, _, value in pairs if key.lower() == name), "")


async def page(request: Request) -> Response:
    visitor = announced(request.headers).name
    return HTMLResponse(PAGE, headers={"x-host": request.headers["host"], "x-visitor": visitor})


async def echo(request: Request) -> Response:
    return PlainTextResponse(f"{len(await request.body())} bytes")


async def fail(request: Request) -> Response:
    raise ValueError(request.query_params["text"])


AWAKE = threading.Event()
"""Ends the requests that last, of a server in this process."""


async def talk(socket_: WebSocket) -> None:
    await socket_.accept(headers=[(b"x-host", socket_.headers["host"].encode())])
    await socket_.receive()


async def shy(socket_: WebSocket) -> None:
    await asyncio.sleep(30)


async def drip(request: Request) -> Response:
    """Send one half, and a little later the other."""

    async def halves() -> AsyncIterator[bytes]:
        yield b"one half, "
        await asyncio.sleep(0.5)
        yield b"the other half"

    return StreamingResponse(halves())


async def sleep(request: Request) -> Response:
    """Answer when `AWAKE` is set, or half a minute later."""
    for _ in range(600):
        if AWAKE.is_set():
            break
        await asyncio.sleep(0.05)
    return PlainTextResponse("late")


def face() -> Starlette:
    """Return a small application in place of an interface."""
    routes = [
        Route("/", page),
        Route("/echo", echo, methods=["GET", "POST"]),
        Route("/fail", fail),
        Route("/sleep", sleep),
        Route("/drip", drip),
        Route("/_stcore/metrics", echo),
        Route("/_stcore/agent/interact", echo, methods=["GET", "POST"]),
        Route("/heartbeat/{number}", sleep),
        WebSocketRoute("/stream", talk),
        WebSocketRoute("/shy", shy),
    ]
    return Starlette(routes=routes)


@dataclass(frozen=True)
class Running(Served):
    """A server in a thread of the tests."""

    server: Server


@contextmanager
def running(gate: Callable[[int], ASGIApp], connections: int) -> Iterator[Running]:
    """Serve in a thread during the block."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
        ready = threading.Event()
        server = Server(configured(gate(port), connections))
        server.ready = ready.set
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            assert ready.wait(PATIENCE)
            yield Running(port, server)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


def until(true: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait for something that happens soon."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


@dataclass(frozen=True)
class Site(Served):
    """The running site.

    Attributes:
        process: the server.
        log: what it has written.
        asked: what it has asked of the network beyond this machine.
    """

    process: "subprocess.Popen[str]"
    log: Path
    asked: Path

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def started(folder: Path, model: Path, *before: str, **environment: str) -> Iterator[Site]:
    """Run the site during the block.

    Args:
        folder: for its logs.
        model: the model it starts with.
        before: a command that runs it.
        environment: further variables.
    """
    log, asked = folder / "site.log", folder / "asked.log"
    kept = {name: value for name, value in os.environ.items() if "BERT_EXPLORER" not in name}
    own = {"STREAMLIT_SERVER_PORT": "0", "BERT_EXPLORER_MODEL": str(model), **environment}
    with log.open("w") as out:
        process = subprocess.Popen(
            [*before, sys.executable, "-m", "tests.watched", str(asked), "app.py"],
            cwd=ROOT,
            env={**kept, **own},
            stdout=out,
            stderr=out,
            text=True,
        )
    try:
        yield Site(port_of(process, log), process, log, asked)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def port_of(process: "subprocess.Popen[str]", log: Path) -> int:
    """Wait until the site listens; return its port."""
    end = time.monotonic() + PATIENCE
    while not (found := re.search(r"URL: http://127\.0\.0\.1:(\d+)", log.read_text())):
        assert process.poll() is None and time.monotonic() < end, log.read_text()
        time.sleep(0.05)
    return int(found[1])

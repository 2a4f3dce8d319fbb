"""What uvicorn does not document, and what it is needed for.

Uvicorn waits without limit for the rest of a request, answers malformed requests without our
headers, and ends a server by closing its connections without a word. So its connections
(`HttpConnection`, `SocketConnection`) are extended in `app.server.connections`, through the methods
here alone; `Server` leaves signals to the process and tells connections of its end at once.
"""

import asyncio
import socket
from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.datastructures import Headers
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

__all__ = [
    "ClientDisconnected",
    "CloseCode",
    "HttpConnection",
    "Server",
    "SocketConnection",
    "State",
]


class State(ServerState):
    """What the connections of a server share.

    Attributes:
        leaving: whether the server is being stopped.
    """

    leaving = False


class HttpConnection(H11Protocol):
    """An HTTP connection; uvicorn's own limit on connections is switched off."""

    server_state: State

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._most = self.limit_concurrency
        self.limit_concurrency = None

    # -- what a subclass decides

    @abstractmethod
    def refuse_upgrade(self, status: int) -> bool:
        """Refuse to become a websocket; return whether it was refused.

        Args:
            status: 101 for a proper handshake, otherwise what is wrong with it.
        """

    @abstractmethod
    def refuse_request(self, why: str) -> None:
        """Refuse what is not HTTP."""

    # -- what is known of it

    @property
    def is_leaving(self) -> bool:
        """Whether the server is being stopped."""
        return self.server_state.leaving

    @property
    def one_too_many(self) -> bool:
        """Whether the server has more connections than it may."""
        return self._most is not None and len(self.connections) > self._most

    @property
    def is_asked(self) -> bool:
        """Whether an answer is due."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def is_answering(self) -> bool:
        """Whether an answer has begun, and has not ended."""
        return self.is_asked and self.cycle.response_started

    @property
    def is_half_read(self) -> bool:
        """Whether the rest of a request, or its beginning, has not arrived."""
        return self.conn.their_state in {h11.IDLE, h11.SEND_BODY}

    @property
    def is_silent(self) -> bool:
        """Whether nothing of a next request has arrived."""
        return self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]

    @property
    def is_sending(self) -> bool:
        """Whether the body of an answer is being sent."""
        return self.conn.our_state is h11.SEND_BODY

    # -- what can be done with it

    def end_after_answer(self) -> None:
        """Take no request after the one that is being answered."""
        self.cycle.keep_alive = False

    def drop_work(self) -> None:
        """End the work on a request whose client no longer waits."""
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def write_last(self, data: bytes, linger: float) -> None:
        """Write the last bytes, and leave the client some seconds to read them."""
        self.transport.write(data)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(linger, self.transport.close)

    # -- what uvicorn calls

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Ask the subclass before the connection is handed over."""
        headers = Headers((name.decode("latin-1"), value.decode("latin-1"))
                          for name, value in self.headers)  # fmt: skip
        status = ServerProtocol().accept(Request("/", headers)).status_code
        if not self.refuse_upgrade(status):
            super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """Let the subclass refuse."""
        self.refuse_request(msg)


class SocketConnection(WebSocketsSansIOProtocol):
    """A websocket."""

    @abstractmethod
    def refuse_text(self) -> None:
        """Refuse text; a subclass says how."""

    @property
    def is_open(self) -> bool:
        """Whether messages can be sent."""
        return not self.close_sent and self.conn.state is OPEN

    def close_with(self, code: CloseCode, reason: str, linger: float) -> None:
        """Say why it ends, and leave the client some seconds to read that."""
        self.close_sent = True
        self.stop_keepalive()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.read_paused = False
        self.transport.resume_reading()
        self.close_timer = self.loop.call_later(linger, self.transport.close)

    # -- what uvicorn calls

    def handle_text(self, event: Frame) -> None:
        """Let the subclass refuse."""
        self.refuse_text()

    def handle_cont(self, event: Frame) -> None:
        """Take the rest of a message, unless its beginning was refused."""
        if not self.close_sent:
            super().handle_cont(event)


class Server(uvicorn.Server):
    """A server that leaves signals to the process, says when it is ready, and ends its connections.

    Args:
        config: its options.
        ready: called when it answers.
    """

    server_state: State

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.server_state = State()
        self._ready = ready
        self._loop: asyncio.AbstractEventLoop

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        """Leave signals to the process."""
        return nullcontext()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        self._loop = asyncio.get_running_loop()
        self._ready()

    def call_first(self, work: Callable[[], None]) -> None:
        """Call a function in the loop of the server, from another thread, before all that waits.

        What is ready to run on a busy server can take seconds. asyncio has no public way past it;
        without its list of what is ready, the function is called after the rest.
        """
        with suppress(AttributeError):
            first: deque[asyncio.Handle] = self._loop._ready  # type: ignore[attr-defined]
            first.appendleft(asyncio.Handle(work, (), self._loop))
        self._loop.call_soon_threadsafe(work)

    def end_connections(self) -> None:
        """Tell every connection that the server is being stopped; call it in the loop."""
        self.server_state.leaving = True
        for each in list(self.server_state.connections):
            each.shutdown()

    @property
    def has_connections(self) -> bool:
        """Whether a client is still connected."""
        return bool(self.server_state.connections)

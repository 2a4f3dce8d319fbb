"""Connections to strangers: how long one may take to say what it wants, how many there are, and how
they end when the server does.
"""

import asyncio
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.datastructures import Headers
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from app.server.policy import Policy

_SECONDS = 20.0  # for a whole request; without an end, a few hundred half ones fill the server
_LINGER = 1.0  # seconds in which a refused client can read why
_BUSY = "All connections of this server are in use. Try again in a minute."
_NO_HANDSHAKE = "This is not the beginning of a websocket."
_LATE = "The rest of the request did not arrive in time."
_LEAVING = "This server is being stopped. Try again in a few seconds."
_BYTES_ONLY = "Pages speak in bytes, not in text."
_RETRY = {_BUSY: "60", _LEAVING: "10"}  # seconds


class State(ServerState):
    """What the connections of a server share.

    Attributes:
        leaving: whether the server is being stopped.
    """

    leaving = False


class Connection(H11Protocol):
    """An HTTP connection that refuses to wait.

    Uvicorn waits without limit for the rest of a request, and its own limit on connections counts
    only those that have sent one.
    """

    seconds = _SECONDS
    """How long a request may take to arrive, from its first byte to its last."""
    server_state: State

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._most = self.limit_concurrency
        self.limit_concurrency = None
        self._timer: asyncio.TimerHandle | None = None
        self._over = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, or refuse."""
        super().connection_made(transport)
        if self.server_state.leaving:
            self._refuse(503, _LEAVING)
        elif self._most is not None and len(self.connections) > self._most:
            self._refuse(503, _BUSY)
        else:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_watching()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        if not self._over:
            super().data_received(data)
            self._watch()

    @property
    def _is_asked(self) -> bool:
        """Whether an answer is due."""
        return self.cycle is not None and not self.cycle.response_complete

    def shutdown(self) -> None:
        """End the connection, because the server is being stopped.

        Who waits for an answer is refused, and so is who may be sending a request just now. An
        answer that has begun may be read to its end.
        """
        if self._is_asked and self.cycle.response_started:
            self.cycle.keep_alive = False
        elif not self._over:
            self._refuse(503, _LEAVING)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection over; what follows is not a request.

        Uvicorn answers a malformed handshake itself, without the headers of every answer.
        """
        headers = Headers((name.decode("latin-1"), value.decode("latin-1"))
                          for name, value in self.headers)  # fmt: skip
        status = ServerProtocol().accept(Request("/", headers)).status_code
        if status != HTTPStatus.SWITCHING_PROTOCOLS:
            self._refuse(status, _NO_HANDSHAKE)
            return
        self._over = True
        self._stop_watching()
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse(400, msg)

    def _watch(self) -> None:
        """Let the time run while a request is half there."""
        if self._over:
            return
        if self.conn.their_state not in {h11.IDLE, h11.SEND_BODY}:
            self._stop_watching()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.seconds, self._give_up)

    def _stop_watching(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        silent = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        answering = self.conn.our_state is h11.SEND_BODY
        if silent or answering:
            self.transport.close()
        else:
            self._refuse(408, _LATE)

    def _refuse(self, status: int, text: str) -> None:
        """Answer without reading on, and end the connection."""
        self._over = True
        self._stop_watching()
        if self.cycle is not None:  # the work on the request need not go on
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.write(_answer(status, text))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(_LINGER, self.transport.close)


class Socket(WebSocketsSansIOProtocol):
    """A websocket that ends with a word."""

    def handle_text(self, event: Frame) -> None:
        """Refuse text, which no page sends."""
        self._close(CloseCode.UNSUPPORTED_DATA, _BYTES_ONLY)

    def handle_cont(self, event: Frame) -> None:
        """Take the rest of a message, unless its beginning was refused."""
        if not self.close_sent:
            super().handle_cont(event)

    def shutdown(self) -> None:
        """End the connection, because the server is being stopped."""
        if self.handshake_complete:
            self._close(CloseCode.SERVICE_RESTART, _LEAVING)
        else:
            self.transport.write(_answer(503, _LEAVING))
            self.transport.close()

    def _close(self, code: CloseCode, reason: str) -> None:
        """Say why it ends, and leave the client a moment to read that."""
        if self.close_sent or self.conn.state is not OPEN:
            return
        self.close_sent = True
        self.stop_keepalive()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.read_paused = False
        self.transport.resume_reading()
        self.close_timer = self.loop.call_later(_LINGER, self.transport.close)


def _answer(status: int, text: str) -> bytes:
    """Return a whole answer, as it is sent."""
    headers = {
        **Policy().refusal(),
        "content-type": "text/plain; charset=utf-8",
        "content-length": str(len(text)),
        "connection": "close",
        **({"retry-after": _RETRY[text]} if text in _RETRY else {}),
    }
    lines = [f"HTTP/1.1 {status} Refused", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + f"\r\n\r\n{text}").encode("ascii")

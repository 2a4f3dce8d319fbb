"""Connections to strangers: how long one may take to say what it wants, how many there are, and how
they end when the server does.
"""

import asyncio
from http import HTTPStatus
from typing import Any

from app.compat.uvicorn import CloseCode, HttpConnection, SocketConnection
from app.server.policy import Policy

_SECONDS = 20.0  # for a whole request; without an end, a few hundred half ones fill the server
_LINGER = 1.0  # seconds in which a refused client can read why
_BUSY = "All connections of this server are in use. Try again in a minute."
_NO_HANDSHAKE = "This is not the beginning of a websocket."
_LATE = "The rest of the request did not arrive in time."
_LEAVING = "This server is being stopped. Try again in a few seconds."
_BYTES_ONLY = "Pages speak in bytes, not in text."
_RETRY = {_BUSY: "60", _LEAVING: "10"}  # seconds


class Connection(HttpConnection):
    """An HTTP connection that refuses to wait.

    Uvicorn waits without limit for the rest of a request, and its own limit on connections counts
    only those that have sent one.
    """

    seconds = _SECONDS
    """How long a request may take to arrive, from its first byte to its last."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._timer: asyncio.TimerHandle | None = None
        self._over = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, or refuse."""
        super().connection_made(transport)
        if self.is_leaving:
            self._refuse(503, _LEAVING)
        elif self.one_too_many:
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

    def shutdown(self) -> None:
        """End the connection, because the server is being stopped.

        Who waits for an answer is refused, and so is who may be sending a request just now. An
        answer that has begun may be read to its end.
        """
        if self.is_answering:
            self.end_after_answer()
        elif not self._over:
            self._refuse(503, _LEAVING)

    def refuse_upgrade(self, status: int) -> bool:
        """Hand a proper websocket over; what follows is not a request.

        Uvicorn answers a malformed handshake itself, without the headers of every answer.
        """
        refused = status != HTTPStatus.SWITCHING_PROTOCOLS
        if refused:
            self._refuse(status, _NO_HANDSHAKE)
        else:
            self._over = True
            self._stop_watching()
        return refused

    def refuse_request(self, why: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse(400, why)

    def _watch(self) -> None:
        """Let the time run while a request is half there."""
        if self._over:
            return
        if not self.is_half_read:
            self._stop_watching()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.seconds, self._give_up)

    def _stop_watching(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if self.is_silent or self.is_sending:
            self.transport.close()
        else:
            self._refuse(408, _LATE)

    def _refuse(self, status: int, text: str) -> None:
        """Answer without reading on, and end the connection."""
        self._over = True
        self._stop_watching()
        self.drop_work()
        self.write_last(_answer(status, text), _LINGER)


class Socket(SocketConnection):
    """A websocket that ends with a word."""

    def refuse_text(self) -> None:
        """Refuse text, which no page sends."""
        self._close(CloseCode.UNSUPPORTED_DATA, _BYTES_ONLY)

    def shutdown(self) -> None:
        """End the connection, because the server is being stopped."""
        if self.handshake_complete:
            self._close(CloseCode.SERVICE_RESTART, _LEAVING)
        else:
            self.transport.write(_answer(503, _LEAVING))
            self.transport.close()

    def _close(self, code: CloseCode, reason: str) -> None:
        """Say why it ends, and leave the client a moment to read that."""
        if self.is_open:
            self.close_with(code, reason, _LINGER)


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

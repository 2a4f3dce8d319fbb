"""What uvicorn does not document, and what it is needed for.

Uvicorn waits without limit for the rest of a request, its limit on connections counts only those
that have sent one, and it answers malformed requests without our headers (`Connection`). `Server`
leaves signals to the process.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected

__all__ = ["ClientDisconnected", "Connection", "Server"]

_BUSY = "All connections of this server are in use. Try again in a minute."
_LATE = "The rest of the request did not arrive in time."
_LINGER = 1.0  # seconds in which a refused client can read why
_LINGERING = 32  # refused connections that may stay open so long
_QUEUE = 2_048  # connections that wait to be accepted


class Connection(H11Protocol):
    """An HTTP connection that refuses to wait. A subclass has the headers of its refusals."""

    headers_of_refusals: ClassVar[Mapping[str, str]] = {}
    seconds: ClassVar[float] = 20.0
    """How long a request may take to arrive, from its first byte to its last."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._most, self.limit_concurrency = self.limit_concurrency or 0, None
        self._timer: asyncio.TimerHandle | None = None
        self._since = 0.0  # when it began to wait for a request
        self._over = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, or refuse."""
        super().connection_made(transport)
        if len(self.connections) > self._most:
            self._refuse(503, _BUSY)
        else:
            self._wait()
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._end()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        if not self._over:
            super().data_received(data)
            self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._wait()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection over; what follows is not a request."""
        self._end()
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse(400, msg)

    def _wait(self) -> None:
        """Close what has waited longest, if more than a quarter of all wait for this address."""
        self._since = self.loop.time()
        if len(self.connections) <= self._most // 4 or self.client is None:
            return
        others = [each for each in self.connections if isinstance(each, Connection)]
        waiting = [each for each in others
                   if not each._over and (each.cycle is None or each.cycle.response_complete)
                   and each.client is not None and each.client[0] == self.client[0]]  # fmt: skip
        if len(waiting) > self._most // 4:
            oldest = min(waiting, key=lambda each: each._since)
            oldest._end()
            oldest.transport.close()

    def _watch(self) -> None:
        """Let the time run while a request is not there, or half of it."""
        waits = not self._over and self.conn.their_state in {h11.IDLE, h11.SEND_BODY}
        if waits and self._timer is None:
            self._timer = self.loop.call_later(self.seconds, self._give_up)
        elif not waits and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        self._over = True
        self._watch()

    def _give_up(self) -> None:
        is_silent = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        if is_silent or self.conn.our_state is h11.SEND_BODY:
            self.transport.close()
        else:
            self._refuse(408, _LATE)

    def _refuse(self, status: int, text: str) -> None:
        """Answer without reading on, and end the connection."""
        self._end()
        if self.cycle is not None:  # no client waits for its work
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        lines = [
            f"HTTP/1.1 {status} Refused",
            *map(": ".join, self.headers_of_refusals.items()),
            "content-type: text/plain; charset=utf-8",
            f"content-length: {len(text)}",
            "connection: close",
            *(["retry-after: 60"] if status == 503 else []),
        ]
        self.transport.write("\r\n".join([*lines, "", text]).encode("ascii"))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        has_room = len(self.connections) <= self._most + _LINGERING
        self.loop.call_later(_LINGER if has_room else 0.0, self.transport.close)


class Server(uvicorn.Server):
    """A server that leaves signals to the process, and calls `ready` when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        """Leave signals to the process."""
        return nullcontext()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(_QUEUE)  # `backlog` is also how many are accepted before any is counted
        self._ready()

    @property
    def has_connections(self) -> bool:
        """Whether a client is still connected."""
        return bool(self.server_state.connections)

"""What uvicorn does not document, and what it is needed for.

Uvicorn waits without limit for the rest of a request, its limit on connections counts only those
that have sent one, and it answers malformed requests without our headers.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import ClassVar

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected as ClientDisconnected

_LINGER = 1.0  # seconds in which a refused client can read why
_LINGERING = 32  # refused connections that may stay open so long
_QUEUE = 2_048  # connections that wait to be accepted


class Connection(H11Protocol):
    """An HTTP connection that refuses to wait. A subclass has the headers of its refusals."""

    headers_of_refusals: ClassVar[Mapping[str, str]] = {}
    seconds: ClassVar[float] = 20.0
    """How long a request may take to arrive, from when the connection is free for it."""

    _most, _over = 0, False
    _address, _since = "", 0.0  # whose it is, and since when it waits for a request

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, or refuse."""
        super().connection_made(transport)
        self._most, self.limit_concurrency = self.limit_concurrency or 0, None
        self._address = (self.client or ("",))[0]
        if len(self.connections) > self._most:
            self._refuse(503, "All connections of this server are in use. Try again in a minute.")
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        if not self._over:
            super().data_received(data)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._wait()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse(400, msg)

    def _wait(self) -> None:
        """Close what has waited longest, if more than a quarter of all wait for this address."""
        self._since = self.loop.time()
        waiting = [each for each in self.connections if isinstance(each, Connection)
                   and each._address == self._address and not each._over
                   and (each.cycle is None or each.cycle.response_complete)]  # fmt: skip
        if len(waiting) > self._most // 4:
            min(waiting, key=lambda each: each._since)._close()

    def look(self) -> None:
        """Give up a request that is not there in time, or only half of it."""
        theirs, is_late = self.conn.their_state, self.loop.time() > self._since + self.seconds
        if self._over or not is_late or theirs not in {h11.IDLE, h11.SEND_BODY}:
            return
        is_silent = theirs is h11.IDLE and not self.conn.trailing_data[0]
        if is_silent or self.conn.our_state is h11.SEND_BODY:
            self._close()
        else:
            self._refuse(408, "The rest of the request did not arrive in time.")

    def _close(self) -> None:
        self._over = True
        self.transport.close()

    def _refuse(self, status: int, text: str) -> None:
        """Answer without reading on, and end the connection."""
        self._over = True
        if self.cycle is not None:  # no client waits for its work
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        again = {"retry-after": "60"} if status == 503 else {}
        own = {"content-type": "text/plain", "content-length": str(len(text)), **again}
        fields = {**self.headers_of_refusals, **own, "connection": "close"}
        head = [f"HTTP/1.1 {status} Refused", *map(": ".join, fields.items())]
        self.transport.write("\r\n".join([*head, "", text]).encode("ascii"))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        has_room = len(self.connections) <= self._most + _LINGERING
        self.loop.call_later(_LINGER if has_room else 0.0, self.transport.close)


class Server(uvicorn.Server):
    """Leaves signals to the process, looks at its connections, calls `ready` when it answers."""

    ready: Callable[[], None]

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        """Leave signals to the process."""
        return nullcontext()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(_QUEUE)  # `backlog` is also how many are accepted before any is counted
        self.ready()

    @property
    def has_connections(self) -> bool:
        """Whether a client is still connected."""
        return bool(self.server_state.connections)

    async def on_tick(self, counter: int) -> bool:
        """Look at the connections, ten times a second."""
        for each in list(self.server_state.connections):
            if isinstance(each, Connection):
                each.look()
        return await super().on_tick(counter)

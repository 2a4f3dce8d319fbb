"""Checks every request before any interface sees it, and completes every answer."""

import asyncio
import logging
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.compat.uvicorn import ClientDisconnected
from app.log import cause
from app.records.visitors import Visitor, network_of
from app.server.names import Names, names_of
from app.server.nonces import NONCE
from app.server.policy import Policy
from app.server.sessions import Cookies, Sessions, own_cookies
from app.server.stopping import STOP
from app.settings import settings

_LOG = logging.getLogger("app")
_LONGEST_BODY = 6 * 2**20  # bytes; a file of 5 MB and what a form adds to it
_LINGER = 1.0  # seconds in which the rest of a refused request may come


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that the gate gives itself: a status, and a line that says what to do."""

    status: int
    text: str


_WRONG_HOST = Refusal(
    421, "This server is not known by that name. Its operator can add it: BERT_EXPLORER_HOSTS."
)
_FOREIGN = Refusal(403, "Pages of other sites may not use this server.")
_LEAVING = Refusal(503, "This server is being stopped. Another one will answer in a moment.")
_AGAIN = {"retry-after": "2", "refresh": "2"}  # seconds, for programs and for browsers
_CLOSED = Refusal(404, "Not found.")
_NO_LENGTH = Refusal(411, "The request has no Content-Length header. Add one.")
_TOO_LONG = Refusal(413, f"The request is longer than {_LONGEST_BODY // 2**20} MB. Send less.")
_NO_SOCKET = Refusal(403, "There is no websocket at this address.")
_BROKEN = Refusal(500, "Sorry, something went wrong on our side. Reload the page.")

Headers = Callable[[str], Mapping[str, str]]
"""Writes the headers of an interface's answers, given a number used once (a nonce)."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The ASGI application in front of all interfaces."""

    site: Annotated[ASGIApp, "the Streamlit interface, at `/`; it also gets the lifespan"]
    second: Annotated[ASGIApp, "the application of all other interfaces"]
    _: KW_ONLY
    below: Annotated[Mapping[str, Headers], 'paths that it answers, and their headers; "" for all']
    names: Names
    policy: Policy
    cookies: Cookies
    sessions: Sessions
    closed: Annotated[Sequence[str], "parts of paths that are not answered"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on and complete its answer."""
        if scope["type"] == "lifespan":
            await self.site(scope, receive, send)
            return
        request = HTTPConnection(scope)
        address = request.client.host if request.client else ""
        visitor = Visitor(self.cookies.number_in(request.cookies), network_of(address))
        refusal = self._unwanted(request) or self._one_too_many(request, visitor)
        if STOP.draining and not visitor.number and _opens(request):
            refusal = refusal or _LEAVING
        if refusal:
            await self._refuse(refusal, scope, receive, send)
            return
        sessions = self.sessions
        with sessions.opened(visitor) if _is_page(request) else sessions.streaming(visitor):
            await self._pass_on(request, visitor, receive, send)

    def _unwanted(self, request: HTTPConnection) -> Refusal | None:
        """Return why a request is refused, no matter who sends it."""
        headers, path = request.headers, request.scope["path"]
        host = headers.get("host", "")
        if not self.names.admit(host, "https" if _is_secure(request) else "http"):
            return _WRONG_HOST
        if not all(self.names.admit_origin(each, host) for each in headers.getlist("origin")):
            return _FOREIGN
        if any(part in path for part in self.closed):
            return _CLOSED
        if "transfer-encoding" in headers:
            return _NO_LENGTH
        return _TOO_LONG if int(headers.get("content-length", 0)) > _LONGEST_BODY else None

    def _one_too_many(self, request: HTTPConnection, visitor: Visitor) -> Refusal | None:
        """Return why a visitor may not open one more page, or have one more request."""
        text = self.sessions.refusal(visitor) if _opens(request) else ""
        if not (text or _is_page(request)):
            text = self.sessions.stream_refusal(visitor)
        return Refusal(429, text) if text else None

    async def _refuse(self, refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a line of text, and end the connection, whatever else is sent on it."""
        again = _AGAIN if refusal is _LEAVING else {}
        headers = {**self.policy.refusal(), "connection": "close", **again}
        answer = PlainTextResponse(refusal.text, refusal.status, headers)
        if scope["type"] == "websocket":
            await answer(scope, receive, send)
            raise ClientDisconnected  # otherwise uvicorn logs that there was no handshake
        if refusal is _LEAVING:
            await answer(scope, receive, send)
            return

        async def open_ended(message: Message) -> None:
            await send({**message, "more_body": True})

        await answer(scope, receive, open_ended)
        with suppress(TimeoutError):  # an end before all has come would take the answer back
            async with asyncio.timeout(_LINGER):
                while (await receive()).get("more_body"):
                    pass
        await send({"type": "http.response.body"})

    async def _pass_on(
        self, request: HTTPConnection, visitor: Visitor, receive: Receive, send: Send
    ) -> None:
        """Let an interface answer."""
        scope = _introduced(request, visitor)
        nonce, path = secrets.token_urlsafe(16), scope["path"]
        starts = (each for each in self.below if path == each or path.startswith(f"{each}/"))
        headers = self.below.get(next(starts, "-"))
        own = headers(nonce) if headers else self.policy.first(request.headers["host"])
        cookie = None
        if not visitor.number:
            cookie = self.cookies.new(secure=_is_secure(request), framed=self.policy.in_space)
        answer = _Answer(send, own, cookie)
        try:
            app = self.second if headers else self.site
            await app({**scope, NONCE: nonce}, receive, answer)
        except (ClientDisconnect, ClientDisconnected):
            return
        except asyncio.CancelledError:  # the server ends
            if not answer.begun:
                await self._refuse(_LEAVING, scope, receive, send)
            return
        except Exception as error:  # noqa: BLE001 - its text may quote what a visitor sent
            _LOG.error("error in an answer: %s", cause(error))
        if answer.refused or not answer.begun:
            refusal = _NO_SOCKET if answer.refused else _BROKEN
            await self._refuse(refusal, scope, receive, send)


def guarded(
    site: ASGIApp,
    second: ASGIApp,
    at: tuple[str, int],
    *,
    below: Mapping[str, Headers],
    policy: Policy,
    closed: Sequence[str] = (),
) -> Gate:
    """Return a gate with the limits and names of the settings, at an address and port."""
    found = settings()
    return Gate(
        site,
        second,
        below=below,
        names=names_of(*at, socket.gethostname(), found.hosts + found.space),
        policy=policy,
        cookies=own_cookies(),
        sessions=Sessions(found.tabs, found.sessions, found.streams),
        closed=closed,
    )


class _Answer:
    """Completes the head of an answer on its way out."""

    def __init__(self, send: Send, headers: Mapping[str, str], cookie: str | None) -> None:
        self._send, self._headers, self._cookie = send, headers, cookie
        self.begun = False  # whether anything was sent
        self.refused = False  # whether that would be the refusal of a websocket, without headers

    async def __call__(self, message: Message) -> None:
        if message["type"] == "websocket.close" and not self.begun:
            self.refused = True
            return
        self.begun = True
        if message["type"].endswith("response.start"):
            headers = MutableHeaders(raw=list(message.get("headers", ())))
            headers.update(self._headers)
            if self._cookie and headers.get("content-type", "").startswith("text/html"):
                headers.append("set-cookie", self._cookie)
            message = {**message, "headers": headers.raw}
        await self._send(message)


def _is_secure(request: HTTPConnection) -> bool:
    return request.scope["scheme"] in {"https", "wss"}


def _opens(request: HTTPConnection) -> bool:
    """Return whether this opens a page, or is part of opening it."""
    return _is_page(request) or "text/html" in request.headers.get("accept", "")


def _is_page(request: HTTPConnection) -> bool:
    """Return whether this connection is open as long as a page is, on either interface."""
    return request.scope["type"] == "websocket" or "/heartbeat/" in request.scope["path"]


def _introduced(request: HTTPConnection, visitor: Visitor) -> Scope:
    """Return the request with its visitor, and with the `Host` that the browser knows.

    An origin has been checked by now. If a proxy changed the `Host`, both interfaces would take the
    page for a foreign one, and Streamlit would ask an outside service for this machine's address.
    """
    headers = MutableHeaders(raw=list(request.scope["headers"]))
    headers.update(visitor.headers)
    origin = request.headers.get("origin")
    if origin is not None:
        headers["host"] = origin.partition("://")[2]
    return {**request.scope, "headers": headers.raw}

"""Which of Gradio's routes exist here, and how long a request may be.

Gradio's server can also keep uploaded files, fetch addresses, convert recordings, store states on
disk and show statistics about visitors. No page or endpoint here needs any of that, so those routes
are closed: a path that is not named below does not exist.
"""

import os
import re

from gradio import Blocks
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.compat.gradio import UnknownCall, is_unfetched, is_waiting
from app.declared import all_declared
from app.engine.calls import Refusal, check
from app.engine.compute.visitor import Visit
from app.faces.gradio.lessons import SLUG
from app.faces.gradio.work import message_of
from app.faces.paper.answers import BODY_BYTES, TOO_LONG
from app.records.visitors import announced

_OPEN = (
    r"/(?:(?:{pages})/?|config/?|theme\.css|favicon\.ico|robots\.txt|manifest\.json"
    r"|(?:static|assets|svelte)/[\w./-]+"
    r"|gradio_api/(?:info|openapi\.json|app_id|startup-events|theme\.css|login_check|token|user"
    r"|queue/(?:join|data|status)|call/(?:v2/)?\w+(?:/\w+)?|heartbeat/\w+|cancel|reset)/?)?"
)
_CLAIM = b"x-forwarded-host"
_BEGUN = re.compile(r"/gradio_api/(?:queue/join|call/(?:v2/)?\w+)/?")
_FETCHED = re.compile(r"/gradio_api/(?:queue/data|call/(?:v2/)?\w+/(?P<call>\w+))/?")


class OwnRoutes:
    """Answers 404 for every closed path, and refuses what Gradio would answer with an error of its
    own, or with work for a visitor beyond the rate limit.

    Args:
        app: Gradio's application.
        face: its pages.
    """

    def __init__(self, app: ASGIApp, face: Blocks) -> None:
        self._app = app
        self._face = face
        pages = "|".join([SLUG, *(each.feature.slug for each in all_declared())])
        self._open = re.compile(_OPEN.format(pages=pages))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        try:
            if ".." in path or not self._open.fullmatch(path or "/"):
                raise Refusal(404, "Not found")
            self._check(path, Request(scope))
            body = await _body(receive)
        except Refusal as why:
            await why.pause()
            answer = JSONResponse({"detail": why.message}, why.status, why.headers)
            await answer(scope, receive, send)
            return
        await self._passed_on(_under_its_own_name(scope), _once(body, receive), send)

    def _check(self, path: str, request: Request) -> None:
        """Refuse a call beyond the visitor's rate limit, and a stream of no session.

        Raises:
            Refusal: 404 or 429.
        """
        if _BEGUN.fullmatch(path) and request.method == "POST":
            visitor = announced(request.headers)
            check(Visit(visitor.name, network=visitor.network), count=False)
        elif fetched := _FETCHED.fullmatch(path):
            call, session = fetched["call"], request.query_params.get("session_hash")
            known = is_unfetched(self._face, call) if call else is_waiting(self._face, session)
            if not known:
                raise Refusal(404, "There is no such call, or its answer was fetched already.")

    async def _passed_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def sent(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, sent)
        except Exception as error:  # noqa: BLE001 - no trace may reach the caller
            if started:  # a stream whose client has gone
                return
            known = isinstance(error, KeyError | TypeError | UnknownCall)
            says = _unknown(error) if known else message_of(error)
            await JSONResponse({"error": says}, 400 if known else 500)(scope, receive, send)


def _unknown(error: Exception) -> str:
    missing = re.fullmatch(r"No value provided for required argument: (\w+)", str(error))
    if missing:
        return f"{missing[1]} is missing."
    return "There is no such endpoint or parameter; gradio_api/info lists all of them."


def _under_its_own_name(scope: Scope) -> Scope:
    """Drop the claim that a request was sent to another server.

    Gradio would write that name into its documentation, and keep it there for everybody. The proxy
    of a Space is believed.
    """
    own = os.environ.get("SPACE_HOST", "").encode()
    headers = [(name, value) for name, value in scope["headers"] if name != _CLAIM or value == own]
    return {**scope, "headers": headers}


async def _body(receive: Receive) -> bytes:
    """Read the whole request.

    Raises:
        Refusal: it is too long, or the client has gone.
    """
    body = bytearray()
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > BODY_BYTES or message["type"] != "http.request":
            raise Refusal(413, TOO_LONG)
    return bytes(body)


def _once(body: bytes, receive: Receive) -> Receive:
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def read() -> Message:
        return pending.pop() if pending else await receive()

    return read

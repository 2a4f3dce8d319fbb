"""The addresses of a class, below `/class`: the page and its files, its events, its votes."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import partial
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.faces.classroom.payloads import as_bytes
from app.faces.classroom.streams import Streams, last_event
from app.records.visitors import Visitor, announced
from app.rooms.records import Reason, Room, RoomError
from app.rooms.store import GONE, ROOMS, Rooms
from app.rooms.turns import voted
from app.settings import ASSETS, settings
from app.shared import shared
from app.shared.memory import Memory

CLASS = "/class"
"""Where classes are, below the site's own path."""

_PAGE = "page.html"
_FILES = {
    _PAGE: (ASSETS / "class" / _PAGE, "text/html"),
    "page.js": (ASSETS / "class" / "page.js", "text/javascript"),
    "page.css": (ASSETS / "class" / "page.css", "text/css"),
    "classroom.js": (ASSETS / "components" / "classroom.js", "text/javascript"),
    "classroom.css": (ASSETS / "components" / "classroom.css", "text/css"),
}
_BODY = 1_000  # bytes of a vote
_VOTES = 60  # of one browser in a minute
_VOTES_OF_NETWORK = 2_000  # a class may share an address
_WRONG = 60  # wrong codes from one network address in a minute
_WRONG_IN_ALL = 600
_STATUSES: dict[Reason, HTTPStatus] = {
    "gone": HTTPStatus.NOT_FOUND,
    "full": HTTPStatus.SERVICE_UNAVAILABLE,
    "closed": HTTPStatus.CONFLICT,
    "guess": HTTPStatus.UNPROCESSABLE_ENTITY,
    "often": HTTPStatus.TOO_MANY_REQUESTS,
    "away": HTTPStatus.SERVICE_UNAVAILABLE,
}
_NO_VOTE = "This is not a vote. Reload the page of the class."
_FRESH = {"cache-control": "no-store"}

Handler = Callable[[Request], Awaitable[Response]]


class Classroom:
    """Answers students; passes other requests on."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        below: str,
        rooms: Rooms = ROOMS,
        counting: Memory | None = None,
    ) -> None:
        self._app, self._path, self._rooms = app, f"{below}{CLASS}", rooms
        counting = counting or shared()
        self._votes = counting.tries("votes", _VOTES)
        self._of_network = counting.tries("votes of network", _VOTES_OF_NETWORK)
        self._wrong = counting.tries("wrong codes", _WRONG)
        self._wrong_in_all = counting.tries("wrong codes in all", _WRONG_IN_ALL)
        self._own: ASGIApp | None = None  # made in the event loop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass the request on."""
        path = scope.get("path", "")
        mine = path == self._path or path.startswith(f"{self._path}/")
        if scope["type"] != "http" or not mine:
            await self._app(scope, receive, send)
        elif not settings().classes:
            await PlainTextResponse("Classes are switched off on this site.", HTTPStatus.NOT_FOUND)(
                scope, receive, send
            )
        elif path == self._path:
            await RedirectResponse(f"{CLASS[1:]}/")(scope, receive, send)
        else:
            self._own = self._own or self._made()
            await self._own({**scope, "root_path": ""}, receive, send)

    def _made(self) -> ASGIApp:
        self._streams = Streams(self._rooms)
        routes = [
            Route("/", _file(_PAGE), methods=["GET"]),
            *(Route(f"/{name}", _file(name), methods=["GET"]) for name in _FILES),
            Route("/{code}", _file(_PAGE), methods=["GET"]),  # the page is the same for every code
            Route("/{code}/events", partial(self._events, teacher=False), methods=["GET"]),
            Route("/{code}/teacher", partial(self._events, teacher=True), methods=["GET"]),
            Route("/{code}/vote", self._vote, methods=["POST"]),
        ]
        return Starlette(
            routes=[Mount(self._path, routes=routes)],
            exception_handlers={RoomError: _refused, HTTPException: _nothing_there},
        )

    async def _events(self, request: Request, *, teacher: bool) -> Response:
        """Send what changes to a student, or to the teacher's panel.

        A refusal is an event, too: browsers hide other answers, and come back after them.
        """
        try:
            visitor = _known(request)
            room = self._room(request, visitor)
            if teacher and visitor.number not in room.owners:
                raise RoomError("gone", GONE.format(settings().hours))
        except RoomError as error:
            if error.reason == "away":
                raise
            return _stream([last_event(str(error))])
        streams = self._streams
        return _stream(
            streams.of_teacher(room.code)
            if teacher
            else streams.of_student(room.code, visitor.number)
        )

    async def _vote(self, request: Request) -> Response:
        """Take a vote."""
        if "origin" not in request.headers:  # every browser sends it; the gate has compared it
            raise RoomError("closed", "Votes are accepted only from the page of the class.")
        visitor = _known(request)
        if not self._votes.take(visitor.number) or not self._of_network.take(visitor.network):
            raise RoomError("often", "Too many votes within a minute. Wait a little.")
        room = self._room(request, visitor)
        stage, guess = _read(await _body(request))
        self._rooms.change(room.code, voted(visitor.number, stage, guess, settings().word_chars))
        return _json({"ok": True})

    def _room(self, request: Request, visitor: Visitor) -> Room:
        """Return the room of an address; wrong codes are counted and limited."""
        room = self._rooms.find(request.path_params["code"].upper())
        if room is not None and visitor.number in room.members | room.owners:
            return room
        if not (self._wrong.are_left(visitor.network) and self._wrong_in_all.are_left("")):
            raise RoomError(
                "often",
                "Too many wrong codes came from your network. Wait a minute, then try the "
                "right one.",
            )
        if room is None:
            self._wrong.take(visitor.network)
            self._wrong_in_all.take("")
            raise RoomError("gone", GONE.format(settings().hours))
        return room


def _known(request: Request) -> Visitor:
    """Return who asks; a browser is told from others by the cookie that the gate gives it."""
    visitor = announced(request.headers)
    if not visitor.number:
        raise RoomError(
            "closed",
            "This browser keeps no cookie of this site, so it cannot vote. Allow cookies and "
            "reload.",
        )
    return visitor


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _BODY:
            raise RoomError("guess", _NO_VOTE)
    return bytes(body)


def _read(body: bytes) -> tuple[int, object]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or type(found.get("stage")) is not int:
        raise RoomError("guess", _NO_VOTE)
    return found["stage"], found.get("guess")


def _stream(events: AsyncIterator[bytes] | Iterable[bytes]) -> Response:
    return StreamingResponse(
        events, headers={**_FRESH, "x-accel-buffering": "no"}, media_type="text/event-stream"
    )


def _json(content: object, status: int = HTTPStatus.OK) -> Response:
    return Response(as_bytes(content), status, _FRESH, "application/json")


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RoomError)
    return _json({"error": str(error)}, _STATUSES[error.reason])


async def _nothing_there(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return PlainTextResponse("There is nothing here.", error.status_code, dict(error.headers or {}))


def _file(name: str) -> Handler:
    path, kind = _FILES[name]

    async def send(_: Request) -> Response:
        return Response(path.read_bytes(), headers={"cache-control": "no-cache"}, media_type=kind)

    return send

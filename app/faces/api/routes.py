"""`/api/<task>`: one request with named values, one answer."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from app.engine.calls import refused, submit
from app.engine.compute.visitor import Visit
from app.faces.api.calling import (
    answered,
    as_bytes,
    body_of,
    disconnected,
    job,
    json_response,
    task_of,
    values_of,
    visit_of,
    worked,
)
from app.faces.api.described import openapi
from app.faces.api.pages import documentation
from app.lessons.shelf import in_order

EVENTS = "text/event-stream"
_BEAT = 15.0  # seconds between signs of life of a stream


async def call(request: Request) -> Response:
    """Answer a task; with events on the way if the request accepts them."""
    visit = visit_of(request)
    task = task_of(request.path_params["task"])
    given = values_of(await body_of(request))
    if EVENTS not in request.headers.get("accept", ""):
        return json_response(await worked(visit, job(task, given), lambda: disconnected(request)))
    told = Told()
    visit.told = lambda before: told.tell("waiting", before=before or 0)
    own = {"progress": lambda done, total: told.tell("progress", done=done, total=total)}
    work = job(task, given, **(own if task.reports_progress else {}))
    return event_stream(_events(visit, work, told))


def event_stream(events: AsyncIterator[bytes]) -> Response:
    """Send events as they come."""
    return StreamingResponse(events, headers={"Cache-Control": "no-store"}, media_type=EVENTS)


def event(name: str, data: bytes) -> bytes:
    """Write one event of a stream; JSON has no line breaks."""
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


class Told:
    """What the thread that works on a call tells the stream of its events."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()

    def tell(self, name: str, **data: int) -> None:
        """Add an event."""
        self._put(event(name, as_bytes(data)))

    def end(self, _: object) -> None:
        """Add no more."""
        self._put(None)

    def _put(self, each: bytes | None) -> None:
        self._loop.call_soon_threadsafe(self._queue.put_nowait, each)

    async def next(self) -> bytes | None:
        """Return the next event; a comment if there is none for some time, None at the end."""
        try:
            return await asyncio.wait_for(self._queue.get(), _BEAT)
        except TimeoutError:
            return b": still working\n\n"


async def _events(visit: Visit, work: Callable[[], bytes], told: Told) -> AsyncIterator[bytes]:
    """Yield `waiting` and `progress` on the way, and `answer` or `error` at the end."""
    try:
        future = submit(visit, work)
        future.add_done_callback(told.end)
        try:
            while (each := await told.next()) is not None:
                yield each
            yield event("answer", future.result())
        finally:
            visit.cancelled = True
            future.cancel()
    except Exception as error:  # noqa: BLE001 - the status has been sent
        why = refused(error)
        yield event("error", as_bytes({"status": why.status, "error": why.message}))


async def describe(request: Request) -> Response:
    """Describe all tasks as OpenAPI."""
    return json_response(openapi(request.url.path.removesuffix("openapi.json")))


async def lessons(request: Request) -> Response:
    """Give all lessons as they are in their files."""
    visit_of(request)
    return json_response({"lessons": [asdict(each) for each in in_order()]})


async def document(request: Request) -> Response:
    """Describe all tasks for people."""
    return documentation(request)


ROUTES = [
    Route("/", answered(document), methods=["GET"]),
    Route("/openapi.json", answered(describe), methods=["GET"]),
    Route("/lessons", answered(lessons), methods=["GET"]),
    Route("/{task}", answered(call), methods=["POST"]),
]

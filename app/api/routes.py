"""`/api/<task>`: one request with named values, one answer."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Future

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from app.api.calling import (
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
from app.api.described import openapi
from app.api.pages import documentation
from app.compute.visitor import Visit
from app.declared import Declared
from app.faces.calls import Refusal, refused, submit

EVENTS = "text/event-stream"
_BEAT = 15.0  # seconds between signs of life of a stream


async def call(request: Request) -> Response:
    """Answer a task; with events on the way if the request accepts them."""
    visit = visit_of(request)
    task = task_of(request.path_params["task"])
    given = values_of(await body_of(request))
    if EVENTS in request.headers.get("accept", ""):
        return event_stream(_events(visit, task, given))
    return json_response(await worked(visit, job(task, given), lambda: disconnected(request)))


def event_stream(events: AsyncIterator[bytes]) -> Response:
    """Send events as they come."""
    return StreamingResponse(events, headers={"Cache-Control": "no-store"}, media_type=EVENTS)


def event(name: str, data: bytes) -> bytes:
    """Write one event of a stream; JSON has no line breaks."""
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


async def _events(visit: Visit, task: Declared, given: dict[str, object]) -> AsyncIterator[bytes]:
    """Yield `waiting` and `progress` on the way, and `answer` or `error` at the end."""
    loop = asyncio.get_running_loop()
    told: asyncio.Queue[bytes | None] = asyncio.Queue()

    def tell(name: str, **data: int | None) -> None:
        loop.call_soon_threadsafe(told.put_nowait, event(name, as_bytes(data)))

    def end(_: "Future[bytes]") -> None:
        loop.call_soon_threadsafe(told.put_nowait, None)

    visit.told = lambda before: tell("waiting", before=before or 0)
    own = {"progress": lambda done, total: tell("progress", done=done, total=total)}
    try:
        work = job(task, given, **(own if task.reports_progress else {}))
        future = submit(visit, work)
        future.add_done_callback(end)
        try:
            while (each := await _next(told)) is not None:
                yield each
            yield event("answer", future.result())
        finally:
            visit.cancelled = True
            future.cancel()
    except Exception as error:  # noqa: BLE001 - the status has been sent
        why: Refusal = refused(error)
        yield event("error", as_bytes({"status": why.status, "error": why.message}))


async def _next(told: "asyncio.Queue[bytes | None]") -> bytes | None:
    """Return the next event, or a comment if there is none for some time."""
    try:
        return await asyncio.wait_for(told.get(), _BEAT)
    except TimeoutError:
        return b": still working\n\n"


async def describe(request: Request) -> Response:
    """Describe all tasks as OpenAPI."""
    return json_response(openapi(request.url.path.removesuffix("openapi.json")))


async def document(request: Request) -> Response:
    """Describe all tasks for people."""
    return documentation(request)


ROUTES = [
    Route("/", answered(document), methods=["GET"]),
    Route("/openapi.json", answered(describe), methods=["GET"]),
    Route("/{task}", answered(call), methods=["POST"]),
]

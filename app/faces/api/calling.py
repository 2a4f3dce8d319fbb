"""A request becomes a call, and its answer, or the reason why there is none, JSON."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from app.data.tables import read_json
from app.declared import Declared, declared
from app.declared.answers import answer, engine_of
from app.engine.calls import Refusal, check, refused, submit
from app.engine.compute.visitor import Visit
from app.faces.paper.answers import BODY_BYTES, MODEL, TOO_LONG, record
from app.records.visitors import announced
from bert_core.errors import InputError

T = TypeVar("T")

Handler = Callable[[Request], Awaitable[Response]]


def answered(handler: Handler) -> Handler:
    """Turn what a handler raises into an answer."""

    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        except ClientDisconnect:
            raise
        except Exception as error:  # noqa: BLE001 - the last line of defence of this interface
            refusal = refused(error)
            await refusal.pause()
            return refusal_response(refusal)

    return handle


def refusal_response(refusal: Refusal) -> Response:
    """Write the reason why there is no answer."""
    return json_response({"error": refusal.message}, refusal.status, refusal.headers)


def json_response(
    content: Any, status: int = HTTPStatus.OK, headers: dict[str, str] | None = None
) -> Response:
    """Write a value as the answer; bytes are JSON already."""
    body = content if isinstance(content, bytes) else as_bytes(content)
    return Response(body, status, headers, media_type="application/json")


def as_bytes(content: Any) -> bytes:
    """Write a value as JSON."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode()


def visit_of(request: Request, *, count: bool = True, interface: str = "api") -> Visit:
    """Return whom a call is for, if its visitor's rate limit is not reached.

    Args:
        request: the call.
        count: whether it is one answer less, even if it turns out to be wrong.
        interface: what it counts for in the numbers of the server.

    Raises:
        Refusal: 429.
    """
    visitor = announced(request.headers)
    visit = Visit(visitor.name, network=visitor.network, interface=interface)
    check(visit, count=count)
    return visit


async def body_of(request: Request) -> Any:
    """Read the JSON of a request.

    Raises:
        Refusal: 413, or 400 for what is not JSON.
    """
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > BODY_BYTES:
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LONG)
    try:
        return await asyncio.to_thread(lambda: read_json(body.decode("utf-8-sig")))
    except (ValueError, RecursionError):
        raise Refusal(
            HTTPStatus.BAD_REQUEST, "The body of the request is not JSON in UTF-8."
        ) from None


def task_of(name: str) -> Declared:
    """Return the task of a name.

    Raises:
        Refusal: 404.
    """
    try:
        return declared(name)
    except InputError as error:
        raise Refusal(HTTPStatus.NOT_FOUND, str(error)) from None


def values_of(found: Any) -> dict[str, Any]:
    """Check that a body is an object.

    Raises:
        Refusal: 400.
    """
    if not isinstance(found, dict):
        raise Refusal(
            HTTPStatus.BAD_REQUEST, "The body of the request must be a JSON object of named values."
        )
    return found


def job(task: Declared, given: dict[str, Any], **own: Any) -> Callable[[], bytes]:
    """Return the work of a call: its answer as JSON.

    Args:
        task: what is asked.
        given: values by name, and perhaps the model; they are checked.
        own: what the program passes to the task itself.

    Raises:
        InputError: a value cannot be used.
    """
    values = task.read({name: value for name, value in given.items() if name != MODEL})

    def work() -> bytes:
        return as_bytes(record(answer(task, engine_of(given.get(MODEL, "")), values, **own)))

    return work


async def worked(visit: Visit, work: Callable[[], T], gone: Callable[[], Awaitable[None]]) -> T:
    """Do the work of a call in its turn; it ends early if its sender goes away.

    Args:
        visit: whom it is for.
        work: done in a thread.
        gone: returns when the client has gone.

    Raises:
        Refusal: there is no answer.
    """
    future = asyncio.wrap_future(submit(visit, work))
    leaving = asyncio.ensure_future(gone())
    try:
        both: list[asyncio.Future[Any]] = [future, leaving]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not future.done():
            raise Refusal(499, "The sender of the request has gone.")
        return future.result()
    finally:
        visit.cancelled = True
        leaving.cancel()
        future.cancel()


async def disconnected(request: Request) -> None:
    """Return when the sender has gone; the whole request has been read by now."""
    while (await request.receive())["type"] != "http.disconnect":
        pass

"""A request becomes a call, and its answer, or the reason why there is none, JSON."""

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.data.tables import read_json
from app.declared import Declared
from app.declared.answers import answer, engine_of
from app.engine.calls import Refusal, check, refused, submit
from app.engine.compute.visitor import Visit
from app.faces.paper.answers import BODY_BYTES, MODEL, TOO_LONG, record
from app.records.visitors import announced

_DEEPEST = 50  # levels of a body; the deepest that a task takes is 3


async def refuse(_: Request, error: Exception) -> Response:
    """Write the reason why there is no answer."""
    if isinstance(error, HTTPException):
        says = f"{error.detail}. The tasks are listed at /api/openapi.json."
        headers = {**(error.headers or {}), "connection": "close"}  # who asks for an idle stream
        return json_response({"error": says}, error.status_code, headers)
    refusal = refused(error)
    await refusal.pause()
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
    """Return whom a call is for; with `count` it is one answer less, even if it is wrong.

    Raises:
        Refusal: 429, the visitor's rate limit is reached.
    """
    visitor = announced(request.headers)
    visit = Visit(visitor.name, network=visitor.network, interface=interface)
    check(visit, count=count)
    return visit


async def body_of(request: Request) -> dict[str, Any]:
    """Read the JSON object of a request.

    Raises:
        Refusal: 413, or 400 for what is no object.
    """
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > BODY_BYTES:
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LONG)
    try:
        return await asyncio.to_thread(_read, body)
    except (ValueError, RecursionError):
        says = f"The body of the request is not JSON in UTF-8 of at most {_DEEPEST} levels, or not "
        says += "a JSON object of named values."
        raise Refusal(HTTPStatus.BAD_REQUEST, says) from None


def _read(body: bytearray) -> dict[str, Any]:
    value = read_json(body.decode("utf-8-sig"))
    if not isinstance(value, dict) or _depth(value) > _DEEPEST:
        raise ValueError("no object, or too deep")
    return value


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth, inner), default=0) if isinstance(value, dict | list) else 0


def job(task: Declared, given: dict[str, Any], **own: Any) -> Callable[[], bytes]:
    """Return the work of a call: values by name, and perhaps the model; `own` is the program's.

    Raises:
        InputError: a value cannot be used.
    """
    values = task.read({name: value for name, value in given.items() if name != MODEL})
    return lambda: as_bytes(record(answer(task, engine_of(given.get(MODEL, "")), values, **own)))


async def worked(request: Request, visit: Visit, work: Callable[[], bytes]) -> bytes:
    """Do the work of a call in a thread, in its turn; it ends early if its sender goes away."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    future, leaving = asyncio.wrap_future(submit(visit, work)), asyncio.ensure_future(gone())
    try:
        both: list[asyncio.Future[Any]] = [future, leaving]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not future.done():
            raise Refusal(499, "The sender of the request has gone.")
        return future.result()
    except Exception as error:  # noqa: BLE001 - the last line of defence of this interface
        raise refused(error) from None
    finally:
        visit.cancelled = True
        leaving.cancel()
        future.cancel()

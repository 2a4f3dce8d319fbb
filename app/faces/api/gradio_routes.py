"""The same calls at the addresses, and in the form, that Gradio gives them.

A value has a place instead of a name, and an answer is a list of one. `run` answers at once; `call`
gives the call a number first, and answers under it. Gradio itself would build a session of hundreds
of components for each.
"""

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.declared import Declared
from app.engine.calls import Refusal, refused, submit
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
from app.faces.api.routes import event, event_stream
from app.faces.paper.answers import MODEL
from bert_core.errors import count

_BEAT = 15.0  # seconds between signs of life of a stream
_KEPT = 300.0  # seconds for which an answer waits to be fetched
_MOST_KEPT = 500  # answers; beyond that, the oldest are dropped


@dataclass(frozen=True, slots=True)
class _Kept:
    """A call whose answer is fetched later."""

    visit: Any
    future: "Future[bytes]"
    until: float


class Kept:
    """Calls by their numbers, until they are fetched."""

    def __init__(self) -> None:
        self._calls: OrderedDict[str, _Kept] = OrderedDict()

    def keep(self, visit: Any, future: "Future[bytes]") -> str:
        """Give a call its number."""
        now = time.monotonic()
        while self._calls and (len(self._calls) >= _MOST_KEPT or self._oldest().until < now):
            _, old = self._calls.popitem(last=False)
            old.visit.cancelled = True
            old.future.cancel()
        number = secrets.token_hex(16)
        self._calls[number] = _Kept(visit, future, now + _KEPT)
        return number

    def fetch(self, number: str) -> "Future[bytes]":
        """Return a call, which is then forgotten.

        Raises:
            Refusal: 404.
        """
        found = self._calls.pop(number, None)
        if found is None:
            raise Refusal(
                HTTPStatus.NOT_FOUND,
                "There is no call with this number; an answer is kept for five minutes and fetched "
                "once.",
            )
        return found.future

    def _oldest(self) -> _Kept:
        return next(iter(self._calls.values()))

    def __len__(self) -> int:
        return len(self._calls)


KEPT = Kept()


async def run(request: Request) -> Response:
    """Answer `{"data": [values in order, the model last]}`."""
    visit = visit_of(request)
    task = task_of(request.path_params["task"])
    work = job(task, placed(task, await body_of(request)))
    found = await worked(visit, work, lambda: disconnected(request))
    return json_response(b'{"data": [' + found + b'], "is_generating": false}')


async def call(request: Request) -> Response:
    """Begin a call with values in order, and answer with its number."""
    return await _begun(request, placed)


async def call_named(request: Request) -> Response:
    """Begin a call with named values, and answer with its number."""
    return await _begun(request, lambda _, found: values_of(found))


async def _begun(request: Request, read: Any) -> Response:
    visit = visit_of(request)
    task = task_of(request.path_params["task"])
    given = read(task, await body_of(request))
    number = KEPT.keep(visit, submit(visit, job(task, given)))
    return json_response({"event_id": number})


async def fetch(request: Request) -> Response:
    """Wait for the answer of a call."""
    return event_stream(_events(KEPT.fetch(request.path_params["number"])))


async def _events(future: "Future[bytes]") -> AsyncIterator[bytes]:
    """Yield signs of life, then `complete` or `error`."""
    found = asyncio.wrap_future(future)
    while not (await asyncio.wait({found}, timeout=_BEAT))[0]:
        yield event("heartbeat", b"null")
    try:
        yield event("complete", b"[" + await found + b"]")
    except Exception as error:  # noqa: BLE001 - the status has been sent
        yield event("error", as_bytes(refused(error).message))


def placed(task: Declared, found: Any) -> dict[str, Any]:
    """Give values in order their names.

    Raises:
        Refusal: 400 or 422.
    """
    values = found.get("data") if isinstance(found, Mapping) else None
    if not isinstance(values, list):
        raise Refusal(
            HTTPStatus.BAD_REQUEST, 'The body of the request must be {"data": [values in order]}.'
        )
    names = [*(each.name for each in task.parameters), MODEL]
    if len(values) != len(names):
        raise Refusal(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"Found {count(len(values), 'value')}; expected {len(names)}: {', '.join(names)}.",
        )
    return dict(zip(names, values, strict=True))


ROUTES = [
    Route("/run/{task}", answered(run), methods=["POST"]),
    Route("/api/{task}", answered(run), methods=["POST"]),
    Route("/call/v2/{task}", answered(call_named), methods=["POST"]),
    Route("/call/{task}", answered(call), methods=["POST"]),
    Route("/call/v2/{task}/{number}", answered(fetch), methods=["GET"]),
    Route("/call/{task}/{number}", answered(fetch), methods=["GET"]),
]

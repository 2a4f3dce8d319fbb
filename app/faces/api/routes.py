"""`/api/<task>`: one request with named values, one answer; and the same at Gradio's `run/<task>`,
where a value has a place instead of a name, and an answer is a list of one.

Gradio itself would build a session of hundreds of components for each call.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from sse_starlette import EventSourceResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.declared import Declared, all_declared
from app.engine.calls import Refusal, refused, submit
from app.engine.compute.visitor import Visit
from app.faces.api.calling import as_bytes, body_of, job, json_response, refuse, visit_of, worked
from app.faces.api.described import REFUSALS, given, taken
from app.faces.api.tools import tool_routes
from app.faces.paper.answers import MODEL, about
from app.lessons.shelf import in_order
from bert_core.errors import BertError, count

_BEAT = 15  # seconds between signs of life of a stream
_REFUSAL = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
_ABOUT = (
    "Every task of the site: named values in, the result as JSON out. "
    "Positions count from 0; probabilities go from 0 to 1."
)


def application(api: str, tools: str, gradio: str) -> FastAPI:
    """Return the interface, given the paths of tasks, tools and Gradio's part for programs."""
    app = FastAPI(
        title="BERT Explorer",
        version="1",
        description=_ABOUT,
        openapi_url=f"{api}/openapi.json",
        docs_url=None,
        redoc_url=None,
        exception_handlers={Refusal: refuse, BertError: refuse, HTTPException: refuse},
        routes=[*tool_routes(tools), *tool_routes(f"{gradio}/mcp")],
    )
    refusals = {status: {"description": says, "content": _json(_REFUSAL)}
                for status, says in REFUSALS.items()}  # fmt: skip
    for task in all_declared():
        slug = task.feature.slug
        answer = {**_json(given(task)), "text/event-stream": {"schema": {"type": "string"}}}
        app.add_api_route(
            f"{api}/{slug}",
            _named(task),
            methods=["POST"],
            response_class=Response,
            operation_id=slug,
            summary=task.feature.title,
            description=about(task),
            responses={200: {"description": "the result", "content": answer}, **refusals},
            openapi_extra={"requestBody": {"required": True, "content": _json(taken(task))}},
        )
        run = f"{gradio}/run/{slug}"
        app.add_api_route(run, _placed(task), methods=["POST"], include_in_schema=False)
    app.add_api_route(f"{api}/lessons", lessons, response_class=Response)
    return app


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _named(task: Declared) -> Callable[[Request], Awaitable[Response]]:
    async def call(request: Request) -> Response:
        visit = visit_of(request)
        values = await body_of(request)
        if "text/event-stream" not in request.headers.get("accept", ""):
            return json_response(await worked(request, visit, job(task, values)))
        return _stream(visit, task, values)

    return call


def _placed(task: Declared) -> Callable[[Request], Awaitable[Response]]:
    names = [*(each.name for each in task.parameters), MODEL]

    async def run(request: Request) -> Response:
        visit = visit_of(request)
        values = (await body_of(request)).get("data")
        if not isinstance(values, list):
            says = 'The body of the request must be {"data": [values in order]}.'
            raise Refusal(HTTPStatus.BAD_REQUEST, says)
        if len(values) != len(names):
            says = f"Found {count(len(values), 'value')}; expected {len(names)}: "
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, f"{says}{', '.join(names)}.")
        answer = await worked(request, visit, job(task, dict(zip(names, values, strict=True))))
        return json_response(b'{"data": [' + answer + b'], "is_generating": false}')

    return run


def _stream(visit: Visit, task: Declared, values: dict[str, Any]) -> Response:
    """Send `waiting` and `progress` on the way, and `answer` or `error` at the end."""
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[dict[str, Any]]()

    def tell(name: str, data: bytes = b"") -> None:
        loop.call_soon_threadsafe(queue.put_nowait, {"event": name, "data": data.decode()})

    def progress(done: int, total: int) -> None:
        tell("progress", as_bytes({"done": done, "total": total}))

    work = job(task, values, **({"progress": progress} if task.reports_progress else {}))
    visit.told = lambda before: tell("waiting", as_bytes({"before": before or 0}))

    async def events() -> AsyncIterator[dict[str, str]]:
        try:
            future = submit(visit, work)
            future.add_done_callback(lambda _: tell(""))
            try:
                while (event := await queue.get())["event"]:
                    yield event
                yield {"event": "answer", "data": future.result().decode()}
            finally:
                visit.cancelled = True
                future.cancel()
        except Exception as error:  # noqa: BLE001 - the status has been sent
            why = refused(error)
            says = as_bytes({"status": why.status, "error": why.message})
            yield {"event": "error", "data": says.decode()}

    return EventSourceResponse(events(), ping=_BEAT, sep="\n")


async def lessons(request: Request) -> Response:
    """All lessons as they are in their files: steps, questions, choices, replies."""
    visit_of(request)
    return json_response({"lessons": [asdict(each) for each in in_order()]})

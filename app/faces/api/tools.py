"""Tools for assistants: the Model Context Protocol over streamable HTTP, without sessions.

A page that takes a text is a tool. All other tasks are reached by one more, `more`, which describes
them first: an assistant reads the descriptions of all tools before it reads the question.
"""

import json
from functools import cache
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from app.declared import Declared, all_declared, declared
from app.engine.calls import Refusal, check
from app.faces.api.calling import as_bytes, body_of, job, json_response, visit_of, worked
from app.faces.api.described import given as answers_of
from app.faces.api.described import taken
from app.faces.paper.answers import about
from bert_core.errors import InputError

_ABOUT = (
    "Tools that run a BERT model: each has the name of a task and returns its result as JSON; "
    "`more` has the other tasks. Positions count from 0; probabilities go from 0 to 1."
)
_READS = types.ToolAnnotations(readOnlyHint=True, openWorldHint=False)
_MORE = "more"
_ABOUT_MORE = (
    "Run a task that is no tool of its own. Without `values` it describes the task: what it takes "
    "and what it answers; with them it answers. Tasks: "
)


def tool_routes(path: str) -> list[Route]:
    """Return the routes of the tools at a path; the Hub reads the list of tools of a Space."""
    return [
        Route(f"{path}/schema", schema),
        Route(path, _Messages(), methods=["POST"]),  # no streams and no sessions, so nothing else
    ]


class _Messages:
    """Answers one message. Only the call of a tool is counted, and what is wrong."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        visit = visit_of(request, count=False, interface="mcp")
        try:
            value = await body_of(request)
        except Refusal:
            check(visit, count=True)
            raise
        # What the protocol asks of clients; `curl -d` is understood, too.
        headers = MutableHeaders(raw=list(scope["headers"]))
        headers.update({"Content-Type": "application/json", "Accept": "application/json"})
        pending: list[Message] = [{"type": "http.request", "body": json.dumps(value).encode()}]

        async def read() -> Message:
            return pending.pop() if pending else await receive()

        manager = StreamableHTTPSessionManager(_server(), json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request({**scope, "headers": headers.raw}, read, send)


@cache
def _server() -> Server[Any, Request]:
    server: Server[Any, Request] = Server("BERT Explorer", "1", _ABOUT)

    async def listed() -> list[types.Tool]:
        return [*tools()]

    server.list_tools()(listed)  # type: ignore[no-untyped-call]
    server.call_tool(validate_input=False)(_called)  # the task checks its values itself
    return server


async def _called(name: str, arguments: dict[str, Any]) -> list[types.TextContent]:
    """Call a tool; an error is a result, too, so that the assistant reads the reason."""
    request = _server().request_context.request
    assert request is not None
    task, values = _in_more(arguments) if name == _MORE else (declared(name), arguments)
    if values is None:
        answer = as_bytes({"task": task.feature.slug, "about": about(task), "values": taken(task),
                           "answers": answers_of(task)["properties"]})  # fmt: skip
    else:
        visit = visit_of(request, count=False, interface="mcp")
        answer = await worked(request, visit, job(task, values))
    return [types.TextContent(type="text", text=answer.decode())]


def _in_more(arguments: dict[str, Any]) -> tuple[Declared, dict[str, Any] | None]:
    """Read the arguments of `more`: a task, and its values, None if it is to be described."""
    wrong = arguments.keys() - {"task", "values"}
    name, values = arguments.get("task"), arguments.get("values")
    if wrong or not isinstance(name, str) or not isinstance(values, dict | None):
        raise InputError(
            f"{_MORE}: found {', '.join(sorted(arguments)) or 'nothing'}; expected task, the name "
            "of a task, and values, an object of its values by name, to have it answered."
        )
    return declared(name), values


@cache
def tools() -> tuple[types.Tool, ...]:
    """Return a tool for each page that takes a text, and one for all other tasks."""
    every = all_declared()
    own = [each for each in every if each.feature.takes_text and not each.feature.part_of]
    rest = {each.feature.slug: each for each in every if each not in own}
    lines = (f"{slug} ({each.about.partition('. ')[0].rstrip('.')})" for slug, each in rest.items())
    values = {"type": "object", "description": "its values by name; without them it is described"}
    task = {"type": "string", "enum": [*rest]}
    more = {"type": "object", "properties": {"task": task, "values": values}, "required": ["task"],
            "additionalProperties": False}  # fmt: skip
    rows = [(each.feature.slug, each.feature.title, about(each), taken(each)) for each in own]
    rows += [(_MORE, "More tasks", f"{_ABOUT_MORE}{'; '.join(lines)}.", more)]
    return tuple(
        types.Tool(name=name, title=title, description=says, inputSchema=takes, annotations=_READS)
        for name, title, says, takes in rows
    )


async def schema(_: Request) -> Response:
    """List the tools without the protocol."""
    return json_response([
        {**each.model_dump(mode="json", exclude_none=True), "meta": {  # read by Gradio's own pages
            "file_data_present": False, "mcp_type": "tool", "endpoint_name": each.name,
        }}
        for each in tools()
    ])  # fmt: skip

"""Tools for assistants: the Model Context Protocol over streamable HTTP, without sessions.

A page that takes a text is a tool. All other tasks are reached by one more, `more`, which describes
them first: an assistant reads the descriptions of all tools before it reads the question.

Every message is answered where it arrives. So the transport of the `mcp` package, which begins a
task with four streams for each and logs whole messages, is not needed; its types read and write
them.

Source: Model Context Protocol, revision 2025-11-25, "Transports" and "Tools".
"""

import os
from collections.abc import Sequence
from functools import cache
from http import HTTPStatus
from typing import Any

from mcp import types
from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from mcp.types import LATEST_PROTOCOL_VERSION
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.declared import Declared, all_declared, declared
from app.engine.calls import Refusal, check, refused
from app.engine.compute.visitor import Visit
from app.faces.api.calling import (
    answered,
    as_bytes,
    body_of,
    disconnected,
    job,
    json_response,
    visit_of,
    worked,
)
from app.faces.api.described import given as answers_of
from app.faces.api.described import taken
from app.faces.paper.answers import about
from bert_core.errors import InputError

_NAME, _VERSION = "BERT Explorer", "1"
_SAYS = (
    "Tools that run a BERT model: each has the name of a task and returns its result as JSON; "
    "`more` has the other tasks. "
    "Positions count from 0; probabilities go from 0 to 1."
)
_READS = types.ToolAnnotations(readOnlyHint=True, openWorldHint=False)
_MORE = "more"
_ABOUT_MORE = (
    "Run a task that is no tool of its own. Without `values` it describes the task: what it takes "
    "and what it answers; with them it answers. Tasks: "
)
_VERSION_HEADER = "mcp-protocol-version"


class _WrongMessage(Exception):
    """A message that cannot be answered; with the number that JSON-RPC has for it."""

    def __init__(self, code: int, says: str) -> None:
        super().__init__(says)
        self.code, self.says = code, says


async def message(request: Request) -> Response:
    """Answer one message; a notification has no answer."""
    # Only the call of a tool is counted, and what is wrong.
    visit = visit_of(request, count=False, interface="mcp")
    try:
        found = await body_of(request)
    except Refusal as refusal:
        if refusal.status != HTTPStatus.BAD_REQUEST:
            raise
        return _wrong(visit, None, _WrongMessage(types.PARSE_ERROR, refusal.message))
    number = found.get("id") if isinstance(found, dict) else None
    number = number if isinstance(number, str | int) and not isinstance(number, bool) else None
    try:
        _check_version(request)
        read = _read(found)
        if not isinstance(read, types.JSONRPCRequest):
            return Response(status_code=HTTPStatus.ACCEPTED)
        result = await _result(request, visit, _request(read))
    except _WrongMessage as wrong:
        return _wrong(visit, number, wrong)
    written = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return json_response({"jsonrpc": "2.0", "id": read.id, "result": written})


def _wrong(visit: Visit, number: str | int | None, wrong: _WrongMessage) -> Response:
    """Write an error of the protocol."""
    check(visit, count=True)
    known = wrong.code in {types.METHOD_NOT_FOUND, types.INVALID_PARAMS}
    status = HTTPStatus.OK if known else HTTPStatus.BAD_REQUEST
    error = {"code": wrong.code, "message": wrong.says}
    return json_response({"jsonrpc": "2.0", "id": number, "error": error}, status)


def _check_version(request: Request) -> None:
    """Refuse a revision of the protocol that is not spoken here."""
    version = request.headers.get(_VERSION_HEADER, LATEST_PROTOCOL_VERSION)
    if version not in SUPPORTED_PROTOCOL_VERSIONS:
        spoken = ", ".join(SUPPORTED_PROTOCOL_VERSIONS)
        raise _WrongMessage(
            types.INVALID_REQUEST,
            f"This revision of the protocol is not supported; expected one of {spoken}.",
        )


def _read(found: Any) -> BaseModel:
    """Read a message of JSON-RPC."""
    wrong = _WrongMessage(
        types.INVALID_REQUEST, "The body of the request is not one message of JSON-RPC 2.0."
    )
    try:
        read = types.JSONRPCMessage.model_validate(found).root
    except (ValidationError, RecursionError):
        raise wrong from None
    if isinstance(read, types.JSONRPCNotification) and "id" in found:
        raise wrong  # a request, with an id of a wrong kind
    return read


def _request(read: types.JSONRPCRequest) -> types.ClientRequestType:
    """Read what a request asks for."""
    params = read.params if read.params is not None else {}
    for kind in (
        types.InitializeRequest,
        types.PingRequest,
        types.ListToolsRequest,
        types.CallToolRequest,
    ):
        if kind.model_fields["method"].default == read.method:
            try:
                return kind.model_validate({"method": read.method, "params": params})
            except (ValidationError, RecursionError):
                raise _WrongMessage(
                    types.INVALID_PARAMS, f"The parameters of {read.method} are not as expected."
                ) from None
    raise _WrongMessage(types.METHOD_NOT_FOUND, "Method not found; this server offers only tools.")


async def _result(request: Request, visit: Visit, asked: types.ClientRequestType) -> types.Result:
    """Answer a request."""
    match asked:
        case types.InitializeRequest(params=params):
            return _greeting(str(params.protocolVersion))
        case types.ListToolsRequest():
            return types.ListToolsResult(tools=[*_offered(request)])
        case types.CallToolRequest(params=params):
            return await _called(request, visit, params.name, params.arguments or {})
    return types.EmptyResult()


def _greeting(wanted: str) -> types.InitializeResult:
    spoken = wanted in SUPPORTED_PROTOCOL_VERSIONS
    return types.InitializeResult(
        protocolVersion=wanted if spoken else LATEST_PROTOCOL_VERSION,
        capabilities=types.ServerCapabilities(tools=types.ToolsCapability(listChanged=False)),
        serverInfo=types.Implementation(name=_NAME, version=_VERSION),
        instructions=_SAYS,
    )


async def _called(
    request: Request, visit: Visit, name: str, given: dict[str, Any]
) -> types.CallToolResult:
    """Call a tool; a reason why there is no answer is for the assistant, so it is a result."""
    try:
        name = name.removeprefix(_prefix())
        task, values = _in_more(given) if name == _MORE else (declared(name), given)
        if values is None:
            return _text(as_bytes(_described(task)).decode())
        text = (await worked(visit, job(task, values), lambda: disconnected(request))).decode()
    except Exception as error:  # noqa: BLE001 - whatever it is, the assistant is told
        why = refused(error)
        if why.status == HTTPStatus.TOO_MANY_REQUESTS:
            raise why from None
        return _text(why.message, wrong=True)
    return _text(text)


def _text(text: str, *, wrong: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], isError=wrong)


def _in_more(given: dict[str, Any]) -> tuple[Declared, dict[str, Any] | None]:
    """Read the arguments of `more`: a task, and its values, None if it is to be described.

    Raises:
        InputError: other arguments, values that are no object, or there is no such task.
    """
    wrong = given.keys() - {"task", "values"}
    name, values = given.get("task"), given.get("values")
    if wrong or not isinstance(name, str) or not isinstance(values, dict | None):
        raise InputError(
            f"{_MORE}: found {', '.join(sorted(given)) or 'nothing'}; expected task, the name of a "
            "task, and values, an object of its values by name, to have it answered."
        )
    return declared(name), values


def _described(task: Declared) -> dict[str, Any]:
    """Describe what a task does, what it takes and what it answers."""
    return {
        "task": task.feature.slug,
        "about": about(task),
        "values": taken(task),
        "answers": answers_of(task)["properties"],
    }


def _offered(request: Request) -> Sequence[types.Tool]:
    """Return the tools that an address asks for: `?tools=fill_mask,qa_lines`, of all tasks."""
    chosen = request.query_params.get("tools")
    if chosen is None:
        return tools()
    names = chosen.split(",")
    return [_tool(each) for each in all_declared() if each.feature.slug in names]


@cache
def tools() -> tuple[types.Tool, ...]:
    """Return a tool for each page that takes a text, and one for all other tasks."""
    own = [each for each in all_declared() if _is_tool(each)]
    rest = [each for each in all_declared() if not _is_tool(each)]
    return *map(_tool, own), _more(rest)


def _is_tool(task: Declared) -> bool:
    return task.feature.takes_text and not task.feature.part_of


def _tool(task: Declared) -> types.Tool:
    return types.Tool(
        name=_prefix() + task.feature.slug,
        title=task.feature.title,
        description=about(task),
        inputSchema=_inputs(task),
        annotations=_READS,
    )


def _inputs(task: Declared) -> dict[str, Any]:
    """Describe what a task takes, each thing once: limits and choices are in the schema."""
    schema = taken(task)
    for each in schema["properties"].values():
        each.pop("title", None)
        each["description"] = each["description"].partition(" Expected: ")[0]
    return schema


def _more(tasks: Sequence[Declared]) -> types.Tool:
    """Return the tool that has these tasks."""
    slugs = [each.feature.slug for each in tasks]
    values = {"type": "object", "description": "its values by name; without them it is described"}
    return types.Tool(
        name=_prefix() + _MORE,
        title="More tasks",
        description=_ABOUT_MORE + "; ".join(map(_line, tasks)) + ".",
        inputSchema={
            "type": "object",
            "properties": {"task": {"type": "string", "enum": slugs}, "values": values},
            "required": ["task"],
            "additionalProperties": False,
        },
        annotations=_READS,
    )


def _line(task: Declared) -> str:
    """Say in a line what a task does."""
    return f"{task.feature.slug} ({task.about.partition('. ')[0].rstrip('.')})"


def _prefix() -> str:
    """Return what a Space adds to the names of its tools: its own name."""
    space = os.environ.get("SPACE_ID", "").rpartition("/")[2]
    return f"{space}_" if space else ""


async def schema(request: Request) -> Response:
    """List the tools without the protocol."""
    listed = [
        {**each.model_dump(mode="json", exclude_none=True), "meta": _of_gradio(each)}
        for each in _offered(request)
    ]
    return json_response(listed)


def _of_gradio(tool: types.Tool) -> dict[str, Any]:
    """Return what the documentation in Gradio's pages reads of a tool."""
    name = tool.name.removeprefix(_prefix())
    return {"file_data_present": False, "mcp_type": "tool", "endpoint_name": name}


async def no_stream(_: Request) -> Response:
    """Refuse to open a stream or to end a session: there are none, as the protocol allows."""
    return Response(
        "Post one message at a time; there are no streams and no sessions here.\n",
        HTTPStatus.METHOD_NOT_ALLOWED,
        {"Allow": "POST"},
        media_type="text/plain",
    )


def routes(path: str) -> list[Route]:
    """Return the routes of the tools at a path."""
    return [
        Route(f"{path}/schema", schema, methods=["GET"]),
        Route(path, answered(message), methods=["POST"]),
        Route(path, no_stream, methods=["GET", "DELETE"]),
    ]

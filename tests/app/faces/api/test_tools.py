"""Tools for assistants: the protocol, spoken by its own client and by strangers."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl

from app.declared import Declared, all_declared
from app.faces.api.tools import tools
from app.faces.paper.json import meanings
from tests.app.faces.api.conftest import GRADIO, Api

OWN = [each for each in all_declared() if each.feature.takes_text and not each.feature.part_of]
REST = [each for each in all_declared() if each not in OWN]
NAMES = [*(each.feature.slug for each in OWN), "more"]


def with_tools(api: Api, use: Callable[[ClientSession], Awaitable[Any]], path: str = "/mcp") -> Any:
    """Use the tools as an assistant does."""

    async def main() -> Any:
        async with (
            streamable_http_client(f"{api.address}{path}") as (read, write, _),
            ClientSession(read, write) as session,
        ):
            greeting = await session.initialize()
            assert greeting.serverInfo.name == "BERT Explorer"
            return await use(session)

    return asyncio.run(main())


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", f"{GRADIO}/gradio_api/mcp/"])
def test_an_assistant_lists_and_calls_tools(api: Api, path: str) -> None:
    async def use(session: ClientSession) -> Any:
        await session.send_ping()
        listed = await session.list_tools()
        with pytest.raises(McpError):
            await session.read_resource(AnyUrl("file:///etc/passwd"))
        return listed.tools, await session.call_tool("fill_mask", {"text": "a [MASK]", "top_k": 3})

    listed, found = with_tools(api, use, path)
    assert [each.name for each in listed] == NAMES
    assert [each["name"] for each in api.client.get(f"{path.rstrip('/')}/schema").json()] == NAMES
    assert not found.isError
    assert len(json.loads(found.content[0].text)["slots"][0]["candidates"]) == 3


def called(api: Api, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Call tools as an assistant does."""

    async def use(session: ClientSession) -> Any:
        return [await session.call_tool(*each) for each in calls]

    return list(with_tools(api, use))


def test_tools_are_few_and_short_and_describe_every_value() -> None:
    written = json.dumps([each.model_dump(mode="json", exclude_none=True) for each in tools()])
    assert len(tools()) <= 16
    assert len(written.encode()) <= 20_000
    for tool, task in zip(tools(), OWN, strict=False):
        assert task.feature.beware in (tool.description or "")
        describes_values(tool.inputSchema, task)


def describes_values(schema: dict[str, Any], task: Declared) -> None:
    taken = schema["properties"]
    assert list(taken) == [*(each.name for each in task.parameters), "model"]
    assert schema["required"] == [each.name for each in task.parameters if each.required]
    for each in task.parameters:
        assert taken[each.name]["description"] == each.about
        if each.choices:
            assert each.choices[-1] in json.dumps(taken[each.name])


def test_more_names_describes_and_answers_every_other_task(api: Api) -> None:
    more = tools()[-1]
    names = [each.feature.slug for each in REST]
    assert more.inputSchema["properties"]["task"]["enum"] == names
    assert all(f" {name} (" in (more.description or "") for name in names)
    values = {"text": "a [MASK]", "top_k": 3}
    direct, in_more, none_needed, *described = called(
        api,
        ("fill_mask", values),
        ("more", {"task": "fill_mask", "values": values}),
        ("more", {"task": "variants", "values": {}}),
        *(("more", {"task": name}) for name in names),
    )
    assert not in_more.isError and in_more.content == direct.content
    assert not none_needed.isError and "provenance" in json.loads(none_needed.content[0].text)
    for found, task in zip(described, REST, strict=True):
        about = json.loads(found.content[0].text)
        assert about["task"] == task.feature.slug and task.feature.beware in about["about"]
        describes_values(about["values"], task)
        assert list(about["answers"]) == [*meanings(task.result), "provenance"]


REFUSED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("fill_mask", {"text": ""}, "The text is empty."),
    ("fill_mask", {}, "text is missing"),
    ("fill_mask", {"text": "a [MASK]", "top_k": True}, "top_k: found true"),
    ("nothing", {}, "There is no task named 'nothing'"),
    ("more", {}, "more: found nothing; expected task"),
    ("more", {"task": True}, "more: found task; expected task"),
    ("more", {"task": "fill_mask", "values": "a [MASK]"}, "expected task"),
    ("more", {"task": "fill_mask", "values": ["a [MASK]"]}, "expected task"),
    ("more", {"task": "fill_mask", "text": "a [MASK]"}, "more: found task, text; expected"),
    ("more", {"task": "nothing"}, "There is no task named 'nothing'"),
    ("more", {"task": "more", "values": {}}, "There is no task named 'more'"),
    ("more", {"task": "fill_mask", "values": {"text": "a", "top_k": True}}, "top_k: found true"),
    ("more", {"task": "fill_mask", "values": {"text": "a", "top": 1}}, "no parameter 'top'"),
)


def test_an_assistant_is_told_why_there_is_no_answer(api: Api) -> None:
    found = called(api, *((name, given) for name, given, _ in REFUSED))
    for answer, (_, _, says) in zip(found, REFUSED, strict=True):
        assert answer.isError and says in answer.content[0].text


def request(method: object = "ping", **more: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, **more}


MESSAGES: tuple[tuple[object, int], ...] = (
    ([request()], 400),
    ({"id": 1, "method": "ping"}, 400),
    (request(jsonrpc="1.0"), 400),
    ("text", 400),
    (None, 400),
    (request("tools/call"), 200),
    (request("tools/call", params={"name": ["x"]}), 200),
    (request("x\ny\x1b[31m"), 200),
    (request("prompts/list"), 200),
    ({"jsonrpc": "2.0", "method": "notifications/initialized"}, 202),
    ({"jsonrpc": "2.0", "method": "anything", "params": {"a": "b" * 100_000}}, 202),
    ({"jsonrpc": "2.0", "id": 1, "result": {}}, 202),
)


def test_a_message_that_is_none_is_an_error_of_the_protocol_and_a_notification_is_taken(
    api: Api,
) -> None:
    for body, status in MESSAGES:
        found = api.post("/mcp", body)
        assert found.status_code == status, body
        assert status == 202 or "error" in found.json()


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_is_no_stream_that_could_be_held_open(api: Api, method: str) -> None:
    found = api.client.request(method, "/mcp/", headers={"Accept": "text/event-stream"})
    assert (found.status_code, found.headers["allow"]) == (405, "POST")
    assert found.headers["connection"] == "close"


def test_an_unknown_revision_of_the_protocol_is_refused_and_a_known_one_spoken(api: Api) -> None:
    for version, status in {"2025-06-18": 200, "1999-01-01": 400}.items():
        found = api.post("/mcp", request(), headers={"MCP-Protocol-Version": version})
        assert found.status_code == status
    about = {"capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    for asked, spoken in {"2025-03-26": "2025-03-26", "1999-01-01": "2025-11-25"}.items():
        params = {"protocolVersion": asked, **about}
        greeting = api.post("/mcp", request("initialize", params=params)).json()["result"]
        assert greeting["protocolVersion"] == spoken

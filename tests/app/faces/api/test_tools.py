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
PATHS = pytest.mark.parametrize("path", ["/mcp", "/mcp/", f"{GRADIO}/gradio_api/mcp/"])


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


def ask(api: Api, method: str, **params: Any) -> Any:
    """Send one request without the client."""
    asked = {"jsonrpc": "2.0", "id": "one", "method": method, "params": params}
    return api.post("/mcp", asked).json()


@PATHS
def test_an_assistant_lists_and_calls_tools(api: Api, path: str) -> None:
    async def use(session: ClientSession) -> Any:
        await session.send_ping()
        listed = await session.list_tools()
        return listed.tools, await session.call_tool("fill_mask", {"text": "a [MASK]", "top_k": 3})

    listed, found = with_tools(api, use, path)
    assert [each.name for each in listed] == NAMES
    assert not found.isError
    assert len(json.loads(found.content[0].text)["slots"][0]["candidates"]) == 3


def called(api: Api, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Call tools as an assistant does."""

    async def use(session: ClientSession) -> Any:
        return [await session.call_tool(*each) for each in calls]

    return list(with_tools(api, use))


def test_tools_are_few_and_short() -> None:
    written = json.dumps([each.model_dump(mode="json", exclude_none=True) for each in tools()])
    assert len(tools()) <= 16
    assert len(written.encode()) <= 20_000


def test_tools_describe_every_value() -> None:
    for tool, task in zip(tools(), OWN, strict=False):
        assert task.feature.beware in (tool.description or "")
        describes_values(tool.inputSchema, task)


def describes_values(schema: dict[str, Any], task: Declared) -> None:
    taken = schema["properties"]
    assert list(taken) == [*(each.name for each in task.parameters), "model"]
    assert schema["required"] == [each.name for each in task.parameters if each.required]
    for each in task.parameters:
        assert taken[each.name]["description"].startswith(each.about)
        if each.choices:
            assert each.choices[-1] in json.dumps(taken[each.name])


def test_more_names_and_describes_every_other_task(api: Api) -> None:
    more = tools()[-1]
    names = [each.feature.slug for each in REST]
    assert more.inputSchema["properties"]["task"]["enum"] == names
    assert all(f" {name} (" in (more.description or "") for name in names)
    found = called(api, *(("more", {"task": each.feature.slug}) for each in all_declared()))
    for answer, task in zip(found, all_declared(), strict=True):
        described = json.loads(answer.content[0].text)
        assert described["task"] == task.feature.slug
        assert task.feature.beware in described["about"]
        describes_values(described["values"], task)
        assert list(described["answers"]) == [*meanings(task.result), "provenance"]


def test_more_answers_with_values(api: Api) -> None:
    values = {"text": "a [MASK]", "top_k": 3}
    direct, found, none_needed = called(
        api,
        ("fill_mask", values),
        ("more", {"task": "fill_mask", "values": values}),
        ("more", {"task": "variants", "values": {}}),
    )
    assert not found.isError and found.content == direct.content
    assert not none_needed.isError and "provenance" in json.loads(none_needed.content[0].text)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "more: found nothing; expected task"),
        ({"task": True}, "more: found task; expected task"),
        ({"task": "fill_mask", "values": "a [MASK]"}, "expected task"),
        ({"task": "fill_mask", "values": ["a [MASK]"]}, "expected task"),
        ({"task": "fill_mask", "text": "a [MASK]"}, "more: found task, text; expected"),
        ({"task": "nothing"}, "There is no task named 'nothing'"),
        ({"task": "more", "values": {}}, "There is no task named 'more'"),
        ({"task": "fill_mask", "values": {"text": "a [MASK]", "top_k": True}}, "top_k: found true"),
        ({"task": "fill_mask", "values": {"text": "a [MASK]", "top": 1}}, "no parameter 'top'"),
    ],
)
def test_more_says_what_it_cannot_use(api: Api, given: dict[str, Any], says: str) -> None:
    (found,) = called(api, ("more", given))
    assert found.isError and says in found.content[0].text


def test_an_address_can_choose_tools(api: Api) -> None:
    async def use(session: ClientSession) -> Any:
        return (await session.list_tools()).tools

    found = with_tools(api, use, "/mcp?tools=qa,model_card,none")
    assert [each.name for each in found] == ["qa", "model_card"]
    schema = api.get("/mcp/schema?tools=qa").json()
    assert [each["name"] for each in schema] == ["qa"] and schema[0]["inputSchema"]["required"]


def test_on_a_space_tools_have_its_name(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACE_ID", "owner/tools-of-mine")
    tools.cache_clear()
    try:
        assert [each.name for each in tools()] == [f"tools-of-mine_{name}" for name in NAMES]
        found = ask(api, "tools/call", name="tools-of-mine_tokenizer", arguments={"text": "a"})
        assert not found["result"]["isError"]
    finally:
        monkeypatch.undo()
        tools.cache_clear()


def test_an_assistant_is_told_why_there_is_no_answer(api: Api) -> None:
    calls = ("fill_mask", {"text": ""}), ("fill_mask", {}), ("nothing", {})
    empty, missing, unknown = called(api, *calls)
    assert empty.isError and empty.content[0].text.startswith("The text is empty.")
    assert missing.isError and missing.content[0].text.startswith("text is missing")
    assert unknown.isError and "There is no task named 'nothing'" in unknown.content[0].text


def test_there_are_no_resources_and_no_prompts(api: Api) -> None:
    async def use(session: ClientSession) -> None:
        await session.read_resource(AnyUrl("file:///etc/passwd"))

    with pytest.raises((McpError, ExceptionGroup)):
        with_tools(api, use)
    assert ask(api, "prompts/list")["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], 400, -32600),
        ({"id": 1, "method": "ping"}, 400, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, 400, -32600),
        ({"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}, 400, -32600),
        ("text", 400, -32600),
        (None, 400, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}, 200, -32602),
        (
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": ["x"]}},
            200,
            -32602,
        ),
        ({"jsonrpc": "2.0", "id": 1, "method": "x\ny\x1b[31m"}, 200, -32601),
    ],
)
def test_a_message_that_is_none_is_an_error_of_the_protocol(
    api: Api, body: object, status: int, code: int
) -> None:
    found = api.post("/mcp", content=json.dumps(body))
    assert found.status_code == status
    assert found.json()["error"]["code"] == code


@pytest.mark.parametrize(
    "body",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "anything", "params": {"a": "b" * 100_000}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ],
)
def test_a_notification_is_taken_without_an_answer(api: Api, body: object) -> None:
    found = api.post("/mcp", body)
    assert (found.status_code, found.content) == (202, b"")


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_is_no_stream_that_could_be_held_open(api: Api, method: str) -> None:
    import httpx

    found = httpx.request(method, f"{api.address}/mcp/", headers={"Accept": "text/event-stream"})
    assert (found.status_code, found.headers["allow"]) == (405, "POST")


def test_an_unknown_revision_of_the_protocol_is_refused_and_a_known_one_spoken(api: Api) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for version, status in {"2025-06-18": 200, "1999-01-01": 400}.items():
        found = api.post("/mcp", asked, headers={"MCP-Protocol-Version": version})
        assert found.status_code == status
    about = {"capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    found = ask(api, "initialize", protocolVersion="2025-03-26", **about)
    assert found["result"]["protocolVersion"] == "2025-03-26"
    found = ask(api, "initialize", protocolVersion="1999-01-01", **about)
    assert found["result"]["protocolVersion"] == "2025-11-25"

"""Endpoints and tools: made from the declarations, called by three kinds of clients."""

import asyncio
import inspect
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl

from app.catalog import FEATURES
from app.declared import Declared, all_declared, declared
from app.faces.answers import answer
from app.gradio_kit.endpoints import MODEL, endpoint
from app.models import Engine
from tests.app.gradio_kit.conftest import Served

NAMES = [each.feature.slug for each in all_declared()]
EVERY = pytest.mark.parametrize("feature", all_declared(), ids=NAMES)


def values(feature: Declared) -> dict[str, Any]:
    """The values of the first example."""
    found = feature.examples
    return feature.example_values(found[0].values) if found else {}


@pytest.fixture
def client(served: Served) -> Client:
    return Client(served.address, verbose=False, analytics_enabled=False)


def with_tools(served: Served, use: Callable[[ClientSession], Awaitable[Any]]) -> Any:
    """Use the tools as an assistant does."""

    async def main() -> Any:
        address = f"{served.address}/gradio_api/mcp/"
        async with (
            streamable_http_client(address) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            return await use(session)

    return asyncio.run(main())


# -- what is promised ------------------------------------------------------------------------------


@EVERY
def test_an_endpoint_takes_what_the_task_takes_and_a_model(feature: Declared) -> None:
    written = inspect.signature(endpoint(feature))
    assert list(written.parameters) == [each.name for each in feature.parameters] + [MODEL]
    for each in feature.parameters:
        default = inspect.Parameter.empty if each.required else each.default
        assert written.parameters[each.name].default == default


def test_endpoints_are_named_as_the_features_and_say_what_they_take(served: Served) -> None:
    found = served.get("gradio_api/info").json()
    assert list(found["named_endpoints"]) == [f"/{slug}" for slug in NAMES]
    assert found["unnamed_endpoints"] == {}
    for feature in all_declared():
        promised = found["named_endpoints"][f"/{feature.feature.slug}"]
        assert promised["description"].startswith(feature.about)
        assert feature.feature.beware in promised["description"]
        for each, given in zip(feature.parameters, promised["parameters"], strict=False):
            assert given["parameter_name"] == each.name
            assert given["parameter_has_default"] is not each.required


def test_openapi_describes_every_endpoint(served: Served) -> None:
    paths = served.get("gradio_api/openapi.json").json()["paths"]
    for feature in all_declared():
        posted = paths[f"/gradio_api/call/v2/{feature.feature.slug}"]["post"]["requestBody"]
        taken = posted["content"]["application/json"]["schema"]["properties"]
        assert list(taken) == [each.name for each in feature.parameters] + [MODEL]


def test_tools_are_named_as_the_features_and_describe_every_value(served: Served) -> None:
    tools = with_tools(served, lambda session: session.list_tools()).tools
    assert [each.name for each in tools] == NAMES
    for tool, feature in zip(tools, all_declared(), strict=True):
        for each in feature.parameters:
            says = tool.inputSchema["properties"][each.name]["description"]
            assert says.startswith(each.about)
            if each.choices:
                assert each.choices[-1] in says
        needed = [each.name for each in feature.parameters if each.required]
        assert tool.inputSchema.get("required", []) == needed


# -- what comes back -------------------------------------------------------------------------------


@EVERY
def test_gradios_client_gets_the_fields_of_the_result(
    client: Client, tiny_engine: Engine, feature: Declared
) -> None:
    given = values(feature)
    found = client.predict(api_name=f"/{feature.feature.slug}", **given)
    wanted = answer(feature, tiny_engine, given).json()
    assert found == json.loads(json.dumps(wanted, allow_nan=False))
    assert len(json.dumps(found)) < 40_000, "not a small answer"


def test_plain_http_gets_them_too(served: Served) -> None:
    event = served.post("call/v2/fill_mask", {"text": "the [MASK] sat", "top_k": 2}).json()
    lines = served.get(f"gradio_api/call/fill_mask/{event['event_id']}").text.splitlines()
    assert lines[0] == "event: complete"
    (found,) = json.loads(lines[1].removeprefix("data: "))
    assert [len(slot["candidates"]) for slot in found["slots"]] == [2]
    direct = served.post("run/fill_mask", {"data": ["the [MASK] sat", 2, "", ""]})
    assert direct.json()["data"][0] == found


def test_an_assistant_gets_json(served: Served) -> None:
    async def use(session: ClientSession) -> Any:
        return await session.call_tool("fill_mask", {"text": "the [MASK] sat", "top_k": 3})

    found = with_tools(served, use)
    assert not found.isError
    assert len(json.loads(found.content[0].text)["slots"][0]["candidates"]) == 3


# -- what cannot be answered -----------------------------------------------------------------------

WRONG = [
    ("fill_mask", {"text": ""}, "The text is empty."),
    ("fill_mask", {"text": 3}, "text: found "),
    ("fill_mask", {"text": None}, "text: found "),
    ("fill_mask", {"text": {"a": [["b"]]}}, "text: found "),
    ("fill_mask", {"text": "cat [MASK]", "top_k": "many"}, "top_k: found "),
    ("fill_mask", {"text": "cat [MASK]", "top_k": 1e9}, "top_k: found "),
    ("fill_mask", {"text": "cat [MASK]", "top_k": True}, "top_k: found "),
    ("fill_mask", {"text": "cat", "model": "../../etc"}, "model: found '../../etc'; expected one"),
    ("fill_mask", {"text": "cat", "model": ["x"]}, "model: found "),
    ("ner", {"text": "cat", "aggregation": "sum"}, "aggregation: found 'sum'; expected "),
    ("multiple_choice", {"context": "cat", "choices": 3}, "choices: found "),
    ("multiple_choice", {"context": "cat", "choices": [["a"], 2]}, "choices: found "),
    ("attention", {"text": "the cat", "layer": 99, "head": 0}, "99"),
]


@pytest.mark.parametrize(("slug", "given", "says"), WRONG, ids=[str(row[1]) for row in WRONG])
def test_a_wrong_value_is_answered_with_the_reason(
    client: Client, slug: str, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(AppError, match=re.escape(says)) as refused:
        client.predict(api_name=f"/{slug}", **given)
    assert "Traceback" not in str(refused.value)


def test_numbers_that_json_does_not_have_are_answered_with_the_reason(served: Served) -> None:
    body = '{"data": ["the [MASK]", NaN, "", ""]}'
    found = served.post("run/fill_mask", content=body, headers={"Content-Type": "application/json"})
    assert "top_k: found " in found.json()["error"]


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("run/fill_mask", {"data": ["cat"]}, "Found 1 values; expected 4."),
        ("run/fill_mask", {"data": ["cat"] * 5}, "Found 5 values; expected 4."),
        ("run/nothing", {"data": []}, "There is no such endpoint"),
        ("call/v2/nothing", {}, "There is no such endpoint"),
        ("call/v2/fill_mask", {}, "text is missing."),
        ("call/v2/fill_mask", {"text": "cat", "marker": 1}, "There is no such endpoint or param"),
        ("queue/join", {"data": [], "fn_index": 9999, "session_hash": "x"}, "There is no such"),
    ],
)
def test_a_wrong_call_is_answered_with_the_reason(
    served: Served, path: str, body: object, says: str
) -> None:
    found = served.post(path, body)
    assert found.status_code in {400, 500}
    assert says in found.json()["error"]


def test_an_assistant_is_told_the_reason(served: Served) -> None:
    async def use(session: ClientSession) -> Any:
        return [await session.call_tool(*call) for call in
                [("fill_mask", {"text": ""}), ("fill_mask", {}), ("nothing", {})]]  # fmt: skip

    empty, missing, unknown = with_tools(served, use)
    assert empty.isError and empty.content[0].text.startswith("The text is empty.")
    assert missing.isError and "'text' is a required property" in missing.content[0].text
    assert unknown.isError and "nothing" in unknown.content[0].text


def test_nothing_is_made_up_for_a_head_that_was_not_trained(
    served: Served, untrained_folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(untrained_folder))
    for row in FEATURES:
        if row.needs:
            given = list(values(declared(row.slug)).values())
            missing = [each.default for each in declared(row.slug).parameters][len(given) :]
            found = served.post(f"run/{row.slug}", {"data": [*given, *missing, ""]}).json()
            assert "cannot answer here" in found["error"], row.slug
            assert "no trained" in found["error"]


def test_requests_for_resources_lead_nowhere(served: Served) -> None:
    """Gradio would connect to the address that such a request claims to have come to."""
    before = len(served.connected)
    named = {"X-Forwarded-Host": "192.0.2.1:9", "X-Forwarded-Proto": "http"}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "a://b"}}
    found = served.post(
        "mcp/", asked, headers={**named, "Accept": "application/json, text/event-stream"}
    )
    assert "Method not found" in found.text
    assert all(each[0] == "127.0.0.1" for each in served.connected[before:])

    async def use(session: ClientSession) -> None:
        await session.read_resource(AnyUrl("file:///etc/passwd"))

    with pytest.raises((McpError, ExceptionGroup)):
        with_tools(served, use)

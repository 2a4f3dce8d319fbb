"""Calls of programs in all their forms: what comes back, what is refused, and with which status."""

import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi.openapi.models import OpenAPI

from app.declared import Declared, all_declared, declared
from app.declared.answers import answer
from app.engine import calls
from app.engine.compute import processor
from app.engine.compute.visitor import Allowances
from app.engine.models import Engine
from app.faces.api.described import REFUSALS
from app.faces.api.routes import application
from app.faces.paper.answers import BODY_BYTES, record
from app.faces.paper.json import meanings
from app.lessons.shelf import shelf
from tests.app.faces.api.conftest import GRADIO, Api, visitor
from tests.strangers import until
from tests.wrong_values import WRONG

EVERY = pytest.mark.parametrize(
    "task", all_declared(), ids=[each.feature.slug for each in all_declared()]
)
MARKER = "marker-of-one-visitor"
OURS = f"{GRADIO}/gradio_api"


def values(task: Declared) -> dict[str, Any]:
    """The values of the first example."""
    found = task.examples
    own = {"lab_finetune": {"steps": 10}, "data": {"table": "text,label\nthe cat,good\n"}}
    first = task.example_values(found[0].values) if found else {}
    return first | own.get(task.feature.slug, {})


def direct(api: Api, slug: str, given: dict[str, Any], **options: Any) -> httpx.Response:
    return api.post(f"/api/{slug}", given, **options)


def in_order(api: Api, slug: str, given: dict[str, Any], **options: Any) -> httpx.Response:
    parameters = declared(slug).parameters
    row = [given.get(each.name, each.default) for each in parameters]
    return api.post(f"{OURS}/run/{slug}", {"data": [*row, given.get("model", "")]}, **options)


def as_tool(api: Api, slug: str, given: dict[str, Any], **options: Any) -> httpx.Response:
    params = {"name": slug, "arguments": given}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return api.post("/mcp", asked, **options)


FORMS = pytest.mark.parametrize("ask", [direct, in_order, as_tool])
Ask = Callable[..., httpx.Response]


def read(found: httpx.Response) -> Any:
    """The result, or the sentence that says why there is none, of a call in any form."""
    body = found.json()
    if "result" in body:
        text = body["result"]["content"][0]["text"]
        return text if body["result"]["isError"] else json.loads(text)
    return body.get("error") or (body["data"][0] if "data" in body else body)


def events(found: httpx.Response) -> list[tuple[str, Any]]:
    """The events of a stream."""
    parts = (each.split("\n") for each in found.text.strip().split("\n\n"))
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
            for name, data in parts]  # fmt: skip


# -- what comes back -------------------------------------------------------------------------------


@EVERY
def test_every_task_answers_with_the_fields_of_its_result(api: Api, task: Declared) -> None:
    found = direct(api, task.feature.slug, values(task))
    assert found.status_code == 200
    assert list(found.json()) == [*meanings(task.result), "provenance"]
    assert len(found.content) < 60_000, "not a small answer"


@FORMS
def test_all_forms_give_the_result_of_the_function(api: Api, tiny_engine: Engine, ask: Ask) -> None:
    given = {"text": "the [MASK] sat", "top_k": 2}
    wanted = record(answer(declared("fill_mask"), tiny_engine, given))
    found = read(ask(api, "fill_mask", given))
    assert found == json.loads(json.dumps(wanted, allow_nan=False))
    assert [len(slot["candidates"]) for slot in found["slots"]] == [2]


def test_a_stream_tells_of_progress_and_ends_with_the_answer_or_the_reason(api: Api) -> None:
    accepts = {"Accept": "text/event-stream"}
    given = {"text": "Ada met Bob. " * 60}
    *before, last = events(direct(api, "ner", given, headers=accepts))
    assert last == ("answer", direct(api, "ner", given).json())
    assert {name for name, _ in before} == {"progress"}
    done = [each["done"] for _, each in before]
    assert done == sorted(done) and done[-1] == before[-1][1]["total"] > 1
    name, why = events(direct(api, "ner", {"text": " "}, headers=accepts))[-1]
    assert (name, why["status"]) == ("error", 422) and "no piece" in why["error"]


@FORMS
def test_many_callers_get_their_own_answers(api: Api, ask: Ask) -> None:
    found: dict[str, str] = {}

    def call(word: str) -> None:
        found[word] = ask(api, "fill_mask", {"text": f"{word} [MASK]"}, headers=visitor()).text

    words = [f"{MARKER}-{number}-end" for number in range(20)]
    threads = [threading.Thread(target=call, args=(word,)) for word in words]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for word in words:
        assert [other for other in words if other in found[word]] == [word]


# -- what is refused -------------------------------------------------------------------------------


@FORMS
@pytest.mark.parametrize(("slug", "given", "says"), WRONG, ids=[str(row[1]) for row in WRONG])
def test_a_wrong_value_is_answered_with_the_reason(
    api: Api, slug: str, given: dict[str, Any], says: str, ask: Ask
) -> None:
    found = ask(api, slug, given)
    assert says in read(found)
    assert found.status_code == (200 if ask is as_tool else 422)


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/api/nothing", {}, 404, "Not Found. The tasks are listed at"),
        ("/api/fill_mask", {}, 422, "text is missing"),
        ("/api/fill_mask", {"text": "cat", "marker": 1}, 422, "no parameter 'marker'"),
        ("/api/fill_mask", ["cat"], 400, "a JSON object of named values"),
        ("/api/fill_mask/more", {}, 404, "Not Found"),
        (f"{OURS}/run/nothing", {"data": []}, 404, "Not Found. The tasks are listed at"),
        (f"{OURS}/run/fill_mask", {"data": ["cat"]}, 422, "Found 1 value; expected 5: text, "),
        (f"{OURS}/run/fill_mask", {"data": ["cat"] * 6}, 422, "Found 6 values; expected 5"),
        (f"{OURS}/run/fill_mask", {"data": "cat"}, 400, '{"data": [values in order]}'),
        (f"{OURS}/run/fill_mask", [], 400, "a JSON object of named values"),
    ],
)
def test_a_wrong_call_is_answered_with_the_reason_and_the_status_the_web_has_for_it(
    api: Api, path: str, body: object, status: int, says: str
) -> None:
    found = api.post(path, body)
    assert found.status_code == status
    assert says in found.json()["error"]


PATHS = ("/api/fill_mask", f"{OURS}/run/fill_mask", "/mcp")


def test_another_method_is_refused_with_the_right_one(api: Api) -> None:
    for path in PATHS:
        found = api.client.get(path)
        assert (found.status_code, found.headers["allow"]) == (405, "POST")


NO_JSON = {
    "deep": b"[" * 100_000,
    "deep in an object": b'{"data":' + b"[" * 50_000,
    "deep and complete": b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": '
    + b"[" * 300
    + b"]" * 300
    + b"}}",
    "of one kind of bracket": b'{"a":' * 200 + b"1" + b"}" * 200,
    "cut off": b"{",
    "empty": b"",
    "not UTF-8": b'{"text": "\xff\xfe"}',
    "not a number": b'{"text": "a [MASK]", "top_k": NaN}',
    "endless": b'{"text": "a [MASK]", "top_k": ' + b"9" * 100_000 + b"}",
}


@pytest.mark.parametrize("body", NO_JSON.values(), ids=NO_JSON)
def test_what_is_not_json_is_a_bad_request(api: Api, body: bytes) -> None:
    for path in PATHS:
        found = api.post(path, content=body)
        assert found.status_code == 400 and "not JSON" in found.text


@FORMS
def test_half_of_a_character_is_a_wrong_value(api: Api, ask: Ask) -> None:
    assert "half of a character" in read(ask(api, "fill_mask", {"text": "\ud800 [MASK]"}))


def test_a_request_that_is_too_long_is_refused_and_the_longest_text_is_read(api: Api) -> None:
    for path in PATHS:
        found = api.post(path, {"text": "a" * BODY_BYTES})
        assert found.status_code == 413 and f"{BODY_BYTES:,} bytes" in found.text
    long = {"text": "é " * 50_000, "nothing": 1}
    assert "no parameter 'nothing'" in read(direct(api, "tokenizer", long))


def test_nothing_is_made_up_for_a_head_that_was_not_trained(
    api: Api, untrained_folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(untrained_folder))
    needy = [each for each in all_declared() if each.feature.needs]
    assert needy
    for task in needy:
        found = direct(api, task.feature.slug, values(task))
        assert found.status_code == 422, task.feature.slug
        assert re.search("cannot answer here.*no trained", found.json()["error"])


# -- limits ----------------------------------------------------------------------------------------


@pytest.fixture
def three_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    allowances = Allowances(3, 1_000, clock=lambda: 0.0)
    monkeypatch.setattr(calls, "ALLOWANCES", allowances)
    monkeypatch.setattr(processor, "ALLOWANCES", allowances)
    monkeypatch.setattr(calls, "PAUSE", 0.01)


def test_one_budget_covers_all_forms_and_is_spent_before_anything_is_computed(
    api: Api, three_a_minute: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, given = visitor(), {"text": "the [MASK] sat"}
    for ask in (direct, as_tool, in_order):
        assert ask(api, "fill_mask", given, headers=me).status_code == 200
    monkeypatch.setattr(Declared, "run", None)  # nothing may be computed from here
    monkeypatch.setattr("app.faces.api.calling.read_json", None)
    for ask in (direct, in_order, as_tool):
        refused = ask(api, "fill_mask", given, headers=me)
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert "answers a minute for each visitor). Wait" in refused.json()["error"]


def test_no_cookie_or_an_invented_one_wins_nothing(api: Api, three_a_minute: None) -> None:
    nameless = [{"Cookie": f"bert_explorer_visitor={number:032x}"} for number in range(4)]
    statuses = [direct(api, "tokenizer", {"text": "a"}, headers=each) for each in [{}, *nameless]]
    assert [each.status_code for each in statuses] == [200, 200, 200, 429, 429]
    assert direct(api, "tokenizer", {"text": "a"}, headers=visitor()).status_code == 200


def test_a_class_behind_one_address_is_not_shut_out_but_a_crowd_is(
    api: Api, three_a_minute: None
) -> None:
    statuses = [
        direct(api, "tokenizer", {"text": "a"}, headers=visitor()).status_code for _ in range(32)
    ]
    assert statuses == [200] * 30 + [429] * 2


@FORMS
def test_a_call_that_is_too_many_waits_nowhere(
    api: Api, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise calls.BusyError("The server is busy. Try again in a few seconds.", 5)

    monkeypatch.setattr(calls.DESK, "submit", full)
    refused = ask(api, "tokenizer", {"text": "a"})
    assert "The server is busy" in read(refused)
    if ask is not as_tool:
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")


def slow() -> Iterator[bytes]:
    """A body that comes when the answer is there: it may not be lost by closing at once."""
    for _ in range(3):
        time.sleep(0.02)
        yield b"{}"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({}, 411),  # its length is not said
    ],
)
def test_strangers_are_refused_before_a_call_is_read(
    api: Api, headers: dict[str, str], status: int
) -> None:
    for path in PATHS:
        found = api.post(path, content=slow(), headers=headers)
        assert found.status_code == status and found.headers["connection"] == "close"


def test_work_ends_when_its_caller_has_gone(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    visits: list[Any] = []
    submit = calls.DESK.submit

    def seen(visitor_: str, work: Callable[[], Any]) -> Any:
        visits.append(submit(visitor_, lambda: (time.sleep(0.3), work())))
        return visits[-1]

    monkeypatch.setattr(calls.DESK, "submit", seen)
    caller = HTTPConnection(urlsplit(api.address).netloc)
    caller.request("POST", "/api/ner", json.dumps({"text": "Ada " * 5_000}))
    until(lambda: visits)
    caller.close()
    with pytest.raises(BaseException) as ended:
        visits[0].result(60)
    assert "Cancel" in type(ended.value).__name__


# -- silence ---------------------------------------------------------------------------------------


@FORMS
def test_a_bug_is_an_apology_with_a_number_and_its_text_is_in_no_log(
    api: Api,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    ask: Ask,
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError(MARKER)

    monkeypatch.setattr(Declared, "run", broken)
    with caplog.at_level(logging.DEBUG):
        found = ask(api, "fill_mask", {"text": MARKER})
    says = read(found)
    number = says.partition("logged as ")[2][:8]
    assert f"error {number}: ZeroDivisionError" in caplog.text
    assert found.status_code == (200 if ask is as_tool else 500)
    for text in (found.text, caplog.text, "".join(capfd.readouterr())):
        assert MARKER not in text and "Traceback" not in text


def test_lessons_are_listed_as_they_are_in_their_files(api: Api) -> None:
    found = api.client.get("/api/lessons")
    assert found.status_code == 200
    rows = {each["slug"]: each for each in found.json()["lessons"]}
    assert rows.keys() == shelf().lessons.keys()
    step = rows["heads"]["steps"][0]
    assert step["question"]["at"] == "pieces" and "{head:previous}" in step["say"]


def test_openapi_describes_every_task(api: Api) -> None:
    found = api.client.get("/api/openapi.json").json()
    assert found == application("/api", "/mcp", OURS).openapi()
    assert OpenAPI.model_validate(found)
    for task in all_declared():
        posted = found["paths"][f"/api/{task.feature.slug}"]["post"]
        body = posted["requestBody"]["content"]["application/json"]["schema"]
        assert list(body["properties"]) == [*(each.name for each in task.parameters), "model"]
        answer = posted["responses"]["200"]["content"]["application/json"]["schema"]
        assert list(answer["properties"]) == [*meanings(task.result), "provenance"]
        assert set(posted["responses"]) == {"200", *map(str, REFUSALS)}
        for name, each in body["properties"].items():
            allows_its_default(each, name in body["required"])


def allows_its_default(schema: dict[str, Any], required: bool) -> None:
    kinds = schema.get("anyOf", [schema])
    default = schema.get("default")
    if default is None:
        assert required or {"type": "null"} in kinds
    elif "enum" in kinds[0]:
        assert default in kinds[0]["enum"]
    elif kinds[0]["type"] in {"integer", "number"}:
        assert kinds[0].get("minimum", default) <= default <= kinds[0].get("maximum", default)

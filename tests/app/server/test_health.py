"""What programs that watch the site are told; `/healthz` is 200 only if the model has answered."""

import asyncio
import json
import threading
from collections.abc import Iterator

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette

from app.engine.loading import LOADING
from app.server.health import Health
from app.server.start import _watching
from app.server.stopping import STOP
from bert_core.errors import CheckpointError


class Model:
    """A substitute for the model: counts how often it is asked, and can fail."""

    def __init__(self) -> None:
        self.asked = 0
        self.failing = False

    def __call__(self) -> str:
        self.asked += 1
        if self.failing:
            raise CheckpointError("gone: /secret/place")
        return "tiny"


async def asked(route: Health) -> tuple[int, str]:
    answer = await route.answer()
    return answer.status_code, json.loads(bytes(answer.body))["status"]


def test_requests_that_come_together_or_soon_after_ask_the_model_once() -> None:
    model, now = Model(), [100.0]

    async def visit() -> None:
        route = Health(model, clock=lambda: now[0])
        found = await asyncio.gather(*(asked(route) for _ in range(50)))
        now[0] += 4
        found.append(await asked(route))
        assert (set(found), model.asked) == ({(200, "answers")}, 1)
        now[0] += 2
        assert (await asked(route), model.asked) == ((200, "answers"), 2)

    asyncio.run(visit())


def test_a_model_that_fails_is_503_without_the_reason_until_it_answers_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model, now = Model(), [100.0]

    async def visit() -> None:
        route = Health(model, clock=lambda: now[0])
        model.failing = True
        status, reason = await asked(route)
        assert status == 503 and "secret" not in reason
        model.failing, now[0] = False, now[0] + 6
        assert (await asked(route))[0] == 200

    asyncio.run(visit())
    assert "the model does not answer: CheckpointError, " in caplog.text
    assert "secret" not in caplog.text


@pytest.fixture
def held() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_a_model_that_hangs_is_503_and_is_not_asked_a_second_time(held: threading.Event) -> None:
    calls: list[int] = []

    def hang() -> str:
        calls.append(1)
        held.wait(30)
        return "tiny"

    async def visit() -> None:
        route = Health(hang, patience=0.02)
        for _ in range(3):
            status, reason = await asked(route)
            assert (status, reason) == (503, "the model has not answered for 0.02 seconds")
        held.set()
        await asyncio.sleep(0.02)
        assert (await asked(route))[0] == 200

    asyncio.run(visit())
    assert len(calls) == 1


def watched(path: str) -> httpx.Response:
    """Ask an address of the site for programs that watch it."""

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(Starlette(routes=_watching()))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.get(path)

    return asyncio.run(ask())


def test_a_site_is_ready_from_when_the_model_is_there_until_it_is_being_stopped(
    held: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = LOADING.begin(lambda: held.wait(30) and None)
    assert watched("/livez").status_code == 200
    assert watched("/readyz").status_code == 503
    held.set()
    thread.join()
    assert watched("/readyz").json() == {"status": "ready", "shared": "memory"}
    monkeypatch.setattr(STOP, "draining", True)
    assert watched("/readyz").status_code == 503 and watched("/livez").status_code == 200


def test_numbers_are_there_if_the_operator_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert watched("/metrics").status_code == 404
    monkeypatch.setenv("BERT_EXPLORER_METRICS", "on")
    found = {each.name: each for each in text_string_to_metric_families(watched("/metrics").text)}
    names = ("answers", "answer_seconds", "refusals", "turns_waiting", "calls_waiting")
    names += ("pages_open", "class_rooms", "shared_reached")
    assert {f"bert_explorer_{name}" for name in names} <= set(found)
    assert found["process_resident_memory_bytes"].samples[0].value > 1e6

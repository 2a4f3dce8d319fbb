"""`/healthz`: 200 only if the model has just answered."""

import asyncio
import json
import threading
from collections.abc import Iterator

import pytest

from app.server.health import Health
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


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


async def asked(route: Health) -> tuple[int, str]:
    answer = await route.answer()
    return answer.status_code, json.loads(bytes(answer.body))["status"]


def test_requests_that_come_together_or_soon_after_ask_the_model_once() -> None:
    model, clock = Model(), Clock()

    async def visit() -> None:
        route = Health(model, clock=clock)
        found = await asyncio.gather(*(asked(route) for _ in range(50)))
        clock.now += 4
        found.append(await asked(route))
        assert (set(found), model.asked) == ({(200, "answers")}, 1)
        clock.now += 2
        assert (await asked(route), model.asked) == ((200, "answers"), 2)

    asyncio.run(visit())


def test_a_model_that_fails_is_503_without_the_reason_until_it_answers_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model, clock = Model(), Clock()

    async def visit() -> None:
        route = Health(model, clock=clock)
        model.failing = True
        status, reason = await asked(route)
        assert status == 503 and "secret" not in reason
        model.failing, clock.now = False, clock.now + 6
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

"""The interface is built in the background, and the site works without it."""

import asyncio
import logging
import threading

import httpx
import pytest
from fastapi import FastAPI
from starlette.responses import PlainTextResponse

from app.server.later import Later


def face() -> FastAPI:
    app = FastAPI()
    app.add_route("/gradio", lambda request: PlainTextResponse("there"))
    return app


async def get(app: Later) -> httpx.Response:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://site") as client:
        return await client.get("/gradio")


def test_a_request_waits_until_the_face_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    served = threading.Event()
    monkeypatch.setattr("app.server.later.GRADIO", served)  # not the session's
    release = threading.Event()

    def build() -> FastAPI:
        release.wait()
        return face()

    async def main() -> str:
        app = Later(build, threading.Event())
        assert not served.is_set()
        async with app.lifespan():
            assert served.is_set()
            asked = asyncio.create_task(get(app))
            await asyncio.sleep(0.05)
            assert not asked.done()
            release.set()
            return (await asked).text

    assert asyncio.run(main()) == "there"
    assert not served.is_set()


@pytest.mark.parametrize("soon", [False, True])
def test_building_begins_when_there_is_time_for_it(soon: bool) -> None:
    begun, wanted = threading.Event(), threading.Event()

    def build() -> FastAPI:
        begun.set()
        return face()

    async def main() -> None:
        async with Later(build, wanted).lifespan():
            await asyncio.sleep(0.05)
            assert not begun.is_set()
            if soon:
                wanted.set()
                assert await asyncio.to_thread(begun.wait, 10)

    asyncio.run(main())
    assert begun.is_set() is soon  # the end does not wait for it


def test_a_face_that_cannot_be_built_is_a_message(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> httpx.Response:
        app = Later(lambda: FastAPI(title=1 // 0), threading.Event())
        async with app.lifespan():
            return await get(app)

    with caplog.at_level(logging.ERROR, "app"):
        found = asyncio.run(main())
    assert found.status_code == 503 and "pages at / work" in found.text
    assert "ZeroDivisionError" in caplog.text

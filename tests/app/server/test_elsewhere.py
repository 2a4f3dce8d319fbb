"""An application in a loop of its own thread."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.types import Message, Receive, Scope, Send

from app.server.elsewhere import Elsewhere

SEEN: list[str] = []


@asynccontextmanager
async def lifespan() -> AsyncIterator[None]:
    SEEN.append(f"begins in {threading.current_thread().name}")
    yield
    SEEN.append("ends")


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Echo; block the loop, wait, or fail if asked to."""
    asked = (await receive())["body"].decode()
    if asked == "block":
        time.sleep(0.3)
    if asked == "fail":
        raise KeyError("what a visitor typed")
    if asked == "wait":
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            SEEN.append("cancelled")
            raise
    await send({"type": "body", "body": f"{asked} in {threading.current_thread().name}"})


async def ask(elsewhere: Elsewhere, text: str) -> list[Message]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": text.encode()}

    async def send(message: Message) -> None:
        assert threading.current_thread() is threading.main_thread()
        sent.append(message)

    await elsewhere({"type": "http"}, receive, send)
    return sent


def test_requests_are_answered_in_the_other_thread_while_this_loop_goes_on() -> None:
    async def main() -> None:
        SEEN.clear()
        elsewhere = Elsewhere(app, lifespan)
        async with elsewhere.lifespan():
            assert (await ask(elsewhere, "one"))[0]["body"] == "one in programs"
            blocked = asyncio.create_task(ask(elsewhere, "block"))
            beats = 0
            while not blocked.done():
                await asyncio.sleep(0.005)
                beats += 1
            assert beats >= 10
            with pytest.raises(KeyError):
                await ask(elsewhere, "fail")
            waiting = asyncio.create_task(ask(elsewhere, "wait"))
            await asyncio.sleep(0.05)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert (await ask(elsewhere, "last"))[0]["body"] == "last in programs"
        assert SEEN == ["begins in programs", "cancelled", "ends"]
        with pytest.raises(RuntimeError):
            await ask(elsewhere, "too late")

    asyncio.run(main())


def test_a_lifespan_that_fails_fails_here_too() -> None:
    @asynccontextmanager
    async def broken() -> AsyncIterator[None]:
        raise ValueError("no")
        yield

    async def main() -> None:
        elsewhere = Elsewhere(app, broken)
        with pytest.raises(ValueError, match="no"):
            async with elsewhere.lifespan():
                pass

    asyncio.run(main())

"""Run an ASGI application in an event loop of its own thread.

The pages are answered in the server's loop. What other interfaces do in their handlers (building a
session, reading a megabyte of JSON) then never makes a page wait for its turn in that loop.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

Lifespan = Callable[[], AbstractAsyncContextManager[None]]


class Elsewhere:
    """An ASGI application whose handlers run in another thread.

    Enter `lifespan` in the lifespan of the server.

    Args:
        app: the application.
        lifespan: entered in the other loop, before the first request.
    """

    def __init__(self, app: ASGIApp, lifespan: Lifespan) -> None:
        self._app = app
        self._lifespan = lifespan
        self._loop: asyncio.AbstractEventLoop | None = None

    @asynccontextmanager
    async def lifespan(self, _: object = None) -> AsyncIterator[None]:
        """Run the other loop during the block."""
        here, begun = asyncio.get_running_loop(), asyncio.Event()
        over: asyncio.Future[None] = here.create_future()

        async def run() -> None:
            end = asyncio.Event()
            async with self._lifespan():
                self._loop = asyncio.get_running_loop()
                self._end = end
                here.call_soon_threadsafe(begun.set)
                await end.wait()
                self._loop = None

        def work() -> None:
            try:
                asyncio.run(run())
            except BaseException as error:  # noqa: BLE001 - raised again in the server's loop
                here.call_soon_threadsafe(over.set_exception, error)
            else:
                here.call_soon_threadsafe(over.set_result, None)

        threading.Thread(target=work, name="programs", daemon=True).start()
        first: list[asyncio.Future[Any]] = [asyncio.ensure_future(begun.wait()), over]
        await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        if over.done():
            await over
        try:
            yield
        finally:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._end.set)
            await over

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request in the other loop, with messages that cross over."""
        if self._loop is None:
            raise RuntimeError("the other loop is not running")
        answered = asyncio.run_coroutine_threadsafe(
            _awaited(self._app(scope, _from_here(receive), _from_here(send))), self._loop
        )
        await asyncio.wrap_future(answered)


async def _awaited(work: Awaitable[None]) -> None:
    await work


def _from_here(function: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Let a function of this loop be called from another."""
    here = asyncio.get_running_loop()

    async def call(*given: Any) -> Any:
        async def called() -> Any:
            return await function(*given)

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(called(), here))

    return call

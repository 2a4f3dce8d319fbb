"""Run an ASGI application in an event loop of its own thread.

The pages are answered in the server's loop. What other interfaces do in their handlers (building a
session, reading a megabyte of JSON) then never makes a page wait for its turn in that loop.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

from starlette.types import ASGIApp, Receive, Scope, Send

T = TypeVar("T")
Loop = asyncio.AbstractEventLoop


class Elsewhere:
    """An ASGI application whose handlers run in another thread.

    Enter `lifespan` in the lifespan of the server.

    Args:
        app: the application.
        lifespan: entered in the other loop, before the first request.
    """

    def __init__(
        self, app: ASGIApp, lifespan: Callable[[], AbstractAsyncContextManager[None]]
    ) -> None:
        self._app = app
        self._lifespan = lifespan
        self._loop: Loop | None = None

    @asynccontextmanager
    async def lifespan(self, _: object = None) -> AsyncIterator[None]:
        """Run the other loop during the block."""
        begun, end, stack = Future[Loop](), asyncio.Event(), AsyncExitStack()

        async def hold() -> None:
            begun.set_result(asyncio.get_running_loop())
            await end.wait()

        thread = threading.Thread(target=lambda: asyncio.run(hold()), name="programs", daemon=True)
        thread.start()
        loop = await asyncio.wrap_future(begun)
        try:
            await _run(stack.enter_async_context(self._lifespan()), loop)
            self._loop = loop
            yield
        finally:
            self._loop = None
            await _run(stack.aclose(), loop)
            loop.call_soon_threadsafe(end.set)
            await asyncio.to_thread(thread.join)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request in the other loop, with messages that cross over."""
        if self._loop is None:
            raise RuntimeError("the other loop is not running")
        here = asyncio.get_running_loop()
        answer = self._app(scope, _called_in(here, receive), _called_in(here, send))
        await _run(_awaited(answer), self._loop)


async def _run(work: Coroutine[Any, Any, T], loop: Loop) -> T:
    """Run some work in another loop."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))


async def _awaited(work: Awaitable[T]) -> T:
    return await work


def _called_in(loop: Loop, function: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    """Let a function of a loop be called from another."""

    async def call(*given: Any) -> Any:
        async def called() -> Any:
            return await function(*given)

        return await _run(called(), loop)

    return call

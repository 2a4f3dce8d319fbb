"""The interface as a part of the site's server, loaded in the background.

Importing Gradio takes seconds, in which everything else is half as fast. The server starts without
it; once it has nothing more urgent to do, a thread imports it and builds the pages. A request that
comes before that waits.
"""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from app.compat.gradio_import import write_no_stubs
from app.engine.loading import LOADING
from app.log import cause
from app.records.served import GRADIO, PATH

if TYPE_CHECKING:
    from fastapi import FastAPI

_LOG = logging.getLogger("app")
_PATIENCE = 10.0  # seconds; if no visitor has come by then, the server has nothing to do
_LOOK = 0.05  # seconds between two looks at whether the model is there
_FAILED = "This part of the site could not be started. The pages at / work without it."


class Later:
    """An ASGI application that is built while others already answer.

    Enter `lifespan` in the lifespan of the server, and pass on requests whose path begins with
    its own, unchanged or from a `Mount`.

    Args:
        build: imports and builds the application, which answers at that path; runs in a thread.
        wanted: building begins when this is set, or after ten seconds.
    """

    def __init__(self, build: "Callable[[], FastAPI]", wanted: threading.Event) -> None:
        self._build, self._wanted = build, wanted
        self._app: FastAPI | None = None
        self._settled, self._end = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def lifespan(self, _: object = None) -> AsyncIterator[None]:
        """Build the application in the background; end it afterwards."""
        running = asyncio.create_task(self._run())
        GRADIO.set()
        try:
            yield
        finally:
            GRADIO.clear()
            if self._app is None:
                running.cancel()
            self._wanted.set()
            self._end.set()
            with suppress(asyncio.CancelledError):
                await running

    async def _run(self) -> None:
        """Hold the application's own lifespan open, in one task, as its task groups demand."""

        async def built() -> "FastAPI":
            return self._build()  # inside a running loop: without one, Gradio leaves dozens open

        try:
            await asyncio.to_thread(self._wanted.wait, _PATIENCE)
            app = await asyncio.to_thread(asyncio.run, built())
            async with app.router.lifespan_context(app):
                self._app = app
                self._settled.set()
                await self._end.wait()
        except Exception as error:  # noqa: BLE001 - the other interface goes on
            _LOG.error("the Gradio interface ended: %s", cause(error))
        finally:
            self._app = None
            self._settled.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, as soon as the application is there."""
        self._wanted.set()
        await self._settled.wait()
        if self._app is not None:
            await self._app({**scope, "root_path": ""}, receive, send)
        elif scope["type"] == "http":
            await PlainTextResponse(_FAILED, 503)(scope, receive, send)


class Loaded:
    """Lets the requests of an application wait until the model is there."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait, and pass a request on."""
        while not LOADING.is_over():
            await asyncio.sleep(_LOOK)
        await self._app(scope, receive, send)


def mounted(wanted: threading.Event, path: str = PATH) -> Later:
    """Return the interface at a path of the site, built when there is time (`wanted`)."""

    def application() -> "FastAPI":
        LOADING.wait()
        write_no_stubs()
        from app.faces.gradio.face import at_path, build  # imports Gradio

        return at_path(build("../"), path)

    return Later(application, wanted)

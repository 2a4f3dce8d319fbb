"""Which paths are answered here, before Gradio; everything else is passed on."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

API, TOOLS = "/api", "/mcp"
"""Where the tasks and the tools are, below the site's own path."""

_OF_GRADIO = ("run", "api", "call", "mcp")


class Programs:
    """Answers programs and assistants; passes other requests on.

    Args:
        app: gets every other request.
        below: the site's own path; "" for none.
        gradio: the path of the Gradio interface, whose addresses for programs are answered, too.
    """

    def __init__(self, app: ASGIApp, *, below: str, gradio: str) -> None:
        self._app = app
        self._api, self._tools = f"{below}{API}", f"{below}{TOOLS}"
        self._gradio = f"{gradio}/gradio_api"
        self._starts = (self._api, self._tools, *(f"{self._gradio}/{each}" for each in _OF_GRADIO))
        self._programs: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass the request on."""
        path = scope.get("path", "").rstrip("/")
        mine = any(path == start or path.startswith(f"{start}/") for start in self._starts)
        if scope["type"] != "http" or not mine:
            await self._app(scope, receive, send)
            return
        self._programs = self._programs or self._made()
        whole = f"{path}/" if path == self._api else path
        await self._programs({**scope, "path": whole, "root_path": ""}, receive, send)

    def _made(self) -> ASGIApp:
        """Put the routes together; they import all tasks, so this waits for the first request."""
        from app.faces.api import gradio_routes, routes, tools

        return Starlette(
            routes=[
                *tools.routes(self._tools),
                *tools.routes(f"{self._gradio}/mcp"),
                Mount(self._gradio, routes=gradio_routes.ROUTES),
                Mount(self._api, routes=routes.ROUTES),
            ],
            exception_handlers={HTTPException: _nothing_there},
        )


async def _nothing_there(_: Request, error: Exception) -> Response:
    """Say that there is no such address, or that it takes another method."""
    from app.faces.api.calling import json_response

    assert isinstance(error, HTTPException)
    says = f"{error.detail}. The documentation is at {API}/."
    return json_response({"error": says}, error.status_code, dict(error.headers or {}))

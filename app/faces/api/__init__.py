"""The interface for programs: JSON over HTTP, and tools for assistants (MCP).

Both are made from the declarations of the tasks (`app.declared`). Nothing is kept between two
requests, and no call needs Gradio.
"""

from starlette.types import ASGIApp, Receive, Scope, Send

API, TOOLS = "/api", "/mcp"
"""Where the tasks and the tools are, below the site's own path."""


class Programs:
    """Answers programs and assistants; passes other requests on to `app`.

    The site is `below` a path; some addresses of the `gradio` interface are answered, too.
    """

    def __init__(self, app: ASGIApp, *, below: str, gradio: str) -> None:
        self._app = app
        self._paths = api, tools, run = f"{below}{API}", f"{below}{TOOLS}", f"{gradio}/gradio_api"
        self._starts = f"{api}/", f"{tools}/", f"{run}/run/", f"{run}/mcp/"
        self._programs: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass the request on."""
        path = scope.get("path", "").rstrip("/")
        if scope["type"] != "http" or not f"{path}/".startswith(self._starts):
            await self._app(scope, receive, send)
            return
        if self._programs is None:
            from app.faces.api.routes import application  # imports all tasks

            self._programs = application(*self._paths)
        await self._programs({**scope, "path": path, "root_path": ""}, receive, send)

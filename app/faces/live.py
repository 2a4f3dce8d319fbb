"""The files that browsers run, below `/live`, and the lab as a page of its own."""

import json
from functools import cache
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.catalog import feature
from app.settings import ASSETS
from app.words.blocks import beware, heading
from app.words.html import document, tag

LIVE = "/live"
"""Where they are, below the site's own path."""

_LAB = "lab.html"
_KINDS = {
    "js": "text/javascript",
    "json": "application/json",
    "wasm": "application/wasm",
    "css": "text/css",
    "html": "text/html",
}
_MOUNT = 'import { mount } from "./lab_page.js"; mount(document.querySelector("[data-lab]"));'


class Live:
    """Answers with files; passes other requests on.

    Args:
        app: gets every other request.
        below: the site's own path; "" for none.
    """

    def __init__(self, app: ASGIApp, *, below: str) -> None:
        self._app, self._start = app, f"{below}{LIVE}/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass the request on."""
        path = scope.get("path", "")
        if scope["type"] != "http" or not path.startswith(self._start):
            await self._app(scope, receive, send)
            return
        await _answer(path.removeprefix(self._start), Request(scope))(scope, receive, send)


def _answer(name: str, request: Request) -> Response:
    from app.declared.live import live_files  # imports PyTorch

    if request.method not in {"GET", "HEAD"}:
        return PlainTextResponse("Only GET.", 405, {"allow": "GET, HEAD"})
    content = lab_page() if name == _LAB else live_files().get(name)
    if content is None:
        return PlainTextResponse("Not found.", 404)
    # Pages compare digests, so a file of an older version must not be taken from a cache.
    digest = f'"{sha256(content).hexdigest()}"'
    headers = {"cache-control": "no-cache", "etag": digest}
    if request.headers.get("if-none-match") == digest:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=_KINDS[name.rpartition(".")[2]])


@cache
def lab_script() -> str:
    """Return the script of that page, which also saves its pictures."""
    return (ASSETS / "components" / "bridge.js").read_text(encoding="utf-8") + _MOUNT


@cache
def lab_page() -> bytes:
    """Return the lab as a page of its own, for where there is no Streamlit interface."""
    from app.declared.live import lab_described, live_files
    from app.faces.paper.page import style

    row = feature("lab")
    site = (ASSETS / "recorded" / "recorded.css").read_text(encoding="utf-8")
    described = json.dumps(lab_described({}), ensure_ascii=False)
    return document(
        row.title,
        style("lab") + site + live_files()["lab.css"].decode(),
        heading(row.title, row.see),
        tag("div", class_="bx-lab", data_lab=described),
        beware(row.beware),
        script=lab_script(),
        icon=(ASSETS / "icon.svg").read_bytes(),
        live=True,
    )

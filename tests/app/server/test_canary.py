"""A word that only a client knows goes through every door, and is in no line of the log.

`CALLS` lists the requests; a new route is a new row. The word comes with line breaks and with codes
that colour a terminal, so that a line which it begins would be seen.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from google.protobuf.json_format import ParseDict
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from app.compat.streamlit import BackMsg, ForwardMsg
from tests.strangers import PATIENCE, Site, started

WORD = "wqzxcanary"
FORGED = f"{WORD}\r\n2026-01-01T00:00:00.000Z ERROR app: {WORD}\x1b[31m\u2028{WORD}"
QUOTED = quote(FORGED, safe="")
IN_HEADER = f'{WORD}/{WORD}; {WORD}="{WORD}'
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (INFO|WARNING|ERROR) [\w.]+: [ -~]+")
JSON = "application/json"
HEADERS = (
    "Accept Accept-Language Authorization Content-Disposition Content-Encoding Content-Type Cookie "
    "Expect If-None-Match Last-Event-ID MCP-Protocol-Version MCP-Session-ID Origin Range Referer "
    "Sec-WebSocket-Protocol Upgrade User-Agent X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto "
    "X-Streamlit-User X-Xsrftoken"
)


@dataclass(frozen=True)
class Call:
    """A request.

    Attributes:
        path: the address, at which the word may stand.
        body: what is sent; as JSON, if it is neither text nor bytes.
        method: "" for POST with a body, GET without.
        headers: further ones.
    """

    path: str
    body: Any = b""
    method: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        about = self.body if isinstance(self.body, bytes | str) else json.dumps(self.body)
        return f"{self.method} {self.path[:40]} {about[:80]!r} {[*self.headers]}"

    def written(self, site: Site) -> bytes:
        """Return the bytes of the request."""
        text = self.body if isinstance(self.body, bytes | str) else json.dumps(self.body)
        body = text if isinstance(text, bytes) else text.encode()
        head = {
            "Host": f"localhost:{site.port}",
            "Connection": "close",
            "Content-Type": JSON,
            "Accept": f"{JSON}, text/event-stream",
            "Content-Length": str(len(body)),
            **self.headers,
        }
        first = f"{self.method or ('POST' if body else 'GET')} {self.path} HTTP/1.1"
        lines = [first, *(f"{name}: {value}" for name, value in head.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body


def tool(method: str = "tools/call", **more: object) -> dict[str, object]:
    """Write a message of MCP."""
    params = {"name": "fill_mask", "arguments": {"text": f"a [MASK] {FORGED}"}}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params, **more}


def notice(method: str, **params: object) -> dict[str, object]:
    """Write a message of MCP that has no answer."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


MESSAGES: tuple[object, ...] = (
    tool(),
    tool(params={"name": "fill_mask", "arguments": FORGED}),
    tool(params={"name": "fill_mask", "arguments": {"text": [FORGED], FORGED: {FORGED: FORGED}}}),
    tool(params={"name": "fill_mask", "arguments": {"text": "a [MASK]", "model": FORGED}}),
    tool(params={"name": FORGED, "arguments": {}}),
    tool(params={"name": {FORGED: FORGED}}),
    tool(params=FORGED),
    tool(id=FORGED),
    tool(id={FORGED: FORGED}),
    tool(jsonrpc=FORGED),
    tool(FORGED),
    tool("initialize", params={"protocolVersion": FORGED, "clientInfo": {"name": FORGED}}),
    tool("resources/read", params={"uri": f"http://{WORD}.example"}),
    tool("prompts/get", params={"name": FORGED}),
    tool("logging/setLevel", params={"level": FORGED}),
    tool("completion/complete", params={"ref": FORGED}),
    notice("tools/call", name=FORGED),
    notice("notifications/cancelled", requestId=FORGED, reason=FORGED),
    notice("notifications/progress", progressToken=FORGED, progress=FORGED),
    notice(f"notifications/{FORGED}"),
    {"jsonrpc": "2.0", "id": 5, "result": {FORGED: FORGED}},
    {"jsonrpc": "2.0", "id": FORGED, "error": {"code": FORGED, "message": FORGED}},
    [tool(), {FORGED: FORGED}],
    {FORGED: FORGED},
)
BODIES: tuple[object, ...] = (
    FORGED,
    json.dumps(FORGED),
    f'{{"{WORD}": [' + '["' * 20_000,
    WORD.encode() + b"\xff\xfe",
    [FORGED],
    {FORGED: FORGED},
    {"data": FORGED},
    {"data": [FORGED]},
    {"data": [FORGED] * 9},
    {"data": [FORGED, FORGED, FORGED, FORGED]},
    {"data": [f"[MASK] {FORGED}", 5, "", ""]},
    {"data": [f"[MASK] {WORD}", 5, "", ""], "session_hash": FORGED, "event_data": FORGED},
    {"data": [WORD], "session_hash": WORD, "event_id": WORD, "fn_index": 3, "trigger_id": 1},
    {"data": [WORD], "session_hash": WORD, "event_id": WORD, "fn_index": 99_999},
    {"data": [WORD], "fn_index": FORGED, "api_name": FORGED, "batched": FORGED},
    {"session_hash": WORD, "event_id": WORD, "fn_index": 3},
    {"text": FORGED, "top_k": FORGED, "model": FORGED},
)
FORM = (
    f'--x\r\nContent-Disposition: form-data; name="{WORD}"; filename="{WORD}"\r\n'
    f"Content-Type: {WORD}\r\n\r\n{FORGED}\r\n--x--\r\n"
)
FORM_TYPE = "multipart/form-data; boundary=x"
FORMS = (FORM, FORM[:40], FORGED)
API = "/gradio/gradio_api"
POSTS = "run/fill_mask call/fill_mask call/v2/fill_mask queue/join cancel reset mcp/"
GETS = (
    "call/fill_mask/{} queue/data?session_hash={} queue/status?{} info?{} config?{} run/{} call/{} "
    "openapi.json?{} mcp/schema?tools={} app_id?{} login_check?{} token?{} file={} upload?{}"
)
PAGES = "/{} /?text={} /fill_mask?text={} /{}/_stcore/health /media/{} /static/{} /component/{}/x"
PAGES += " /_stcore/stream?{} /_stcore/host-config?{} /_stcore/{} /healthz?{} /gradio/{}"
PAGES += " /gradio/?text={} /gradio/fill_mask?text={}&model={} /gradio/assets/{}"
CALLS = (
    *(Call(path, each) for path in (f"{API}/mcp/", "/mcp") for each in (*MESSAGES, *BODIES)),
    *(Call(f"/api/{task}", each, headers=headers)
      for task in ("fill_mask", "ner", WORD, QUOTED) for each in BODIES
      for headers in ({}, {"Accept": "text/event-stream"})),
    *(Call(f"/api/{path}", method="GET")
      for path in ("", f"?{QUOTED}", f"openapi.json?{QUOTED}", QUOTED)),
    *(Call(f"{API}/{path}", each) for path in POSTS.split() for each in BODIES),
    *(Call(f"{API}/{path}".replace("{}", word), method="GET")
      for path in GETS.split() for word in (WORD, QUOTED)),
    *(Call(path.replace("{}", word), method=method)
      for path in PAGES.split() for word in (WORD, QUOTED) for method in ("GET", "POST", WORD)),
    *(Call(path, b"" if path == "/" else tool(), headers={name: IN_HEADER})
      for path in ("/", "/mcp", "/api/fill_mask", f"{API}/run/fill_mask",
                   "/_stcore/upload_file/a/b")
      for name in HEADERS.split()),
    *(Call(path.replace("{}", WORD), form, method, {"Content-Type": FORM_TYPE})
      for path in ("/_stcore/upload_file/{}/{}", f"{API}/upload", f"{API}/run/fill_mask")
      for form in FORMS for method in ("PUT", "POST", "DELETE")),
)  # fmt: skip
NO_HTTP = (
    FORGED,
    f"GET /{WORD}\x1b[31m HTTP/1.1\r\nHost: localhost\r\n\r\n",
    f"{WORD} {WORD} {WORD}\r\n\r\n",
    f"GET / HTTP/1.1\r\nHost: {WORD}\r\n\r\n",
    f"GET / HTTP/1.1\r\nHost: localhost\r\n{WORD}: \x00{WORD}\r\n\r\n",
    f"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {WORD}\r\n\r\n",
    f"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{WORD}\r\n",
    "\x16\x03\x01" + WORD,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, tiny_folder: Path) -> Iterator[Site]:
    with started(tmp_path_factory.mktemp("site"), tiny_folder) as found:
        found.ask("/gradio/", "Accept: text/html")  # it is there now
        yield found


def assert_clean(site: Site) -> None:
    """Check the whole log: its lines are its own, and say nothing of the word."""
    announced, *lines = site.log.read_text(encoding="utf-8").splitlines()
    assert "URL: " in announced
    for line in lines:
        assert LINE.fullmatch(line) and "Traceback" not in line
        assert WORD not in line.lower() and "2026-01-01" not in line


def send(site: Site, data: bytes) -> None:
    """Send a request and read some of the answer, which may have no end."""
    with suppress(TimeoutError, ConnectionError):
        site.say(data, wait=1)


def test_no_request_leaves_a_word_in_the_log(site: Site) -> None:
    for call in CALLS:
        send(site, call.written(site))
    assert_clean(site)


@pytest.mark.parametrize("text", NO_HTTP)
def test_what_is_no_request_leaves_no_word_in_the_log(site: Site, text: str) -> None:
    send(site, text.replace("Host: localhost", f"Host: localhost:{site.port}").encode())
    assert_clean(site)


def message(**fields: object) -> bytes:
    """Write a message of a page."""
    found = BackMsg()
    ParseDict(fields, found)
    return found.SerializeToString()


RERUN = {
    "page_name": FORGED,
    "page_script_hash": FORGED,
    "query_string": f"text={QUOTED}&{QUOTED}={QUOTED}&top={QUOTED}",
    "fragment_id": FORGED,
    "cached_message_hashes": [FORGED],
    "widget_states": {"widgets": [{"id": FORGED, "string_value": FORGED}]},
    "context_info": {"timezone": FORGED, "locale": FORGED, "url": FORGED},
}
PAGE = {**RERUN, "page_name": "fill_mask", "page_script_hash": "", "fragment_id": ""}
ORDERS: tuple[dict[str, object], ...] = (
    {"rerun_script": RERUN},
    {"clear_cache": True},
    {"stop_script": True},
    {"app_heartbeat": True},
    {"load_git_info": True},
    {"set_run_on_save": True},
    {"debug_disconnect_websocket": True},
    {"debug_shutdown_runtime": True},
    {"file_urls_request": {"request_id": FORGED, "file_names": [FORGED], "session_id": FORGED}},
    {"backend_operation_request": {"request_id": FORGED, "session_id": FORGED}},
    {},
)
UNREADABLE: dict[str, bytes | str | list[str]] = {
    "word": WORD.encode(),
    "half": message(rerun_script=RERUN)[:40],
    "byte": b"\xff",
    "text": FORGED,
    "parts of a text": [WORD, FORGED],
    "empty text": "",
}


def finish(page: ClientConnection) -> None:
    """Receive until a run of the page is over."""
    while True:
        found = ForwardMsg.FromString(page.recv(PATIENCE, decode=False))
        if found.WhichOneof("type") == "script_finished":
            return


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: next(iter(order), "nothing"))
def test_no_message_of_a_page_leaves_a_word_in_the_log(
    site: Site, order: dict[str, object]
) -> None:
    names = [Subprotocol(each) for each in ("streamlit", WORD, WORD)]
    with connect(f"ws://localhost:{site.port}/_stcore/stream", subprotocols=names) as page:
        page.send(message(**order))
        page.send(message(rerun_script=PAGE))
        finish(page)
    assert_clean(site)


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_message_closes_a_page_without_a_line(
    site: Site, data: bytes | str | list[str]
) -> None:
    before = site.log.read_text(encoding="utf-8")
    with connect(f"ws://localhost:{site.port}/_stcore/stream") as page:
        with suppress(ConnectionClosed):
            page.send(data)
            while True:
                page.recv(PATIENCE)
        assert page.close_code == 1007
    assert site.log.read_text(encoding="utf-8") == before

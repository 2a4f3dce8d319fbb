"""Strangers at the real site: `python app.py`, all interfaces, on the loopback.

A word that only a client knows goes through every door, and is in no line of the log: `CALLS` lists
the requests, and a new route is a new row. The word comes with line breaks and with codes that
colour a terminal, so that a line which it begins would be seen.
"""

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
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
from benchmarks.visitor import Visitor
from tests.strangers import PATIENCE, Site, header, started, status

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, tiny_folder: Path) -> Iterator[Site]:
    with started(tmp_path_factory.mktemp("site"), tiny_folder) as found:
        yield found


def visit(site: Site, page: str, query: str = "") -> str:
    """Open a page in a session of its own; return what it shows."""

    async def opened() -> str:
        async with Visitor(site.address) as visitor:
            answer = await visitor.open(page, query)
            assert answer.trouble() == ""
            return answer.drawn()

    return asyncio.run(opened())


# -- the network -----------------------------------------------------------------------------------

CURIOUS = """
import socket
from streamlit import net_util
net_util._make_blocking_http_get = lambda url, timeout: socket.create_connection(
    ("192.0.2.1", 80), timeout=0.1
)
try:
    net_util.get_internal_ip(), net_util.get_external_ip()
except OSError:
    pass
try:
    socket.getaddrinfo("name.invalid", 80)
except OSError:
    pass
socket.getaddrinfo("localhost", 80)
"""


def test_the_watch_sees_connections_datagrams_and_names(tmp_path: Path) -> None:
    script, asked = tmp_path / "curious.py", tmp_path / "asked.log"
    script.write_text(CURIOUS, encoding="utf-8")
    command = [sys.executable, "-m", "tests.watched", str(asked), str(script)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=PATIENCE)
    found = asked.read_text(encoding="utf-8")
    assert "8.8.8.8" in found and "192.0.2.1" in found and "name.invalid" in found
    assert "localhost" not in found


def test_nothing_is_asked_of_anyone_from_start_to_answer_on_either_face(site: Site) -> None:
    assert "the" in visit(site, "fill_mask", "text=the+cat+sat+on+the+%5BMASK%5D")
    assert status(site.knock("/_stcore/stream", "Origin: http://evil.example")) == 403
    assert status(site.knock("/_stcore/stream", "Origin: http://localhost:1")) == 403
    assert status(site.ask("/", host="evil.example")) == 421
    assert status(site.ask("/gradio/", "Accept: text/html")) == 200
    assert site.asked.read_text(encoding="utf-8") == ""


# -- headers ---------------------------------------------------------------------------------------


def static_files(site: Site) -> list[str]:
    """Return the files that the page of the Streamlit interface loads."""
    page = site.ask("/").decode()
    return re.findall(r'(?:src|href)="\.(/static/[^"]+)"', page)


ADDRESSES = (
    *("GET /", "HEAD /", "POST /", "BREW /", "GET /fill_mask", "GET /%2e%2e/x", "GET //x"),
    *("GET /_stcore/health", "OPTIONS /_stcore/health", "GET /_stcore/host-config"),
    *("GET /_stcore/metrics", "POST /_stcore/agent/interact", "PUT /_stcore/upload_file/a/b"),
    *("GET /media/none.png", "GET /static/none.js", "GET /gradio", "GET /gradio/"),
    *("GET /gradio/gradio_api/info", "GET /gradio/none", "POST /gradio/gradio_api/call/none"),
)


def test_every_answer_of_both_faces_has_the_headers_and_no_banner(site: Site) -> None:
    both = [site.ask(path, method=method) for method, path in map(str.split, ADDRESSES)]
    both += [site.say("nonsense\r\n\r\n"), site.knock("/none")]
    assert not any(b"Traceback" in answer for answer in both)
    for answer in both + [site.ask(path) for path in static_files(site)[:3]]:
        assert header(answer, "x-content-type-options") == "nosniff", answer[:200]
        assert header(answer, "referrer-policy") and header(answer, "permissions-policy")
        assert "default-src 'none'" in header(answer, "content-security-policy")
        assert header(answer, "server") == "" and header(answer, "x-powered-by") == ""
    assert {status(answer) for answer in both} >= {200, 307, 400, 403, 404, 405}


# -- what strangers send ---------------------------------------------------------------------------

SECRETS = ("root:", "gatherUsageStats", "def start()", "[MASK]", "vocab_size", "repositoryformat")
UP = ("../", "%2e%2e/", "..%2f", "%2e%2e%2f", "..%5c", "..\\", "%252e%252e/", "....//")
DOORS = (
    *("/", "/static/", "/static/js/", "/media/", "/component/x/", "/app/static/"),
    *("/_stcore/bidi-components/x/", "/fill_mask/"),
)
FILES = ("etc/passwd", "app.py", ".streamlit/config.toml", ".git/config")


@pytest.mark.parametrize("door", DOORS)
def test_no_address_leads_out_of_the_site(site: Site, door: str) -> None:
    absolute = [f"{door}/etc/passwd", f"{door}%2Fetc%2Fpasswd", f"{door}C:%5Cwindows", f"{door}%00"]
    for path in [f"{door}{up * 8}{file}" for up in UP for file in FILES] + absolute:
        answer = site.ask(path)
        assert status(answer) in {200, 400, 403, 404}, path
        body = answer.partition(b"\r\n\r\n")[2]
        if status(answer) == 200:  # an address that is no page opens the site, which says so
            assert b"<title>Streamlit</title>" in body
        assert not any(secret.encode() in body for secret in SECRETS), path


def test_a_message_of_megabytes_ends_its_session_and_no_other(site: Site) -> None:
    async def main() -> None:
        async with Visitor(site.address) as other, Visitor(site.address) as visitor:
            assert visitor._connection is not None
            with suppress(ConnectionClosed):
                await visitor._connection.send(b"x" * (5 * 2**20))
            await asyncio.wait_for(visitor._connection.wait_closed(), PATIENCE)
            assert visitor._connection.close_code == 1009
            assert (await other.open("fill_mask")).trouble() == ""

    asyncio.run(main())


def test_twenty_tabs_are_answered_each_with_its_own_words(site: Site) -> None:
    words = [f"q{first}{second}q" for first in "abcdefghij" for second in "kl"]

    async def tab(word: str) -> str:
        async with Visitor(site.address) as visitor:
            answer = await visitor.open("tokenizer", f"text={word}")
            assert answer.trouble() == ""
            return answer.drawn()

    async def main() -> list[str]:
        return await asyncio.gather(*(tab(word) for word in words))

    for word, drawn in zip(words, asyncio.run(main()), strict=True):
        assert [each for each in words if each in drawn] == [word]


@pytest.mark.slow
def test_a_page_asked_for_again_and_again_in_mid_answer_is_answered(site: Site) -> None:
    """Reloads and double clicks: each interrupts the run before it."""

    async def main() -> None:
        async with Visitor(site.address) as visitor:
            await visitor.open("fill_mask")
            for _ in range(10):
                hurried = asyncio.create_task(visitor.open("fill_mask", "text=a+%5BMASK%5D"))
                await asyncio.sleep(0.02)
                hurried.cancel()
                with suppress(asyncio.CancelledError):
                    await hurried
            # Answers to the interrupted runs come first. The text is typed, as by a person: on a
            # site that is open already, a page shows its own text, whatever the address says.
            answer = await visitor.open("tokenizer")
            while "<h1>Tokenizer</h1>" not in answer.drawn():
                answer = await visitor.open("tokenizer")
            while "river" not in answer.drawn():
                answer = await visitor.change({"text": "the river bank"})
            assert answer.trouble() == ""

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_one_address_cannot_use_up_the_descriptors(tmp_path: Path, tiny_folder: Path) -> None:
    few = ("bash", "-c", 'ulimit -n 200; exec "$@"', "-")
    with started(tmp_path, tiny_folder, *few) as site, ExitStack() as stack:

        async def main() -> None:
            async with Visitor(site.address) as visitor:
                await visitor.open("fill_mask")
                for _ in range(300):
                    address = ("127.0.0.1", site.port)
                    stack.enter_context(socket.create_connection(address, timeout=PATIENCE))
                assert (await visitor.open("tokenizer")).trouble() == ""

        asyncio.run(main())
        assert status(site.ask("/_stcore/health")) == 200
        assert "Traceback" not in site.log.read_text(encoding="utf-8")


# -- a word that is in no log ----------------------------------------------------------------------

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
    """A request."""

    path: str
    body: Any = b""  # sent as JSON, if it is neither text nor bytes
    method: str = ""  # "": POST with a body, GET without
    headers: dict[str, str] = field(default_factory=dict)

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
PAGES += " /class/{} /class/{}/events /class/{}/teacher /class?code={} /live/{} /metrics?{}"
CALLS = (
    *(Call(path, each) for path in (f"{API}/mcp/", "/mcp") for each in (*MESSAGES, *BODIES)),
    *(Call(f"/api/{task}", each, headers=headers)
      for task in ("fill_mask", QUOTED) for each in BODIES
      for headers in ({}, {"Accept": "text/event-stream"})),
    *(Call(f"/api/{path}", method="GET")
      for path in ("", f"?{QUOTED}", f"openapi.json?{QUOTED}", QUOTED)),
    *(Call(f"{API}/{path}", each) for path in POSTS.split() for each in BODIES),
    *(Call(f"/class/{code}/{what}", each) for code in ("ABCDEF", WORD)
      for what in ("vote", "teacher") for each in BODIES[-4:]),
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
    assert site.ask("/gradio/", "Accept: text/html")  # it is there now
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda call: send(site, call.written(site)), CALLS))
    for text in NO_HTTP:
        send(site, text.replace("Host: localhost", f"Host: localhost:{site.port}").encode())
    visit(site, "fill_mask", f"text={WORD}+%5BMASK%5D")
    visit(site, "senses", f"text={quote(f'the bank {WORD}{chr(10)}the <b>{WORD}</b> bank')}")
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
UNREADABLE: tuple[bytes | str | list[str], ...] = (
    WORD.encode(), message(rerun_script=RERUN)[:40], b"\xff", FORGED, [WORD, FORGED], "",
)  # fmt: skip


def finish(page: ClientConnection) -> None:
    """Receive until a run of the page is over."""
    while True:
        found = ForwardMsg.FromString(page.recv(PATIENCE, decode=False))
        if found.WhichOneof("type") == "script_finished":
            return


def test_no_message_of_a_page_leaves_a_word_in_the_log(site: Site) -> None:
    names = [Subprotocol(each) for each in ("streamlit", WORD, WORD)]
    for order in ORDERS:
        with connect(f"ws://localhost:{site.port}/_stcore/stream", subprotocols=names) as page:
            page.send(message(**order))
            page.send(message(rerun_script=PAGE))
            finish(page)
    assert_clean(site)


def test_what_is_no_message_closes_a_page_without_a_line(site: Site) -> None:
    before = site.log.read_text(encoding="utf-8")
    for data in UNREADABLE:
        with connect(f"ws://localhost:{site.port}/_stcore/stream") as page:
            with suppress(ConnectionClosed):
                page.send(data)
                while True:
                    page.recv(PATIENCE)
            assert page.close_code == 1007
    assert site.log.read_text(encoding="utf-8") == before


def test_ctrl_c_ends_the_site_with_pages_open(site: Site) -> None:
    """The last test, because it ends the site."""

    async def main() -> None:
        async with Visitor(site.address) as visitor:
            await visitor.open("fill_mask")
            site.process.send_signal(signal.SIGINT)
            assert await asyncio.to_thread(site.process.wait, PATIENCE) == 130

    asyncio.run(main())
    assert site.log.read_text(encoding="utf-8").splitlines()[-1] == "Stopped."

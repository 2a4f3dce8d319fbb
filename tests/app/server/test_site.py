"""Strangers at the real site: `python app.py`, both interfaces, on the loopback."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import quote

import pytest
from websockets.exceptions import ConnectionClosed

from benchmarks.visitor import Visitor
from tests.strangers import PATIENCE, Site, header, started, status, until

ROOT = Path(__file__).resolve().parents[3]
MARKER = "wqzx-a-visitors-own-words"


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


def test_every_answer_of_both_faces_has_the_headers_and_no_banner(site: Site) -> None:
    both = [
        site.ask(path, method=method)
        for method, path in [
            ("GET", "/"),
            ("HEAD", "/"),
            ("POST", "/"),
            ("GET", "/fill_mask"),
            ("GET", "/_stcore/health"),
            ("OPTIONS", "/_stcore/health"),
            ("GET", "/_stcore/host-config"),
            ("GET", "/_stcore/metrics"),
            ("POST", "/_stcore/agent/interact"),
            ("PUT", "/_stcore/upload_file/a/b"),
            ("GET", "/media/none.png"),
            ("GET", "/static/none.js"),
            ("GET", "/%2e%2e/x"),
            ("GET", "//x"),
            ("GET", "/gradio"),
            ("GET", "/gradio/"),
            ("GET", "/gradio/gradio_api/info"),
            ("GET", "/gradio/none"),
            ("POST", "/gradio/gradio_api/call/none"),
            ("BREW", "/"),
        ]
    ]
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
    "/",
    "/static/",
    "/static/js/",
    "/media/",
    "/component/x/",
    "/app/static/",
    "/_stcore/bidi-components/x/",
    "/fill_mask/",
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


def test_what_a_visitor_types_is_in_no_log(site: Site) -> None:
    """Nor is what programs send: `test_canary.py`."""
    visit(site, "fill_mask", f"text={MARKER}+%5BMASK%5D")
    lines = quote(f"the bank {MARKER}\nthe <b>{MARKER}</b> bank")
    visit(site, "senses", f"text={lines}")
    assert MARKER not in site.log.read_text(encoding="utf-8")


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


def test_fifty_tabs_are_answered_each_with_its_own_words(site: Site) -> None:
    words = [f"q{first}{second}q" for first in "abcdefghij" for second in "klmno"]

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


def test_when_descriptors_run_out_strangers_are_told_and_pages_go_on(
    tmp_path: Path, tiny_folder: Path
) -> None:
    few = ("bash", "-c", 'ulimit -n 200; exec "$@"', "-")
    with started(tmp_path, tiny_folder, *few) as site, ExitStack() as stack:

        async def main() -> None:
            async with Visitor(site.address) as visitor:
                await visitor.open("fill_mask")
                until(lambda: b"Try again in a minute" in one_more())
                assert (await visitor.open("tokenizer")).trouble() == ""

        def one_more() -> bytes:
            line = socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE)
            stack.enter_context(line)
            line.settimeout(0.05)
            try:
                return line.recv(4_096)
            except TimeoutError:
                return b""

        asyncio.run(main())
        stack.close()
        until(lambda: status(site.ask("/_stcore/health")) == 200)
        assert "Traceback" not in site.log.read_text(encoding="utf-8")


def test_too_few_descriptors_are_one_line_and_status_2(tiny_folder: Path) -> None:
    command = f"ulimit -n 150; exec {sys.executable} app.py"
    environment = {"STREAMLIT_SERVER_PORT": "0", "BERT_EXPLORER_MODEL": str(tiny_folder)}
    found = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (found.returncode, found.stdout) == (2, "")
    assert "allows 150 open files" in found.stderr and found.stderr.count("\n") == 1


def test_ctrl_c_ends_the_site_with_pages_open(tmp_path: Path, tiny_folder: Path) -> None:
    with started(tmp_path, tiny_folder) as site:

        async def main() -> None:
            async with Visitor(site.address) as visitor:
                await visitor.open("fill_mask")
                site.process.send_signal(signal.SIGINT)
                assert await asyncio.to_thread(site.process.wait, PATIENCE) == 130

        asyncio.run(main())
        assert site.log.read_text(encoding="utf-8").splitlines()[1:] == ["Stopped."]

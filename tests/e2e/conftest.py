"""Fixtures for the browser tests: the real server, a real browser, and a record of both."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from app.settings import BUNDLED_MODEL
from bert_core.bundled import bundled_folder
from tests.loopback import Loopback

ROOT = Path(__file__).resolve().parent.parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# The browser's own traffic (updates, field trials) is switched off, so that every recorded
# request was made by a page.
FLAGS = [
    "--no-sandbox",  # the only way Chromium starts as root, as in a container
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_SECONDS = 120
# What Gradio's client writes when its page is left while it waits for an answer
WHEN_LEFT = ("AbortError: signal is aborted", "Unexpected error Connection errored out.")
PATIENCE_MS = 30_000  # long enough for a slow machine
LOADING_MS = 1_000 * START_SECONDS  # Gradio is imported by the first of its pages
expect.set_options(timeout=PATIENCE_MS)
Kept = dict[tuple[int, str], BrowserContext]
"""Contexts by the number of their visit in a test, and their options."""


@dataclass
class Record:
    """The requests and error messages of the pages of one test."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("websocket", lambda socket: self.requests.append(socket.url))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on(
            "console",
            lambda message: (
                self.complaints.append(f"{message.type}: {message.text} {message.location}")
                # The documentation that Gradio writes asks for statistics, which are closed here.
                if message.type == "error"
                and "/monitoring/" not in message.location["url"]
                and not any(words in message.text for words in WHEN_LEFT)
                else None
            ),
        )

    def outside(self, address: str) -> list[str]:
        """Return the requests that went anywhere but to the server at an address."""
        own = urlsplit(address).netloc
        hosts = {url: urlsplit(url) for url in self.requests}
        return [
            url
            for url, parts in hosts.items()
            if parts.scheme not in {"data", "blob"} and parts.netloc != own
        ]


@dataclass(frozen=True)
class Site:
    """The running server, and the proxy that catches any attempt to fetch something."""

    address: str
    trap: socket.socket

    def fetches(self) -> int:
        """Return how many new outside connections the server attempted through its proxy."""
        count = 0
        while True:
            try:
                self.trap.accept()[0].close()
            except BlockingIOError:
                return count
            count += 1


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_up(address: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/healthz", timeout=30) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"The site did not start:\n{log.read_text(encoding='utf-8', errors='replace')}")


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder offered in addition to the bundled model: the same model under another name."""
    folder = tmp_path_factory.mktemp("shelf")
    (folder / "second").mkdir()
    for path in bundled_folder(BUNDLED_MODEL).iterdir():
        (folder / "second" / path.name).symlink_to(path)
    return folder


@pytest.fixture(scope="session")
def hub() -> Iterator[Loopback]:
    """A local server in place of the Hub."""
    with Loopback() as server:
        yield server


@pytest.fixture(scope="session")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for visitors' downloads."""
    return tmp_path_factory.mktemp("downloads")


@contextmanager
def serving(shelf: Path, hub: Loopback, downloads: Path, log: Path) -> Iterator[Site]:
    """Serve the site as `make run` does, on a free port of the loopback."""
    port = free_port()
    with socket.socket() as trap, log.open("wb") as out:
        trap.bind(("127.0.0.1", 0))
        trap.listen(64)
        trap.setblocking(False)
        proxy = f"http://127.0.0.1:{trap.getsockname()[1]}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        proxies = {n: proxy for name in names for n in (name, name.lower())}
        environment = {
            **{k: v for k, v in os.environ.items() if k not in {"NO_PROXY", "no_proxy"}},
            **proxies,
            "NO_PROXY": "127.0.0.1,localhost",
            "HF_ENDPOINT": hub.url,
            "HF_TOKEN": "hf_of_the_operator",  # which no visitor may use
            "BERT_EXPLORER_CACHE": str(downloads),
            "BERT_CORE_CACHE": str(downloads.with_name("core")),
            "STREAMLIT_SERVER_PORT": str(port),
            "BERT_EXPLORER_MODELS": str(shelf),
        }
        server = subprocess.Popen(
            [sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=out, stderr=out
        )
        try:
            address = f"http://127.0.0.1:{port}"
            wait_until_up(address, server, log)
            yield Site(address, trap)
        finally:
            server.terminate()
            server.wait(timeout=20)


@pytest.fixture(scope="session")
def site(
    tmp_path_factory: pytest.TempPathFactory, shelf: Path, hub: Loopback, downloads: Path
) -> Iterator[Site]:
    """The site that most tests visit, one after the other."""
    with serving(shelf, hub, downloads, tmp_path_factory.mktemp("site") / "server.log") as running:
        yield running


@pytest.fixture
def unvisited(tmp_path: Path, shelf: Path, hub: Loopback, downloads: Path) -> Iterator[Site]:
    """A site without visitors so far."""
    with serving(shelf, hub, downloads, tmp_path / "server.log") as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the system's Chromium or Chrome, without a window.

    It ends with the file of tests: while it runs, this thread has an event loop, and `asyncio.run`
    refuses, also in the tests of another file.
    """
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"no browser is installed (looked for {', '.join(BROWSERS)})")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def kept(browser: Browser) -> Iterator[Kept]:
    """The visitors' browser contexts, kept from test to test with the scripts they have read."""
    contexts: Kept = {}
    yield contexts
    for context in contexts.values():
        context.close()


@pytest.fixture
def visit(browser: Browser, site: Site, kept: Kept) -> Iterator[Callable[..., Page]]:
    """Open pages of the site, then check for outside requests and error messages.

    The returned function takes a path and the options of a browser context (viewport, colour
    scheme, …). Every call in a test is a visitor of its own, whom the site has not seen before.
    """
    with watched(browser, site, kept) as opened:
        yield opened


@contextmanager
def watched(
    browser: Browser, site: Site, kept: Kept | None = None
) -> Iterator[Callable[..., Page]]:
    """Do what `visit` does, on any site."""
    record = Record()
    contexts: Kept = {}
    pages: list[Page] = []

    def opened(path: str = "", **options: Any) -> Page:
        size = options.pop("viewport", {"width": 1280, "height": 900})
        look = {
            name: options.pop(name) for name in ("color_scheme", "reduced_motion") & options.keys()
        }
        visitor = (len(pages), repr(sorted(options.items())))
        place = contexts if kept is None else kept
        if visitor not in place:
            place[visitor] = browser.new_context(
                base_url=site.address, locale="en-GB", viewport=size, **options
            )
            place[visitor].set_default_timeout(PATIENCE_MS)
            place[visitor].set_default_navigation_timeout(LOADING_MS)
        page = place[visitor].new_page()
        pages.append(page)
        forget(page, site.address)
        page.set_viewport_size(size)
        page.emulate_media(**look)
        record.watch(page)
        page.goto(f"/{path}")
        return page

    yield opened
    for closing in (*pages, *contexts.values()):
        closing.close()
    assert record.requests, "the page asked for nothing, so nothing was watched"
    assert record.outside(site.address) == []
    assert record.complaints == []
    assert site.fetches() == 0


def forget(page: Page, address: str) -> None:
    """Take from a context what the site has left in it; what it has read stays in its cache."""
    page.context.new_cdp_session(page).send(
        "Storage.clearDataForOrigin",
        {"origin": address, "storageTypes": "cookies,local_storage,indexeddb,service_workers"},
    )


def wait_until(page: Page, function: str, value: object = None) -> None:
    """Wait until a function of the page is true.

    `page.wait_for_function` evaluates a text in the page, which the site's policy forbids.
    """
    for _ in range(PATIENCE_MS // 100):
        if page.evaluate(function, value):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"still waiting for {function}")


def steady(page: Page, function: str) -> Any:
    """Wait until what a function of the page returns has stayed the same; return it."""
    last, same = None, 0
    for _ in range(PATIENCE_MS // 100):
        found = page.evaluate(function)
        last, same = found, same + 1 if found == last else 0
        if same == 5:
            return found
        page.wait_for_timeout(100)
    raise AssertionError(f"still changing: {function}")


STILL = """() => document.getAnimations().every((each) =>
        each.playState !== "running" || each.effect.getComputedTiming().endTime === Infinity)
    && [...document.querySelectorAll(".bx-headline, .bx-result")].every((at) => {
        for (; at; at = at.parentElement) if (getComputedStyle(at).opacity !== "1") return false;
        return true;
    })"""


def faults(page: Page) -> list[str]:
    """Return what axe-core finds, of any impact, on a page that has ceased to move and to fade."""
    wait_until(page, STILL)
    return [
        f"{each['id']}: {each['help']} {[node['target'] for node in each['nodes']][:3]}"
        for each in Axe().run(page).response["violations"]
    ]

"""Fixtures for the browser tests: the real server, a real browser, and a record of both."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    FrameLocator,
    Page,
    expect,
    sync_playwright,
)

from app.catalog import pages
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
TITLES = {"": "BERT Explorer", **{feature.slug: feature.title for feature in pages()}}
PATIENCE_MS = 30_000  # long enough for a slow machine
LOADING_MS = 1_000 * START_SECONDS  # Gradio is imported by the first of its pages
expect.set_options(timeout=PATIENCE_MS)
Kept = dict[tuple[int, str], Page]
"""Tabs by the number of their visit in a test, and the options of their context."""


@dataclass
class Record:
    """The requests and error messages of the pages of one test."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> Callable[[], None]:
        """Write down what a page asks for and complains of, until the returned function runs."""
        listeners: dict[Any, Callable[[Any], None]] = {
            "request": lambda request: self.requests.append(request.url),
            "websocket": lambda socket: self.requests.append(socket.url),
            "pageerror": lambda error: self.complaints.append(f"error: {error}"),
            "console": self.hear,
        }
        for event, listener in listeners.items():
            page.on(event, listener)

        def end() -> None:
            for event, listener in listeners.items():
                page.remove_listener(event, listener)

        return end

    def hear(self, message: ConsoleMessage) -> None:
        # The documentation that Gradio writes asks for statistics, which are closed here.
        if message.type != "error" or "/monitoring/" in message.location["url"]:
            return
        if not any(words in message.text for words in WHEN_LEFT):
            self.complaints.append(f"error: {message.text} {message.location}")

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


class Quiet(SimpleHTTPRequestHandler):
    """A web server for plain files that does not write a log."""

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def hosting(folder: Path) -> Iterator[str]:
    """Serve a folder as any host of plain files would; yield its address on the loopback."""
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="package")
def site(
    tmp_path_factory: pytest.TempPathFactory, shelf: Path, hub: Loopback, downloads: Path
) -> Iterator[Site]:
    """The site that all tests visit, with a Hub, and a proxy that should never be asked."""
    address = f"http://127.0.0.1:{(port := free_port())}"
    log = tmp_path_factory.mktemp("site") / "server.log"
    with socket.socket() as trap, log.open("ab") as out:
        trap.bind(("127.0.0.1", 0))
        trap.listen(64)
        trap.setblocking(False)
        proxy = f"http://127.0.0.1:{trap.getsockname()[1]}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        environment = {
            **{n: proxy for name in names for n in (name, name.lower())},
            **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
            "STREAMLIT_SERVER_PORT": str(port),
            "HF_ENDPOINT": hub.url,
            "HF_TOKEN": "hf_of_the_operator",  # which no visitor may use
            "BERT_EXPLORER_CACHE": str(downloads),
            "BERT_CORE_CACHE": str(downloads.with_name("core")),
            "BERT_EXPLORER_MODELS": str(shelf),
            "SPACE_HOST": "someone-bert-explorer.hf.space",  # the Hub may show it in a frame
        }
        server = subprocess.Popen(
            [sys.executable, "app.py"], cwd=ROOT, env={**os.environ, **environment},
            stdout=out, stderr=out,
        )  # fmt: skip
        try:
            wait_until_up(address, server, log)
            yield Site(address, trap)
        finally:
            server.terminate()
            server.wait(timeout=20)


@pytest.fixture(scope="package")
def live_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded site with the bundled model, which answers in the browser."""
    from tests.e2e.test_recorded_live import write_site

    folder = tmp_path_factory.mktemp("live")
    write_site(folder)
    return folder


@pytest.fixture(scope="package")
def live(live_site: Path) -> Iterator[str]:
    """Its address on a server of plain files, below a base path as on GitHub Pages."""
    with hosting(live_site.parent) as address:
        yield f"{address}/{live_site.name}"


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Start the system's Chromium or Chrome, without a window.

    It ends with this folder: while it runs, this thread has an event loop, and `asyncio.run`
    refuses, also in the tests of another folder.
    """
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"no browser is installed (looked for {', '.join(BROWSERS)})")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def record() -> Record:
    """What a page of another site than `site` asks for and complains of."""
    return Record()


@pytest.fixture
def page(browser: Browser, record: Record) -> Iterator[Page]:
    """A new page that `record` watches."""
    with browser.new_context(locale="en-GB", viewport={"width": 1280, "height": 720}) as context:
        found = context.new_page()
        record.watch(found)
        yield found


@pytest.fixture(scope="package")
def kept() -> Kept:
    """The visitors' tabs, kept from test to test: a new one would compile all scripts again."""
    return {}


@pytest.fixture
def visit(browser: Browser, site: Site, kept: Kept) -> Iterator[Callable[..., Page]]:
    """Open pages of the site, then check for outside requests and error messages.

    The returned function takes a path and the options of a browser context (viewport, colour
    scheme, …). Every call in a test is a visitor of its own, whom the site has not seen before. It
    returns when the page has drawn everything, except with `settle=False` and for the pages that
    are not Streamlit's.
    """
    record = Record()
    pages: list[Page] = []
    ends: list[Callable[[], None]] = []

    def opened(path: str = "", *, settle: bool = True, **options: Any) -> Page:
        size = options.pop("viewport", {"width": 1280, "height": 900})
        scheme = options.pop("color_scheme", "light")
        motion = options.pop("reduced_motion", "no-preference")
        visitor = (len(pages), repr(sorted(options.items())))
        if visitor not in kept or kept[visitor].is_closed():
            context = browser.new_context(base_url=site.address, locale="en-GB", **options)
            context.set_default_timeout(PATIENCE_MS)
            context.set_default_navigation_timeout(LOADING_MS)
            kept[visitor] = context.new_page()
        page = kept[visitor]
        pages.append(page)
        page.set_viewport_size(size)
        page.emulate_media(media="null", color_scheme=scheme, reduced_motion=motion)
        ends.append(record.watch(page))
        page.goto(f"/{path}")
        slug = re.split("[/?]", path)[0]
        if settle and slug not in {"gradio", "class"}:
            settled(page, slug if slug in TITLES else None)
        return page

    yield opened
    for page, end in zip(pages, ends, strict=True):
        end()
        if not page.is_closed():
            leave(page, site.address)
    assert record.requests, "the page asked for nothing, so nothing was watched"
    assert record.outside(site.address) == []
    assert record.complaints == []
    assert site.fetches() == 0


def leave(page: Page, address: str) -> None:
    """Make a tab as good as new: what the site has left in it goes; what was read stays cached."""
    if page.url.startswith(address):
        # What a page keeps when it is left would come back.
        page.evaluate("sessionStorage.clear(); Storage.prototype.setItem = () => {}")
    page.mouse.move(0, 0)
    page.goto("about:blank")
    browser = page.context.new_cdp_session(page)
    browser.send("Page.resetNavigationHistory")
    kinds = "cookies,local_storage,indexeddb,service_workers"
    browser.send("Storage.clearDataForOrigin", {"origin": address, "storageTypes": kinds})
    browser.detach()


WAITING = """([value, patience]) => new Promise((done, failed) => {
    const found = FUNCTION;
    const end = performance.now() + patience;
    const look = () => {
        try {
            if (found(value)) done(true);
            else if (performance.now() > end) done(false);
            else setTimeout(look, 25);
        } catch (error) {
            failed(error);
        }
    };
    look();
})"""


def wait_until(page: Page, function: str, value: object = None) -> None:
    """Wait until a function of the page is true, also if the page is another one by then.

    The page asks itself: asked from here, every question costs it more than the answer. And
    `page.wait_for_function` evaluates a text in the page, which the site's policy forbids.
    """
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while (left := 1000 * (deadline - time.monotonic())) > 0:
        try:
            if page.evaluate(WAITING.replace("FUNCTION", function), [value, left]):
                return
        except Error as error:
            if "context was destroyed" not in error.message:
                raise
    raise AssertionError(f"still waiting for {function} of {value}")


SETTLED = """(title) => {
    const seen = (css) => [...document.querySelectorAll(css)].filter((at) => at.checkVisibility());
    return seen("h1").some((at) => at.textContent.includes(title))
        && seen(".st-key-bx-foot").length && seen('[data-test-script-state="notRunning"]').length
        && !document.querySelector('[data-testid="stSkeleton"]') && Boolean(window.bxSite);
}"""


def settled(page: Page, slug: str | None = None) -> None:
    """Wait until the page, or that of a slug, has drawn everything, and its script runs."""
    wait_until(page, SETTLED, TITLES[slug] if slug is not None else "")


NOTED = """button => new MutationObserver(() => {
    if (button.textContent === "Copied") document.documentElement.dataset.copied = "";
}).observe(button, { childList: true, subtree: true })"""


def copy_link(place: Page | FrameLocator) -> None:
    """Press "Copy link" by keyboard, and wait until it has said so, which it does for a moment."""
    button = place.get_by_role("button", name="Copy link")
    button.evaluate(NOTED)
    button.press("Enter")
    expect(place.locator("[data-copied]")).to_be_attached()
    expect(button).to_be_visible()


STILL = """() => document.getAnimations().every((each) =>
        each.playState !== "running" || each.effect.getComputedTiming().endTime === Infinity)
    && !document.querySelector('[data-stale="true"]')
    && [...document.querySelectorAll(".bx-headline, .bx-result, .bx-join")].every((at) => {
        for (; at; at = at.parentElement) if (getComputedStyle(at).opacity !== "1") return false;
        return true;
    })"""


def faults(page: Page) -> list[str]:
    """Return what axe-core finds, of any impact, on a page that has ceased to move and to fade."""
    wait_until(page, STILL)
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(Axe().axe_script)
    found = page.evaluate("axe.run({ resultTypes: ['violations'] }).then((all) => all.violations)")
    return [
        f"{each['id']}: {each['help']} {[node['target'] for node in each['nodes']][:3]}"
        for each in found
    ]

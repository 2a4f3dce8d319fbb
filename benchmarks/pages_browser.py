"""Time from Ctrl+Enter to the new picture in Chromium, for every page that takes a text.

The site is served as `make run` does. A new text is typed into the first box; the time runs in the
browser, from the key to the frame after the one in which the main picture has changed: network,
server, model, and the browser's own work.

    python -m benchmarks.pages_browser --only attention    # one page, printed
"""

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from app.catalog import feature, pages
from app.engine.models import open_engine
from benchmarks.measure import seconds
from benchmarks.pages import Texts, can_answer

TITLE = "Pages in the browser"
COLUMNS = ("page", "tokens", "median", "lowest to highest", "reached")
NOTES = (
    "From Ctrl+Enter to the new picture in Chromium, server and browser on the same machine, after "
    "a first text that is not timed; each text is new. The goals are a median of 250 ms for a "
    "short text and of 500 ms for 512 tokens.",
    "The bundled model with default settings; pages that need a head it does not have, and the "
    "model card, which takes no text, are left out.",
)
SHORT, LONG = 12, 512  # tokens
LIMITS = {SHORT: 0.250, LONG: 0.500}  # seconds
_ROOT = Path(__file__).parents[1]
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
_START = 120  # seconds

PICTURES = {
    "": ".bx-doors",
    "tokenizer": ".bx-text",
    "attention": "[role=application]",
    "ner": ".bx-drawing",
    "qa": ".bx-qa-outcome",
}
"""What is watched on a page: the main picture; `.bx-picture` where nothing is listed."""

_ARM = """selector => {
    const find = (root) => {
        const found = root.querySelector(selector);
        if (found) return found;
        for (const each of root.querySelectorAll("*")) {
            const inside = each.shadowRoot && find(each.shadowRoot);
            if (inside) return inside;
        }
        return null;
    };
    const drawn = () => {
        const found = find(document);
        return found && found.outerHTML;
    };
    const before = drawn();
    window.timed = new Promise((done) => {
        window.addEventListener("keydown", (event) => {
            if (event.key !== "Enter") return;
            const begin = performance.now();
            const look = () => {
                const now = drawn();
                if (now === null || now === before) requestAnimationFrame(look);
                else requestAnimationFrame(() => done(performance.now() - begin));
            };
            look();
        }, { capture: true });
    });
}"""


@dataclass(frozen=True, slots=True)
class Timing:
    """One line of the table, with the seconds of each round."""

    page: str
    tokens: int
    wall: Sequence[float]

    def cells(self) -> tuple[str, ...]:
        """Return the cells in the order of COLUMNS."""
        median = statistics.median(self.wall)
        return (
            self.page,
            str(self.tokens),
            seconds(median),
            f"{seconds(min(self.wall))} to {seconds(max(self.wall))}",
            "yes" if median <= LIMITS[self.tokens] else "**no**",
        )

    def __str__(self) -> str:
        """Format the line for printing while the benchmark runs."""
        return "  ".join(self.cells())


def measure(page: Page, slug: str, texts: Texts, tokens: int, rounds: int) -> Timing:
    """Type new texts on a page; the first is a warm-up."""
    page.goto(f"/{slug}")
    box = page.locator(".st-key-text textarea")
    wall = []
    for number in range(-1, rounds):
        rest(page)
        box.fill(texts.boxes(slug, tokens)["text"])
        page.evaluate(_ARM, PICTURES.get(slug, ".bx-picture"))
        box.press("Control+Enter")
        milliseconds = page.evaluate("window.timed")
        if number >= 0:
            wall.append(milliseconds / 1000)
    return Timing(feature(slug).title if slug else "Home", tokens, wall)


def rest(page: Page) -> None:
    """Wait until the page is drawn, nothing runs, and the browser has calmed down."""
    page.locator(".st-key-bx-foot").wait_for()
    page.locator('[data-test-script-state="notRunning"]').wait_for()
    page.wait_for_timeout(500)


@contextmanager
def served() -> "Iterator[tuple[str, subprocess.Popen[bytes]]]":
    """Serve the site on a free port of the loopback; yield its address and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    kept = {key: value for key, value in os.environ.items() if "BERT_EXPLORER" not in key}
    server = subprocess.Popen(
        [sys.executable, "app.py"],
        cwd=_ROOT,
        env=kept | {"STREAMLIT_SERVER_PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(address, server)
        yield address, server
    finally:
        server.terminate()
        server.wait(timeout=20)


def _wait(address: str, server: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/healthz", timeout=30):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError("The site did not start.")


def browser_path() -> str:
    """Return where the browser is.

    Raises:
        RuntimeError: there is none.
    """
    found = (shutil.which(name) for name in _BROWSERS)
    path = next((each for each in found if each), None)
    if path is None:
        raise RuntimeError(f"No browser is installed (looked for {', '.join(_BROWSERS)}).")
    return path


def rows(quick: bool, only: str | None = None) -> Iterator[Timing]:
    """Measure every page in one browser; the attention page with a long text as well."""
    rounds = 2 if quick else 5
    texts = Texts(list(open_engine().tokenizer.vocab))
    slugs = ["", *(row.slug for row in pages() if row.takes_text and can_answer(row))]
    with served() as (address, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path(), headless=True, args=FLAGS
        )
        page = browser.new_page(base_url=address, viewport={"width": 1280, "height": 720})
        for slug in slugs:
            if only in (None, slug):
                yield measure(page, slug, texts, SHORT, rounds)
        if only in (None, "attention"):
            yield measure(page, "attention", texts, LONG, rounds)
        browser.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Print timings as readable lines."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages_browser", description=__doc__)
    parser.add_argument("--only", choices=["", *(row.slug for row in pages())])
    parser.add_argument("--quick", action="store_true", help="few rounds")
    options = parser.parse_args(arguments)
    for timing in rows(options.quick, options.only):
        print(timing, flush=True)


if __name__ == "__main__":
    main()

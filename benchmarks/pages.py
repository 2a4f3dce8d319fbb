"""Time from Ctrl+Enter to the new picture in Chromium, for every page that takes a text.

The site is served as `make run` does. A new text is typed into the first box; the time runs in the
browser, from the key to the frame after the one in which the main picture has changed: network,
server, model, and the browser's own work.

"""

import shutil
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from playwright.sync_api import Page, sync_playwright

from app.catalog import Feature, feature, pages
from app.engine.models import open_engine
from benchmarks.measure import seconds
from benchmarks.server import served
from benchmarks.texts import Texts

TITLE = "Pages"
COLUMNS = ("page", "tokens", "median", "lowest to highest", "reached")
NOTES = (
    "From Ctrl+Enter to the new picture in Chromium, server and browser on the same machine; each "
    "text is new. Goals: a median of 250 ms, and of 500 ms for 512 tokens.",
)
SHORT, LONG = 12, 512  # tokens
LIMITS = {SHORT: 0.250, LONG: 0.500}  # seconds
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]

PICTURES = {
    "": ".bx-doors",
    "tokenizer": ".bx-text",
    "attention": "[role=application]",
    "ner": ".bx-drawing",
    "qa": ".bx-qa-passage",
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


def can_answer(feature: Feature) -> bool:
    """Return whether the model has the heads that a page needs."""
    engine = open_engine()
    return not any(engine.missing(name) for name in feature.needs)


def rest(page: Page) -> None:
    """Wait until the page is drawn, nothing runs, and the browser has calmed down."""
    page.locator(".st-key-bx-foot").wait_for()
    page.locator('[data-test-script-state="notRunning"]').wait_for()
    page.wait_for_timeout(500)


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


def rows(quick: bool) -> Iterator[Timing]:
    """Measure every page in one browser; the attention page with a long text as well."""
    rounds = 2 if quick else 5
    texts = Texts(list(open_engine().tokenizer.vocab))
    slugs = ["", *(row.slug for row in pages() if row.takes_text and can_answer(row))]
    with served() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path(), headless=True, args=FLAGS
        )
        page = browser.new_page(base_url=server.address, viewport={"width": 1280, "height": 720})
        for slug in slugs:
            yield measure(page, slug, texts, SHORT, rounds)
        yield measure(page, "attention", texts, LONG, rounds)
        browser.close()

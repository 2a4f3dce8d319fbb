"""Measure every page on the screen: where the answer is, how wide, how large, how many words.

Three sizes (a laptop, a projector, a phone), light and dark, on opening a page with its first
example.
"""

from collections.abc import Callable, Iterator, Mapping

import pytest
from playwright.sync_api import Page, expect

from app.catalog import FEATURES, feature
from tests.e2e.test_journey import TITLES, settled

pytestmark = pytest.mark.e2e

Visit = Callable[..., Page]
Opened = Callable[[dict[str, int]], Iterator[tuple[str, Page]]]
LAPTOP = {"width": 1280, "height": 720}
PROJECTOR = {"width": 1920, "height": 1080}
PHONE = {"width": 390, "height": 844}

MAIN = {
    "": ".bx-doors",
    "tokenizer": ".bx-text",
    "fill_mask": ".bx-picture .bx-drawing",
    "next_sentence": ".bx-picture .bx-drawing",
    "qa": ".bx-qa-outcome",
    "ner": ".bx-drawing",
    "classification": ".bx-picture .bx-drawing",
    "multiple_choice": ".bx-picture .bx-drawing",
    "attention": ".scroll canvas",
    "input": ".bx-picture .bx-drawing",
    "senses": ".bx-picture .bx-drawing",
    "xray": ".bx-picture .bx-drawing",
    "variants": ".bx-picture .bx-drawing",
    "lab": ".bx-picture .bx-drawing",
    "atlas": ".bx-picture .bx-drawing",
    "why": ".bx-picture .bx-drawing",
    "model_card": ".bx-picture .bx-drawing",
}
"""The main picture of each page; a page that shows something else first is not listed."""

ON_PAPER = {**MAIN, "attention": ".bx-drawing", "qa": ".bx-qa-passage"}
"""The same in a report, where a page has something else: on the other face, and recorded."""

FIRST = dict.fromkeys(("next_sentence", "classification", "multiple_choice", "why"), ".bx-answer")
FIRST["senses"] = ".bx-se-headline"
FIRST["lab"] = ".bx-lab-state"
"""The first result where that is not the main picture: the answer in words."""

LETTERS = """() => {
    const small = {};
    const main = document.querySelector('[data-testid="stMain"]');
    const walk = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const node = walk.currentNode, home = node.parentElement;
        if (!node.textContent.trim()) continue;
        if (home.closest('[data-testid="stIconMaterial"], style, script')) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const box = range.getBoundingClientRect();
        const folded = home.closest("details:not([open]) > :not(summary)");
        const hidden = getComputedStyle(home).visibility === "hidden";
        if (!box.width || box.top > innerHeight || folded || hidden) continue;
        let size = parseFloat(getComputedStyle(home).fontSize);
        const svg = home.closest("svg");
        const units = svg ? svg.viewBox.baseVal.width : 0;
        if (units) size *= svg.getBoundingClientRect().width / units;
        if (size < 17.95) small[node.textContent.trim().slice(0, 30)] = size;
    }
    return small;
}"""

WORDS = """() => {
    const hidden = [...document.querySelectorAll('[data-testid="stIconMaterial"]')];
    const before = hidden.map((each) => each.style.display);
    hidden.forEach((each) => (each.style.display = "none"));
    const boxes = [...document.querySelectorAll("textarea, input[type=text]")];
    const text = [document.body.innerText, ...boxes.map((each) => each.value)].join(" ");
    hidden.forEach((each, i) => (each.style.display = before[i]));
    return text.split(/\\s+/).filter((word) => /\\p{L}/u.test(word)).length;
}"""


@pytest.fixture(params=["light", pytest.param("dark", marks=pytest.mark.slow)])
def opened(visit: Visit, request: pytest.FixtureRequest) -> Opened:
    """Open every page in turn at a size."""

    def pages(size: dict[str, int]) -> Iterator[tuple[str, Page]]:
        page = visit(viewport=size, color_scheme=request.param)
        for slug in TITLES:
            page.goto(f"/{slug}")
            settled(page, slug)
            expect(page.locator(MAIN[slug]).first).to_be_visible()
            yield slug, page

    return pages


def box(page: Page, slug: str, places: Mapping[str, str] = MAIN) -> dict[str, float]:
    found = page.locator(places[slug]).first.bounding_box()
    assert found is not None
    return dict(found)


def cut_off(page: Page, slug: str) -> list[str]:
    """Return where the main picture of a report ends, if that is below the screen."""
    box = page.locator(".bx-result").locator(ON_PAPER[slug]).first.bounding_box()
    assert box is not None and page.viewport_size is not None
    end = box["y"] + box["height"]
    return [f"the main picture ends at {end}"] if end > page.viewport_size["height"] else []


def test_every_page_has_a_main_picture() -> None:
    assert set(MAIN) == {"", *(row.slug for row in FEATURES)}


def test_a_laptop_shows_the_answer_in_the_first_screen_and_few_words(opened: Opened) -> None:
    late: dict[str, object] = {}
    wordy: dict[str, int] = {}
    for slug, page in opened(LAPTOP):
        found = box(page, slug)
        end = found["y"] + found["height"]
        if found["y"] > 330 or end > LAPTOP["height"]:
            late[slug] = (found["y"], end)
        words = page.evaluate(WORDS)
        if words > (220 if slug == "" or feature(slug).has_examples else 400):
            wordy[slug] = words
    assert late == {}
    assert wordy == {}


def test_a_phone_shows_the_answer_without_scrolling(
    opened: Opened,
) -> None:
    late = {slug: box(page, slug, {**MAIN, **FIRST})["y"] for slug, page in opened(PHONE)}
    assert {slug: top for slug, top in late.items() if top > 640} == {}


def test_a_projector_is_used_and_read_from_the_last_row(
    opened: Opened,
) -> None:
    narrow, small = {}, {}
    for slug, page in opened(PROJECTOR):
        inside = page.locator(".st-key-bx-stage, .st-key-bx-whole, .bx-doors").first.bounding_box()
        assert inside is not None
        if inside["width"] < 0.85 * PROJECTOR["width"]:
            narrow[slug] = inside["width"]
        if found := page.evaluate(LETTERS):
            small[slug] = found
    assert narrow == {}
    assert small == {}

"""Open every page with its first example at a desk, and measure it there and on a phone.

Where the answer is, how wide, how large the letters, how many words, how many stops of the Tab
key, what axe-core finds, and what an endless word pushes off the screen.
"""

import re
from collections.abc import Iterator, Mapping

import pytest
from playwright.sync_api import Page, expect

from app.catalog import FEATURES, feature, pages
from tests.e2e.conftest import TITLES, faults, settled, wait_until
from tests.e2e.test_journey import PHONE, SIDEWAYS, Visit, tabbed

pytestmark = pytest.mark.e2e

LAPTOP = {"width": 1280, "height": 720}
PROJECTOR = {"width": 1920, "height": 1080}
SMALL = {"width": 360, "height": 740}

MAIN = {
    **{row.slug: ".bx-picture .bx-drawing" for row in pages()},
    "": ".bx-doors",
    "tokenizer": ".bx-text",
    "qa": ".bx-qa-passage",
    "ner": ".bx-ner-text",
    "data": '[data-testid="stDataFrame"]',
    "attention": ".bx-att-map",
    "why": ".bx-why-text",
    "model_card": ".bx-card-able",
}
"""The main picture of each page: its first one, if nothing else is named."""

ON_PAPER = {
    **{row.slug: ".bx-picture .bx-drawing" for row in FEATURES},
    **MAIN,
    "attention": ".bx-drawing",
    "data": ".bx-drawing",
}
"""The same in a report, where a page has something else: on the other interface, and recorded."""

FIRST = dict.fromkeys(("next_sentence", "classification", "qa", "why"), ".bx-answer")
FIRST["senses"] = ".bx-small-headline"
FIRST["data"] = ".bx-headline"
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
        if (home.closest(".bx-att-paper tspan")) continue; // cells get smaller with their number
        if (!box.width || box.top > innerHeight || folded || hidden) continue;
        let size = parseFloat(getComputedStyle(home).fontSize);
        const svg = home.closest("svg");
        const units = svg ? svg.viewBox.baseVal.width : 0;
        if (units) size *= svg.getBoundingClientRect().width / units;
        if (Math.round(size) < 18) small[node.textContent.trim().slice(0, 30)] = size;
    }
    return small;
}"""

WORDS = """() => {
    const hidden = [...document.querySelectorAll('[data-testid="stIconMaterial"], select')];
    const before = hidden.map((each) => each.style.display);
    hidden.forEach((each) => (each.style.display = "none"));
    const boxes = [...document.querySelectorAll("textarea, input[type=text]")];
    const text = [document.body.innerText, ...boxes.map((each) => each.value)].join(" ");
    hidden.forEach((each, i) => (each.style.display = before[i]));
    return text.split(/\\s+/).filter((word) => /\\p{L}/u.test(word)).length;
}"""


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


CUT = """all => all.filter((at) => at.scrollWidth > at.clientWidth)
    .map((at) => at.value || at.textContent)"""
NARROW = f"() => Math.max(...({SIDEWAYS})()) <= 0"
"""Nothing is wider than the screen, once a page is laid out."""

WITHOUT_TEXT = {"lab": "Text to train on", "model_card": "Verify this model"}
"""What a visitor wants first on a page without a box."""


def test_every_page_is_listed_here() -> None:
    assert set(MAIN) == set(TITLES)


WAYS = [
    pytest.param(slug, way, marks=() if number % 2 == (way == "small") else pytest.mark.slow)
    for number, slug in enumerate(TITLES)
    for way in ("large", "small")
]
"""In a short run each page is looked at in one way, the next one in the other."""


@pytest.mark.parametrize(("slug", "way"), WAYS)
def test_a_page_suits_every_screen_from_a_phone_in_the_dark_to_a_projector(
    visit: Visit, slug: str, way: str
) -> None:
    page = visit(slug, viewport=LAPTOP, reduced_motion="reduce")
    expect(page.locator(MAIN[slug]).first).to_be_visible()
    if slug:
        assert page.title().startswith(feature(slug).title)
        assert feature(slug).beware in page.get_by_role("main").inner_text()
    assert [*in_the_first_screen(page, slug)] == []
    if way == "large":
        assert [*far_by_keyboard(page, slug), *faults(page)] == []
        page.set_viewport_size(PROJECTOR)
        settled(page, slug)
        assert [*in_the_last_row(page)] == []
        return
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(PHONE)
    settled(page, slug)
    assert [*on_a_phone(page, slug), *faults_in(page, "dark")] == []
    if slug == "" or feature(slug).takes_text:
        before = page.evaluate("location.href")
        for each in page.locator("textarea:visible").all():
            each.fill("a" * 3000)
        page.keyboard.press("Control+Enter")
        wait_until(page, "before => location.href !== before", before)
        settled(page, slug)
        wait_until(page, NARROW)
        page.set_viewport_size(LAPTOP)
        wait_until(page, NARROW)


def in_the_first_screen(page: Page, slug: str) -> Iterator[str]:
    """Say if the answer is too low, and if there is too much to read."""
    found = box(page, slug)
    end = found["y"] + found["height"]
    if found["y"] > 330 or end > LAPTOP["height"]:
        yield f"the main picture begins at {found['y']} and ends at {end}"
    words = page.evaluate(WORDS)
    if words > (220 if slug == "" or feature(slug).has_examples else 400):
        yield f"{words} words can be seen"


def far_by_keyboard(page: Page, slug: str) -> Iterator[str]:
    """Say if the first box is more than eight stops of the Tab key from the skip link."""
    if tabbed(page, "Skip to main content") != ["Skip to main content"]:
        yield "the skip link is not the first stop"
    page.keyboard.press("Enter")
    boxes = page.locator("textarea:visible, input[type=text]:visible")
    goal = boxes.first.get_attribute("aria-label") if boxes.count() else WITHOUT_TEXT[slug]
    stops = tabbed(page, str(goal))
    if stops[-1] != goal or len(stops) > 8:
        yield f"stops on the way: {stops}"


def in_the_last_row(page: Page) -> Iterator[str]:
    """Say if a projector is not used, or shows letters that cannot be read from the last row."""
    inside = page.locator(".st-key-bx-stage, .st-key-bx-whole, .bx-doors").first.bounding_box()
    assert inside is not None
    if inside["width"] < 0.85 * PROJECTOR["width"]:
        yield f"only {inside['width']} pixels are used"
    if small := page.evaluate(LETTERS):
        yield f"small letters: {small}"
    if cut := page.get_by_role("combobox").evaluate_all(CUT):
        yield f"words cut in their boxes: {cut}"


def on_a_phone(page: Page, slug: str) -> Iterator[str]:
    """Say if the answer is below the screen, or if anything is wider than a small phone."""
    page.locator(".stMain").evaluate("at => at.scrollTo(0, 0)")
    if (top := box(page, slug, {**MAIN, **FIRST})["y"]) > 640:
        yield f"the answer begins at {top}"
    page.set_viewport_size(SMALL)
    wait_until(page, NARROW)


def faults_in(page: Page, scheme: str) -> list[str]:
    """Return what axe-core finds, after checking the page's scheme."""
    background = page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    brightness = sum(int(part) for part in re.findall(r"\d+", background)[:3]) / (3 * 255)
    assert (brightness < 0.3) == (scheme == "dark")
    return faults(page)

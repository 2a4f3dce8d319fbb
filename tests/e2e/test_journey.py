"""Test the whole site as a visitor uses it, with the real server and a real browser.

Computations are tested elsewhere. These tests cover what only a browser can show: that pages load
and respond, that links and addresses keep their state, that keyboard, phone and dark scheme work,
and that no request leaves the machine (see `visit`).
"""

import re
import socket
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from app.catalog import GROUPS, feature
from app.engine.models import open_engine
from app.overview import doors
from tests.drawings import words
from tests.e2e.conftest import TITLES, Record, Site, settled, watched

pytestmark = pytest.mark.e2e

Visit = Callable[..., Page]
DESK = {"width": 1280, "height": 720}
PHONE = {"width": 360, "height": 740}


def main(page: Page) -> str:
    """The text of the page without its menu."""
    return page.get_by_role("main").inner_text()


def go(page: Page, slug: str) -> None:
    """Open a page through the menu."""
    if slug:
        row = feature(slug)
        page.get_by_test_id("stTopNavSection").filter(has_text=row.group).click()
        links = page.get_by_test_id("stTopNavDropdownLink")
        links.get_by_text(row.title, exact=True).click()
    else:
        page.get_by_test_id("stTopNavLink").filter(has_text="Home").click()
    settled(page, slug)


def model(page: Page) -> Locator:
    """The button that names the model and unfolds the others."""
    return page.locator(".st-key-bx-model").get_by_role("button").first


def choose_model(page: Page, *keys: str) -> None:
    """Choose another model by keyboard."""
    model(page).press("Enter")
    box = page.get_by_role("combobox", name="Model")
    box.focus()
    for key in keys:
        page.keyboard.type(key) if len(key) == 1 else page.keyboard.press(key)
    page.keyboard.press("Enter")


def write(page: Page, label: str, text: str) -> None:
    """Type into a text box and submit it as its hint says."""
    box = page.get_by_role("textbox", name=label, exact=True)
    box.fill(text)
    box.press("Control+Enter")


def use_tokenizer(page: Page) -> None:
    write(page, "Text", "Zebras graze unhurriedly <b>here</b>.")
    text = page.locator(".bx-tok-text")
    expect(text).to_have_text("Zebras graze unhurriedly <b>here</b>.")
    text.locator(".bx-piece").first.hover()
    expect(page.locator(".bx-tok-input li.bx-lit")).to_have_count(1)
    text.locator(".bx-piece", has_text="here").press("Enter")
    expect(page.get_by_text("here is entry")).to_be_visible()
    page.get_by_role("tab", name="Vectors").click()
    use_vectors(page)


def use_fill_mask(page: Page) -> None:
    write(page, "Text ([MASK] or ___ hides a word)", "The capital of France is [MASK].")
    expect(page.get_by_role("paragraph").filter(has_text="France is")).to_be_visible()
    bars = page.get_by_role("img", name=re.compile("most probable first"))
    words = re.findall(r"(\S+) (\d+\.\d+) %", bars.get_attribute("aria-label") or "")
    assert len(words) == 5
    odds = [float(share) for _, share in words]
    assert odds == sorted(odds, reverse=True)
    expect(page.locator(".bx-wide .bx-svg-bar")).to_have_count(5)


def use_vectors(page: Page) -> None:
    text = "Two rivers meet <b>here</b>."
    write(page, "Text", text)
    piece = page.get_by_role("group", name="Choose a piece").get_by_role("button", name="meet")
    piece.click()
    expect(piece).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("heading", level=2)).to_contain_text("meet, number 0")
    sums = page.get_by_role("paragraph").filter(has_text=re.compile(r"segment\s*=")).inner_text()
    word, position, segment, total = map(float, re.findall(r"-?\d\.\d{4}", sums.replace("−", "-")))
    assert word + position + segment == pytest.approx(total, abs=2e-4)


TYPED = """drawn => {
    const copy = drawn.cloneNode(true);
    copy.querySelectorAll("mark > span").forEach(added => added.remove());
    return copy.textContent;
}"""


def use_qa(page: Page) -> None:
    write(page, "Passage", "Zoe  keeps bees\n in <b>Ghent</b>.")
    write(page, "Questions, one per line", "Where does Zoe keep bees?\nWho is Zoe?")
    drawn = page.locator(".bx-qa-passage", has_text="Ghent")
    expect(drawn).to_be_visible()
    typed = TYPED.replace("mark > span", ".bx-qa-badge, .bx-qa-why")
    assert drawn.evaluate(typed) == "Zoe  keeps bees\n in <b>Ghent</b>."
    expect(drawn.locator("mark").first).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="The model’s answer")).to_be_visible()
    second = page.get_by_role("button", name="2. Who is Zoe?")
    second.click()
    expect(second).to_have_attribute("aria-current", "true")
    page.get_by_role("tab", name="Start and end").click()
    expect(page.get_by_role("img", name=re.compile("^Two curves"))).to_be_visible()
    page.get_by_role("tab", name="Other answers").click()
    page.locator(".bx-qa-try").first.click()
    expect(page.get_by_role("button", name="Restore the last question")).to_be_visible()


def use_model_card(page: Page) -> None:
    expect(page.get_by_role("heading", name="It often fails to")).to_be_visible()
    page.get_by_role("tab", name="Calibration").click()
    expect(page.get_by_role("table", name="Temperatures")).to_be_visible()
    page.get_by_role("button", name="Verify this model").press("Enter")
    expect(page.get_by_role("status").filter(has_text="Verified")).to_be_visible()


STEPS: dict[str, Callable[[Page], None]] = {
    "tokenizer": use_tokenizer,
    "fill_mask": use_fill_mask,
    "qa": use_qa,
    "model_card": use_model_card,
}
"""What a visitor does on a page with parts of its own that no other file drives."""


@pytest.mark.slow
def test_the_first_visitor_may_come_by_a_link(browser: Browser, unvisited: Site) -> None:
    """The server behaves differently until the home page has been visited."""
    with watched(browser, unvisited, {}) as visit:
        page = visit("attention?text=The+owl+sleeps&layer=1&head=2&view=Lines")
        expect(page.get_by_role("heading", name="Layer 1, head 2")).to_be_visible()
        expect(page.get_by_role("radio", name="Lines")).to_be_checked()
        expect(page.get_by_test_id("stTopNavSection")).to_have_count(
            1 + len(GROUPS)
        )  # and the lessons


def test_a_sentence_typed_at_home_is_answered_six_times_and_its_doors_open(visit: Visit) -> None:
    page = visit()
    text = "Grace Hopper worked in Boston for many years."
    write(page, "Your sentence", text)
    cards = page.locator(".bx-door")
    expect(cards.filter(has_text="Named entities")).to_contain_text("Grace Hopper")
    expect(cards).to_have_count(6)
    for door in doors(open_engine(), text):
        card = cards.filter(has=page.get_by_role("heading", name=f"{TITLES[door.slug]} →"))
        expect(card).to_contain_text(words(door.body))
        if door.slug not in ("fill_mask", "qa"):  # one that hides a word, and one that asks
            continue
        card.get_by_role("button").click()
        settled(page, door.slug)
        boxes = page.locator("textarea").evaluate_all("all => all.map(each => each.value)")
        hidden = "[MASK]" if door.slug == "fill_mask" else "years"
        assert f"Grace Hopper worked in Boston for many {hidden}." in boxes
        page.go_back()
        settled(page, "")
        box = page.get_by_role("textbox", name="Your sentence")
        expect(box).to_have_value(re.compile("^Grace Hopper"))


def test_a_model_is_chosen_by_keyboard_and_stays_in_the_address_of_every_page(
    visit: Visit,
) -> None:
    page = visit("tokenizer?text=An+owl")
    first = model(page).get_by_role("paragraph").inner_text()
    choose_model(page, *"second")
    expect(page).to_have_url(re.compile(r"[?&]model=second\b"))
    settled(page, "tokenizer")
    page.keyboard.press("Escape")
    for slug in ("", "attention"):
        go(page, slug)
        expect(page).to_have_url(re.compile(rf"/{slug}\?(.*&)?model=second\b"))
        page.get_by_role("button", name="About this model").click()
        expect(page.get_by_text("second (a folder on this server)")).to_be_visible()
        page.keyboard.press("Escape")
    go(page, "tokenizer")
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("An owl")
    choose_model(page, "ArrowUp", "ArrowUp")  # the untrained twin is between them
    expect(model(page).get_by_role("paragraph")).to_have_text(first)
    expect(page).not_to_have_url(re.compile("model="))


FOCUSED = """() => {
    let at = document.activeElement;
    while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement;
    if (at.getAttribute("aria-label")) return at.getAttribute("aria-label");
    if (at.tagName === "SELECT") return at.labels[0].firstElementChild.textContent;
    const copy = at.cloneNode(true);
    copy.querySelectorAll('[data-testid="stIconMaterial"]').forEach((icon) => icon.remove());
    return copy.textContent.trim() || at.tagName;
}"""


def tabbed(page: Page, goal: str, limit: int = 60) -> list[str]:
    """Press Tab until the element with that name has focus; return those passed on the way."""
    passed: list[str] = []
    while goal not in passed and len(passed) < limit:
        page.keyboard.press("Tab")
        passed.append(page.evaluate(FOCUSED))
    return passed


def test_settings_are_changed_by_keyboard_and_the_address_opens_the_same_view(
    visit: Visit,
) -> None:
    page = visit("fill_mask?text=The+capital+of+France+is+[MASK].")
    assert tabbed(page, "Settings")[-1] == "Settings"
    page.keyboard.press("Enter")
    assert tabbed(page, "Candidates", limit=4)[-1] == "Candidates"
    page.keyboard.press("ArrowRight")
    expect(page.locator(".bx-wide .bx-svg-bar")).to_have_count(6)
    expect(page).to_have_url(re.compile(r"[?&]k=6\b"))
    page.reload()
    settled(page, "fill_mask")
    expect(page.locator(".bx-wide .bx-svg-bar")).to_have_count(6)


SIDEWAYS = """() => [document.documentElement, ...document.querySelectorAll(".stMain")]
    .map((each) => each.scrollWidth - each.clientWidth)"""


def test_the_watch_over_requests_sees_what_it_should(visit: Visit, site: Site) -> None:
    own, others = f"{site.address}/x", ["https://elsewhere.example/y", "http://127.0.0.1:1/"]
    assert Record(["data:text/css,", own, *others]).outside(site.address) == others
    with socket.create_connection(site.trap.getsockname()):
        assert site.fetches() == 1
    visit()
    assert site.fetches() == 0

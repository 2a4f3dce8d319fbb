"""Test the whole site as a visitor uses it, with the real server and a real browser.

Computations are tested elsewhere. These tests cover what only a browser can show: that pages load
and respond, that links and addresses keep their state, that keyboard, phone and dark scheme work,
and that no request leaves the machine (see `visit`).
"""

import re
import socket
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from app.catalog import feature
from tests.e2e.conftest import Record, Site, settled, wait_until

pytestmark = pytest.mark.e2e

Visit = Callable[..., Page]
PHONE, TABLET = {"width": 390, "height": 844}, {"width": 1024, "height": 768}
SIDEWAYS = """() => [document.documentElement, ...document.querySelectorAll(".stMain")]
    .map((each) => each.scrollWidth - each.clientWidth)"""


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


def test_a_sentence_typed_at_home_is_answered_six_times_and_its_doors_open(visit: Visit) -> None:
    page = visit()
    text = "Grace Hopper worked in Boston for many years."
    write(page, "Your sentence", text)
    cards = page.locator(".bx-door")
    expect(cards.filter(has_text="Named entities")).to_contain_text("Grace Hopper")
    expect(cards).to_have_count(6)
    heading = page.get_by_role("heading", name="Fill-mask →")
    cards.filter(has=heading).get_by_role("button").click()
    settled(page, "fill_mask")
    hidden = "Grace Hopper worked in Boston for many [MASK]."
    expect(page.get_by_role("textbox").first).to_have_value(hidden)
    page.go_back()
    settled(page, "")
    expect(page.get_by_role("textbox", name="Your sentence")).to_have_value(text)


def test_a_model_is_chosen_by_keyboard_and_stays_in_the_address_of_every_page(visit: Visit) -> None:
    page = visit("tokenizer?text=An+owl")
    first = model(page).get_by_role("paragraph").inner_text()
    choose_model(page, *"second")
    expect(page).to_have_url(re.compile(r"[?&]model=second\b"))
    settled(page, "tokenizer")
    page.keyboard.press("Escape")
    go(page, "")
    expect(page).to_have_url(re.compile(r"/\?(.*&)?model=second\b"))
    page.get_by_role("button", name="About this model").click()
    expect(page.get_by_text("second (a folder on this server)")).to_be_visible()
    page.keyboard.press("Escape")
    go(page, "tokenizer")
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("An owl")
    choose_model(page, "ArrowUp", "ArrowUp")  # the untrained twin is between them
    expect(model(page).get_by_role("paragraph")).to_have_text(first)
    expect(page).not_to_have_url(re.compile("model="))


def test_what_unfolds_stays_open_and_a_long_text_begins_at_its_gap(visit: Visit) -> None:
    page = visit("fill_mask")
    fold = page.locator(".bx-picture details.bx-twin").first
    hint = page.locator(".bx-ask details.bx-hint")
    fold.locator("summary").click()
    hint.locator("summary").click()
    long = "The quick brown fox jumps over the lazy dog. " * 40
    write(page, "Text ([MASK] or ___ hides a word)", f"{long}The sun rises in the [MASK].")
    expect(page.locator(".bx-sentence")).to_contain_text("The sun rises")
    settled(page, "fill_mask")
    expect(fold).to_have_attribute("open", "")
    expect(hint).to_have_attribute("open", "")
    expect(page.locator(".bx-sentence .bx-filled")).to_be_in_viewport()
    expect(page.locator(".bx-picture .bx-drawing").first).to_be_in_viewport()


def test_a_word_in_a_table_is_not_torn_and_an_endless_one_is_kept_in_its_cell(visit: Visit) -> None:
    page = visit("tokenizer", viewport=TABLET)
    fold = page.locator('details.bx-twin[data-name="model-input"]')
    fold.locator("summary").click()
    row = fold.locator("tbody tr", has_text="watering")
    assert row.evaluate("row => row.getBoundingClientRect().height") < 40
    write(page, "Text", "a" * 3000)
    settled(page, "tokenizer")
    assert max(page.evaluate(SIDEWAYS)) <= 0
    widest = "cells => Math.max(...cells.map((cell) => cell.getBoundingClientRect().width))"
    assert fold.locator("td").evaluate_all(widest) <= 450  # 24rem


def test_what_an_address_asks_in_vain_is_said_and_leaves_it(visit: Visit) -> None:
    page = visit("fill_mask?k=<b>*9*</b>&why=1e400&set=true", viewport=PHONE)
    line = page.get_by_text("Left out of the address")
    expect(line).to_have_count(1)
    for each in ("k=<b>*9*</b>", "why=1e400"):
        expect(line).to_contain_text(each)
        wait_until(page, "gone => !decodeURIComponent(location.search).includes(gone)", each)
    assert max(page.evaluate(SIDEWAYS)) <= 0
    page.get_by_role("slider", name="Candidates").press("ArrowRight")
    expect(page.get_by_text("k=<b>")).to_have_count(0)


def test_the_watch_over_requests_sees_what_it_should(visit: Visit, site: Site) -> None:
    own, others = f"{site.address}/x", ["https://elsewhere.example/y", "http://127.0.0.1:1/"]
    assert Record(["data:text/css,", own, *others]).outside(site.address) == others
    with socket.create_connection(site.trap.getsockname()):
        assert site.fetches() == 1
    visit()
    assert site.fetches() == 0

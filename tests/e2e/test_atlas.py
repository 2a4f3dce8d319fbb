"""The atlas in a browser: a head is chosen by pointer and by keyboard, and opens elsewhere."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_journey import settled

pytestmark = pytest.mark.e2e


def test_a_head_is_chosen_by_pointer_and_keyboard_and_opens_on_the_attention_page(
    visit: Callable[..., Page],
) -> None:
    page = visit("atlas?layer=4&head=2")
    settled(page, "atlas")
    expect(page.get_by_role("heading", name="Layer 4, head 2")).to_be_visible()
    map_ = page.get_by_role("group", name=re.compile("^A map of 72 heads"))
    map_.get_by_role("button", name=re.compile("^Layer 0, head 2:")).click()
    expect(page.get_by_role("heading", name="Layer 0, head 2")).to_be_visible()
    expect(page).to_have_url(re.compile(r"layer=0&head=2|head=2&layer=0"))
    chosen = map_.locator(".bx-wide [tabindex='0']")
    expect(chosen).to_have_attribute("aria-label", re.compile("^Layer 0, head 2:"))
    chosen.focus()
    page.keyboard.press("ArrowRight")
    name = page.evaluate("document.activeElement.ariaLabel")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=name.partition(":")[0])).to_be_visible()
    page.get_by_text("previous", exact=False).first.hover()
    expect(map_.locator(".bx-wide .bx-at-0.bx-lit").first).to_be_visible()
    first = page.locator(".bx-at-texts button").first
    text = first.locator("[dir=auto]").inner_text()
    first.click()
    settled(page, "attention")
    expect(page.get_by_role("heading", name=name.partition(":")[0])).to_be_visible()
    box = page.get_by_role("textbox", name="Text", exact=True).input_value()
    assert box and text.startswith(box[:30])

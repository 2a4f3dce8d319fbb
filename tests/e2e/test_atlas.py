"""The atlas in a browser: a head is chosen by pointer and by keyboard, and opens elsewhere."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import settled
from tests.e2e.test_journey import Visit

pytestmark = pytest.mark.e2e


def test_a_head_is_chosen_by_pointer_and_keyboard_and_opens_on_the_attention_page(
    visit: Visit,
) -> None:
    page = visit("atlas?layer=4&head=2")
    expect(page.get_by_role("heading", name="Layer 4, head 2")).to_be_visible()
    map_ = page.get_by_role("group", name=re.compile("^A map of 72 heads"))
    uppermost = map_.get_by_role("button").last
    says = str(uppermost.get_attribute("aria-label"))
    layer, head = re.findall(r"\d+", says)[:2]
    uppermost.click()
    place = f"Layer {layer}, head {head}"
    expect(page.get_by_role("heading", name=place, exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(f"layer={layer}&head={head}|head={head}&layer={layer}"))
    chosen = map_.locator(".bx-wide [tabindex='0']")
    expect(chosen).to_have_attribute("aria-label", says)
    chosen.focus()
    page.keyboard.press("ArrowLeft")
    place = page.evaluate("document.activeElement.ariaLabel.split(':')[0]")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=place, exact=True)).to_be_visible()
    settled(page, "atlas")
    sign = page.get_by_role("list", name="What the signs mean").get_by_role("listitem").first
    sign.hover()
    alike = f".bx-wide [data-at~='{sign.get_attribute('data-at')}']"
    expect(map_.locator(alike).first).to_have_class(re.compile("bx-lit"))
    first = page.locator(".bx-at-texts button").first
    text = first.locator("[dir=auto]").inner_text()
    first.click()
    settled(page, "attention")
    expect(page.get_by_role("heading", name=place, exact=True)).to_be_visible()
    box = page.get_by_role("textbox", name="Text", exact=True).input_value()
    assert box and text.startswith(box[:30])

"""Test the attention components in a real browser: values, pins and lines, by mouse and keys."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app.features.attention.task import attention
from app.models import open_engine

pytestmark = pytest.mark.e2e

TEXT = "Owls <b>hunt</b> at night."
ADDRESS = "attention?text=Owls%20%3Cb%3Ehunt%3C%2Fb%3E%20at%20night.&layer=2&head=5"


def readout(page: Page) -> str:
    return page.locator(".readout.above").inner_text()


def test_the_large_head_reads_out_the_models_numbers(visit: Callable[..., Page]) -> None:
    page = visit(ADDRESS)
    picture = page.get_by_role("application", name=re.compile("^Layer 2, head 5"))
    expect(picture).to_be_visible()
    weights = attention(open_engine(), TEXT).attentions[2][5]
    picture.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):  # the first key goes to the corner cell
        page.keyboard.press(key)
    said = f"owls (position 1) looks at owls (position 1): {weights[1, 1]:.4f}"
    expect(page.locator(".readout.above")).to_have_text(said)
    page.keyboard.press("Enter")
    pins = page.get_by_role("list", name="Pinned values").get_by_role("listitem")
    expect(pins).to_have_count(1)
    page.keyboard.press("ArrowRight")
    assert f"{weights[1, 2]:.4f}" in readout(page)
    expect(pins.first).to_contain_text(f"{weights[1, 1]:.4f}")  # it stays when the pointer moves
    box = picture.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] - 8, box["y"] + box["height"] - 8)
    expect(pins).to_have_count(2)
    expect(pins.last).to_contain_text(f"{weights[-1, -1]:.4f}")
    page.get_by_role("button", name="Remove this pin").first.click()
    expect(pins).to_have_count(1)
    picture.focus()
    page.keyboard.press("Escape")
    expect(pins).to_have_count(0)


def test_a_word_lights_up_its_lines_and_keeps_them_when_pinned(
    visit: Callable[..., Page],
) -> None:
    page = visit(f"{ADDRESS}&view=Lines&floor=0")
    looking = page.get_by_role("listbox", name="Words that look").get_by_role("option")
    weights = attention(open_engine(), TEXT).attentions[2][5]
    expect(looking).to_have_count(len(weights))
    assert looking.nth(2).inner_text().strip() == "<"  # shown as text, never as markup
    looking.nth(1).focus()
    strongest = f"{weights[1].max():.4f} (head 5)"
    expect(page.locator(".readout.above")).to_contain_text("owls looks most at")
    assert strongest in readout(page)
    page.keyboard.press("Enter")
    expect(looking.nth(1)).to_have_attribute("aria-selected", "true")
    page.mouse.move(5, 5)
    assert strongest in readout(page)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".readout.above")).to_contain_text("is looked at most by")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="head 5").click()
    expect(page.get_by_role("button", name="head 5")).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".lines svg path")).to_have_count(0)
    page.get_by_role("button", name="all", exact=True).click()
    expect(page.locator(".lines svg path").first).to_be_attached()

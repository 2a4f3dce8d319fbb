"""What visitors type and do, on every page: nothing may be cut, torn or pushed off the screen."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import settled
from tests.e2e.test_journey import SIDEWAYS, write

pytestmark = pytest.mark.e2e

Visit = Callable[..., Page]
TABLET = {"width": 1024, "height": 768}
PROJECTOR = {"width": 1920, "height": 1080}
ONE_WORD = "a" * 3000


def test_the_numbers_of_layer_and_head_can_be_read_on_a_projector(visit: Visit) -> None:
    page = visit("attention?layer=5&head=11", viewport=PROJECTOR)
    for name in ("Layer", "Head"):
        box = page.get_by_role("combobox", name=name)
        expect(box).to_have_value("5" if name == "Layer" else "11")
        assert box.evaluate("node => node.scrollWidth <= node.clientWidth")


def test_no_line_of_a_short_text_is_cut_in_its_box(visit: Visit) -> None:
    for slug, viewport in (("attention", TABLET), ("", TABLET)):
        page = visit(slug, viewport=viewport)
        box = page.get_by_role("textbox").last
        if slug == "attention":
            box = page.get_by_role("textbox", name="Text", exact=True)
        assert box.evaluate("node => node.scrollHeight - node.clientHeight") <= 1, slug


def test_numbers_in_a_table_are_not_torn(visit: Visit) -> None:
    page = visit("input?tab=First+numbers", viewport={"width": 1280, "height": 720})
    heights = page.locator(".bx-sideways tbody tr").evaluate_all(
        "rows => rows.map((row) => row.getBoundingClientRect().height)"
    )
    assert heights and max(heights) < 40  # one line each


def test_an_open_fold_stays_open_when_the_text_changes(visit: Visit) -> None:
    page = visit("fill_mask")
    fold = page.locator(".bx-picture details.bx-twin").first
    hint = page.locator(".bx-ask details.bx-hint")
    fold.locator("summary").click()
    hint.locator("summary").click()
    write(page, "Text ([MASK] or ___ hides a word)", "The sun rises in the [MASK].")
    expect(page.locator(".bx-sentence")).to_contain_text("The sun rises")
    expect(fold).to_have_attribute("open", "")
    expect(hint).to_have_attribute("open", "")


def test_a_long_text_scrolls_in_its_box_and_starts_at_the_gap(visit: Visit) -> None:
    page = visit("fill_mask")
    long = "The quick brown fox jumps over the lazy dog. " * 40
    write(page, "Text ([MASK] or ___ hides a word)", f"{long}He ate an [MASK].")
    settled(page, "fill_mask")
    expect(page.locator(".bx-sentence .bx-filled")).to_be_in_viewport()
    expect(page.locator(".bx-picture .bx-drawing").first).to_be_in_viewport()


def test_a_word_in_a_table_is_not_torn_and_an_endless_one_is_kept_in_its_cell(visit: Visit) -> None:
    page = visit("tokenizer", viewport=TABLET)
    fold = page.locator('details.bx-twin[data-name="model-input"]')
    fold.locator("summary").click()
    row = fold.locator("tbody tr", has_text="watering")
    assert row.evaluate("row => row.getBoundingClientRect().height") < 40
    write(page, "Text", ONE_WORD)
    settled(page, "tokenizer")
    assert max(page.evaluate(SIDEWAYS)) <= 0
    widest = "cells => Math.max(...cells.map((cell) => cell.getBoundingClientRect().width))"
    assert fold.locator("td").evaluate_all(widest) <= 450  # 24rem

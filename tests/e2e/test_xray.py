"""The X-ray in a browser: overview, zoom, Escape, switches and undo, by mouse and by keyboard."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from app.engine.models import open_engine
from app.features.xray.result import read_parts
from app.features.xray.task import xray
from app.features.xray.view_words import headline
from tests.e2e.conftest import settled, wait_until

pytestmark = pytest.mark.e2e

TEXT = "The+capital+of+France+is+[MASK]."
SENTENCE = TEXT.replace("+", " ")


def readout(page: Page) -> Locator:
    return page.locator(".bx-xr-say")


def cell(page: Page, layer: int, piece: str) -> Locator:
    name = re.compile(rf"^After layer {layer}, {re.escape(piece)}:")
    return page.locator(".bx-wide").get_by_role("button", name=name)


def switch(page: Page, name: str) -> Locator:
    return page.get_by_role("switch", name=re.compile(rf"^{name}\b"))


def crumb(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="The way back").get_by_text(name, exact=True)


def test_from_the_whole_model_to_one_number_and_back(visit: Callable[..., Page]) -> None:
    page = visit(f"xray?text={TEXT}", viewport={"width": 1280, "height": 720})
    answer = readout(page).inner_text()
    assert answer == headline(xray(open_engine(), SENTENCE))
    cell(page, 3, "[MASK]").hover()
    expect(readout(page)).to_contain_text("After layer 3, [MASK]: the affine lens says")
    expect(readout(page)).to_contain_text("attention adds")
    page.mouse.move(5, 5)
    cell(page, 0, "[MASK]").focus()  # the keyboard's first stop
    for key, said in (
        ("ArrowRight", "After layer 1, [MASK]:"),
        ("ArrowUp", "After layer 1, is:"),
        ("ArrowRight", "After layer 2, is:"),
    ):
        page.keyboard.press(key)
        expect(readout(page)).to_contain_text(said)
    page.keyboard.press("Enter")
    expect(crumb(page, "Layer 2")).to_be_visible()
    page.keyboard.press("Escape")
    expect(readout(page)).to_have_text("Layer 2: open its heads.")  # where the focus is again
    cell(page, 5, "[MASK]").click()
    page.get_by_role("button", name=re.compile("^Layer 5, head 5:")).click()
    heat_map = page.get_by_role("application", name=re.compile("^Layer 5, head 5"))
    expect(heat_map).to_be_visible()
    expect(page).to_have_url(re.compile("zoom=5.5"))
    settled(page, "xray")
    page.locator("body").press("Escape")
    expect(crumb(page, "Layer 5")).to_have_attribute("aria-current", "page")
    crumb(page, "Whole model").click()
    expect(readout(page)).to_have_text(answer)
    wait_until(page, "() => !location.search.includes('zoom')")


def test_parts_are_switched_off_and_on_by_mouse_and_keyboard(visit: Callable[..., Page]) -> None:
    page = visit(f"xray?text={TEXT}", viewport={"width": 1280, "height": 720})
    answer = readout(page).inner_text()
    five = switch(page, "Head 5 of layer 5")
    five.click()
    expect(five).to_have_attribute("aria-checked", "false")
    off = headline(xray(open_engine(), SENTENCE, off="5.5"))  # and what it was with everything on
    expect(readout(page)).to_have_text(off)
    wait_until(page, "() => location.search.includes('off=5.5')")
    five.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    expect(switch(page, "Head 4 of layer 5")).to_have_attribute("aria-checked", "false")
    expect(readout(page)).to_contain_text("2 parts off")
    page.get_by_role("button", name="Undo").click()
    expect(readout(page)).to_have_text(off)
    page.get_by_role("button", name="Undo").click()
    expect(readout(page)).to_have_text(answer)
    expect(five).to_have_attribute("aria-checked", "true")
    first, last = switch(page, "Head 1 of layer 0"), switch(page, "Head 4 of layer 0")
    first.hover()
    page.mouse.down()  # several in one movement
    last.hover()
    page.mouse.up()
    expect(last).to_have_attribute("aria-checked", "false")
    wait_until(page, "() => location.search.includes('off=0.1')")
    page.reload()
    settled(page, "xray")
    expect(switch(page, "Head 1 of layer 0")).to_have_attribute("aria-checked", "false")
    page.get_by_role("button", name="Which parts matter?").click()
    (most,) = read_parts(xray(open_engine(), SENTENCE, rank=True).ranking[0].part)
    expect(page.locator(".bx-xr-ranking")).to_contain_text(f"Without {most.words}:")


def test_on_a_phone_words_are_whole_and_the_answer_is_said_beside_the_switches(
    visit: Callable[..., Page],
) -> None:
    page = visit("xray", viewport={"width": 390, "height": 844})
    words = page.locator(".bx-narrow .bx-xr-node text").all_text_contents()
    assert {"capital", "france", "london"} <= set(words)
    assert not any("…" in word for word in words)
    threads = page.get_by_role("combobox", name="Threads")
    assert threads.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
    said = page.locator(".bx-xr-effect")
    two = switch(page, "Head 7 of layer 2")
    two.click()
    expect(said).to_contain_text("1 part off")
    box, board = said.bounding_box(), two.bounding_box()
    assert box and board and abs(board["y"] - box["y"]) < 400
    page.set_viewport_size({"width": 1280, "height": 720})
    expect(said).to_be_hidden()  # the picture is beside the switches

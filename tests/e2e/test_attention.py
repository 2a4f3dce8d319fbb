"""Test the pictures of attention in a real browser: values, pins and lines, by mouse and keys."""

import re

import pytest
from playwright.sync_api import Page, expect

from app.catalog import examples
from app.engine.models import open_engine
from app.features.attention.task import attention
from tests.e2e.test_journey import Visit

pytestmark = pytest.mark.e2e

TEXT = "Owls <b>hunt</b> at night."
ADDRESS = "attention?text=Owls%20%3Cb%3Ehunt%3C%2Fb%3E%20at%20night.&layer=2&head=5"


def readout(page: Page) -> str:
    return page.locator(".bx-att-said").first.inner_text()


def test_the_large_head_reads_out_the_models_numbers_and_computes_a_cell(visit: Visit) -> None:
    page = visit(ADDRESS)
    picture = page.get_by_role("application", name=re.compile("^Layer 2, head 5"))
    expect(picture).to_be_visible()
    weights = attention(open_engine(), TEXT).attentions[2][5]
    picture.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):  # the first key goes to the corner cell
        page.keyboard.press(key)
    said = re.compile(r"^owls \(1\) looks at owls \(1\): \d")
    expect(page.locator(".bx-att-said").first).to_have_text(said)
    assert float(readout(page).split()[-1]) == pytest.approx(weights[1, 1], abs=6e-5)
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"The cell: {weights[1, 1]:.6f}.")).to_be_visible()
    expect(page).to_have_url(re.compile("cell=1.1"))
    box = page.locator(".bx-wide .bx-att-cells rect").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] - 8, box["y"] + box["height"] - 6)
    expect(page.get_by_text(f"The cell: {weights[-1, -1]:.6f}.")).to_be_visible()
    picture.focus()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Click a cell to see")).to_be_visible()
    expect(page).not_to_have_url(re.compile("cell="))


def test_the_presenters_link_opens_the_whole_picture_with_its_numbers(visit: Visit) -> None:
    address = "attention?present=true&layer=2&head=9"
    page = visit(address, viewport={"width": 1920, "height": 1080})
    text = str(examples("attention")[0].values["text"])
    weights = attention(open_engine(), text).attentions[2][9]
    drawing = page.locator(".bx-att-map .bx-wide svg")
    box = drawing.bounding_box()
    assert box is not None and box["y"] + box["height"] <= 1080
    names = drawing.locator("g[text-anchor=end] text[data-at]").all_text_contents()
    assert names == open_engine().tokenizer.encode(text).tokens
    numbers = drawing.locator("tspan")
    expect(numbers).to_have_count(int((weights >= 0.005).sum()))
    scale = drawing.evaluate("svg => svg.getScreenCTM().a")
    size = numbers.first.evaluate("node => parseFloat(getComputedStyle(node).fontSize)")
    assert scale * size >= 14, (scale, size)


def test_a_long_text_is_read_off_its_colours(visit: Visit) -> None:
    text = "the cat sat on the mat " * 20
    page = visit(f"attention?text={text.replace(' ', '%20')}&layer=2&head=5")
    picture = page.get_by_role("application", name=re.compile("^Layer 2, head 5"))
    weights = attention(open_engine(), text.strip()).attentions[2][5]
    picture.focus()
    for key in ("ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    said = page.locator(".bx-att-said").first
    expect(said).to_have_text(re.compile(r"^the \(1\) looks at \[CLS\] \(0\): (about|below) \d"))
    shown = float(said.inner_text().split()[-1])
    assert shown == pytest.approx(float(weights[1, 0]), abs=float(weights.max()) / 100)


def test_a_word_lights_up_its_lines_and_says_which_are_strongest(visit: Visit) -> None:
    page = visit(f"{ADDRESS}&view=Lines")
    drawing = page.locator(".bx-att-lines .bx-wide svg")
    words = drawing.locator(".bx-att-words text")
    weights = attention(open_engine(), TEXT).attentions[2][5]
    expect(words).to_have_count(2 * len(weights))
    assert words.nth(2).text_content() == "<"  # shown as text, never as markup
    words.nth(0).focus()
    page.keyboard.press("ArrowDown")
    expect(words.nth(1)).to_be_focused()
    said = page.locator("figure .bx-att-said").first
    expect(said).to_contain_text("owls looks most at")
    expect(said).to_contain_text(f"{weights[1].max():.4f}")
    lit = drawing.locator("path.bx-lit")
    expect(lit).to_have_count(min(len(weights), 144 // len(weights)))
    assert {
        each.split()[0] for each in lit.evaluate_all("all => all.map((p) => p.dataset.at)")
    } == {"r1"}
    page.keyboard.press("ArrowRight")
    expect(words.nth(1 + len(weights))).to_be_focused()
    expect(said).to_contain_text("owls is looked at most by")
    assert {
        each.split()[1] for each in lit.evaluate_all("all => all.map((p) => p.dataset.at)")
    } == {"c1"}


def test_clicks_show_a_head_and_back_undoes_one_change(visit: Visit) -> None:
    page = visit("attention")
    title = page.locator(".bx-att-title h2")
    expect(title).to_have_text(re.compile("^Layer "))
    opened = title.inner_text()
    first = page.locator(".bx-att-list button").nth(1)
    layer, head = first.locator("b").inner_text().split(".")
    listed = f"Layer {layer}, head {head}"
    first.click()
    expect(title).to_have_text(listed)
    expect(page).to_have_url(re.compile(rf"layer={layer}\b.*head={head}\b"))
    page.get_by_role("button", name=re.compile("^Layer 1, head 2:")).click()
    expect(title).to_have_text("Layer 1, head 2")
    page.reload()
    expect(title).to_have_text("Layer 1, head 2")
    page.locator(".bx-wide .bx-att-cells rect").first.click(force=True)  # of the image
    expect(page).to_have_url(re.compile("cell="))
    page.get_by_role("radio", name="Lines", exact=True).first.click()
    expect(page).to_have_url(re.compile("view=lines"))
    page.go_back()
    expect(page.get_by_role("radio", name="Heat map", exact=True).first).to_be_checked()
    page.go_back()  # the pinned cell alone
    expect(page).not_to_have_url(re.compile("cell="))
    for each in ("Layer 1, head 2", listed, opened):
        expect(title).to_have_text(each)
        page.go_back()

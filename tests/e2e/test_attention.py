"""Test the pictures of attention in a real browser: values, pins and lines, by mouse and keys."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from app.catalog import examples
from app.engine.models import open_engine
from app.features.attention.task import attention
from tests.e2e.conftest import settled, steady

pytestmark = pytest.mark.e2e

TEXT = "Owls <b>hunt</b> at night."
ADDRESS = "attention?text=Owls%20%3Cb%3Ehunt%3C%2Fb%3E%20at%20night.&layer=2&head=5"


def readout(page: Page) -> str:
    return page.locator(".bx-att-said").first.inner_text()


def test_the_large_head_reads_out_the_models_numbers_and_computes_a_cell(
    visit: Callable[..., Page],
) -> None:
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


def test_the_large_picture_is_whole_on_the_first_screen(visit: Callable[..., Page]) -> None:
    page = visit(viewport={"width": 1280, "height": 720})
    for view, place in (("", ".bx-att-map"), ("?view=Lines", ".bx-att-lines")):
        page.goto(f"/attention{view}")
        settled(page, "attention")
        foot = page.locator(place).first
        expect(foot).to_be_visible()
        steady(page, "() => document.documentElement.querySelector('.stMain').scrollHeight")
        box = foot.bounding_box()
        assert box is not None and box["y"] + box["height"] <= 720


def test_the_presenters_link_opens_the_whole_picture_with_its_numbers(
    visit: Callable[..., Page],
) -> None:
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


def test_a_long_text_is_read_off_its_colours(visit: Callable[..., Page]) -> None:
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


def test_pictures_are_saved_as_svg_and_png(visit: Callable[..., Page]) -> None:
    page = visit(f"{ADDRESS}&saved=true")
    page.get_by_text("Numbers and files").first.click()
    saved = {}
    for kind in ("SVG", "PNG", "CSV"):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=f"Save as {kind}").first.click()
        saved[kind] = waiting.value.path().read_bytes()
        assert waiting.value.suggested_filename == f"attention-layer2-head5.{kind.lower()}"
    weights = attention(open_engine(), TEXT).attentions[2][5]
    root = ElementTree.fromstring(saved["SVG"])  # noqa: S314 - ours
    printed = [str(node.text) for node in root.iter("{http://www.w3.org/2000/svg}tspan")]
    assert len(printed) == int((weights >= 0.005).sum()) and f"{weights.max():.2f}"[1:] in printed
    assert saved["PNG"].startswith(b"\x89PNG") and len(saved["PNG"]) > 5_000
    rows = list(csv.reader(io.StringIO(saved["CSV"].decode("utf-8-sig"))))
    read = np.array([row[1:] for row in rows[1:]], dtype=float)
    np.testing.assert_allclose(read, weights, rtol=1e-6)


def test_a_word_lights_up_its_lines_and_says_which_are_strongest(
    visit: Callable[..., Page],
) -> None:
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


def test_a_saved_page_shows_the_head_without_a_network(
    visit: Callable[..., Page], browser: Browser, tmp_path: Path
) -> None:
    page = visit(f"{ADDRESS}&cell=1.1")
    expect(page.get_by_text("The cell: ")).to_be_visible()
    settled(page, "attention")  # what unfolds stays where its button was
    page.get_by_role("button", name="Save", exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="This page (HTML)").click()
    kept = tmp_path / "kept.html"
    kept.write_bytes(waiting.value.path().read_bytes())
    context = browser.new_context(offline=True)
    alone = context.new_page()
    asked: list[str] = []
    alone.on("request", lambda request: asked.append(request.url))
    alone.goto(kept.as_uri())
    assert {urlsplit(url).scheme for url in asked} <= {"file", "data"} and asked[0] == kept.as_uri()
    weights = attention(open_engine(), TEXT).attentions[2][5]
    drawing = alone.locator("figure[data-name='attention-layer2-head5'] .bx-narrow svg")
    expect(drawing.locator("tspan")).to_have_count(int((weights >= 0.005).sum()))
    shown = drawing.bounding_box()
    assert shown is not None and shown["width"] > 300
    expect(alone.get_by_text(f"The cell: {weights[1, 1]:.6f}.")).to_be_visible()
    context.close()


def test_clicks_show_a_head_and_back_undoes_one_change(visit: Callable[..., Page]) -> None:
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
    page.locator(".bx-wide .bx-att-cells rect").first.click()
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

"""Test the attention components in a real browser: values, pins and lines, by mouse and keys."""

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
    return page.locator(".readout.above").inner_text()


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
    expect(page.locator(".readout.above")).to_have_text(said)
    assert float(readout(page).split()[-1]) == pytest.approx(weights[1, 1], abs=6e-5)
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"The cell: {weights[1, 1]:.6f}.")).to_be_visible()
    expect(page).to_have_url(re.compile("cell=1.1"))
    page.reload()
    expect(page.get_by_text(f"The cell: {weights[1, 1]:.6f}.")).to_be_visible()
    box = picture.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] - 8, box["y"] + box["height"] - 6)
    expect(page.get_by_text(f"The cell: {weights[-1, -1]:.6f}.")).to_be_visible()
    picture.focus()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Click a cell to see")).to_be_visible()
    expect(page).not_to_have_url(re.compile("cell="))


def test_a_click_in_the_list_or_the_grid_shows_that_head(visit: Callable[..., Page]) -> None:
    page = visit(ADDRESS)
    first = page.locator(".bx-att-list button").first
    layer, _, head = first.locator("b").inner_text().partition(".")
    first.click()
    title = page.get_by_role("heading", level=2)
    expect(title.first).to_have_text(f"Layer {layer}, head {head}")
    expect(page).to_have_url(re.compile(rf"layer={layer}\b.*head={head}\b"))
    cells = page.get_by_role("gridcell")
    cells.nth(14).click()
    expect(title.first).to_have_text("Layer 1, head 2")
    cells.nth(40).click(modifiers=["Shift"])
    expect(title.first).to_have_text("Mean of heads 1.2, 3.4")
    expect(page).to_have_url(re.compile("heads=1.2&heads=3.4"))
    page.reload()
    expect(title.first).to_have_text("Mean of heads 1.2, 3.4")


def test_the_large_picture_is_whole_on_the_first_screen(visit: Callable[..., Page]) -> None:
    page = visit()
    for width, height in ((1280, 720), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        for view, place in (("", ".legend"), ("?view=Lines", ".lines")):
            page.goto(f"/attention{view}")
            settled(page, "attention")
            foot = page.locator(place).first
            expect(foot).to_be_visible()
            steady(page, "() => document.documentElement.querySelector('.stMain').scrollHeight")
            box = foot.bounding_box()
            assert box is not None and box["y"] + box["height"] <= height


WRITTEN = """
    window.written = [];
    const write = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        window.written.push([text, parseFloat(this.font.match(/([\\d.]+)px/)[1])]);
        return write.call(this, text, ...place);
    };
"""


def test_the_presenters_link_opens_the_whole_picture_with_its_numbers(
    visit: Callable[..., Page],
) -> None:
    page = visit()
    page.add_init_script(WRITTEN)
    text = str(examples("attention")[0].values["text"])
    tokens = open_engine().tokenizer.encode(text).tokens
    weights = attention(open_engine(), text).attentions[2][9]
    for width, height, least in ((1280, 720, 10), (1920, 1080, 16)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto("/attention?present=true&layer=2&head=9")
        settled(page, "attention")
        steady(page, "() => window.written.length")
        foot = page.locator(".legend").first.bounding_box()
        assert foot is not None and foot["y"] + foot["height"] <= height
        written = page.evaluate("window.written")
        last = max(at for at, (text, _) in enumerate(written) if text == "[CLS]")
        rows = [text for text, _ in written[last - len(tokens) : last]]
        assert rows == tokens  # every row has its name, then every column
        numbers = [size for text, size in written[last:] if text.startswith(".") and text != "."]
        assert len(numbers) == (weights >= 0.005).sum()
        assert min(numbers) >= least
    page.close()  # with its script


def test_pictures_are_saved_as_svg_and_png(visit: Callable[..., Page]) -> None:
    page = visit(f"{ADDRESS}&tab=Files")
    page.get_by_text("Numbers and files").first.click()
    saved = {}
    for kind in ("SVG", "PNG", "CSV"):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=f"Save as {kind}").first.click()
        saved[kind] = waiting.value.path().read_bytes()
        assert waiting.value.suggested_filename == f"attention-layer2-head5.{kind.lower()}"
    weights = attention(open_engine(), TEXT).attentions[2][5]
    root = ElementTree.fromstring(saved["SVG"])  # noqa: S314 - ours
    values = [float(node.get("data-value", 0)) for node in root.iter() if node.get("data-value")]
    assert max(values) == pytest.approx(float(weights.max()), rel=1e-6)
    assert saved["PNG"].startswith(b"\x89PNG") and len(saved["PNG"]) > 5_000
    rows = list(csv.reader(io.StringIO(saved["CSV"].decode("utf-8-sig"))))
    read = np.array([row[1:] for row in rows[1:]], dtype=float)
    np.testing.assert_allclose(read, weights, rtol=1e-6)


def test_a_word_lights_up_its_lines_and_keeps_them_when_pinned(
    visit: Callable[..., Page],
) -> None:
    page = visit(f"{ADDRESS}&view=Lines&floor=0")
    looking = page.get_by_role("listbox", name="Words that look").get_by_role("option")
    weights = attention(open_engine(), TEXT).attentions[2][5]
    expect(looking).to_have_count(len(weights))
    assert looking.nth(2).inner_text().strip() == "<"  # shown as text, never as markup
    looking.nth(1).focus()
    strongest = f"{weights[1].max():.4f}"
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
    values = drawing.locator("[data-value]").evaluate_all(
        "all => all.map((each) => Number(each.dataset.value))"
    )
    assert max(values) == pytest.approx(float(weights.max()), rel=1e-6)
    shown = drawing.bounding_box()
    assert shown is not None and shown["width"] > 300
    expect(alone.get_by_text(f"The cell: {weights[1, 1]:.6f}.")).to_be_visible()
    context.close()

"""What the site's own markup can do in a browser: pick, light up, save, copy.

Most of it is tested on a page saved as a file, which carries the same script and has no network.
"""

import base64
import csv
import io
import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from app.engine.models import open_engine
from app.faces import ask
from app.faces.paper.page import style
from app.faces.streamlit.components import script
from app.features.fill_mask import view
from app.features.fill_mask.task import fill_mask
from app.settings import BUNDLED_MODEL
from app.words.html import Html, document, tag, visible
from app.words.pictures import WIDE, bars, figure, linked, numbers, picture
from tests.e2e.conftest import Record, copy_link
from tests.e2e.test_journey import PHONE, Visit

pytestmark = pytest.mark.e2e

NAMES = ["owl", 'a "b", c', "<script>x</script>", "line\nbreak", "=1+1", "海"]
VALUES = [0.5, 0.123456789, 0.1, 1e-7, 0.0, 0.05]
MARKED = [True, True, False, False, False, False]
TOP = 0.5
SENTENCE = "The capital of France is [MASK]."


def table() -> pd.DataFrame:
    at = [linked([n, n + 1]) for n in range(len(NAMES))]
    return pd.DataFrame({"piece": NAMES, "probability": VALUES, "rank": range(6), "at": at})


def chart() -> Html:
    printed = [f"{value:.1%}" for value in VALUES]
    return figure(
        picture(
            "shares",
            lambda width: bars(NAMES, VALUES, printed, width=width, top=TOP, marked=MARKED),
            alt='Bars of "six" <pieces>',
            table=table().drop(columns="at"),
        )
    )


def sentence() -> Html:
    words = (
        tag("span", visible(name), role="button", tabindex=-1 if n else 0, data_at=linked([n]),
            data_pick="word", data_value=n)
        for n, name in enumerate(NAMES)
    )  # fmt: skip
    return tag("p", *words, tag("button", "last", type="button"), data_rove="words")


def saved(*body: Html) -> bytes:
    return document("Saved", style(), *body, script=script("bridge"))


Opened = Callable[..., tuple[Page, Record]]


@pytest.fixture(scope="module")
def offline(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without a network."""
    with browser.new_context(offline=True) as context:
        yield context


@pytest.fixture
def opened(offline: BrowserContext, tmp_path: Path) -> Iterator[Opened]:
    """Open a saved page from the disk, with the network off."""

    def open_file(content: bytes) -> tuple[Page, Record]:
        path = tmp_path / "saved.html"
        path.write_bytes(content)
        page, record = offline.new_page(), Record()
        record.watch(page)
        page.goto(path.as_uri())
        return page, record

    yield open_file
    for page in offline.pages:
        page.close()


def file_of(page: Page, button: Locator) -> tuple[str, bytes]:
    """Press a button that saves a file; return its name and content."""
    with page.expect_download() as waiting:
        button.click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def fold(page: Page) -> Locator:
    page.locator("details.bx-twin > summary").first.click()
    return page.locator("details.bx-twin").first


def lit(page: Page) -> list[str]:
    """The keys of everything that is lit, in the order of the page."""
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('.bx-lit')].map((node) => node.dataset.at)"
    )
    return found


# -- picking -------------------------------------------------------------------------------------

RECORD = "() => { window.picks = []; window.bxSite.send = (pick) => window.picks.push(pick); }"


def test_a_click_enter_and_space_pick(opened: Opened) -> None:
    page, _ = opened(saved(sentence()))
    page.evaluate(RECORD)
    words = page.locator("[data-pick]")
    words.nth(2).click()
    words.nth(3).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    page.keyboard.press("a")
    picked = [{"name": "word", "value": value} for value in (2, 3, 3)]
    assert page.evaluate("picks") == picked


REDRAW = """() => {
    const group = document.querySelector("[data-rove]");
    group.outerHTML = group.outerHTML;
}"""


def test_the_focus_stays_on_what_was_picked_when_the_answer_comes_late(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "saved.html").write_bytes(saved(sentence()))
    with browser.new_context(offline=True) as context:  # its clock is that of all its pages
        page = context.new_page()
        page.goto((tmp_path / "saved.html").as_uri())
        page.clock.install()
        words = page.locator("[data-pick]")
        words.nth(3).press("Enter")
        page.clock.run_for(8_000)
        page.evaluate(REDRAW)
        expect(words.nth(3)).to_be_focused()
        page.mouse.click(1, 1)  # who acts elsewhere is left alone
        page.evaluate(REDRAW)
        expect(page.locator("body")).to_be_focused()


def test_arrows_move_the_focus_inside_a_group_that_is_one_tab_stop(opened: Opened) -> None:
    page, _ = opened(saved(tag("button", "before"), sentence(), tag("button", "after")))
    page.get_by_text("before").focus()
    page.keyboard.press("Tab")
    expect(page.locator("[data-pick]").nth(0)).to_be_focused()
    page.keyboard.press("ArrowLeft")  # there is nothing before the first
    expect(page.locator("[data-pick]").nth(0)).to_be_focused()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    expect(page.locator("[data-pick]").nth(2)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_text("before")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("[data-pick]").nth(2)).to_be_focused()  # it remembers the place
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    expect(page.get_by_text("last")).to_be_focused()


# -- point at one, see all -------------------------------------------------------------------------


def test_what_shares_a_piece_lights_up_across_text_and_table(opened: Opened) -> None:
    page, _ = opened(saved(sentence(), numbers(table(), "shares", title="Table")))
    fold(page)
    words, rows = page.locator("span[data-at]"), page.locator("tbody tr")
    words.nth(3).hover()
    assert lit(page) == ["0.3", "0.2 0.3", "0.3 0.4"]
    outline = rows.nth(3).evaluate("node => getComputedStyle(node).outlineStyle")
    assert outline == "solid"
    rows.nth(0).hover()
    assert lit(page) == ["0.0", "0.1", "0.0 0.1", "0.1 0.2"]
    page.mouse.move(1, 1)
    assert lit(page) == []
    words.nth(5).focus()  # the keyboard does the same
    assert lit(page) == ["0.5", "0.4 0.5", "0.5 0.6"]


def test_keys_are_compared_whole_and_components_are_told(opened: Opened) -> None:
    marks = [tag("i", key, data_at=key) for key in ("0.1", "0.11", "1.1", "0.1 0.11")]
    page, _ = opened(saved(tag("p", *marks)))
    page.evaluate(
        "window.told = []; document.addEventListener('bx-at', (e) => window.told.push(e.detail))"
    )
    page.locator("i").nth(0).hover()
    assert lit(page) == ["0.1", "0.1 0.11"]
    assert page.evaluate("told") == ["0.1"]
    page.evaluate("document.dispatchEvent(new CustomEvent('bx-at', { detail: '1.1' }))")
    assert lit(page) == ["1.1"]


# -- files -----------------------------------------------------------------------------------------


def test_a_drawing_saved_as_svg_has_its_bars_and_letters(opened: Opened) -> None:
    page, _ = opened(saved(chart()))
    name, content = file_of(page, fold(page).get_by_role("button", name="Save as SVG"))
    assert name == "shares.svg"
    root = ElementTree.fromstring(content)  # noqa: S314 - what the page wrote
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    height = float(root.get("height") or 0)
    assert (root.get("width"), root.get("viewBox")) == ("760", f"0 0 {WIDE} {height:g}")
    paper, *drawn = root.iter("{http://www.w3.org/2000/svg}rect")
    assert (paper.get("width"), paper.get("height")) == ("100%", "100%")
    lengths = [float(rect.get("width") or 0) for rect in drawn]
    assert lengths[1] / lengths[0] == pytest.approx(VALUES[1] / VALUES[0], abs=1e-3)
    assert lengths[2] / lengths[0] == pytest.approx(0.2, abs=1e-3)
    assert 0 < lengths[3] < 3 and lengths[4] == 0  # something, and nothing
    assert lengths[0] > 400  # the largest value fills the axis
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0::2] == [visible(n) if len(n) < 19 else f"{n[:17]}…" for n in NAMES]
    styles = [dict(p.split(":", 1) for p in (r.get("style") or "").split(";")) for r in drawn]
    assert styles[0]["fill"] != styles[2]["fill"]  # a marked bar, and one that is not
    assert not any("var(" in (node.get("style") or "") for node in root.iter())
    assert not any(node.get("class") for node in root.iter())


PIXELS = """async (source) => {
    const image = new Image();
    image.src = "data:image/png;base64," + source;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const { data } = pen.getImageData(0, 0, image.width, image.height);
    const counts = {};
    for (let at = 0; at < data.length; at += 4) {
        const colour = data.slice(at, at + 4).join();
        counts[colour] = (counts[colour] ?? 0) + 1;
    }
    return counts;
}"""


def test_a_drawing_saved_as_png_is_twice_as_large_and_not_blank(opened: Opened) -> None:
    page, _ = opened(saved(chart()))
    page.emulate_media(color_scheme="dark")
    name, content = file_of(page, fold(page).get_by_role("button", name="Save as PNG"))
    assert name == "shares.png" and content[:8] == b"\x89PNG\r\n\x1a\n"
    size = page.locator(".bx-wide svg").evaluate("node => node.viewBox.baseVal.height")
    assert struct.unpack(">II", content[16:24]) == (2 * WIDE, 2 * size)
    page.goto("about:blank")
    counts: dict[str, int] = page.evaluate(PIXELS, base64.b64encode(content).decode())
    total = sum(counts.values())
    paper = max(counts, key=lambda colour: counts[colour])
    assert paper.endswith(",255") and counts[paper] < 0.95 * total
    blue = counts["0,114,178,255"]  # bars without a mark: 0.1 and 0.05 of 0.5, 48 pixels tall
    room = 2 * (WIDE - 192 - 84)
    assert blue == pytest.approx(48 * room * (0.1 + 0.05) / TOP, rel=0.05)


def test_a_table_saved_as_csv_and_json_has_the_exact_values(opened: Opened) -> None:
    page, _ = opened(saved(numbers(table(), "shares", title="Table")))
    part = fold(page)
    name, content = file_of(page, part.get_by_role("button", name="Save as CSV"))
    assert name == "shares.csv" and content.startswith(b"\xef\xbb\xbf")  # Excel needs the mark
    head, *rows = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    assert head == ["piece", "probability", "rank"]
    assert [row[0] for row in rows] == NAMES
    assert [float(row[1]) for row in rows] == pytest.approx(VALUES, rel=1e-7)
    assert [int(row[2]) for row in rows] == list(range(6))
    name, content = file_of(page, part.get_by_role("button", name="Save as JSON"))
    records = json.loads(content)
    assert name == "shares.json"
    assert [record["piece"] for record in records] == NAMES
    assert [record["probability"] for record in records] == pytest.approx(VALUES, rel=1e-7)
    assert all(type(record["rank"]) is int for record in records)


# -- the saved page --------------------------------------------------------------------------------


def test_a_saved_page_asks_for_nothing_and_runs_nothing_of_a_visitor(opened: Opened) -> None:
    hostile = "[MASK] <img src=http://a.example/x onerror=alert(1)><script>alert(2)</script>"
    result = fill_mask(open_engine(), hostile, top_k=3)
    page, record = opened(saved(*view.screen(result).report().drawn()))
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    expect(page.locator(".bx-picture").first).to_be_visible()
    _, content = file_of(page, fold(page).get_by_role("button", name="Save as CSV"))
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    shown = [float(row["probability"]) for row in rows]
    assert shown == pytest.approx([c.probability for c in result.slots[0].candidates], rel=1e-6)
    assert [url for url in record.requests if not url.startswith(("file:", "blob:"))] == []
    assert record.complaints == [] and dialogs == []
    assert page.locator("script").count() == 1 and page.locator("img").count() == 0


def test_a_notebook_shows_the_page_in_a_frame_that_saves_files_and_does_nothing_else(
    opened: Opened,
) -> None:
    answer = ask("fill_mask", "[MASK] </iframe><script>alert(1)</script>", top_k=3)
    page, record = opened(f"<!DOCTYPE html><p>cell</p>{answer._repr_html_()}".encode())
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    shown = page.frame_locator("iframe")
    expect(shown.locator(".bx-headline")).to_contain_text("The model would write")
    shown.locator("details.bx-twin > summary").first.click()
    name, _ = file_of(page, shown.get_by_role("button", name="Save as CSV"))
    assert name.endswith(".csv") and page.locator("script").count() == 0
    assert page.evaluate("getComputedStyle(document.querySelector('p')).fontSize") == "16px"
    assert record.complaints == [] and dialogs == []
    assert [url for url in record.requests if not url.startswith(("file:", "blob:"))] == []


def test_even_markup_that_asked_for_something_would_get_nothing(opened: Opened) -> None:
    content = saved(tag("p", "x")).replace(
        b"<p>x</p>", b'<img src="https://a.example/x.png"><link rel="stylesheet" href="https://a.example">'
    )  # fmt: skip
    page, record = opened(content)
    page.wait_for_load_state()
    assert all("violates the following Content Security" in said for said in record.complaints)
    assert len(record.complaints) == 2


def test_the_save_menu_saves_what_is_on_the_page_and_a_page_that_works_on_its_own(
    visit: Visit, opened: Opened
) -> None:
    page = visit(
        f"fill_mask?text={SENTENCE.replace(' ', '+')}",
        accept_downloads=True,
        permissions=["clipboard-read", "clipboard-write"],
    )
    answer = page.locator(".bx-filled").first.inner_text()
    copy_link(page)
    assert page.evaluate("navigator.clipboard.readText()") == page.evaluate("location.href")
    page.set_viewport_size(PHONE)
    page.get_by_role("button", name="Save", exact=True).click()
    menu = page.get_by_test_id("stPopoverBody")
    names = page.locator("figure.bx-picture").evaluate_all("all => all.map((f) => f.dataset.name)")
    assert menu.locator(".bx-saves-name").all_inner_texts() == names and names
    box = menu.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
    assert box["y"] >= 0 and box["y"] + box["height"] <= PHONE["height"]
    name, whole = file_of(page, menu.get_by_role("button", name="This page (HTML)"))
    assert name == "bert-fill_mask.html"
    saved = {}
    for kind in ("SVG", "PNG", "CSV", "JSON"):
        button = menu.get_by_role("button", name=f"Save {names[0]} as {kind}")
        name, saved[kind] = file_of(page, button)
        assert name == f"{names[0]}.{kind.lower()}"
    page.keyboard.press("Escape")
    page.get_by_text("Numbers and files").first.click()
    for kind, content in saved.items():
        own = page.get_by_role("button", name=f"Save as {kind}").first
        assert file_of(page, own)[1] == content
    alone, record = opened(whole)
    expect(alone.locator(".bx-filled")).to_have_text(answer)
    expect(alone.get_by_role("heading", level=1)).to_have_text("Fill-mask")
    expect(alone.get_by_text(f"Model: {BUNDLED_MODEL}")).to_be_visible()
    table = file_of(alone, fold(alone).get_by_role("button", name="Save as JSON"))[1]
    shares = [row["probability"] for row in json.loads(table)]
    found = fill_mask(open_engine(), SENTENCE, top_k=5).slots[0].candidates
    assert shares == pytest.approx([each.probability for each in found], rel=1e-4)
    assert [url for url in record.requests if not url.startswith(("file:", "blob:"))] == []

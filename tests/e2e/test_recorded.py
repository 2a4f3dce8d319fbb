"""The recorded site in a browser: from a disk, from a server, and in the frame of a Space."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from app.catalog import FEATURES
from app.faces.paper.page import style
from app.words.blocks import fold
from app.words.html import document, tag
from tests.e2e.conftest import PATIENCE_MS, Record, faults, hosting
from tests.e2e.test_journey import PHONE, Visit
from tests.e2e.test_stage import LAPTOP, cut_off

pytestmark = pytest.mark.e2e

FIRST = "qa/1-a-short-story"
SPACE = "https://someone-bert.static.hf.space"
AROUND = f"""<!DOCTYPE html><title>Space</title><script>
window.heard = [];
addEventListener("message", (event) => window.heard.push([event.origin, event.data]));
</script><iframe src="{SPACE}/index.html#{FIRST}" width="1200" height="800"></iframe>"""


@pytest.fixture(scope="module")
def host(recorded_site: Path) -> Iterator[str]:
    """The folder, from a server."""
    with hosting(recorded_site) as address:
        yield address


@pytest.fixture
def opened(browser: Browser) -> Iterator[Visit]:
    """Open addresses; afterwards no request left the site and no error was reported."""
    record = Record()
    contexts: list[BrowserContext] = []

    def visit(address: str, **options: Any) -> Page:
        options.setdefault("viewport", LAPTOP)
        contexts.append(browser.new_context(locale="en-GB", **options))
        contexts[-1].set_default_timeout(PATIENCE_MS)
        page = contexts[-1].new_page()
        record.watch(page)
        page.goto(address)
        return page

    yield visit
    places = {urlsplit(url)[:2] for url in record.requests} - {("blob", "")}
    assert all(scheme == "file" or name.startswith("127.0.0.1:") for scheme, name in places)
    assert len(places) == 1
    assert record.complaints == []
    for context in contexts:
        assert context.cookies() == []
        context.close()


def test_a_visitor_walks_through_the_site_on_a_disk(opened: Visit, recorded_site: Path) -> None:
    page = opened(f"{recorded_site.as_uri()}/index.html")
    page.get_by_role("link", name="Question answering →").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Question answering")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Tokenizer").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Tokenizer")
    expect(page.get_by_label("Text", exact=True)).to_have_value(
        "The gardener was watering snapdragons and bewilderingly tall sunflowers."
    )
    assert not page.get_by_label("Text", exact=True).is_editable()
    way_on = page.get_by_role("navigation", name="Previous and next example")
    way_on.get_by_role("link").last.click()
    expect(page.locator("[aria-current=page]")).to_have_count(2)
    expect(page.locator("nav ol [aria-current=page]")).to_contain_text("Accents")
    way_on.get_by_role("link").first.click()
    expect(page.locator("nav ol [aria-current=page]")).to_contain_text("Everyday words")


def test_the_keyboard_alone_is_enough(opened: Visit, host: str) -> None:
    page = opened(f"{host}/{FIRST}.html")
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim()"))
        if page.evaluate("document.activeElement.rel") == "next":
            break
    assert reached[0] == "BERT Explorer"
    page.keyboard.press("Enter")
    expect(page.locator("nav ol [aria-current=page]")).to_contain_text("Numbers side by side")


@pytest.mark.parametrize(
    ("scheme", "size", "every"),
    [
        pytest.param("dark", LAPTOP, 6, id="some"),
        pytest.param("light", PHONE, 1, marks=pytest.mark.slow),
        pytest.param("dark", LAPTOP, 1, marks=pytest.mark.slow),
    ],
)
def test_no_recorded_page_has_an_accessibility_fault_or_scrolls_sideways(
    opened: Visit, recorded_site: Path, host: str, scheme: str, size: dict[str, int], every: int
) -> None:
    page = opened(f"{host}/index.html", color_scheme=scheme, viewport=size, reduced_motion="reduce")
    found = {"index": faults(page)}
    for row in FEATURES[::every]:
        path = next((recorded_site / row.slug).glob("1-*.html"))
        page.goto(f"{host}/{path.relative_to(recorded_site).as_posix()}")
        found[row.slug] = faults(page)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        expect(page.locator("header [aria-current]")).to_be_in_viewport(ratio=0.9)
        # The tiny model has no figures, and other labels than the tables.
        if size == LAPTOP and row.slug not in ("model_card", "data"):
            found[row.slug] += cut_off(page, row.slug)
    assert {name: each for name, each in found.items() if each} == {}


def test_a_fold_is_unfolded_on_paper(opened: Visit, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(document("A page", style(), fold("More", tag("p", "folded"))))
    page = opened(file.as_uri())
    expect(page.get_by_text("folded")).not_to_be_visible()
    page.emulate_media(media="print")
    expect(page.get_by_text("folded")).to_be_visible()


def test_what_is_printed_has_no_menu(opened: Visit, host: str) -> None:
    page = opened(f"{host}/{FIRST}.html")
    page.emulate_media(media="print")
    expect(page.get_by_role("navigation")).to_have_count(0)
    expect(page.locator("figure.bx-picture").first).to_be_visible()
    expect(page.get_by_text("Recorded on 2026-11-22.")).to_be_visible()


def test_in_the_frame_of_a_space_the_address_follows(browser: Browser, recorded_site: Path) -> None:
    def serve(route: Route) -> None:
        parts = urlsplit(route.request.url)
        if parts.hostname == "huggingface.co":
            route.fulfill(body=AROUND, content_type="text/html")
        else:
            route.fulfill(path=recorded_site / parts.path.lstrip("/"), content_type="text/html")

    context = browser.new_context()
    context.route("**/*", serve)
    page = context.new_page()
    page.goto("https://huggingface.co/spaces/someone/bert")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("heading", level=1)).to_have_text("Question answering")
    page.wait_for_function("window.heard.length")
    assert page.evaluate("window.heard") == [[SPACE, {"queryString": "", "hash": f"#{FIRST}"}]]
    frame.get_by_role("link", name="BERT Explorer").click()
    page.wait_for_function("window.heard.length > 1")
    assert page.evaluate("window.heard[1][1]") == {"queryString": "", "hash": ""}
    context.close()


def test_an_address_opens_only_pages_of_the_folder(opened: Visit, host: str) -> None:
    for wanted in ("../../etc/passwd", "javascript:alert(1)", "//evil.example/x"):
        page = opened(f"{host}/index.html#{wanted}")
        expect(page.get_by_role("heading", level=1)).to_have_text("BERT Explorer")
        assert urlsplit(page.url).path == "/index.html"

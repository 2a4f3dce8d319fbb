"""The Gradio interface in a real browser: every page answers, for everybody, on every screen."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from app.catalog import FEATURES, examples
from app.lessons.shelf import lesson
from tests.e2e.conftest import faults
from tests.e2e.test_stage import cut_off

Visit = Callable[..., Page]
DESK, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}

pytestmark = pytest.mark.e2e


def answered(page: Page) -> str:
    """Wait for an answer; return its first sentence."""
    expect(page.locator(".bx-headline")).to_be_visible()
    expect(page.locator(".bx-result .bx-beware")).to_be_visible()
    return page.locator(".bx-headline").inner_text()


def text_box(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("^Text"))


def tour(page: Page) -> Iterator[str]:
    """Go to every page through the menu."""
    for row in FEATURES:
        menu = page.get_by_role("navigation", name="Pages")
        menu.get_by_role("link", name=row.title, exact=True).click()
        expect(page).to_have_title(f"{row.title} · BERT Explorer")
        answered(page)
        yield row.slug


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", DESK), pytest.param("dark", PHONE, marks=pytest.mark.slow)]
)
def test_every_page_answers_in_the_first_screen_without_a_fault(
    visit: Visit, scheme: str, size: dict[str, int]
) -> None:
    page = visit("gradio/", viewport=size, color_scheme=scheme, reduced_motion="reduce")
    expect(page.get_by_role("heading", name="BERT Explorer")).to_be_visible()
    found = {"": faults(page)}
    for slug in tour(page):
        first_screen(page, slug)
        found[slug] = faults(page)
    assert {slug: each for slug, each in found.items() if each} == {}


def test_a_question_mark_leads_to_the_lesson_of_its_page(visit: Visit) -> None:
    page = visit("gradio/ner", viewport=DESK)
    page.locator(".bx-result .bx-hint summary").first.click()
    page.get_by_role("link", name=lesson("names").title).first.click()
    expect(page.get_by_role("heading", name=lesson("names").title)).to_be_visible()
    expect(page.locator(".bx-reveal")).to_have_count(len(lesson("names").steps))


def first_screen(page: Page, slug: str) -> None:
    size = page.viewport_size
    assert size is not None
    expect(page.locator(".bx-menu [aria-current]")).to_be_in_viewport(ratio=0.9)
    bottom = page.locator(".bx-headline").bounding_box()
    assert bottom is not None and bottom["y"] + bottom["height"] < size["height"], slug
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], slug
    if size == DESK:
        assert cut_off(page, slug) == []
        assert page.locator(".bx-menu").evaluate("at => at.scrollWidth - at.clientWidth") <= 0


def test_a_page_is_used_with_the_keyboard_alone(visit: Visit) -> None:
    page = visit("gradio/fill_mask")
    before = answered(page)
    box = text_box(page)
    box.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("The sky is [MASK].")
    expect(page.locator(".bx-result .bx-example:visible")).to_have_count(0)  # of another text
    expect(page.get_by_label("Examples")).to_have_value("")
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".bx-headline")).not_to_have_text(before)
    expect(page).to_have_url(re.compile(r"text=The\+sky"))
    page.keyboard.press("Tab")
    reached = [page.evaluate("document.activeElement.innerText || document.activeElement.type")]
    for _ in range(6):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText"))
    assert "Run" in reached and any("Settings" in str(each) for each in reached)


def test_examples_settings_and_json(visit: Visit) -> None:
    page = visit("gradio/fill_mask")
    before = answered(page)
    page.get_by_label("Examples").click()
    page.get_by_role("option", name=examples("fill_mask")[1].label).click()
    expect(page.locator(".bx-headline")).not_to_have_text(before)
    expect(page.locator(".bx-result")).to_contain_text(examples("fill_mask")[1].note[:40])
    page.get_by_role("button", name="Settings").click()
    number = page.get_by_label(re.compile("number input for Candidates"))
    number.click()
    page.keyboard.press("Control+A")
    page.keyboard.type("7")
    page.keyboard.press("Tab")
    expect(number).to_have_value("7")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".bx-result tbody tr")).to_have_count(7)
    page.get_by_role("button", name="As JSON").click()
    expect(page.get_by_text('"slots"').first).to_be_visible()
    page.locator(".bx-result summary", has_text="Numbers and files").first.click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").first.click()
    assert saved.value.suggested_filename.endswith(".csv")


def test_both_faces_link_to_each_other(visit: Visit) -> None:
    page = visit("ner")
    api = page.get_by_role("link", name="API", exact=True)
    assert (api.get_attribute("href") or "").endswith("api/openapi.json")
    page.get_by_role("link", name="Gradio", exact=True).click()
    expect(page).to_have_url(re.compile("/gradio/ner$"))
    answered(page)
    page.get_by_role("link", name="This page on the full site").click()
    expect(page).to_have_url(re.compile(r"/ner(\?.*)?$"))
    expect(page.get_by_role("heading", name="Named entities")).to_be_visible()

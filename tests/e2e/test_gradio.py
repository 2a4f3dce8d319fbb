"""The Gradio interface in a real browser: every page answers, for everybody, on every screen."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from app.catalog import FEATURES, examples
from tests.e2e.conftest import faults
from tests.e2e.test_journey import PHONE, Visit
from tests.e2e.test_stage import LAPTOP, cut_off

SCRIPT = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title='taken'\">"

pytestmark = pytest.mark.e2e


def answered(page: Page) -> str:
    """Wait for an answer; return its first sentence."""
    expect(page.locator(".bx-headline")).to_be_visible()
    expect(page.locator(".bx-result .bx-beware")).to_be_visible()
    return page.locator(".bx-headline").inner_text()


def text_box(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("^Text"))


@pytest.mark.parametrize(
    ("scheme", "size", "every"),
    [
        pytest.param("light", LAPTOP, 6, id="some"),
        pytest.param("light", LAPTOP, 1, marks=pytest.mark.slow),
        pytest.param("dark", PHONE, 1, marks=pytest.mark.slow),
    ],
)
def test_a_page_answers_in_the_first_screen_without_a_fault(
    visit: Visit, scheme: str, size: dict[str, int], every: int
) -> None:
    page = visit("gradio/", viewport=size, color_scheme=scheme, reduced_motion="reduce")
    expect(page.get_by_role("heading", name="BERT Explorer")).to_be_visible()
    found = {"": faults(page)}
    for row in FEATURES[::every]:
        menu = page.get_by_role("navigation", name="Pages")
        menu.get_by_role("link", name=row.title, exact=True).click()
        expect(page).to_have_title(f"{row.title} · BERT Explorer")
        answered(page)
        expect(page.locator(".bx-menu [aria-current]")).to_be_in_viewport(ratio=0.9)
        bottom = page.locator(".bx-headline").bounding_box()
        assert bottom is not None and bottom["y"] + bottom["height"] < size["height"], row.slug
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], row.slug
        if size == LAPTOP:
            assert cut_off(page, row.slug) == []
            assert page.locator(".bx-menu").evaluate("at => at.scrollWidth - at.clientWidth") <= 0
        found[row.slug] = faults(page)
    assert {slug: each for slug, each in found.items() if each} == {}


def test_a_page_is_used_with_the_keyboard_and_texts_of_strangers_stay_text(visit: Visit) -> None:
    page = visit("fill_mask")
    api = page.get_by_role("link", name="API", exact=True)
    assert (api.get_attribute("href") or "").endswith("api/openapi.json")
    page.get_by_role("link", name="Gradio", exact=True).click()
    expect(page).to_have_url(re.compile("/gradio/fill_mask$"))
    before = answered(page)
    back = page.get_by_role("link", name="This page on the full site")
    expect(back).to_have_attribute("href", re.compile(r"/fill_mask(\?.*)?$"))
    page.get_by_label("Examples").click()
    page.get_by_role("option", name=examples("fill_mask")[1].label).click()
    expect(page.locator(".bx-headline")).not_to_have_text(before)
    expect(page.locator(".bx-result")).to_contain_text(examples("fill_mask")[1].note[:40])
    before = answered(page)
    text_box(page).focus()
    page.keyboard.press("Control+A")
    page.keyboard.type(f"{SCRIPT} {{{{7*7}}}} ${{7*7}} the sky is [MASK].")
    expect(page.locator(".bx-result .bx-example:visible")).to_have_count(0)  # of another text
    expect(page.get_by_label("Examples")).to_have_value("")
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".bx-headline")).not_to_have_text(before)
    for each in ("<script>", "{{7*7}}", "${7*7}"):
        expect(page.locator(".bx-result")).to_contain_text(each)
    expect(page).to_have_url(re.compile(r"the\+sky"))
    assert page.locator(".bx-result :is(script, img)").count() == 0
    assert page.title() == "Fill-mask · BERT Explorer"
    page.keyboard.press("Tab")
    reached = [page.evaluate("document.activeElement.innerText || document.activeElement.type")]
    for _ in range(6):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText"))
    assert "Run" in reached and any("Settings" in str(each) for each in reached)


def test_the_documentation_for_programs_opens(visit: Visit) -> None:
    page = visit("gradio/fill_mask")
    answered(page)
    page.get_by_role("button", name=re.compile("Use via API")).click()
    page.get_by_text("Python", exact=True).first.click()
    expect(page.get_by_text("/fill_mask").filter(visible=True).first).to_be_visible()

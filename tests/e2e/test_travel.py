"""A visitor's text goes along by the menu, on both interfaces and at every size."""

import pytest
from playwright.sync_api import Locator, Page, expect

from app.catalog import examples, feature, pages
from app.declared.carried import UNFIT
from tests.e2e.conftest import settled, wait_until
from tests.e2e.test_journey import Visit, go, write

pytestmark = pytest.mark.e2e

DESK = {"width": 1280, "height": 720}
SENTENCE = "Marie Curie worked in Paris."
LONG = "The quick brown fox jumps over the lazy dog in the old town. " * 60
HAS_BOX = "(text) => [...document.querySelectorAll('textarea')].some((box) => box.value === text)"


def first(page: Page) -> Locator:
    return page.locator("textarea:visible").first


def answered(page: Page) -> None:
    """Wait for an answer of the Gradio interface, or for the reason why there is none."""
    expect(page.locator(".bx-result")).to_be_visible()
    expect(page.locator(".bx-result :is(.bx-beware, .bx-note)").first).to_be_visible()
    wait_until(page, "() => Boolean(history.state?.bx)")


def follow(page: Page, slug: str) -> None:
    """Open a page of the Gradio interface through its menu."""
    title = feature(slug).title
    menu = page.get_by_role("navigation", name="Pages")
    menu.get_by_role("link", name=title, exact=True).click()
    expect(page).to_have_title(f"{title} · BERT Explorer")
    answered(page)


def test_what_a_page_writes_late_does_not_overwrite_the_one_that_back_led_to(
    visit: Visit,
) -> None:
    page = visit(f"tokenizer?text={SENTENCE}", viewport=DESK)
    go(page, "senses")
    late = """() => new Promise((done) => {
        addEventListener("popstate", () => {
            history.replaceState({}, "", "/senses");
            done(location.pathname);
        }, { once: true });
        history.back();
    })"""
    assert page.evaluate(late) == "/tokenizer"
    settled(page, "tokenizer")
    wait_until(page, HAS_BOX, SENTENCE)


def test_a_text_too_long_for_an_address_goes_along_too(visit: Visit) -> None:
    page = visit("tokenizer", viewport=DESK)
    write(page, "Text", LONG)
    expect(page.get_by_text("A link to this page works for one day")).to_be_visible()
    wait_until(page, "() => location.search.includes('kept=')")  # else Back has nothing to lead to
    go(page, "ner")
    expect(first(page)).to_have_value(LONG)
    wait_until(page, "() => location.search.includes('kept=')")
    page.go_back()
    expect(page.get_by_role("heading", level=1, name="Tokenizer")).to_be_visible()
    expect(first(page)).to_have_value(LONG)


@pytest.mark.slow
def test_on_the_second_face_a_text_goes_along_by_the_menu_and_back_finds_each_page_as_it_was(
    visit: Visit,
) -> None:
    page = visit("gradio/ner", viewport=DESK)
    answered(page)
    box = page.locator("#bx-text-text textarea")
    example = box.input_value()
    follow(page, "tokenizer")
    assert box.input_value() == str(examples("tokenizer")[0].values["text"])  # nothing was typed
    page.go_back()
    answered(page)
    expect(box).to_have_value(example)
    box.fill(SENTENCE)  # and straight to the menu
    for row in pages():
        follow(page, row.slug)
        if row.slug in UNFIT:
            expect(page.get_by_text(UNFIT[row.slug])).to_be_visible()
        elif row.takes_text:
            expect(box).to_have_value(SENTENCE)
    follow(page, "fill_mask")
    box.fill(SENTENCE.replace("Paris", "___"))
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".bx-headline")).to_contain_text("The model would write")
    follow(page, "ner")
    expect(box).to_have_value(SENTENCE)
    page.go_back()
    answered(page)
    expect(box).to_have_value(SENTENCE.replace("Paris", "___"))
    page.reload()
    answered(page)
    expect(box).to_have_value(SENTENCE.replace("Paris", "___"))

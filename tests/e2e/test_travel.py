"""A visitor's text goes along by the menu, on both interfaces and at every size."""

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from app.catalog import examples, feature, pages
from app.declared.carried import UNFIT
from tests.e2e.conftest import settled, wait_until
from tests.e2e.test_journey import go, write

pytestmark = pytest.mark.e2e

Visit = Callable[..., Page]
DESK = {"width": 1280, "height": 720}
SENTENCE = "Marie Curie worked in Paris."
LONG = "The quick brown fox jumps over the lazy dog in the old town. " * 60
HAS_BOX = "(text) => [...document.querySelectorAll('textarea')].some((box) => box.value === text)"
TEXTS = [row.slug for row in pages() if row.takes_text]


def boxes(page: Page) -> list[str]:
    return [box.input_value() for box in page.locator("textarea:visible").all()]


def has_boxes(page: Page, *texts: str) -> None:
    """Wait until these texts are in the boxes that can be seen."""
    for at, text in enumerate(texts):
        expect(page.locator("textarea:visible").nth(at)).to_have_value(text)
    expect(page.locator("textarea:visible")).to_have_count(len(texts))


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


@pytest.mark.slow
def test_a_newcomer_who_types_a_sentence_keeps_it_on_every_page_by_the_menu_alone(
    visit: Visit,
) -> None:
    page = visit("", viewport=DESK)
    page.get_by_role("textbox", name="Your sentence").fill(SENTENCE)  # and straight to the menu
    seen = []
    for row in pages():
        go(page, row.slug)
        if row.slug in UNFIT:
            expect(page.get_by_text(UNFIT[row.slug])).to_be_visible()
            assert SENTENCE not in boxes(page)
        elif row.takes_text:
            assert SENTENCE in boxes(page), row.slug
            assert "text=Marie" in page.url
            seen.append(page.url)
    go(page, "")
    expect(page.get_by_role("textbox", name="Your sentence")).to_have_value(SENTENCE)
    assert len(seen) == len(TEXTS) - len(UNFIT)
    for url in reversed(seen):  # and back through all of them
        for _ in pages():
            if page.url == url:
                break
            page.go_back()
            settled(page, urlsplit(page.url).path.strip("/"))
        assert page.url == url
        wait_until(page, HAS_BOX, SENTENCE)


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


def test_a_page_with_two_boxes_says_what_the_second_one_waits_for(visit: Visit) -> None:
    page = visit(f"ner?text={SENTENCE}", viewport=DESK)
    go(page, "qa")
    has_boxes(page, "Where did Marie Curie work?", SENTENCE)
    expect(page.locator(".bx-answer")).to_contain_text("Paris")
    go(page, "next_sentence")
    expect(page.get_by_text("Write a sentence in each box")).to_be_visible()
    write(page, "Second sentence", "She was a chemist.")
    expect(page.get_by_role("main").get_by_role("status")).to_be_visible()
    go(page, "xray")
    has_boxes(page, SENTENCE, "She was a chemist.")


def test_a_page_that_needs_a_gap_offers_one_and_others_get_the_whole_sentence(visit: Visit) -> None:
    page = visit(f"ner?text={SENTENCE}", viewport=DESK)
    go(page, "why")
    expect(page.get_by_text("The text has no [MASK]")).to_be_visible()
    page.get_by_role("button", name="Hide “Paris”").click()
    expect(first(page)).to_have_value("Marie Curie worked in [MASK].")
    expect(page.get_by_text("The model’s answer")).to_be_visible()
    go(page, "fill_mask")
    expect(first(page)).to_have_value("Marie Curie worked in [MASK].")
    go(page, "classification")
    expect(first(page)).to_have_value(SENTENCE)


def test_examples_stay_until_the_visitor_types_and_a_chosen_one_is_not_overwritten(
    visit: Visit,
) -> None:
    page = visit("ner", viewport=DESK)
    for slug in ("tokenizer", "classification", "ner"):
        go(page, slug)
        expect(first(page)).to_have_value(str(examples(slug)[0].values["text"]))
    write(page, "Text", SENTENCE)
    go(page, "classification")
    expect(first(page)).to_have_value(SENTENCE)
    page.get_by_role("button", name="Examples").click()
    page.locator(".st-key-_example_2 button").click()
    chosen = str(examples("classification")[2].values["text"])
    expect(first(page)).to_have_value(chosen)
    page.keyboard.press("Escape")
    go(page, "tokenizer")
    expect(first(page)).to_have_value(SENTENCE)
    go(page, "classification")
    expect(first(page)).to_have_value(chosen)


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


def test_on_the_second_face_an_example_is_no_text_of_the_visitor(visit: Visit) -> None:
    page = visit("gradio/ner", viewport=DESK)
    answered(page)
    box = page.locator("#bx-text-text textarea")
    box.fill(SENTENCE)
    page.get_by_label("Examples").click()
    page.get_by_role("option", name=examples("ner")[1].label).click()
    expect(box).to_have_value(str(examples("ner")[1].values["text"]))
    expect(page.locator(".bx-result")).to_contain_text(examples("ner")[1].note[:30])
    follow(page, "tokenizer")
    expect(box).to_have_value(str(examples("tokenizer")[0].values["text"]))
    answered(page)


def test_back_shows_the_text_of_then_and_the_menu_takes_that_one_along(visit: Visit) -> None:
    page = visit(f"ner?text={SENTENCE}", viewport=DESK)
    go(page, "tokenizer")
    write(page, "Text", "Quite another text.")
    wait_until(page, "() => location.search.includes('Quite')")  # else Back leads further
    settled(page)
    page.go_back()
    expect(first(page)).to_have_value(SENTENCE)
    settled(page)
    go(page, "classification")
    expect(first(page)).to_have_value(SENTENCE)

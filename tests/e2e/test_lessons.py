"""A new visitor's way: Home, a path, a lesson by keyboard, a page and back, the next lesson.

And every step of every lesson fits on a laptop's screen; the last one is looked at on a phone and
in the dark.
"""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from app.engine.models import open_engine
from app.lessons.paths import paths
from app.lessons.sheet import sheet
from app.lessons.shelf import lesson, shelf
from tests.e2e.conftest import faults, settled, wait_until
from tests.e2e.test_stage import LAPTOP, LETTERS, NARROW, PHONE, PROJECTOR, Visit

pytestmark = pytest.mark.e2e

LOWEST = """() => Math.max(...[".st-key-bx-give", ".st-key-bx-answer"].map((name) =>
    document.querySelector(name).getBoundingClientRect().bottom))"""
FOCUS = "name => document.activeElement.textContent === name"


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    settled(page)


def guess(page: Page) -> None:
    """Guess something, whatever is asked, and show the answer."""
    place = page.locator('[class*="st-key-_guess_"]')
    settled(page)
    if place.count():
        expect(place.locator("input, button").first).to_be_attached()
    if place.get_by_role("radio").count():
        labels = place.get_by_role("radiogroup").locator("label")
        (labels if labels.count() else place.get_by_role("radio")).last.click()
    elif place.get_by_role("combobox").count():
        for _ in range(4):
            place.get_by_role("combobox").click()
            page.keyboard.press("Enter")
            settled(page)
        page.keyboard.press("Escape")
    elif place.get_by_role("slider").count():
        place.get_by_role("slider").first.press("ArrowRight")
    elif place.get_by_role("textbox").count():
        place.get_by_role("textbox").fill("coach")
        page.keyboard.press("Enter")
    elif place.count():
        place.get_by_role("button").first.click()
    settled(page)
    page.locator('[class*="st-key-_show_"] button').click()
    expect(page.locator(".bx-cover")).to_have_count(0)
    settled(page)


def reason(page: Page) -> None:
    """Choose the first reason, if one is asked for."""
    reasons = page.locator('[class*="st-key-_why_"]').get_by_role("button")
    if reasons.count():
        reasons.first.click()
        expect(reasons).to_have_count(0)
        settled(page)


def test_a_new_visitor_is_led_from_home_through_a_lesson_to_a_page_and_back(visit: Visit) -> None:
    page = visit("", viewport=LAPTOP, reduced_motion="reduce")
    press(page, "In fifteen minutes")
    press(page, "1. What does it read instead of words?")
    expect(page.locator(".bx-cover")).to_be_visible()
    wait_until(page, "() => location.search.includes('lesson=pieces')")
    guess(page)
    heard = page.locator("body > [role=status]")
    expect(heard.filter(has_text="such words")).to_be_visible()  # it stays
    wait_until(page, FOCUS, lesson("pieces").steps[0].heading)  # the button is gone
    reason(page)
    box = page.locator('[class*="st-key-_edit_"] textarea')
    box.fill("unquestionably")
    box.press("Control+Enter")
    expect(page.locator(".bx-watch")).to_contain_text("in all:")
    press(page, "Open in “Tokenizer”")
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("unquestionably")
    press(page, "Back to the lesson")
    expect(page.locator(".bx-reveal")).to_be_visible()  # what was guessed is still known
    page.get_by_role("button", name="Next", exact=True).press("Enter")
    heading = lesson("pieces").steps[1].heading
    wait_until(page, FOCUS, heading)
    wait_until(page, "() => location.search.includes('step=2')")
    page.reload()
    settled(page)
    expect(page.get_by_role("heading", name=heading)).to_be_visible()
    page.locator(".st-key-bx-steps").get_by_text("End", exact=True).click()
    press(page, "Next lesson: Can the end of a sentence change its beginning?")
    wait_until(page, "() => location.search.includes('lesson=both-sides')")
    expect(page.get_by_role("heading", name="Your word and its word")).to_be_visible()
    press(page, "All lessons")
    ticks = page.locator('[data-tick="pieces"]').first
    expect(ticks).to_have_text("1 of 5 steps · ")
    page.get_by_role("button", name="Clear them").click()
    expect(ticks).to_have_text("")


FIRST = ("know-or-copy",)


@pytest.mark.parametrize(
    "slug",
    [
        pytest.param(each, marks=() if each in FIRST else pytest.mark.slow)
        for each in shelf().lessons
    ],
)
def test_no_step_needs_scrolling_on_a_laptop_and_the_last_suits_every_screen(
    visit: Visit, slug: str
) -> None:
    page = visit(f"lessons?lesson={slug}", viewport=LAPTOP, reduced_motion="reduce")
    for number, step in enumerate(lesson(slug).steps, 1):
        expect(page.get_by_role("heading", name=step.heading)).to_be_visible()
        settled(page)  # the run that has drawn the heading is over
        assert page.evaluate(LOWEST) <= LAPTOP["height"], (number, "covered")
        guess(page)
        assert page.evaluate(LOWEST) <= LAPTOP["height"], (number, "shown")
        reason(page)
        assert page.evaluate(LOWEST) <= LAPTOP["height"], (number, "explained")
        if number < len(lesson(slug).steps):
            press(page, "Next")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(PHONE)
    wait_until(page, NARROW)
    assert faults(page) == []
    page.set_viewport_size(PROJECTOR)
    wait_until(page, f"() => !Object.keys(({LETTERS})()).length")  # once the new size is laid out


@pytest.mark.slow
def test_a_lesson_is_printed_as_a_page_and_the_lists_have_no_faults(visit: Visit) -> None:
    page = visit("lessons?lesson=pieces&read=true", viewport=LAPTOP, reduced_motion="reduce")
    assert faults(page) == []
    page.emulate_media(media="print")
    expect(page.locator(".st-key-bx-steps")).to_be_hidden()
    expect(page.get_by_role("heading", name="5. Other languages")).to_be_visible()
    page.emulate_media(media="screen")
    page.goto("/lessons")
    settled(page)
    expect(page.locator("[data-tick]").first).to_be_attached()
    assert faults(page) == []
    page.emulate_media(color_scheme="dark")
    page.goto("/lessons?terms=true")
    expect(page.locator(".bx-terms li").first).to_be_visible()
    settled(page)
    assert faults(page) == []


@pytest.mark.slow
def test_the_sheet_for_a_teacher_is_two_pages_of_any_paper(browser: Browser) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        for slug in paths()[1].lessons:
            found = sheet(open_engine(), lesson(slug), "http://127.0.0.1:8501")
            page.set_content(found.decode("utf-8"))
            for paper in ("A4", "Letter"):
                printed = page.pdf(format=paper)
                assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 2, (slug, paper)

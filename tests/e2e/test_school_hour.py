"""One visit from the first page to the end of a class: three lessons, an exercise, four browsers.

Each part is tested more closely elsewhere; here they follow each other in one session.
"""

import re

import pytest
from playwright.sync_api import Page, expect

from app.lessons.paths import paths
from app.lessons.records import Step
from app.lessons.shelf import lesson
from app.lessons.view import unmarked
from tests.e2e.conftest import wait_until
from tests.e2e.test_class import phone, vote
from tests.e2e.test_journey import go
from tests.e2e.test_lessons import FOCUS, guess, press, reason
from tests.e2e.test_stage import LAPTOP, Visit

pytestmark = pytest.mark.e2e

FOLLOWED = paths()[0]
ASKED = "([key, value]) => new URLSearchParams(location.search).get(key) === value"


def play(page: Page, step: Step) -> None:
    """Guess, look, say why, and change something, as far as the step asks for it."""
    expect(page.get_by_role("heading", name=step.heading)).to_be_visible()
    guess(page)
    expect(page.locator(".bx-reveal")).to_be_visible()
    reason(page)
    if step.change:
        box = page.locator('[class*="st-key-_edit_"] textarea').first
        box.press("End")
        box.press_sequentially(" Then it was late.")
        box.press("Control+Enter")
        expect(page.locator(".bx-watch")).to_be_visible()


@pytest.mark.slow
def test_a_visitor_plays_three_lessons_does_an_exercise_and_holds_a_class(visit: Visit) -> None:
    page = visit("", viewport=LAPTOP, reduced_motion="reduce")
    page.get_by_role("button", name=FOLLOWED.title, exact=True).click()
    expect(page).to_have_url(re.compile(f"/{FOLLOWED.slug}"))
    name = f"1. {lesson(FOLLOWED.lessons[0]).title}"
    page.get_by_role("button", name=name, exact=True).click()
    for slug, after in zip(FOLLOWED.lessons, [*FOLLOWED.lessons[1:], None], strict=True):
        play_first_and_last(page, slug)
        if after:
            name = f"Next lesson: {lesson(after).title}"
            page.get_by_role("button", name=name, exact=True).press("Enter")
    page.get_by_role("button", name="All lessons", exact=True).click()
    for slug in FOLLOWED.lessons:
        ticks = page.locator(f'[data-tick="{slug}"]').first
        expect(ticks).to_have_text(f"2 of {len(lesson(slug).steps)} steps · ")
    do_an_exercise(page)
    hold_a_class(page, visit)


def play_first_and_last(page: Page, slug: str) -> None:
    """Play two steps of a lesson; `test_lessons` plays them all."""
    steps = lesson(slug).steps
    wait_until(page, ASKED, ["lesson", slug])
    play(page, steps[0])
    page.get_by_role("button", name="Next", exact=True).press("Enter")
    wait_until(page, FOCUS, steps[1].heading)
    wait_until(page, ASKED, ["step", "2"])
    page.locator(".st-key-bx-steps").get_by_text(str(len(steps)), exact=True).click()
    wait_until(page, ASKED, ["step", str(len(steps))])
    play(page, steps[-1])
    page.get_by_role("button", name="Next", exact=True).press("Enter")
    expect(page.get_by_role("main")).to_contain_text(unmarked(lesson(slug).last))


def do_an_exercise(page: Page) -> None:
    """Train what the first exercise of the lab is about."""
    go(page, "lab")
    page.get_by_role("combobox", name="What if").select_option(
        label="the learning rate is 15 times higher"
    )
    page.get_by_role("combobox", name="Your guess").select_option("worse")
    page.get_by_role("button", name="Train here").press("Enter")
    expect(page.locator(".bx-lab-state")).to_contain_text("You predicted: worse.")


def hold_a_class(teacher: Page, visit: Visit) -> None:
    """Let three phones join the last lesson of the path, vote, and see the votes."""
    found = lesson(FOLLOWED.lessons[-1])
    teacher.goto(f"/lessons?lesson={found.slug}")
    expect(teacher.get_by_role("heading", name=found.steps[0].heading)).to_be_visible()
    press(teacher, "Start a class")
    code = teacher.locator(".bx-code").inner_text()
    phones = [phone(visit, code) for _ in range(3)]
    expect(teacher.locator(".count")).to_have_text("3 here, 0 answered")
    for each, choice in zip(phones, (0, 1, 1), strict=True):
        vote(each, choice)
    expect(teacher.locator(".count")).to_have_text("3 here, 3 answered")
    press(teacher, "Show votes")
    for each in (teacher, *phones):
        expect(each.locator(".votes")).to_have_text(["1", "2", "0"])
    press(teacher, "Show")
    expect(teacher.locator(".bx-reveal")).to_be_visible()
    for each in phones:
        expect(each.get_by_role("status")).to_contain_text("The model:")
    press(teacher, "End the class")
    press(teacher, "End it now")
    for each in phones:
        expect(each.get_by_role("status")).to_have_text("The class has ended.")
    expect(teacher.get_by_role("button", name="Start a class")).to_be_visible()

"""A class: a teacher at 1280 x 720 and two phones, from the first vote to the end."""

import pytest
from playwright.sync_api import Page, expect

from app.lessons.shelf import lesson
from tests.e2e.conftest import faults, settled, wait_until
from tests.e2e.test_stage import LAPTOP, NARROW, PHONE, Visit

pytestmark = pytest.mark.e2e

BAD = "<img/src=x/onerror=hit=1>"
IN_SIGHT = """name => [...document.querySelectorAll("button")].some((each) =>
    each.textContent === name && each.getBoundingClientRect().bottom < innerHeight)"""


def begun(visit: Visit, slug: str) -> tuple[Page, str]:
    """Open a lesson and start a class; return the teacher's page and the code."""
    page = visit(f"lessons?lesson={slug}", viewport=LAPTOP, reduced_motion="reduce")
    page.get_by_role("button", name="Start a class").click()
    code = page.locator(".bx-code").inner_text()
    settled(page)
    return page, code


def phone(visit: Visit, code: str, scheme: str = "light") -> Page:
    """Join a class by its link, or without one by typing the code."""
    page = visit(
        "class" if scheme == "dark" else f"class/{code}",
        viewport=PHONE, color_scheme=scheme, reduced_motion="reduce",
        has_touch=True, is_mobile=True,
    )  # fmt: skip
    if scheme == "dark":
        page.get_by_role("button", name="Join").click()
        expect(page.get_by_role("status")).to_contain_text("Type the code")
        assert faults(page) == []
        box = page.get_by_role("textbox", name="Code of the class")
        for each, says in ((" aca-xy9 ", "There is no class with this code"), (code, "")):
            box.fill(each)
            page.keyboard.press("Enter")
            expect(page.get_by_role("status")).to_contain_text(says)
    expect(page.locator("#form")).to_be_visible()
    return page


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    settled(page)


def vote(page: Page, choice: int) -> None:
    page.get_by_role("radio").nth(choice).check()
    page.get_by_role("button").click()
    expect(page.get_by_role("status")).to_contain_text("Your guess is in")


def test_a_class_votes_talks_votes_again_and_sees_what_the_model_does(visit: Visit) -> None:
    teacher, code = begun(visit, "know-or-copy")
    assert teacher.locator(".bx-qr").evaluate("each => each.getBoundingClientRect().bottom") < 720
    phones = [phone(visit, code.lower(), scheme) for scheme in ("light", "dark")]
    panel = teacher.locator(".count")
    expect(panel).to_have_text("2 here, 0 answered")
    for each, choice in zip(phones, (0, 1), strict=True):
        vote(each, choice)
        wait_until(each, NARROW)
    expect(panel).to_have_text("2 here, 2 answered")
    wait_until(teacher, IN_SIGHT, "Show votes")
    expect(phones[0].locator(".say")).to_be_visible()
    vote(phones[1], 2)  # changed, not added
    teacher.get_by_text("Votes so far").click()
    expect(teacher.locator(".votes")).to_have_text(["1", "0", "1"])
    phones[0].reload()
    expect(phones[0].get_by_role("status")).to_contain_text("Your guess is in")
    expect(phones[0].get_by_role("radio").nth(0)).to_be_checked()
    press(teacher, "Show votes")
    for each in phones:
        expect(each.locator(".votes")).to_have_text(["1", "0", "1"])
        expect(each.locator("#form")).to_be_hidden()
        assert "paris (the model)" not in each.locator("main").inner_text()
    press(teacher, "Vote again")
    for each in phones:
        expect(each.get_by_role("button", name="Send my guess")).to_be_visible()
        vote(each, 1)
    expect(panel).to_have_text("2 here, 2 answered")
    press(teacher, "Show the answer")
    expect(teacher.locator(".bx-reveal")).to_be_visible()
    expect(teacher.locator(".votes")).to_have_text(["1 → 0", "0 → 2", "1 → 0"])
    for each in phones:
        expect(each.get_by_role("status")).to_have_text("The model: paris")
        expect(each.get_by_text("What it learned is stronger")).to_be_visible()  # the reply to it
    assert [faults(each) for each in (teacher, *phones)] == [[], [], []]
    press(teacher, "Next")
    heading = lesson("know-or-copy").steps[1].heading
    for each in phones:
        expect(each.get_by_role("heading", name=heading)).to_be_visible()
    teacher.reload()
    settled(teacher)
    expect(teacher.locator(".count")).to_have_text("2 here, 0 answered")
    phones[1].close()
    expect(teacher.locator(".count")).to_have_text("1 here, 0 answered")
    press(teacher, "End the class")
    press(teacher, "End it now")
    expect(phones[0].get_by_role("status")).to_have_text("The class has ended.")
    expect(phones[0].locator("footer")).to_be_hidden()
    expect(teacher.get_by_role("button", name="Start a class")).to_be_visible()


@pytest.mark.slow
def test_a_word_stays_with_its_student_until_it_is_shown_and_two_teachers_stay_together(
    visit: Visit,
) -> None:
    teacher, code = begun(visit, "both-sides")
    phones = [phone(visit, code) for _ in range(2)]
    for each, word in zip(phones, (BAD, "Teacher"), strict=True):
        each.get_by_role("textbox").fill(word)
        each.keyboard.press("Enter")
        expect(each.get_by_role("status")).to_contain_text("Your guess is in")
    expect(teacher.locator(".count")).to_have_text("2 here, 2 answered")
    assert BAD not in teacher.content() and "onerror" not in phones[1].content()
    press(teacher, "Show votes")
    expect(teacher.locator(".words bdi")).to_have_text(["Teacher", BAD])
    teacher.get_by_role("button", name=f"Hide {BAD}").press("Enter")
    expect(teacher.locator(".words bdi")).to_have_text(["Teacher", "(hidden)"])
    settled(teacher)
    press(teacher, "Show the answer")
    expect(phones[0].locator(".words bdi")).to_have_text(["Teacher", "(hidden)"])
    expect(phones[0].locator(".votes").first).to_contain_text("%")
    for each in (teacher, *phones):
        assert each.evaluate("window.hit") is None and each.locator("img[onerror]").count() == 0
    press(teacher, "Next")
    link = teacher.locator("[data-copy*='class=']").get_attribute("data-copy") or ""
    second = visit(link.partition("/lessons")[2].join(["lessons", ""]), viewport=LAPTOP)
    assert "class=" not in second.url  # the key does not stay in the address
    expect(
        second.get_by_role("heading", name=lesson("both-sides").steps[1].heading)
    ).to_be_visible()
    press(second, "Next")
    heading = lesson("both-sides").steps[2].heading
    for each in (teacher, second, *phones):
        expect(each.get_by_role("heading", name=heading)).to_be_visible()
    wait_until(teacher, "() => location.search.includes('step=3')")
    settled(second)
    press(second, "End the class")
    press(second, "End it now")
    expect(second.get_by_role("button", name="Start a class")).to_be_visible()
    for each in phones:
        expect(each.locator("#status")).to_have_text("The class has ended.")

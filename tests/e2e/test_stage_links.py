"""The frame in a real browser: history, links, ways between pages, the menu, the presenter."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from app.catalog import GROUPS, examples, pages
from app.faces.streamlit.site import START
from app.lessons.paths import paths
from tests.e2e.conftest import settled, wait_until
from tests.e2e.test_journey import Visit, go

pytestmark = pytest.mark.e2e

LONG = "The river runs to the [MASK]. " + "It is a long way to the sea. " * 120
# Each ends in words of its own, which show that the answer is the one to this text.
CAT, OWLS = "The cat sat on the [MASK] at noon.", "Owls hunt at [MASK] in the woods."
TEA, RAIN = "We drank [MASK] together.", "Rain fell on the [MASK] for days."
DESK, LAPTOP = {"width": 1280, "height": 720}, {"width": 1024, "height": 768}
PHONE = {"width": 390, "height": 844}


def box(page: Page) -> Locator:
    return page.get_by_role("textbox").first


FOLLOWS = """([text, before]) => {
    const now = new URL(location.href).searchParams;
    return now.get("text") === text || (now.has("kept") && location.href !== before);
}"""


def place(page: Page) -> str:
    """The address as the page knows it; `page.url` may be late."""
    return str(page.evaluate("location.href"))


def write(page: Page, text: str) -> None:
    """Type a text, submit it, and wait until the address has it, or the key of a long one."""
    before = place(page)
    box(page).fill(text)
    box(page).press("Control+Enter")
    wait_until(page, FOLLOWS, [text, before])
    settled(page)


def height(page: Page) -> int:
    return int(page.evaluate("history.length"))


# -- Back and Forward ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Left:
    """How a page was left: its title, text, number of candidates, answer and address."""

    title: str
    text: str
    bars: int
    answer: str
    address: str


def answered(page: Page) -> None:
    """Wait until the answer is the one to the text in the box."""
    rest = box(page).input_value().rpartition("[MASK]")[2].strip()
    expect(page.locator(".bx-sentence").last).to_contain_text(rest[:30])
    settled(page)
    expect(page.locator(".bx-sentence")).to_have_count(1)


def left(page: Page) -> Left:
    settled(page)
    has_text = page.locator("textarea").count()
    if has_text:
        answered(page)
    return Left(
        title=page.get_by_role("heading", level=1).inner_text(),
        text=box(page).input_value() if has_text else "",
        bars=page.locator(".bx-wide .bx-svg-bar").count(),
        answer=page.locator(".bx-sentence").inner_text()[:60] if has_text else "",
        address=place(page),
    )


def expect_left(page: Page, was: Left) -> None:
    expect(page).to_have_url(was.address)
    expect(page.get_by_role("heading", level=1, name=was.title)).to_be_visible()
    if was.text:
        expect(box(page)).to_have_value(was.text)
        answered(page)
        expect(page.locator(".bx-sentence")).to_contain_text(was.answer.split("\n")[0])
        expect(page.locator(".bx-wide .bx-svg-bar")).to_have_count(was.bars)


@pytest.mark.slow
def test_ten_steps_back_and_forward_find_every_text_and_page_as_it_was_left(visit: Visit) -> None:
    page = visit("fill_mask", viewport=DESK)
    steps = [left(page)]

    def step(act: Callable[[], Any]) -> None:
        act()
        steps.append(left(page))

    def choose_example(number: int) -> None:
        page.get_by_role("button", name="Examples").click()
        page.locator(f".st-key-_example_{number} button").click()
        expect(box(page)).to_have_value(str(examples("fill_mask")[number].values["text"]))
        page.keyboard.press("Escape")

    step(lambda: write(page, CAT))
    step(lambda: write(page, OWLS))
    step(lambda: choose_example(2))
    step(lambda: write(page, LONG))
    step(lambda: go(page, "model_card"))
    step(lambda: go(page, "fill_mask"))
    step(lambda: write(page, LONG + "More."))
    step(lambda: write(page, TEA))
    step(lambda: page.locator(".bx-word").first.click() or expect(box(page)).to_have_value(
        "[MASK] drank [MASK] together."))  # fmt: skip
    step(lambda: write(page, RAIN))
    assert len({was.address for was in steps[:5]}) == 5
    assert steps[6].text == LONG  # the menu brings back the text
    assert height(page) == len(steps) + 1  # one entry for each act, and the blank page before
    for was in reversed(steps[:-1]):
        page.go_back()
        expect_left(page, was)
    for was in steps[1:]:
        page.go_forward()
        expect_left(page, was)


def test_the_theme_that_a_visitor_chooses_reaches_what_unfolds_and_every_picture(
    visit: Visit,
) -> None:
    page = visit("attention", viewport=DESK)
    for theme in ("Dark", "Light"):
        page.get_by_test_id("stMainMenu").get_by_role("button").first.click()
        page.get_by_role("menuitemradio", name=theme).click()
        page.keyboard.press("Escape")
        wait_until(page, THEME, theme.lower())
        page.get_by_role("button", name="Examples").click()
        expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
        wait_until(page, THEME, theme.lower())
        page.keyboard.press("Escape")


THEME = """theme => [".bx-att-paper", '[data-testid="stPopoverBody"]'].every((css) => {
    const at = document.querySelector(css), style = at && getComputedStyle(at);
    if (!at) return css !== ".bx-att-paper";
    return css === ".bx-att-paper" ? (style.filter !== "none") === (theme === "dark")
        : (style.colorScheme === "dark") === (theme === "dark");
})"""


def test_settings_make_no_entry_and_back_finds_text_page_and_model(visit: Visit) -> None:
    page = visit("fill_mask?set=true&text=Owls+hunt+at+%5BMASK%5D+in+the+woods.&model=second")
    before, slider = height(page), page.get_by_role("slider", name="Candidates")
    for count in (6, 7):
        slider.press("ArrowRight")
        expect(page).to_have_url(re.compile(f"k={count}"))
    assert height(page) == before
    seven = left(page)
    assert seven.bars == 7 and "model=second" in seven.address
    write(page, RAIN)
    slider.press("ArrowLeft")
    expect(page).to_have_url(re.compile("k=6"))
    go(page, "tokenizer")
    expect(box(page)).to_have_value(RAIN)  # as the menu brought it
    write(page, "Another text on another page.")
    page.go_back()
    expect(box(page)).to_have_value(RAIN)
    page.go_back()
    expect(page.get_by_role("heading", level=1, name="Fill-mask")).to_be_visible()
    expect(box(page)).to_have_value(RAIN)
    expect(page.locator(".bx-wide .bx-svg-bar")).to_have_count(6)
    settled(page)
    page.go_back()
    expect_left(page, seven)
    page.go_forward()
    expect(box(page)).to_have_value(RAIN)
    expect(page.locator(".bx-wide .bx-svg-bar")).to_have_count(6)


# -- ways between pages ----------------------------------------------------------------------------


def test_take_this_text_to_opens_the_target_at_its_top_and_back_returns(visit: Visit) -> None:
    page = visit("fill_mask?text=A+lone+%5BMASK%5D.", viewport={"width": 1280, "height": 400})
    page.get_by_role("button", name="Take this text to").click()
    scrolled = 'document.querySelector("[data-testid=stMain]").scrollTop'
    assert page.evaluate(scrolled) > 0  # the row is below what can be seen
    page.locator(".st-key-_send_next_sentence button").click()
    expect(page.get_by_role("heading", level=1, name="Next sentence")).to_be_visible()
    settled(page)
    assert page.evaluate(scrolled) == 0
    boxes = page.get_by_role("textbox")
    expect(boxes.nth(0)).to_have_value("A lone [MASK].")
    expect(boxes.nth(1)).to_have_value("")
    page.go_back()
    expect(page.get_by_role("heading", level=1, name="Fill-mask")).to_be_visible()
    expect(box(page)).to_have_value("A lone [MASK].")


# -- the menu --------------------------------------------------------------------------------------

PATHS = [*(path.title for path in paths()), "All lessons"]
IN_THE_MENU = [row.title for group in GROUPS for row in pages() if row.group == group]


def test_the_menu_is_grouped_and_nothing_hides_behind_more(visit: Visit) -> None:
    page = visit("fill_mask", viewport=LAPTOP)
    parts = page.get_by_test_id("stTopNavSection")
    used = [START, *(name for name in GROUPS if any(row.group == name for row in pages()))]
    assert [text.strip() for text in parts.all_inner_texts()] == used
    assert page.locator(".rc-overflow-item-rest:visible").count() == 0
    found = []
    for number in range(len(used)):
        parts.nth(number).click()
        links = page.get_by_test_id("stTopNavDropdownLink")
        expect(links.first).to_be_visible()
        found += [link.strip() for link in links.all_inner_texts()]
        page.keyboard.press("Escape")
        expect(links).to_have_count(0)
    assert found == [*PATHS, *IN_THE_MENU]


def test_on_a_phone_the_menu_closes_after_a_choice(visit: Visit) -> None:
    page = visit("fill_mask", viewport=PHONE, has_touch=True, is_mobile=True)
    page.get_by_test_id("stExpandSidebarButton").tap()
    links = page.get_by_test_id("stSidebarNavLink")
    assert [text.strip() for text in links.all_inner_texts()][1:] == [*PATHS, *IN_THE_MENU]
    links.filter(has_text="Model card").tap()
    expect(page.get_by_role("heading", level=1, name="Model card")).to_be_visible()
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()
    page.get_by_test_id("stExpandSidebarButton").tap()
    expect(page.get_by_test_id("stSidebar")).to_be_in_viewport()
    page.reload()
    settled(page)
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()


# -- the presenter ---------------------------------------------------------------------------------


def letters(page: Page) -> list[float]:
    """The sizes of the letters of the text box, the answer, and the picture, in pixels."""
    names = ["textarea", ".bx-sentence", ".bx-wide .bx-svg-name"]
    for name in names:
        expect(page.locator(name).first).to_be_attached()
    found: list[float] = page.evaluate(
        """(names) => names.map((name) => {
            const node = document.querySelector(name);
            const scale = node.closest("svg")?.getScreenCTM().a ?? 1;
            return scale * parseFloat(getComputedStyle(node).fontSize);
        })""",
        names,
    )
    return found


def test_the_presenter_gets_larger_letters_and_nothing_around(visit: Visit) -> None:
    page = visit("fill_mask", viewport=DESK)
    usual = letters(page)
    page.get_by_role("switch", name=re.compile("^Presenter view")).focus()
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile("present=true"))
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    settled(page)
    assert all(now > 1.05 * before for before, now in zip(usual, letters(page), strict=True))
    assert min(letters(page)) >= 18
    for hidden in (".bx-lead", ".bx-example", ".st-key-bx-take", ".bx-beware"):
        expect(page.locator(hidden).first).to_be_hidden()
    picture = page.locator(".bx-drawing").first.bounding_box()
    assert picture is not None and picture["y"] + picture["height"] <= DESK["height"]
    write(page, OWLS)
    expect(page).to_have_url(re.compile("present=true"))  # with another text, too
    page.reload()
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    settled(page)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stHeader")).to_be_visible()

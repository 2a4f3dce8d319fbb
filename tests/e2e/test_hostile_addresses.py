"""Addresses that ask for what is not possible, in a real browser: said, and left out."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import settled, wait_until

pytestmark = pytest.mark.e2e
Visit = Callable[..., Page]
LINE = "Left out of the address"
PHONE = {"width": 390, "height": 844}


@pytest.mark.parametrize(
    ("path", "impossible"),
    [
        ("xray?at=500&zoom=99.1", ["at=500", "zoom=99.1"]),
        ("fill_mask?k=<b>*9*</b>&why=1e400", ["k=<b>*9*</b>", "why=1e400"]),
    ],
)
def test_it_is_said_in_one_line_and_leaves_the_address(
    visit: Visit, path: str, impossible: list[str]
) -> None:
    page = visit(path, viewport=PHONE)
    line = page.get_by_text(LINE)
    expect(line).to_have_count(1)
    for each in impossible:
        expect(line).to_contain_text(each)
        wait_until(page, "gone => !decodeURIComponent(location.search).includes(gone)", each)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_line_goes_when_the_visitor_chooses_and_takes_no_room_before(visit: Visit) -> None:
    def top(page: Page) -> float:
        found: Any = page.locator(".st-key-bx-answer .bx-sentence").bounding_box()
        return float(found["y"])

    usual = top(visit("fill_mask?k=7"))
    page = visit("fill_mask?k=99")
    with_line = top(page)
    expect(page.get_by_text(LINE)).to_be_visible()
    page.get_by_text("Settings", exact=True).click()
    slider = page.get_by_role("slider", name="Candidates")
    slider.press("ArrowRight")
    expect(page.get_by_text(LINE)).to_have_count(0)
    assert with_line > usual + 10
    settled(page)
    assert abs(top(page) - usual) < 2

"""The lab on the site, in a real browser: it trains there, and its server has nothing to do."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import settled
from tests.e2e.test_journey import Visit

pytestmark = pytest.mark.e2e

WAIT_MS = 90_000  # for the first steps, on a slow machine


def test_a_visitor_trains_on_his_own_device_and_the_run_outlives_another_tab(visit: Visit) -> None:
    page = visit("lab")
    settled(page, "lab")
    page.get_by_role("combobox", name="What if").select_option(label="it has no positions")
    expect(page).to_have_url(re.compile(r"[?&]positions=False\b"))
    page.reload()
    settled(page, "lab")
    expect(page.locator(".bx-lab-state")).to_contain_text("Positions: no")
    requests: list[str] = []
    frames: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(frame)))
    page.get_by_role("button", name="Train here").press("Enter")
    back = page.get_by_role("slider", name="Look back")
    expect(back).to_have_attribute("max", "1", timeout=WAIT_MS)
    page.on("request", lambda request: requests.append(request.url))
    expect(back).to_have_attribute("max", re.compile(r"[3-9]|\d\d"), timeout=WAIT_MS)
    assert (requests, frames) == ([], [])  # the server is not asked for anything
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("tab", name="Fine-tune").click()
    expect(page.get_by_role("button", name="Fine-tune", exact=True)).to_be_visible()
    page.get_by_role("tab", name="Train from scratch").click()
    expect(page.locator(".bx-lab-state")).to_contain_text("paused")  # it is still there


def test_the_lab_is_a_page_of_its_own_for_the_other_interface(visit: Visit) -> None:
    page = visit("gradio/lab")
    page.get_by_role("link", name="Train one in your browser").click()
    expect(page).to_have_url(re.compile(r"/live/lab\.html"))
    expect(page.locator(".bx-lab-state")).to_contain_text("recorded")

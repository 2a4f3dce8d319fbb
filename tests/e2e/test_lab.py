"""The lab on the site, in a real browser: it trains there, and its server has nothing to do."""

import re
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Page, expect

from bert_core import BertForPreTraining
from tests.e2e.conftest import settled
from tests.e2e.test_journey import PHONE, SIDEWAYS, go

pytestmark = pytest.mark.e2e

Visit = Callable[..., Page]
WAIT_MS = 90_000  # for the first steps, on a slow machine


def test_a_newcomer_trains_a_model_and_takes_it_along(visit: Visit, tmp_path: Path) -> None:
    page = visit()
    go(page, "lab")
    expect(page.locator(".bx-lab-state")).to_contain_text("recorded")
    page.get_by_role("combobox", name="Your guess").select_option("facts")
    requests: list[str] = []
    frames: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(frame)))
    page.get_by_role("button", name="Train here").press("Enter")
    back = page.get_by_role("slider", name="Look back")
    expect(back).to_have_attribute("max", "1", timeout=WAIT_MS)
    page.on("request", lambda request: requests.append(request.url))
    expect(back).to_have_attribute("max", re.compile(r"[4-9]|\d\d"), timeout=WAIT_MS)
    assert (requests, frames) == ([], [])  # the server is not asked for anything
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".bx-lab-state")).to_contain_text("paused")
    page.get_by_role("textbox", name="A sentence").fill("mary is [MASK] .")
    expect(page.locator(".bx-lab-filled li")).to_contain_text("%")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the model").click()
    saved.value.save_as(tmp_path / "model.zip")
    ZipFile(tmp_path / "model.zip").extractall(tmp_path / "model")
    assert BertForPreTraining.from_pretrained(tmp_path / "model").config.num_hidden_layers == 2
    page.get_by_role("tab", name="Fine-tune").click()
    expect(page.get_by_role("button", name="Fine-tune", exact=True)).to_be_visible()
    page.get_by_role("tab", name="Train from scratch").click()
    expect(page.locator(".bx-lab-state")).to_contain_text("paused")  # it is still there


def test_settings_are_in_the_link_and_survive_a_reload(visit: Visit) -> None:
    page = visit("lab")
    settled(page, "lab")
    page.get_by_role("combobox", name="What if").select_option(label="it has no positions")
    expect(page).to_have_url(re.compile(r"[?&]positions=False\b"))
    page.reload()
    settled(page, "lab")
    expect(page.locator(".bx-lab-state")).to_contain_text("Positions: no")
    expect(page.get_by_role("combobox", name="What if")).to_contain_text("no positions")


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("lab?run=AAAAAAAAAAAAAAAA", "This link led to a run on the server"),
        ("lab?watch=<b>x</b>", "This link led to a run on the server"),
        ("lab?corpus=own", "A link never has the text"),
        ("lab?layers=77", "Layers is “77” in this link"),
    ],
)
def test_an_old_or_impossible_link_says_what_became_of_it(
    visit: Visit, address: str, says: str
) -> None:
    page = visit(address, viewport=PHONE)
    settled(page, "lab")
    expect(page.locator(".bx-lab")).to_contain_text(says)
    assert max(page.evaluate(SIDEWAYS)) <= 0


def test_the_lab_is_a_page_of_its_own_for_the_other_interface(visit: Visit) -> None:
    page = visit("gradio/lab")
    page.get_by_role("link", name="Train one in your browser").click()
    expect(page).to_have_url(re.compile(r"/live/lab\.html"))
    expect(page.locator(".bx-lab-state")).to_contain_text("recorded")
    page.get_by_role("button", name="Train here").click()
    expect(page.locator(".bx-lab-state")).to_contain_text("trains in this browser", timeout=WAIT_MS)

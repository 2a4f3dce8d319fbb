"""The lab in a real browser: from Home to fill-mask with the model just trained."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import free_port, running, settled, wait_until
from tests.e2e.test_journey import PHONE, SIDEWAYS, go

pytestmark = pytest.mark.e2e

Visit = Callable[..., Page]
SHORT = "lab?steps=500&layers=1&width=32&corpus=facts&predict=false"

ENDLESS = "lab?steps=4000&layers=4&width=128&corpus=facts&predict=false"


def state(page: Page, says: str, seconds: int = 30) -> None:
    expect(page.locator(".bx-lab-state").first).to_contain_text(says, timeout=1_000 * seconds)


def step(page: Page) -> int:
    """The step that the page shows."""
    found = re.search(r"step ([\d,]+) of", page.locator(".bx-lab-facts").inner_text())
    assert found is not None
    return int(found[1].replace(",", ""))


def press(page: Page, name: str) -> None:
    page.get_by_role("main").get_by_role("button", name=name, exact=True).click()


def test_a_newcomer_trains_a_model_and_opens_it_in_fill_mask(visit: Visit) -> None:
    page = visit()
    go(page, "lab")
    state(page, "not trained yet")
    press(page, "Start")
    question = page.get_by_role("dialog", name="Predict first")
    expect(question).to_contain_text("What will it learn first?")
    question.get_by_role("button", name="facts", exact=True).click()
    expect(question).to_have_count(0)
    state(page, "trains")
    expect(page.get_by_text("You predicted: facts.")).to_be_visible()
    expect(page.locator('[data-name="lab-attention"] .bx-drawing')).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]run=[\w-]{16}"))
    expect(page.locator(".bx-lab-gaps li").nth(2)).to_contain_text("✓", timeout=120_000)
    press(page, "Pause")
    state(page, "paused")
    page.get_by_role("tab", name="Take along").click()
    press(page, "Open it in Fill-mask")
    settled(page, "fill_mask")
    expect(page.locator(".st-key-bx-model")).to_contain_text(re.compile(r"lab-[\w-]+-step-\d+"))
    box = page.get_by_role("textbox", name=re.compile("^Text"))
    expect(box).to_have_value(re.compile(r"\[MASK\]"))
    expect(page.locator(".bx-wide .bx-svg-bar, .bx-wide .bx-svg-mark").first).to_be_visible()


@pytest.mark.slow
def test_a_closed_page_stops_its_run_and_the_next_visitor_trains_and_looks_back(
    visit: Visit, tmp_path: Path
) -> None:
    first = visit(ENDLESS)
    press(first, "Start")
    state(first, "trains")
    page = visit(SHORT)
    press(page, "Start")
    state(page, "waits for its turn: 1 run before yours")
    first.close()
    state(page, "trains")  # after 4 seconds of patience; the first run would take minutes
    state(page, "done", 120)
    assert step(page) == 500
    slider = page.get_by_role("slider", name="Look back to step")
    slider.press("Home")
    expect(page.locator(".bx-lab-facts")).to_contain_text("step 0 of 500")
    slider.press("End")
    expect(page.locator(".bx-lab-facts")).to_contain_text("step 500 of 500")
    box = page.get_by_role("textbox", name="A sentence with [MASK]")
    box.fill("paris is the capital of [MASK] .")
    box.press("Enter")
    expect(page.locator(".bx-lab-filled")).to_have_attribute("aria-label", re.compile("paris"))
    page.get_by_role("tab", name="Take along").click()
    with page.expect_download() as download:
        press(page, "Download the model (ZIP)")
    download.value.save_as(tmp_path / "lab.zip")
    assert (tmp_path / "lab.zip").read_bytes()[:2] == b"PK"


@pytest.mark.slow
def test_a_run_on_a_generated_corpus_survives_a_killed_server(
    browser: Browser, tmp_path: Path
) -> None:
    port = str(free_port())
    kept = {"STREAMLIT_SERVER_PORT": port, "BERT_CORE_CACHE": str(tmp_path / "cache")}
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        with running(tmp_path / "server.log", **kept) as (address, server):
            page.goto(f"{address}/{SHORT.replace('500', '4000')}")
            settled(page, "lab")
            press(page, "Start")
            saved = tmp_path / "cache" / "lab"
            deadline = time.monotonic() + 60
            while not list(saved.glob("*/0/state.pt")):
                assert time.monotonic() < deadline, "nothing was saved"
                page.wait_for_timeout(200)
            before = step(page)
            server.kill()
            server.wait(timeout=20)
            place = page.evaluate("location.href")
        with running(tmp_path / "server.log", **kept):
            page.goto(place)
            settled(page, "lab")
            state(page, "paused")
            press(page, "Resume")
            expect(page.locator(".bx-lab-facts")).to_contain_text("steps/s")
            assert step(page) > before / 3  # the last save is at most five seconds older
            press(page, "Stop")
            state(page, "stopped")


@pytest.mark.slow
def test_one_starts_a_run_and_another_watches_it_by_its_link_until_the_link_ends(
    visit: Visit,
) -> None:
    owner = visit(ENDLESS)
    press(owner, "Start")
    state(owner, "trains")
    press(owner, "Watch together")
    owner.get_by_role("button", name="Make a link").click()
    copy = owner.get_by_role("button", name="Copy the link")
    link = str(copy.get_attribute("data-copy"))
    expect(owner.locator(".bx-join svg")).to_be_visible()
    phone = visit(link[link.index("lab?") :], viewport=PHONE)
    expect(phone.get_by_text("You are watching a run that someone else started")).to_be_visible()
    press(phone, "Just watch")
    state(phone, "trains")
    assert max(phone.evaluate(SIDEWAYS)) <= 0
    steering = phone.get_by_role("button", name=re.compile("^(Start|Pause|Stop)$"))
    expect(steering).to_have_count(0)
    before = step(phone)
    state(owner, "1 watcher")
    wait_until(
        phone,
        "before => Number(document.querySelector('.bx-lab-facts').innerText"
        ".match(/step ([\\d,]+) of/)[1].replace(',', '')) > before",
        before,
    )
    owner.keyboard.press("Escape")
    press(owner, "Watch together")
    owner.get_by_role("button", name="End the link").click()
    expect(phone.get_by_text("This link leads to no run")).to_be_visible()
    press(owner, "Stop")

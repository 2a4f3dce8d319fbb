"""The lab in the browser: on a page of its own, and on a recorded page beside Python's answer."""

from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Locator, Page, expect

from app.settings import LIVE
from bert_core import BertForPreTraining, BertTokenizer
from tests.e2e.conftest import Record, faults

pytestmark = pytest.mark.e2e

OWN, RECORDED = "live/lab.html", "lab/1-nothing-changes.html"
WAIT_MS = 120_000  # for the first steps, on a slow machine
TEXT = " ".join(f"The {who} sat on the {what}." for who in ("cat", "dog", "cow", "hen", "fox")
                for what in ("mat", "hat", "cot", "bed", "box"))  # fmt: skip


def _open(page: Page, address: str) -> Locator:
    """Open a page of the lab; return the line that says what is shown."""
    page.goto(address)
    page.add_style_tag(content=(LIVE / "lab.css").read_text(encoding="utf-8"))
    return page.locator(".bx-lab-state")


def _moments(page: Page, least: int) -> None:
    """Wait until so many moments of a run are there to look back at."""
    page.wait_for_function(
        "least => Number(document.querySelector('.bx-lab-back input').max) >= least", arg=least,
        timeout=WAIT_MS,
    )  # fmt: skip


def test_a_model_is_trained_at_once_looked_back_at_and_taken_along(
    page: Page, record: Record, live: str, tmp_path: Path
) -> None:
    state = _open(page, f"{live}/{OWN}?seed=0")
    expect(state).to_contain_text("recorded")
    page.get_by_label("what will it learn first").select_option("facts")
    page.get_by_role("button", name="Train here").click()
    expect(page.get_by_role("button", name="Pause")).to_be_focused()
    expect(state).to_contain_text("trains in this browser", timeout=WAIT_MS)
    expect(state).to_contain_text("You predicted: facts.")
    asked = len(record.requests)
    _moments(page, 3)
    page.get_by_role("button", name="Pause").click()
    expect(state).to_contain_text("paused")
    sentence = page.get_by_role("textbox", name="A sentence")
    filled = page.locator(".bx-lab-filled li")
    sentence.fill("mary is here")
    expect(page.locator(".bx-caution")).to_contain_text("has no [MASK]")
    sentence.fill("<i>mary</i> is ___ .")
    expect(filled).to_contain_text("%")
    now = filled.inner_text()
    page.get_by_role("slider", name="Look back").fill("0")
    expect(page.locator(".bx-lab-back output")).to_have_text("step 0")
    expect(filled).not_to_have_text(now)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the model").click()
    saved.value.save_as(tmp_path / "model.zip")
    ZipFile(tmp_path / "model.zip").extractall(tmp_path / "model")
    opened = BertForPreTraining.from_pretrained(tmp_path / "model")
    assert opened.config.vocab_size == len(BertTokenizer.from_pretrained(tmp_path / "model").vocab)
    page.get_by_text("Rows of the first batch").click()
    assert faults(page) == []
    page.get_by_role("button", name="Go on").click()
    expect(state).to_contain_text("trains in this browser")
    page.get_by_role("button", name="Another run").click()
    expect(state).to_contain_text("recorded")
    assert [each for each in record.requests[asked:] if not each.startswith("blob:")] == []
    assert record.outside(live) == []
    assert record.complaints == []


@pytest.mark.slow
def test_a_run_comes_to_its_end_beside_the_one_without_the_change(page: Page, live: str) -> None:
    state = _open(page, f"{live}/{OWN}?steps=500&sentences=200&layers=1&width=32")
    expect(state).to_contain_text("not trained yet")
    page.get_by_label("the model at the end will be").select_option("worse")
    page.get_by_role("button", name="Train here").click()
    expect(state).to_contain_text("After 500 steps the loss of new sentences is", timeout=WAIT_MS)
    expect(page.get_by_text("You predicted: worse. It was:")).to_be_visible(timeout=WAIT_MS)
    assert page.locator(".bx-wide .bx-lab-run1.bx-lab-held_out").count() > 1
    expect(page.get_by_text("Layers: 2").first).to_be_attached()


def test_settings_are_in_the_address_and_what_a_link_asks_is_said(page: Page, live: str) -> None:
    _open(page, f"{live}/{OWN}?mask_rate=80&layers=9&watch=k&corpus=grammar")
    for says in ("Layers is “9” in this link; it can be 1, 2, 3, 4", "This link led to a run"):
        expect(page.get_by_text(says)).to_be_visible()
    assert page.url.endswith("lab.html?mask_rate=80")
    expect(page.get_by_role("combobox", name="What if").locator("option:checked")).to_contain_text(
        "80 %"
    )
    page.get_by_text("Settings", exact=True).click()
    page.get_by_role("switch", name="Positions").uncheck()
    assert page.url.endswith("lab.html?positions=False")
    page.get_by_label("several settings").check()
    page.get_by_role("combobox", name="Layers", exact=True).select_option("4")
    assert page.url.endswith("lab.html?layers=4&positions=False")
    _open(page, page.url)
    expect(page.locator(".bx-lab-state")).to_contain_text("Layers: 4, Positions: no")
    page.emulate_media(color_scheme="dark")
    assert faults(page) == []


def test_an_own_text_is_learned_without_a_connection(page: Page, record: Record, live: str) -> None:
    state = _open(page, f"{live}/{OWN}?corpus=own&steps=500")
    expect(page.get_by_text("A link never has the text")).to_be_visible()
    expect(page.get_by_text("It never leaves this device")).to_be_visible()
    page.get_by_role("textbox", name="Your own text").fill("Too short.")
    page.get_by_role("button", name="Train here").click()
    expect(state).to_contain_text("at least 20", timeout=WAIT_MS)
    asked = len(record.requests)
    page.get_by_role("textbox", name="Your own text").fill(TEXT)
    page.context.new_cdp_session(page).send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.context.set_offline(True)  # nothing is asked for, not even of the browser's own memory
    page.get_by_role("button", name="Train here").click()
    expect(state).to_contain_text("trains in this browser", timeout=WAIT_MS)
    _moments(page, 3)
    page.context.set_offline(False)
    assert not any("cat" in each for each in record.requests[asked:])


def test_python_s_answer_steps_aside_for_a_run_of_one_s_own(page: Page, live: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    state = _open(page, f"{live}/{RECORDED}")
    python = page.locator(".bx-recorded > .bx-result")
    expect(page.get_by_role("button", name="Train here")).to_be_in_viewport()
    expect(python).to_be_visible()
    page.get_by_role("combobox", name="What if").select_option("it has no positions")
    expect(state).to_contain_text("recorded: Positions: no")
    expect(python).to_be_hidden()
    page.get_by_role("combobox", name="What if").select_option("nothing changes")
    expect(python).to_be_visible()
    page.get_by_role("button", name="Train here").click()
    expect(page.locator(".bx-lab-gaps li").first).to_be_visible(timeout=WAIT_MS)
    expect(python).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

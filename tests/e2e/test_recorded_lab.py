"""The lab of the recorded site, where a model is trained in the visitor's browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Page, expect

from app.engine.models import open_engine
from app.faces.recorded.drawing import Recording
from app.faces.recorded.entries import all_entries
from app.faces.recorded.live import digests, live_files, trains
from app.faces.recorded.writing import example_page
from bert_core import BertForPreTraining, BertTokenizer
from tests.e2e.conftest import Record, faults, hosting

pytestmark = pytest.mark.e2e

PHONE = {"width": 390, "height": 844}
PAGE = "lab/1-nothing-changes.html"
WAIT_MS = 60_000  # for the first steps, on a slow machine


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One page of the lab and what trains in it, from a server."""
    folder = tmp_path_factory.mktemp("lab")
    engine = open_engine()
    entries = tuple(each for each in all_entries(()) if f"{each.place}.html" == PAGE)
    assert all(map(trains, entries))
    files = dict(live_files(engine, parts=True))
    sums = {"live": digests(files), "lab": digests(files, lab=True)}
    recording = Recording(entries, engine.provenance, "2026-11-22", **sums)
    files[PAGE] = files["index.html"] = example_page(engine, recording, entries[0])
    for name, content in files.items():
        if "safetensors" not in name:  # the lab needs no other model
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    with hosting(folder) as address:
        yield address


def test_a_model_is_trained_in_the_browser_looked_back_at_and_taken_along(
    page: Page, record: Record, host: str, tmp_path: Path
) -> None:
    page.goto(f"{host}/{PAGE}")
    page.get_by_role("button", name="Train here").click()
    expect(page.get_by_role("combobox", name="What if")).to_be_visible()
    page.get_by_role("button", name="facts").click()
    state = page.locator(".bx-lab-state")
    expect(state).to_contain_text("You predicted: facts.", timeout=WAIT_MS)
    back = page.get_by_role("slider", name="Look back")
    expect(back).to_have_attribute("max", re.compile(r"[5-9]|\d\d"), timeout=WAIT_MS)
    page.get_by_role("button", name="Pause").click()
    expect(state).to_contain_text("paused")
    page.get_by_role("textbox", name="A sentence").fill("<i>mary</i> is ___ .")
    filled = page.locator(".bx-lab-filled li")
    expect(filled).to_contain_text("%")
    page.get_by_role("textbox", name="A sentence").fill("mary is here")
    expect(page.locator(".bx-caution")).to_contain_text("has no [MASK]")
    page.get_by_role("textbox", name="A sentence").fill("mary is [MASK] .")
    expect(filled).to_contain_text("%")
    now = filled.inner_text()
    back.fill("0")
    expect(page.locator(".bx-lab-back output")).to_have_text("step 0")
    expect(filled).not_to_have_text(now)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the model").click()
    saved.value.save_as(tmp_path / "model.zip")
    ZipFile(tmp_path / "model.zip").extractall(tmp_path / "model")
    opened = BertForPreTraining.from_pretrained(tmp_path / "model")
    pieces = BertTokenizer.from_pretrained(tmp_path / "model").vocab
    assert opened.config.vocab_size == len(pieces)
    assert faults(page) == []
    page.get_by_role("button", name="Go on").click()
    expect(state).to_contain_text("trains in this browser")
    page.get_by_role("button", name="Show the recorded run").click()
    expect(page.get_by_role("heading", name="The vocabulary")).to_be_visible()
    assert record.outside(host) == []
    assert record.complaints == []


def test_a_phone_shows_a_training_without_scrolling_sideways(page: Page, host: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{host}/{PAGE}")
    page.get_by_role("button", name="Train here").click()
    page.get_by_role("combobox", name="What if").select_option("it has one layer")
    expect(page.get_by_text("With this change, the model at the end will be")).to_be_visible()
    page.get_by_role("button", name="Just watch").click()
    expect(page.locator(".bx-lab-gaps li").first).to_be_visible(timeout=WAIT_MS)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

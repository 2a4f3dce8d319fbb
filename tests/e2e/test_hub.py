"""Test Hub models in a real browser: lookup, download, cancellation and failures."""

import hashlib
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app.engine.models.curated import CURATED
from tests.e2e.conftest import settled
from tests.e2e.test_journey import PHONE, SIDEWAYS, go, tabbed
from tests.e2e.test_journey import model as chosen
from tests.e2e.test_stage import faults_in
from tests.loopback import Fault, Loopback, Repository

pytestmark = pytest.mark.e2e

Visit = Callable[..., Page]
PATIENCE = 40.0  # seconds
DIALOG = "A model from the Hugging Face Hub"


@pytest.fixture
def model(hub: Loopback, tiny_folder: Path, request: pytest.FixtureRequest) -> Iterator[Repository]:
    """A small model on the Hub, with a different id for each test."""
    yield hub.add_model(id_of(request), tiny_folder)
    hub.faults.clear()


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return id_of(request)


def id_of(request: pytest.FixtureRequest) -> str:
    return f"someone/{hashlib.sha1(request.node.name.encode()).hexdigest()[:8]}"


def files_of(downloads: Path, name: str) -> list[Path]:
    return list(downloads.glob(f"models--{name.replace('/', '--')}/**/*"))


def look_up(page: Page, name: str, key: str = "Enter") -> Locator:
    """Ask for an id in the dialog, by keyboard."""
    chosen(page).press("Enter")
    page.get_by_role("button", name="By Hub id").press("Enter")
    dialog = page.get_by_role("dialog", name=DIALOG)
    dialog.get_by_role("textbox", name="Id on the Hub").press_sequentially(name)
    page.keyboard.press(key)
    return dialog


def agree(page: Page) -> None:
    """Start the download that the dialog proposes."""
    dialog = page.get_by_role("dialog", name=DIALOG)
    dialog.get_by_role("button", name=re.compile("^Download")).click()


def test_the_size_is_shown_a_slow_download_called_off_and_the_second_one_answers(
    visit: Visit, hub: Loopback, downloads: Path, model: Repository, name: str
) -> None:
    page = visit("tokenizer?text=the+[MASK]")
    before = chosen(page).get_by_role("paragraph").inner_text()
    assert hub.asked() == [path for path in hub.asked() if name not in path]
    dialog = look_up(page, name)
    plan = dialog.get_by_role("list", name="What would be downloaded")
    expect(plan).to_contain_text(name)
    expect(plan).to_contain_text(model.commit[:12])
    expect(plan).to_contain_text(f"kB in {len(model.files)} files")
    assert files_of(downloads, name) == []

    hub.faults[model.weights_at] = Fault(drip=0.01)
    dialog.get_by_role("button", name=re.compile(r"^Download [\d.]+ kB and use it$")).click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_text(re.compile(rf"Downloading {name}: .* of .*kB"))).to_be_visible()
    expect(page.get_by_role("progressbar")).to_be_visible()
    go(page, "fill_mask")  # the page works while the download continues
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("was cancelled; nothing was kept")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_count(0)
    deadline = time.monotonic() + PATIENCE
    while files_of(downloads, name) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert files_of(downloads, name) == []
    expect(chosen(page)).to_contain_text(before)
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("was cancelled")).to_have_count(0)

    hub.faults.clear()
    look_up(page, name)
    agree(page)
    expect(chosen(page)).to_contain_text(name)
    settled(page, "fill_mask")
    expect(page).to_have_url(re.compile("model=someone(%2F|/)"))
    expect(page.locator(".bx-wide .bx-svg-bar")).to_have_count(5)
    page.get_by_role("button", name="About this model").click()
    origin = f"{name} (a copy from the Hugging Face Hub, on this server)"
    expect(page.get_by_text(origin)).to_be_visible()

    asked = len(hub.log)
    again = visit(page.url.partition("//")[2].partition("/")[2])
    expect(chosen(again)).to_contain_text(name)
    by_commit = visit(f"tokenizer?model={name}@{model.commit}&text=the+cat")
    expect(chosen(by_commit)).to_contain_text(name)
    expect(by_commit).to_have_url(re.compile(r"model=someone(%2F|/)\w+(&|$)"))
    expect(by_commit.get_by_text("asks for the model")).to_have_count(0)
    assert len(hub.log) == asked
    sent = {each.lower() for _, _, headers in hub.log for each in headers}
    assert "user-agent" in sent and "authorization" not in sent  # not with the operator's token


def test_a_click_on_a_curated_model_downloads_it_and_uses_it(
    visit: Visit, hub: Loopback, tiny_folder: Path
) -> None:
    each = CURATED[2]
    name = each.wanted.name
    hub.add_model(name, tiny_folder)
    page = visit("tokenizer?text=the+cat")
    assert not any(name in path for path in hub.asked())
    chosen(page).press("Enter")
    offer = page.get_by_role("button", name=f"{name.partition('/')[2]}:")
    expect(offer).to_contain_text(f"{each.can} ({each.megabytes} MB, {each.licence})")
    offer.click()
    expect(chosen(page)).to_contain_text(name)
    settled(page, "tokenizer")
    expect(page).to_have_url(re.compile(f"model={name.replace('/', '(%2F|/)')}"))
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("the cat")
    page.keyboard.press("Escape")
    chosen(page).press("Enter")
    expect(page.get_by_role("button", name="By Hub id")).to_be_visible()
    expect(offer).to_have_count(0)  # it is here now, in the list above


def test_dialog_and_strip_suit_phones_keyboards_and_screen_readers(
    visit: Visit, hub: Loopback, model: Repository, name: str
) -> None:
    page = visit("tokenizer", viewport=PHONE, color_scheme="dark", reduced_motion="reduce")
    hub.faults[model.weights_at] = Fault(drip=0.1)
    dialog = look_up(page, name)
    expect(dialog.get_by_role("list", name="What would be downloaded")).to_be_visible()
    assert faults_in(page, "dark") == []
    assert max(page.evaluate(SIDEWAYS)) <= 0
    dialog.get_by_role("button", name=re.compile("^Download")).press("Enter")
    expect(page.get_by_role("progressbar")).to_be_visible()
    assert faults_in(page, "dark") == []
    assert max(page.evaluate(SIDEWAYS)) <= 0
    assert tabbed(page, "Cancel")[-1] == "Cancel"
    page.keyboard.press("Enter")
    expect(page.get_by_text("was cancelled")).to_be_visible()
    assert faults_in(page, "dark") == []

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


def test_a_link_alone_downloads_nothing(
    visit: Visit, hub: Loopback, model: Repository, name: str
) -> None:
    page = visit(f"tokenizer?model={name}")
    expect(page.get_by_text(f"asks for the model “{name}”")).to_be_visible()
    assert not any(name in path for path in hub.asked())
    page.get_by_role("button", name=f"Look for {name} on the Hub").click()
    dialog = page.get_by_role("dialog", name=DIALOG)
    expect(dialog.get_by_role("textbox", name="Id on the Hub")).to_have_value(name)
    dialog.get_by_role("button", name="Look it up").click()
    expect(dialog.get_by_role("list", name="What would be downloaded")).to_be_visible()
    dialog.get_by_role("button", name=re.compile("^Download")).click()
    expect(chosen(page)).to_contain_text(name)
    expect(page.get_by_text("asks for the model")).to_have_count(0)


def test_wrong_bytes_end_in_a_sentence_and_the_page_stays(
    visit: Visit, hub: Loopback, downloads: Path, model: Repository, name: str
) -> None:
    page = visit("tokenizer?text=the+cat")
    wrong = bytes(len(model.files["model.safetensors"]))
    hub.faults[model.weights_at] = Fault(instead=wrong)
    look_up(page, name)
    agree(page)
    expect(page.get_by_text("Get it again").first).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("instead$"))).to_be_visible()


def test_a_dead_hub_is_told_and_the_page_stays(visit: Visit, hub: Loopback, name: str) -> None:
    page = visit("tokenizer")
    with hub.dead():
        dialog = look_up(page, name)
        expect(dialog.get_by_text("the Hub cannot be reached")).to_be_visible()
        page.keyboard.press("Escape")
    settled(page, "tokenizer")


@pytest.mark.slow
def test_who_closes_the_browser_takes_nothing_from_who_waits_too(
    visit: Visit, hub: Loopback, model: Repository, name: str
) -> None:
    hub.faults[model.weights_at] = Fault(drip=0.01)
    before = len(hub.log)
    pages = [visit("tokenizer"), visit("tokenizer")]
    for page in pages:
        look_up(page, name)
        agree(page)
        expect(page.get_by_role("progressbar")).to_be_visible()
    pages[0].close()
    expect(chosen(pages[1])).to_contain_text(name)
    assert [path for _, path, _ in hub.log[before:]].count(model.weights_at) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dialog_and_strip_suit_phones_keyboards_and_screen_readers(
    visit: Visit, hub: Loopback, model: Repository, name: str, scheme: str
) -> None:
    page = visit("tokenizer", viewport=PHONE, color_scheme=scheme, reduced_motion="reduce")
    hub.faults[model.weights_at] = Fault(drip=0.1)
    dialog = look_up(page, name)
    expect(dialog.get_by_role("list", name="What would be downloaded")).to_be_visible()
    assert faults_in(page, scheme) == []
    assert max(page.evaluate(SIDEWAYS)) <= 0
    dialog.get_by_role("button", name=re.compile("^Download")).press("Enter")
    expect(page.get_by_role("progressbar")).to_be_visible()
    assert faults_in(page, scheme) == []
    assert max(page.evaluate(SIDEWAYS)) <= 0
    assert tabbed(page, "Cancel")[-1] == "Cancel"
    page.keyboard.press("Enter")
    expect(page.get_by_text("was cancelled")).to_be_visible()
    assert faults_in(page, scheme) == []


def test_the_hub_is_asked_without_the_token_of_this_machine(
    visit: Visit, hub: Loopback, model: Repository, name: str
) -> None:
    page = visit("tokenizer")
    look_up(page, name)
    agree(page)
    expect(chosen(page)).to_contain_text(name)
    assert any(name in path for _, path, _ in hub.log)
    sent = {each.lower() for _, _, headers in hub.log for each in headers}
    assert "user-agent" in sent
    assert "authorization" not in sent

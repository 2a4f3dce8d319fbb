"""Test Hub models in a real browser: lookup, download and cancellation, by keyboard on a phone."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import settled
from tests.e2e.test_journey import PHONE, SIDEWAYS, Visit, tabbed
from tests.e2e.test_journey import model as chosen
from tests.e2e.test_stage import faults_in
from tests.loopback import Fault, Loopback

pytestmark = pytest.mark.e2e

NAME = "someone/small"


def look_up(page: Page) -> Locator:
    """Ask for an id in the dialog, by keyboard."""
    chosen(page).press("Enter")
    page.get_by_role("button", name="By Hub id").press("Enter")
    dialog = page.get_by_role("dialog", name="A model from the Hugging Face Hub")
    dialog.get_by_role("textbox", name="Id on the Hub").press_sequentially(NAME)
    page.keyboard.press("Enter")
    return dialog


def test_a_download_suits_phones_keyboards_and_screen_readers_and_can_be_called_off(
    visit: Visit, hub: Loopback, downloads: Path, tiny_folder: Path
) -> None:
    model = hub.add_model(NAME, tiny_folder)
    page = visit("tokenizer", viewport=PHONE, color_scheme="dark", reduced_motion="reduce")

    def suits() -> None:
        assert faults_in(page, "dark") == []
        assert max(page.evaluate(SIDEWAYS)) <= 0

    assert not any(NAME in path for path in hub.asked())
    hub.faults[model.weights_at] = Fault(drip=0.1)
    dialog = look_up(page)
    plan = dialog.get_by_role("list", name="What would be downloaded")
    expect(plan).to_contain_text(f"kB in {len(model.files)} files")
    assert not list(downloads.glob("models--someone--small/**/*"))
    suits()
    download = re.compile(r"^Download [\d.]+ kB and use it$")
    dialog.get_by_role("button", name=download).press("Enter")
    expect(page.get_by_role("progressbar")).to_be_visible()
    suits()
    assert tabbed(page, "Cancel")[-1] == "Cancel"
    page.keyboard.press("Enter")
    expect(page.get_by_text("was cancelled; nothing was kept")).to_be_visible()
    page.get_by_role("button", name="Dismiss").click()
    hub.faults[model.weights_at].drip = 0.0
    look_up(page).get_by_role("button", name=download).press("Enter")
    expect(chosen(page)).to_contain_text(NAME)
    settled(page, "tokenizer")
    expect(page).to_have_url(re.compile("model=someone(%2F|/)"))
    sent = {each.lower() for _, _, headers in hub.log for each in headers}
    assert "user-agent" in sent and "authorization" not in sent  # not with the operator's token

"""Addresses name choices and tabs by keys, in a real browser: written, left out, gone back to."""

from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import settled, wait_until
from tests.e2e.test_journey import Visit, go

pytestmark = pytest.mark.e2e

KEPT = "wanted => Object.entries(wanted).every(([key, value]) =>" \
    " (new URLSearchParams(location.search).get(key) ?? '') === value)"  # fmt: skip


def shows(page: Page, **wanted: str) -> None:
    """Wait until the address has these values; "" for none."""
    wait_until(page, KEPT, wanted)


def choose(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name, exact=True).click()


@pytest.mark.slow
def test_what_is_chosen_is_in_the_address_by_its_key_on_every_way(visit: Visit) -> None:
    page = visit("attention?text=The+owl+sleeps&view=Lines")
    shows(page, view="lines")
    choose(page, "Heat map")
    shows(page, view="")
    choose(page, "Lines")
    page.get_by_role("tab", name="All heads").click()
    shows(page, view="lines", tab="heads")
    choose(page, "widest spread")
    shows(page, by="entropy")
    page.get_by_role("tab", name="Files").click()
    shows(page, tab="files", by="")
    go(page, "tokenizer")
    shows(page, view="", tab="")
    go(page, "attention")
    shows(page, view="lines", tab="files", text="The owl sleeps")
    address = page.evaluate("location.search")
    page.go_back()
    wait_until(page, "() => location.pathname.endsWith('tokenizer')")
    settled(page, "tokenizer")
    shows(page, view="", tab="")
    page.go_forward()
    wait_until(page, "() => location.pathname.endsWith('attention')")
    settled(page, "attention")
    shows(page, view="lines", tab="files")
    expect(page.get_by_role("radio", name="Lines", exact=True).first).to_be_checked()
    other = visit(f"attention{address}")
    expect(other.get_by_role("tab", name="Files")).to_have_attribute("aria-selected", "true")
    expect(other.get_by_role("radio", name="Lines", exact=True).first).to_be_checked()
    assert parse_qs(other.evaluate("location.search.slice(1)")) == parse_qs(address[1:])

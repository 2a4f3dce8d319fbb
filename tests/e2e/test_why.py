"""The explanation of a long text in a browser: asked for, cancelled, and asked for again."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.e2e

WORDS = "The river was high and the old bridge had been closed since the storm, so "
END = "they took the [MASK] to the island."


@pytest.mark.slow
def test_a_long_text_is_explained_on_request_and_can_be_cancelled(
    visit: Callable[..., Page],
) -> None:
    page = visit(f"fill_mask?why=true&text={WORDS * 7 + END}")
    explain = page.get_by_role("button", name=re.compile(r"Explain this text \(1\d\d tokens\)"))
    explain.click()
    bar = page.get_by_role("progressbar")
    expect(bar).to_be_visible(timeout=20_000)
    page.get_by_role("button", name="Cancel").click()
    expect(explain).to_be_visible(timeout=20_000)
    expect(bar).to_have_count(0)
    drawn = page.get_by_role("group", name=re.compile("^Integrated gradients for"))
    expect(drawn).to_have_count(0)

"""The explanation of a long text in a browser: asked for, cancelled, and asked for again."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_journey import write

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
    drawn = page.get_by_role("img", name=re.compile("^Integrated gradients for"))
    expect(drawn).to_have_count(0)
    write(page, "Text ([MASK] or ___ hides a word)", WORDS * 2 + END)
    page.get_by_role("button", name=re.compile(r"Explain this text \(\d\d tokens\)")).click()
    expect(drawn).to_be_visible(timeout=120_000)
    expect(page.get_by_text("deletion:")).to_be_visible()
    page.get_by_role("radio", name="Rollout").click()
    expect(page.get_by_role("img", name=re.compile("^Attention rollout for"))).to_be_visible()


def test_the_duel_over_texts_is_cancelled_and_keeps_what_was_measured(
    visit: Callable[..., Page],
) -> None:
    page = visit("why?why_tab=50%20texts&text=The%20farmer%20milked%20the%20[MASK].")
    page.get_by_role("button", name="Compare over 50 shipped texts").click()
    under_way = page.get_by_text(re.compile(r"^Comparing: [1-9]\d* of 50 texts"))
    expect(under_way).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name=re.compile(r"Continue after \d"))).to_be_visible(
        timeout=20_000
    )
    expect(page.get_by_text(re.compile(r"^Means over \d+ shipped texts?\b"))).to_be_visible()
    means = page.get_by_role("img", name=re.compile("^Mean fall of the probability"))
    expect(means).to_be_visible()

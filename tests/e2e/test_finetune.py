"""Fine-tuning in a real browser: from forty rows to the classification page with that model."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import settled

pytestmark = pytest.mark.e2e


@pytest.mark.slow
def test_forty_rows_become_a_model_on_the_classification_page(visit: Callable[..., Page]) -> None:
    page = visit("lab?tab=Fine-tune&tune_steps=50")
    expect(page.get_by_text("28 rows to train on, 12 held out")).to_be_visible()
    page.get_by_role("button", name="Fine-tune", exact=True).click()
    curves = page.locator('[data-name="finetune"] .bx-drawing')
    expect(curves).to_be_visible(timeout=60_000)
    expect(page.get_by_role("heading", name="What it gets wrong")).to_be_visible(timeout=120_000)
    expect(curves).to_have_attribute("aria-label", re.compile("^After step 50: loss"))
    wrong = page.get_by_role("table", name="Held-out labels that the model gets wrong")
    named = wrong.get_by_text(re.compile(r"^line \d+:"))
    expect(named.or_(page.get_by_text("held-out labels are right")).first).to_be_visible()
    page.get_by_role("button", name="Open it in Classification").click()
    settled(page, "classification")
    expect(page.locator(".st-key-bx-model")).to_contain_text(re.compile(r"tuned-[\w-]+-step-50"))
    expect(page.locator(".bx-answer")).to_contain_text(re.compile("food|money|travel|weather"))

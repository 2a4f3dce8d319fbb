"""A public site: what its pages offer, and what they say when a limit is reached."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.engine.compute import processor
from app.engine.compute.visitor import Allowances
from app.faces.streamlit import progress
from app.records.visitors import Visitor


@pytest.fixture(autouse=True)
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERT_EXPLORER_PUBLIC", "1")


def test_there_is_no_field_for_ids_and_nothing_to_download(visit: Callable[..., Any]) -> None:
    page = visit("pages/2_fill_mask.py", model="someone/something")
    keys = [str(button.key) for button in page.at.button]
    assert not any(key.startswith(("_get_", "_by_hub_id", "_look_up")) for key in keys)
    assert "does not offer" in page.warnings
    assert list(page.pictures) == ["fill-mask-1"]


def test_a_visitor_who_asks_too_much_is_told_to_wait_and_the_next_is_not(
    visit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    allowances = Allowances(2, 100, clock=lambda: 0.0)
    monkeypatch.setattr(processor, "ALLOWANCES", allowances)
    monkeypatch.setattr(progress, "visitor", lambda: Visitor("one"))  # AppTest has no cookies
    page = visit("pages/2_fill_mask.py", text="the limit [MASK] sat")
    page.type("the first dog [MASK]")
    assert page.warnings == ""
    page.type("the second dog [MASK]")
    assert page.warnings == (
        "Rate limit reached (2 answers a minute for each visitor). Wait 30 seconds."
    )
    page.type("the first dog [MASK]")
    assert page.warnings == ""  # it was computed before
    monkeypatch.setattr(progress, "visitor", lambda: Visitor("another"))
    assert page.type("the second dog [MASK]").warnings == ""


def test_who_waits_sees_a_line_that_goes_away() -> None:
    def script() -> None:
        import streamlit as st

        from app.engine.compute.visitor import current_visit
        from app.faces.streamlit.progress import waiting_line

        with waiting_line():
            assert current_visit().name
            current_visit().tell(3)
            if st.checkbox("its turn"):
                current_visit().tell(None)

    at = AppTest.from_function(script).run()
    assert [each.value for each in at.caption] == ["Waiting: 3 ahead of you."]
    at.checkbox[0].check().run()
    assert [each.value for each in at.caption] == []

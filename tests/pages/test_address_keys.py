"""Addresses name options by keys; labels of today and of before open the same page."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from app.faces.streamlit.address import old_labels
from app.faces.streamlit.features.why import _METHOD_NAMES
from app.features.attention.view_text import PART_NAMES, VIEW_NAMES
from app.features.fill_mask.view_together import ORDER_NAMES
from app.features.why.view import OF_NAMES, OPERATORS
from app.features.xray.view_patching import SITES
from app.features.xray.view_words import LENSES, MODES

NAMES: Mapping[str, Mapping[Any, str]] = {
    "why_method": _METHOD_NAMES, "of": OF_NAMES, "operator": OPERATORS, "lens": LENSES,
    "mode": MODES, "site": SITES, "order": ORDER_NAMES, "part": PART_NAMES, "view": VIEW_NAMES,
}  # fmt: skip
TEXT = "In winter the lake is covered with [MASK]."
PAGES = {"of": "14_why", "why_method": "14_why", "operator": "14_why", "lens": "12_xray",
         "mode": "12_xray"}  # fmt: skip


@pytest.mark.parametrize("parameter", NAMES)
def test_a_label_that_an_address_may_have_is_known_for_ever(parameter: str) -> None:
    """A new label is added to `assets/labels.toml`; an old one stays there."""
    known = old_labels()[parameter]
    for key, label in NAMES[parameter].items():
        assert known[label] == str(key)
    assert set(known.values()) <= {str(key) for key in NAMES[parameter]}


@pytest.mark.parametrize("parameter", PAGES)
def test_a_key_and_its_label_open_a_page_with_the_same_choice(
    visit: Callable[..., Any], tiny_model: object, parameter: str
) -> None:
    key = list(NAMES[parameter])[-1]
    for value in (str(key), NAMES[parameter][key]):
        page = visit(f"pages/{PAGES[parameter]}.py", text=TEXT, **{parameter: value})
        assert page.at.session_state[parameter] == key, value
        assert not any("Left out" in each.value for each in page.at.caption)


def test_an_old_label_opens_and_an_unknown_one_is_said(
    visit: Callable[..., Any], tiny_model: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(old_labels(), "lens", {"The mapped one": "affine"})  # type: ignore[arg-type]
    page = visit("pages/12_xray.py", text=TEXT, lens="The mapped one")
    assert page.at.session_state["lens"] == "affine"
    page = visit("pages/12_xray.py", text=TEXT, lens="a new one")
    assert any("lens=a new one" in each.value for each in page.at.caption)


def test_a_tab_is_opened_by_the_name_of_its_task(
    visit: Callable[..., Any], tiny_model: object
) -> None:
    page = visit("pages/2_fill_mask.py", text=TEXT, tab="fill_mask_surprise")
    assert page.at.session_state["tab"] == "Odd word"

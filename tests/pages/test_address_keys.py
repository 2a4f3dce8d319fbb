"""Addresses name options by keys; labels of today and of before open the same page."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from app.declared import all_declared
from app.faces.streamlit.address import old_labels
from app.features.attention.view_text import VIEW_NAMES
from app.features.fill_mask.view_together import ORDER_NAMES
from app.features.lab.result_finetune import KINDS as LABELLED
from app.features.why.view import OF_NAMES
from app.features.why.view_check import NAMES as METHOD_NAMES
from app.features.xray.view_words import ASKS, LENSES, MODES
from app.lessons.shelf import glossary
from app.settings import ROOT

NAMES: Mapping[str, Mapping[Any, str]] = {
    "why_method": METHOD_NAMES, "of": OF_NAMES, "lens": LENSES, "mode": MODES,
    "order": ORDER_NAMES, "view": VIEW_NAMES, "ask": ASKS, "labelled": LABELLED,
} | {
    each.key: dict(each.field.names)
    for task in all_declared() for each in task.parameters if each.field.names
}  # fmt: skip
TEXT = "In winter the lake is covered with [MASK]."
PAGES = {
    "of": ("14_why", {}),
    "why_method": ("14_why", {}),
    "lens": ("12_xray", {}),
    "mode": ("12_xray", {}),
    "order": ("2_fill_mask", {"tab": "fill_mask_together"}),
    "aggregation": ("6_ner", {}),
}


@pytest.mark.parametrize("parameter", NAMES)
def test_a_label_that_an_address_may_have_is_known_for_ever(parameter: str) -> None:
    """A new label is added to `assets/labels.toml`; an old one stays there."""
    known = old_labels().get(parameter, {})
    for key, label in NAMES[parameter].items():
        assert known.get(label, label) == str(key)
    assert set(known.values()) <= {str(key) for key in NAMES[parameter]}


@pytest.mark.parametrize("parameter", PAGES)
def test_a_key_and_its_label_open_a_page_with_the_same_choice_and_the_address_has_the_key(
    visit: Callable[..., Any], tiny_model: object, parameter: str
) -> None:
    key = list(NAMES[parameter])[-1]
    script, more = PAGES[parameter]
    for value in (str(key), NAMES[parameter][key]):
        page = visit(f"pages/{script}.py", text=TEXT, **more, **{parameter: value})
        assert page.at.session_state[parameter] == key, value
        assert page.at.query_params[parameter] == str(key)
        assert not any("Left out" in each.value for each in page.at.caption)


def test_an_old_label_opens_and_an_unknown_one_is_said_until_something_is_chosen(
    visit: Callable[..., Any], tiny_model: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(old_labels(), "lens", {"The mapped one": "raw"})  # type: ignore[arg-type]
    page = visit("pages/12_xray.py", text=TEXT, lens="The mapped one")
    assert page.at.session_state["lens"] == "raw"
    page = visit("pages/12_xray.py", text=TEXT, lens="a new one")
    assert any("lens=a new one" in each.value for each in page.at.caption)
    assert "lens" not in page.at.query_params
    page.choose("lens", "raw")
    assert not any("lens=" in each.value for each in page.at.caption)
    assert page.at.query_params["lens"] == "raw"


def test_what_is_chosen_is_written_by_its_key_and_goes_with_its_widget(
    visit: Callable[..., Any], tiny_model: object
) -> None:
    page = visit("pages/2_fill_mask.py", text=TEXT, tab="fill_mask_together", order="certain")
    assert page.at.session_state["tab"] == "Gaps together"
    page.at.session_state["order"] = "left"
    assert "order" not in page.run().at.query_params  # what is usual is left out
    page.at.session_state["order"] = "certain"
    assert page.run().at.query_params["order"] == "certain"
    page.at.session_state["tab"] = "Odd word"
    assert page.run().at.query_params["tab"] == "fill_mask_surprise"
    assert "order" not in page.at.query_params


def test_a_tab_stays_open_while_there_is_nothing_to_answer(
    visit: Callable[..., Any], tiny_model: object
) -> None:
    page = visit("pages/2_fill_mask.py", text=TEXT, tab="fill_mask_together")
    page.type("")
    assert page.warnings and "tab" not in page.at.query_params
    page.type(TEXT)
    assert "fill_mask_together" in page.at.query_params["tab"]


@pytest.mark.parametrize("script", ["5_qa", "12_xray", "14_why"])
def test_texts_of_an_address_have_one_name_on_all_pages(
    visit: Callable[..., Any], tiny_model: object, script: str
) -> None:
    page = visit(f"pages/{script}.py", text="Ada lives in Oslo.", question="Where is Ada?")
    second = "question" if script == "5_qa" else "text_pair"
    assert page.at.session_state["text"] == "Ada lives in Oslo."
    assert page.at.session_state[second] == "Where is Ada?"
    assert {"text", second} <= page.at.query_params.keys()
    assert second == "question" or "question" not in page.at.query_params


TERMS = {name: term for name, term in glossary().items() if term.values.keys() - {"text"}}


@pytest.mark.parametrize("name", TERMS)
def test_a_term_of_the_glossary_opens_what_it_names(
    visit: Callable[..., Any], tiny_model: object, name: str
) -> None:
    term = TERMS[name]
    (script,) = (ROOT / "pages").glob(f"*_{term.page}.py")
    page = visit(f"pages/{script.name}", **{key: str(each) for key, each in term.values.items()})
    assert not any("Left out" in each.value for each in page.at.caption)
    assert term.values.items() <= dict(page.at.query_params.items()).items()


@pytest.mark.parametrize(
    ("script", "tab", "says"),
    [
        ("2_fill_mask", "fill_mask_lines", "The page Data fills many gaps"),
        ("2_fill_mask", "Many gaps", "The page Data fills many gaps"),
        ("6_ner", "ner_agreement", "The page Data compares the model with annotations"),
        ("6_ner", "Ways of reading", "What decides the label of a word"),
        ("5_qa", "Windows", "how many windows"),
        ("2_fill_mask", "Two models", "The page Data compares two models"),
    ],
)
def test_a_link_to_a_tab_that_is_gone_opens_the_page_and_says_what_does_the_same(
    visit: Callable[..., Any], tiny_model: object, script: str, tab: str, says: str
) -> None:
    page = visit(f"pages/{script}.py", tab=tab)
    (said,) = [each.value for each in page.at.caption if "Left out" in each.value]
    assert says in said and (page.errors, page.warnings) == ("", "")

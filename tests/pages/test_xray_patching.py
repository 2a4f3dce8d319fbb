"""The tab of the X-ray that compares two sentences, as a visitor uses them."""

from collections.abc import Callable

import pytest

from app.faces.streamlit.features import xray as controls
from app.features.xray.task_patching import Preset

PAGE = "pages/12_xray.py"
TEXT, OTHER = "the cat sat on [MASK] mat", "the dog sat on [MASK] mat"


def test_patching_needs_a_second_sentence_and_then_draws_both_grids(visit: Callable) -> None:
    page = visit(PAGE, text=TEXT, tab="Patching")
    assert "Write a second sentence" in page.words and "xray-patching" not in page.pictures
    page = visit(PAGE, text=TEXT, tab="Patching", second=OTHER, answers="cat / dog")
    assert page.warnings == page.errors == ""
    assert {"xray-patching", "xray-patching-heads"} <= page.pictures.keys()
    assert "Logit of “cat” minus that of “dog”:" in page.words
    page.choose("second", "the dog sat")
    assert "The sentences have 8 and 5 pieces" in page.warnings and page.errors == ""


def test_a_pair_fills_both_boxes(visit: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Preset("Animals", TEXT, OTHER, "cat / dog")
    monkeypatch.setattr(controls, "PRESETS", (pair,))
    page = visit(PAGE, text="the mat", tab="Patching").click("Animals")
    assert page.at.text_area(key="text").value == TEXT
    assert page.at.text_input(key="second").value == OTHER
    assert page.at.text_input(key="answers").value == "cat / dog"
    assert "xray-patching" in page.pictures


def test_a_cancelled_patching_goes_on_when_asked(visit: Callable) -> None:
    page = visit(PAGE, text=TEXT, tab="Patching", second=OTHER, answers="cat / dog")
    page.at.session_state["_patching_stopped"] = (TEXT, OTHER, "cat / dog")
    page.run()
    assert "Cancelled." in page.words and "xray-patching" not in page.pictures
    page.click("Go on")
    assert "xray-patching" in page.pictures

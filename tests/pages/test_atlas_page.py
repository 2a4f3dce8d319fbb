"""Test the page "Head atlas" by driving it as a visitor would."""

from collections.abc import Callable

import pytest

from app.engine.models import Engine
from app.features.atlas.task import atlas
from tests.app.features.atlas.conftest import few_texts  # noqa: F401

PAGE = "pages/13_atlas.py"
pytestmark = pytest.mark.usefixtures("few_texts")


def test_the_page_opens_with_the_head_that_is_needed_most(
    visit: Callable, tiny_engine: Engine
) -> None:
    page = visit(PAGE)
    assert page.warnings == page.errors == ""
    head = atlas(tiny_engine).shown
    assert f"Layer {head.layer}, head {head.head}" in page.words
    assert set(page.pictures) == {"head-atlas"}
    assert page.pictures["head-atlas"].count("bx-at-mark ") == 2 * 8


def test_a_click_shows_a_head_and_the_address_opens_it(visit: Callable) -> None:
    page = visit(PAGE).pick("head", 5)
    assert "Layer 1, head 1" in page.words
    assert (page.at.selectbox(key="layer").value, page.at.selectbox(key="head").value) == (1, 1)
    page.pick("head", 99)
    assert "Layer 1, head 1" in page.words and page.errors == ""
    assert "Layer 0, head 3" in visit(PAGE, layer="0", head="3").words
    for address in ({"layer": "7", "head": "x"}, {"layer": "", "head": "-1"}):
        assert visit(PAGE, **address).errors == ""


def test_a_link_to_a_tab_that_is_gone_opens_the_page_and_says_so(visit: Callable) -> None:
    page = visit(PAGE, tab="Distances", colour="by layer")
    assert "4 of 144 heads" in page.words and set(page.pictures) == {"head-atlas"}
    assert any("tab=Distances" in each.value for each in page.at.caption)
    assert any("colour=by layer" in each.value for each in page.at.caption)


def test_a_measurement_can_be_cancelled_and_begun_again(
    visit: Callable, tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = visit(PAGE)
    page.at.session_state["_atlas_stopped"] = tiny_engine.provenance.fingerprint
    page.run()
    assert page.pictures == {} and page.errors == ""
    assert page.at.info[0].value == "The measurement was cancelled."
    page.click("Measure the heads")
    assert "head-atlas" in page.pictures

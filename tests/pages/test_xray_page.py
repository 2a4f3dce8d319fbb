"""Test the page "X-ray" by driving it as a visitor would."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from app.catalog import examples
from app.engine.models import Engine
from app.features.xray.result import all_parts
from app.features.xray.task import xray
from tests.compat.streamlit import events_of, run_with, widget_states

PAGE = "pages/12_xray.py"
TEXT = "the cat sat on the [MASK] ."


def component(page: Any, name: str) -> Any:
    """Return the last state of a component: its protocol buffer."""
    found = [
        each.proto
        for each in page.at.get("bidi_component")
        if each.proto.component_name.endswith(f".{name}")
    ]
    return found[-1] if found else None


def switch(page: Any, *names: str) -> Any:
    """Switch off exactly these parts, as the switchboard would report it."""
    parts = [part.name for part in all_parts(2, 4)]
    states = widget_states(page.at)
    event = {"event": "pick", "value": {"off": [parts.index(name) for name in names]}}
    states.widgets.add(
        id=events_of(component(page, "xray_switches").id),
        json_trigger_value=json.dumps([event]),
    )
    run_with(page.at, states)
    assert [error.value for error in page.at.exception] == []
    return page


def said(page: Any) -> str:
    """Return the answer above the picture."""
    drawn = next(
        json.loads(each.proto.json)["markup"]
        for each in page.at.get("bidi_component")
        if "bx-xr-say" in each.proto.json
    )
    found = drawn.partition('class="bx-xr-say"')[2].partition(">")[2].partition("<")[0]
    return str(found.replace("\u00a0", " "))


def address(page: Any, key: str) -> str:
    return "".join(page.at.query_params.get(key, ""))


def test_every_example_asks_what_it_names(visit: Callable) -> None:
    page = visit(PAGE)
    assert page.warnings == page.errors == ""
    board = json.loads(component(page, "xray_switches").json)
    assert board["off"] == [] and board["effects"] is None and len(board["notes"]) == 12
    for example in examples("xray"):
        page.click(example.label)
        assert page.errors == "" and page.at.selectbox(key="ask").value == example.values["ask"]
        if example.label not in ("Forty pieces", "When?"):  # longer than the tiny model reads
            assert page.warnings == ""


def test_switches_change_the_answer_and_are_kept_in_the_address(
    visit: Callable, tiny_engine: Engine
) -> None:
    page = visit(PAGE, text=TEXT)
    whole = said(page)
    switch(page, "0.1", "1.a")
    assert address(page, "off") == "0.1 1.a"
    found = xray(tiny_engine, TEXT, off="0.1 1.a")
    assert f"“{found.best.name}” ({100 * found.best.probability:.1f} %)" in said(page)
    assert "2 parts off" in said(page)
    switch(page, "1.f")
    assert address(page, "off") == "1.f"
    page.click("Undo")
    assert address(page, "off") == "0.1 1.a"
    page.click("Undo")
    assert address(page, "off") == "" and said(page) == whole
    assert next(each for each in page.at.button if each.label == "Undo").disabled
    page.click("No attention at all (2)")
    assert address(page, "off") == "0.a 1.a"
    page.click("All on")
    assert said(page) == whole
    assert said(visit(PAGE, text=TEXT, off="0.1 1.a")) != whole


def test_numbers_from_a_browser_are_checked(visit: Callable) -> None:
    page = visit(PAGE, text=TEXT)
    for value in ({"off": ["1"]}, {"off": [10**9, -4]}, [1]):
        states = widget_states(page.at)
        states.widgets.add(
            id=events_of(component(page, "xray_switches").id),
            json_trigger_value=json.dumps([{"event": "pick", "value": value}]),
        )
        run_with(page.at, states)
        assert page.errors == page.warnings == "" and address(page, "off") == ""
    for name in ("piece", "layer", "head", "back", "follow"):
        page.pick(name, 999)


def test_the_zoom_goes_to_a_head_and_back(visit: Callable) -> None:
    page = visit(PAGE, text=TEXT)
    page.pick("layer", 1)
    assert address(page, "zoom") == "1" and "choose a head" in said(page)
    page.pick("head", 2)
    assert address(page, "zoom") == "1.2" and component(page, "attention") is not None
    page.pick("back", 1)
    assert address(page, "zoom") == "1"
    page.pick("back", 0)
    assert address(page, "zoom") == ""
    for wrong in ("1.9", "1.2.6.1"):
        assert "the model writes" in said(visit(PAGE, text=TEXT, zoom=wrong))


def test_the_numbers_of_the_attention_page_are_those_of_the_zoom(visit: Callable) -> None:
    drawn = json.loads(component(visit(PAGE, text=TEXT, zoom="1.2"), "attention").json)
    page = visit("pages/4_attention.py", text=TEXT, layer="1", head="2")
    assert drawn["values"] == json.loads(component(page, "attention").json)["values"]
    off = visit(PAGE, text=TEXT, zoom="1.2", off="0.0 0.f")
    assert json.loads(component(off, "attention").json)["values"] != drawn["values"]


def test_a_piece_and_an_answer_are_picked_in_the_picture(
    visit: Callable, tiny_engine: Engine
) -> None:
    page = visit(PAGE, text=TEXT)
    page.pick("piece", 2)
    assert "“cat” (piece 2)" in said(page)
    page.pick("follow", 1)
    second = xray(tiny_engine, TEXT, at=2).candidates[1].name
    assert page.at.text_input(key="answer").value == second
    page.type("the dog sat")
    assert address(page, "at") == "" and page.at.text_input(key="answer").value == ""


def test_the_ranking_is_shown_and_used(visit: Callable, tiny_engine: Engine) -> None:
    page = visit(PAGE, text=TEXT, rank="true")
    ranking = xray(tiny_engine, TEXT, rank=True).ranking
    board = json.loads(component(page, "xray_switches").json)
    effects = {each.part: each.effect for each in ranking}
    assert board["effects"] == [effects[part.name] for part in all_parts(2, 4)]
    assert set(page.pictures) == {"xray", "xray-parts"}


@pytest.mark.parametrize(
    ("given", "warned"),
    [
        ({"text": ""}, "no piece"),
        ({"text": "cat " * 90}, "the X-ray shows at most 48"),
        ({"text": "the cat", "ask": "next sentence"}, "second text is missing"),
    ],
)
def test_what_cannot_be_asked_gets_a_sentence(
    visit: Callable, given: dict[str, str], warned: str
) -> None:
    page = visit(PAGE, **given)
    assert warned in page.warnings and page.errors == ""


def test_a_link_made_with_a_larger_model_opens(visit: Callable) -> None:
    page = visit(PAGE, text=TEXT, off="7.1 0.9 0.1", at="80", zoom="9.1")
    assert page.warnings == page.errors == "" and "1 part off" in said(page)
    assert page.at.query_params["off"] == "0.1"
    assert any("off=7.1, off=0.9" in each.value for each in page.at.caption)
    assert any("Heads(0, 1, mode='mean')" in code.value for code in page.at.code)

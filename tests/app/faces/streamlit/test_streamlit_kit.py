"""The frame of the pages: what visitors see of errors, and what pages remember."""

import logging
import re
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.faces.streamlit import components
from app.faces.streamlit.state import fits_address
from tests.visits import markup, opened


def guarded_page(kind: str) -> None:
    import streamlit as st

    from app.faces.streamlit import guarded
    from bert_core.errors import CheckpointError, InputError

    with guarded():
        if kind == "input":
            raise InputError("611 tokens; at most 512. ![x](http://a.example/x.png)")
        if kind == "checkpoint":
            raise CheckpointError("The file is cut at byte 7.")
        raise KeyError("what the visitor typed")
    st.write("the page goes on")


def run(kind: str) -> AppTest:
    return AppTest.from_function(guarded_page, args=(kind,), default_timeout=30).run()


@pytest.mark.parametrize(("kind", "box"), [("input", "warning"), ("checkpoint", "error")])
def test_what_is_wrong_is_said_in_a_box_without_markdown(kind: str, box: str) -> None:
    at = run(kind)
    assert [len(at.warning), len(at.error)] == [box == "warning", box == "error"]
    (said,) = [*at.warning, *at.error]
    assert ("611 tokens" if kind == "input" else "byte 7") in said.value and "![" not in said.value
    assert at.markdown[0].value == "the page goes on" and len(at.exception) == 0


def test_a_bug_is_an_apology_with_a_number_and_the_log_keeps_no_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR, logger="app"):
        at = run("bug")
    assert len(at.exception) == 0
    number = re.search(r"logged as ([0-9a-f]{8})", at.error[0].value)
    assert number is not None
    record = next(r for r in caplog.records if r.name == "app")
    assert number.group(1) in record.getMessage()
    assert "KeyError" in record.getMessage()
    assert "guarded_page" in record.getMessage()  # the traceback
    assert "visitor typed" not in record.getMessage().split("\n")[0]
    assert "'what the visitor" not in record.getMessage()
    assert record.exc_info is None


@pytest.fixture
def site(tiny_model: Path) -> AppTest:
    return opened("app.py")


def test_home_without_a_model_still_opens_and_says_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", "no-such-model")
    at = opened("app.py")
    assert "no-such-model" in at.error[0].value
    assert "<h1>BERT Explorer</h1>" in markup(at)


def test_settings_survive_a_visit_to_another_page(site: AppTest) -> None:
    site.switch_page("pages/2_fill_mask.py").run()
    site.slider(key="k").set_value(7).run()
    site.switch_page("pages/1_tokenizer.py").run()
    site.switch_page("pages/2_fill_mask.py").run()
    assert site.slider(key="k").value == 7


@pytest.mark.parametrize(
    ("text", "fits"),
    [("a" * 2_000, True), ("a" * 2_001, False), ("海" * 222, True), ("海" * 223, False)],
)
def test_the_address_takes_what_fits_when_percent_encoded(text: str, fits: bool) -> None:
    assert fits_address(text) is fits


def places(at: AppTest) -> dict[str, list[str]]:
    """Return the kinds of elements in each of the three places of the stage, in their order."""
    blocks = [(node, node.proto.id) for node in at.main if node.type == "flex_container"]
    return {
        place: [element.type for element in block]
        for block, id_ in blocks
        for place in ("bx-give", "bx-answer", "bx-settings")
        if id_.endswith(f"-{place}")
    }


def test_the_boxes_are_at_the_left_and_the_settings_after_the_answer(tiny_model: Path) -> None:
    at = opened("pages/2_fill_mask.py")
    found = places(at)
    assert list(found) == ["bx-give", "bx-answer", "bx-settings"]  # the order on a phone
    assert "text_area" in found["bx-give"] and "text_area" not in found["bx-answer"]
    assert "bidi_component" in found["bx-answer"]
    assert "slider" in found["bx-settings"] and "slider" not in found["bx-answer"]


@pytest.mark.parametrize("model", ["no-such-model", "cut"])
def test_an_error_of_the_model_is_in_the_answer(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "config.json").write_text("{", encoding="utf-8")
    monkeypatch.setenv("BERT_EXPLORER_MODELS", str(tmp_path))
    at = opened("pages/2_fill_mask.py", model=model)
    kinds = places(at)
    assert {"error", "warning"} & set(kinds["bx-answer"])
    assert not {"error", "warning"} & {*kinds["bx-give"], *kinds["bx-settings"]}


def page_of_errors() -> None:
    from app.faces.streamlit import page_shell, text_box
    from bert_core.errors import InputError

    with page_shell("fill_mask") as page:
        with page.give:
            text_box("fill_mask", "Text")
        raise InputError("611 tokens")


def test_an_error_of_a_text_is_in_the_answer_and_the_foot_still_comes(tiny_model: Path) -> None:
    at = AppTest.from_function(page_of_errors, default_timeout=60).run()
    assert "warning" in places(at)["bx-answer"] and "611 tokens" in at.warning[0].value
    assert "Note:" in markup(at) and f"{tiny_model.name}: " in markup(at)


def test_a_text_taken_along_leaves_no_partner_of_an_earlier_one(site: AppTest) -> None:
    site.switch_page("pages/3_next_sentence.py").run()
    assert site.text_area(key="text_pair").value  # the first example has two
    site.switch_page("pages/2_fill_mask.py").run()
    site.text_area(key="text").set_value("a lone [MASK]")
    site.slider(key="mixed").set_value(3).run()  # which goes along, too
    site.button(key="_send_next_sentence").click().run()
    assert "<h1>Next sentence</h1>" in markup(site)
    assert site.text_area(key="text").value == "a lone [MASK]"
    assert site.text_area(key="text_pair").value == ""


@pytest.mark.parametrize(
    ("pick", "taken"),
    [
        ({"name": "hide", "value": 3}, 3),
        ({"name": "hide", "value": "3"}, None),
        ({"name": "hide", "value": True}, None),
        ({"name": "other", "value": 3}, None),
        ({"value": 3}, None),
        ([], None),
        (None, None),
    ],
)
def test_only_whole_numbers_under_known_names_are_passed_on(
    monkeypatch: pytest.MonkeyPatch, pick: Any, taken: int | None
) -> None:
    calls: list[int] = []
    mounted: dict[str, Any] = {}
    state = {"_bridge": {"pick": pick}}
    used = SimpleNamespace(session_state=state, container=lambda key: nullcontext())
    monkeypatch.setattr(components, "st", used)
    monkeypatch.setattr(
        components, "_component", lambda name: lambda **given: mounted.update(given)
    )
    components.mount_bridge("fill_mask", {"hide": calls.append})
    mounted["on_pick_change"]()
    assert calls == ([] if taken is None else [taken])
    assert mounted["data"] == {"page": "fill_mask", "present": False}


def test_a_click_that_interrupts_a_run_is_answered_by_the_run_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[tuple[str, int]] = []
    mounted: dict[str, Any] = {}
    used = SimpleNamespace(session_state={}, container=lambda key: nullcontext())
    monkeypatch.setattr(components, "st", used)
    monkeypatch.setattr(
        components, "_component", lambda name: lambda **given: mounted.update(given)
    )

    def run(page: str, *names: str, number: int) -> None:
        picks: dict[str, Any] = {}
        components.mount_bridge(page, picks)
        for name in names:
            picks[name] = lambda value, name=name: calls.append((name, 10 * number + value))

    def click(name: str) -> None:
        used.session_state["_bridge"] = {"pick": {"name": name, "value": 3}}
        mounted["on_pick_change"]()

    run("qa", "suggest", number=1)
    run("qa", number=2)  # interrupted before the page has named its functions
    click("suggest")
    run("qa", "suggest", number=3)
    click("suggest")
    run("ner", number=4)
    click("suggest")
    assert calls == [("suggest", 13), ("suggest", 33)]


def page_that_computes() -> None:
    import streamlit as st

    from app.faces.streamlit.controls import on_demand

    text = st.text_input("Text", key="text")
    found = on_demand("Go", lambda: f"of {text}", key="go", about=text, icon=":material/check:")
    st.write(found or "nothing")


def test_what_was_computed_shows_only_beside_what_it_belongs_to() -> None:
    at = AppTest.from_function(page_that_computes, default_timeout=30).run()

    def shown(text: str) -> str:
        at.text_input(key="text").set_value(text).run()
        return str(at.markdown[-1].value)

    assert shown("a") == "nothing"
    at.button(key="go").click().run()
    assert at.markdown[-1].value == "of a"
    assert shown("b") == "nothing"
    assert shown("a") == "of a"

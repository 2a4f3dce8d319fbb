"""The frame of the pages: what visitors see of errors, and what pages remember."""

import logging
import re
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.catalog import GROUPS, examples, feature, pages
from app.faces.streamlit import components
from app.faces.streamlit.state import fits_address
from app.settings import settings
from bert_core.errors import InputError
from tests.visits import labels, markup, opened, press


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


def test_what_the_visitor_can_solve_is_a_warning_without_markdown() -> None:
    at = run("input")
    assert "611 tokens" in at.warning[0].value
    assert "![" not in at.warning[0].value
    assert len(at.error) == 0
    assert at.markdown[0].value == "the page goes on"


def test_a_damaged_file_is_an_error_box() -> None:
    at = run("checkpoint")
    assert "byte 7" in at.error[0].value
    assert len(at.warning) == len(at.exception) == 0


def test_a_bug_is_an_apology_with_a_number_and_the_log_keeps_no_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR, logger="app"):
        at = run("bug")
    assert len(at.exception) == 0
    number = re.search(r"\*\*([0-9a-f]{8})\*\*", at.error[0].value)
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


def test_home_opens_with_its_title_and_the_model(site: AppTest, tiny_model: Path) -> None:
    assert "<h1>BERT Explorer</h1>" in markup(site)
    assert f"{tiny_model.name}: " in markup(site) and "SHA-256" in markup(site)


def test_home_without_a_model_still_opens_and_says_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", "no-such-model")
    at = opened("app.py")
    assert "no-such-model" in at.error[0].value
    assert "<h1>BERT Explorer</h1>" in markup(at)


def test_a_text_can_be_taken_to_another_page_and_a_gap_stays_where_gaps_are_read(
    site: AppTest,
) -> None:
    site.switch_page("pages/1_tokenizer.py").run()
    site.text_area(key="text").set_value("the dog sat on the river bank").run()
    press(site, "Fill-mask")
    assert "<h1>Fill-mask</h1>" in markup(site)
    assert site.text_area(key="text").value == "the dog sat on the river bank"
    site.switch_page("pages/2_fill_mask.py").run()  # AppTest itself does not notice the move
    site.text_area(key="text").set_value("the dog sat on the river [MASK]").run()
    site.switch_page("pages/1_tokenizer.py").run()
    assert site.text_area(key="text").value == "the dog sat on the river bank"
    site.switch_page("pages/2_fill_mask.py").run()
    assert site.text_area(key="text").value == "the dog sat on the river [MASK]"
    assert len(site.exception) == 0


def test_a_page_visited_first_time_through_the_menu_opens_with_its_example(site: AppTest) -> None:
    site.switch_page("pages/2_fill_mask.py").run()
    assert site.text_area(key="text").value == examples("fill_mask")[0].values["text"]


def test_settings_survive_a_visit_to_another_page(site: AppTest) -> None:
    site.switch_page("pages/2_fill_mask.py").run()
    site.slider(key="k").set_value(7).run()
    site.switch_page("pages/1_tokenizer.py").run()
    site.switch_page("pages/2_fill_mask.py").run()
    assert site.slider(key="k").value == 7


def test_a_page_alone_offers_no_way_to_pages_that_are_not_there(tiny_model: Path) -> None:
    at = opened("pages/1_tokenizer.py")
    assert "Fill-mask" not in labels(at)


@pytest.mark.parametrize(
    ("text", "fits"),
    [("a" * 2_000, True), ("a" * 2_001, False), ("海" * 222, True), ("海" * 223, False)],
)
def test_the_address_takes_what_fits_when_percent_encoded(text: str, fits: bool) -> None:
    assert fits_address(text) is fits


WRITTEN = [row for row in pages() if row.takes_text]


@pytest.mark.parametrize("row", WRITTEN, ids=lambda row: row.slug)
def test_every_page_for_texts_has_five_examples_of_its_own_with_a_note(row: Any) -> None:
    found = examples(row.slug)
    assert len(found) >= 5
    assert len({example.label for example in found}) == len(found)
    assert all(example.label and example.note and example.values["text"] for example in found)
    assert row.see and row.beware and row.group in GROUPS


def test_a_page_without_a_text_has_no_examples_and_gets_no_texts(site: AppTest) -> None:
    without = [row.slug for row in pages() if not row.takes_text]
    assert without == ["data", "atlas", "lab", "variants", "model_card"]
    assert examples("model_card") == ()
    site.switch_page("pages/1_tokenizer.py").run()
    assert "Model card" not in labels(site)
    site.switch_page("pages/7_model_card.py").run()
    assert len(site.exception) == 0 and len(site.text_area) == 0
    site.switch_page("pages/1_tokenizer.py").run()
    assert site.text_area(key="text").value == examples("tokenizer")[0].values["text"]


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


def test_a_slug_that_is_no_page_is_refused() -> None:
    with pytest.raises(InputError, match="fill_mask"):
        feature("poetry")


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


def test_settings_follow_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", "somewhere")
    monkeypatch.setenv("BERT_EXPLORER_THREADS", "3")
    monkeypatch.setenv("BERT_EXPLORER_RUNS", "5")
    found = settings()
    assert (found.model, found.threads, found.runs) == ("somewhere", 3, 5)

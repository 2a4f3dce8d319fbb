"""Test the attention page from a visitor's point of view."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.catalog import examples
from app.models import Engine
from app.streamlit_kit import components
from bert_core import BertModel
from bert_core.analysis.head_statistics import head_statistics
from bert_core.analysis.statistics_file import to_json

PAGE = Path(__file__).resolve().parents[2] / "pages" / "4_attention.py"

pytestmark = pytest.mark.usefixtures("tiny_model")


def opened(**address: str) -> AppTest:
    """Open the page at an address."""
    at = AppTest.from_file(str(PAGE), default_timeout=60)
    for key, value in address.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception
    return at


def asked(text: str) -> AppTest:
    """Open the page with a text in its box; no text may cause an error."""
    at = AppTest.from_file(str(PAGE), default_timeout=60)
    at.session_state["text"] = text
    at.query_params["view"] = "Lines"
    at.run()
    assert not at.exception and not at.error
    return at


def drawn(at: AppTest) -> dict[str, dict[str, Any]]:
    """Return the data passed to each component on the page."""
    return {
        each.proto.component_name.rpartition(".")[2]: json.loads(each.proto.json)
        for each in at.get("bidi_component")
    }


def markup(at: AppTest) -> str:
    return "\n".join(element.proto.body for element in at.get("html"))


def headings(at: AppTest) -> list[str]:
    return [header.value for header in at.header]


def choice(at: AppTest, key: str) -> Any:
    return next(group for group in at.button_group if group.key == key)


def test_the_first_example_is_drawn_at_once() -> None:
    at = opened()
    assert headings(at) == ["Every head", "Layer 0, head 0"]
    assert set(drawn(at)) == {"attention_grid", "attention_heatmap"}
    assert "nothing is hidden" in markup(at)
    assert "Attention is not an explanation" in markup(at)
    assert not at.warning and not at.error


@pytest.fixture
def known_habits(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default model, stored with the file of where its heads usually look."""
    folder = tmp_path / "known"
    shutil.copytree(tiny_model, folder)
    engine = Engine(str(folder))
    found = head_statistics(engine.model(BertModel), engine.tokenizer, ["the cat sat.", "a dog"])
    (folder / "head-statistics.json").write_text(to_json(found), encoding="utf-8")
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(folder))
    return folder


def test_what_a_head_usually_does_stands_beside_what_it_does_here(known_habits: Path) -> None:
    at = opened(text="the cat sat.", layer="1", head="2")
    assert headings(at) == ["Every head", "Layer 1, head 2", "What this head usually does"]
    drawn = markup(at)
    assert "<strong>Previous token</strong>" in drawn and "Means over 2 texts" in drawn
    assert drawn.count('data-label="usually"') == drawn.count('data-label="in this text"') == 8
    choice(at, "head").set_value(-1).run()
    assert "What these heads usually do" in headings(at)
    (known_habits / "head-statistics.json").unlink()
    assert "What these heads usually do" in headings(at.run())  # the file was already read


def test_damaged_habits_stop_only_their_own_part(known_habits: Path) -> None:
    (known_habits / "head-statistics.json").write_text("[]", encoding="utf-8")
    at = AppTest.from_file(str(PAGE), default_timeout=60).run()
    assert headings(at) == ["Every head", "Layer 0, head 0"]
    assert "damaged" in at.error[0].value and str(known_habits) not in at.error[0].value
    assert "Attention is not an explanation" in markup(at)


def test_the_address_sets_every_control() -> None:
    at = opened(
        text="the cat", text_pair="sat", layer="1", head="3", view="Lines", part="A to B",
        renormalise="true", scale="own peak", palette="cividis", floor="0.2",
    )  # fmt: skip
    assert headings(at) == ["Every head", "Layer 1, head 3", "Between the two texts"]
    lines = drawn(at)["attention_lines"]
    assert lines["rows"] == ["the", "cat"] and lines["columns"] == ["sat"]
    assert lines["active"] == [3] and lines["layer"] == 1
    assert at.slider(key="floor").value == 0.2
    assert "Only A to B is shown" in markup(at) and "divided by its sum" in markup(at)
    assert drawn(at)["attention_grid"]["common"] is False


def test_an_address_with_nonsense_falls_back_to_the_defaults() -> None:
    at = opened(layer="77", head="x", view="<b>", part="C to D", floor="9", palette="red")
    assert headings(at) == ["Every head", "Layer 0, head 0"]
    assert not at.warning and not at.error


def test_choosing_a_head_and_the_mean() -> None:
    at = opened(text="the cat sat")
    choice(at, "layer").set_value(1).run()
    choice(at, "head").set_value(2).run()
    assert "Layer 1, head 2" in headings(at)
    assert drawn(at)["attention_grid"]["chosen"] == {"layer": 1, "head": 2}
    choice(at, "head").set_value(-1).run()
    assert "Layer 1, mean over its 4 heads" in headings(at)
    assert drawn(at)["attention_grid"]["chosen"] == {"layer": 1, "head": None}


def test_hiding_special_tokens_offers_to_scale_what_is_left() -> None:
    at = opened(text="the cat sat")
    assert [toggle.key for toggle in at.toggle] == ["special"]
    at.toggle(key="special").set_value(False).run()
    assert drawn(at)["attention_heatmap"]["rows"][0] == "the"
    assert "add up to less than 1" in markup(at)
    at.toggle(key="renormalise").set_value(True).run()
    assert "divided by its sum" in markup(at)


def test_parts_are_offered_for_two_texts_only() -> None:
    single = opened(text="the cat")
    assert "part" not in [group.key for group in single.button_group]
    pair = opened(text="the cat", text_pair="sat on")
    assert "part" in [group.key for group in pair.button_group]
    table = next(f.value for f in pair.dataframe if "from" in f.value)
    assert table.drop(columns="from").sum(axis=1).tolist() == pytest.approx([1, 1, 1], abs=1e-3)


def test_a_part_in_the_address_of_a_single_text_shows_everything() -> None:
    at = opened(text="the cat", part="A to B")
    assert "nothing is hidden" in markup(at)


@pytest.mark.parametrize("number", range(len(examples("attention"))))
def test_every_example_is_drawn(number: int) -> None:
    at = opened(text="x")
    at.button(key=f"_example_{number}").click().run()
    assert at.text_area(key="text").value == examples("attention")[number].values["text"]
    assert examples("attention")[number].note
    assert not at.exception and not at.error
    assert {"attention_grid", "attention_heatmap"} <= set(drawn(at))


@pytest.mark.parametrize("text", ["", "  ", "\u200b\x02"])
def test_an_empty_text_is_met_with_a_friendly_warning(text: str) -> None:
    at = asked(text)
    assert "Write a word or pick an example" in at.warning[0].value
    assert not drawn(at)


def test_nasty_texts_reach_the_components_as_data_only(nasty: str) -> None:
    at = asked(f"cat {nasty}")
    assert "<script" not in markup(at) and "<img" not in markup(at)
    rows = drawn(at)["attention_lines"]["rows"]
    assert rows[0] == "[CLS]" and rows[1] == "cat"
    for element in at.get("bidi_component"):
        assert "<script" not in element.proto.html_content + element.proto.js_content


def test_a_long_text_is_cut_stacked_and_pooled() -> None:
    at = asked("the cat sat " * 30)
    assert "92 tokens are too many" in markup(at)
    assert len(drawn(at)["attention_lines"]["rows"]) == 48
    assert "too long for one pixel" in markup(at)


def test_every_picture_has_words_and_a_table() -> None:
    at = opened(text="the cat", text_pair="sat", view="Lines")
    titles = [expander.label for expander in at.expander]
    assert titles == [
        "Every head in numbers",
        "The lines as a table",
        "All of the numbers as a table",
        "The same as a table",
        "About this model",
    ]
    assert all(frame.proto.alt for frame in at.dataframe)
    assert drawn(at)["attention_grid"]["label"].startswith("2 layers (rows) of 4 heads")


def test_layers_and_heads_say_where_they_count_from() -> None:
    at = opened()
    assert choice(at, "layer").label == "Layer, counted from 0"
    assert choice(at, "head").label == "Head, counted from 0"


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ({"pick": {"layer": 1, "head": 3}}, {"layer": 1, "head": 3}),
        ({"pick": {"layer": 1}}, {}),
        ({"pick": {"layer": "1", "head": 2}}, {}),
        ({"pick": {"layer": True, "head": 2}}, {}),
        ({"pick": [1, 2]}, {}),
        ({"pick": None}, {}),
        ({}, {}),
        (None, {}),
    ],
)
def test_a_pick_is_taken_only_when_it_is_whole_numbers(
    sent: object, taken: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    state: dict[str, object] = {"grid": sent}
    monkeypatch.setattr("streamlit.session_state", state)
    components._take("grid", ("layer", "head"))
    state.pop("grid")
    assert state == taken


def test_a_head_that_this_model_lacks_is_forgotten() -> None:
    at = opened(text="the cat")
    at.session_state["layer"] = 11
    at.session_state["head"] = 99
    at.run()
    assert not at.exception and not at.error
    assert headings(at) == ["Every head", "Layer 0, head 0"]

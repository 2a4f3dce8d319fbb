"""Test the attention page from a visitor's point of view."""

import json
import re
import shutil
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.catalog import examples
from app.engine.models import Engine
from app.faces.streamlit import components
from app.faces.streamlit.features import attention as controls
from app.features.attention.task import attention
from bert_core import BertModel
from bert_core.analysis.head_statistics import head_statistics
from bert_core.analysis.statistics_file import to_json
from tests import visits
from tests.drawings import pictures
from tests.visits import checked

PAGE = "pages/4_attention.py"

pytestmark = pytest.mark.usefixtures("tiny_model")


opened = partial(visits.opened, PAGE)


def asked(text: str) -> AppTest:
    """Open the page with a text in its box; no text may cause an error."""
    at = visits.unopened(PAGE, view="Lines")
    at.session_state["text"] = text
    assert not checked(at).error
    return at


def sent(at: AppTest) -> dict[str, dict[str, Any]]:
    """Return the data passed to each component on the page."""
    return {
        each.proto.component_name.rpartition(".")[2]: json.loads(each.proto.json)
        for each in at.get("bidi_component")
    }


def heat_map(at: AppTest) -> dict[str, Any]:
    """Return the data of the heat map."""
    return sent(at)["attention"]


def marked(at: AppTest) -> list[str]:
    """Return the heads that are marked among the small maps."""
    return re.findall(r'data-head="([\d.]+)" stroke="#d55e00"', markup(at))


def words_that_look(at: AppTest) -> list[str]:
    """Return the words at the left of the lines, as a wide page shows them."""
    lines = next(each for each in pictures(at).values() if "bx-att-lines" in each)
    wide = lines.partition('class="bx-wide"')[2].partition('class="bx-narrow"')[0]
    return [unescape(each) for each in re.findall(r' r\d+"[^>]*>([^<]*)</text>', wide)]


def markup(at: AppTest) -> str:
    return visits.markup(at) + "".join(pictures(at).values())


def title(at: AppTest) -> str:
    return markup(at).partition("<h2>")[2].partition("</h2>")[0]


def choice(at: AppTest, key: str) -> Any:
    return next(group for group in (*at.button_group, *at.selectbox) if group.key == key)


def test_the_first_example_opens_with_a_telling_head(tiny_engine: Engine) -> None:
    at = opened()
    text = str(examples("attention")[0].values["text"])
    layer, head = attention(tiny_engine, text).telling
    assert title(at) == f"Layer {layer}, head {head}"
    assert marked(at) == [f"{layer}.{head}"]
    assert heat_map(at)["top"] == pytest.approx(
        float(attention(tiny_engine, text).attentions[layer][head].max())
    )
    assert "Attention is not an explanation" in markup(at)
    assert not at.warning and not at.error


def test_another_text_opens_with_its_own_head_unless_one_was_chosen(tiny_engine: Engine) -> None:
    at = opened(text="the cat sat")
    text = "the dog sat on the mat, the dog, the mat"
    at.text_area(key="text").set_value(text).run()
    layer, head = attention(tiny_engine, text).telling
    assert title(at) == f"Layer {layer}, head {head}"
    other = (head + 1) % 4
    choice(at, "head").set_value(other).run()
    at.text_area(key="text").set_value("a bank a bank").run()
    assert title(at) == f"Layer {layer}, head {other}"


def test_an_example_without_a_head_opens_with_a_telling_one(tiny_engine: Engine) -> None:
    rows = examples("attention")
    plain = next(n for n, row in enumerate(rows) if "layer" not in row.values)
    other = next(n for n, row in enumerate(rows) if "layer" in row.values)
    at = opened(text="x")
    at.button(key=f"_example_{other}").click().run()
    layer = int(rows[other].values["layer"])
    assert title(at).startswith(f"Layer {layer if layer < tiny_engine.provenance.layers else 0}, ")
    at.button(key=f"_example_{plain}").click().run()
    layer, head = attention(tiny_engine, str(rows[plain].values["text"])).telling
    assert title(at) == f"Layer {layer}, head {head}"


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


def test_what_a_head_usually_does_is_beside_what_it_does_here(known_habits: Path) -> None:
    at = opened(text="the cat sat.", layer="1", head="2", tab="All heads")
    assert title(at) == "Layer 1, head 2"
    words = markup(at)
    assert "<strong>Previous token</strong>" in words and "Means over 2 texts" in words
    assert words.count('data-label="usually"') == words.count('data-label="in this text"') == 8
    table = next(frame.value for frame in at.dataframe if "here" in frame.value)
    assert len(table) == 8 and sorted(table["rank"]) == [*range(1, 9)]
    (known_habits / "head-statistics.json").unlink()
    assert "Means over 2 texts" not in markup(at.run())  # the folder is read anew


def test_a_ranking_by_another_measure(tiny_engine: Engine) -> None:
    at = opened(text="the cat sat on the mat", tab="All heads", by="attention to the next piece")
    table = next(frame.value for frame in at.dataframe if "here" in frame.value)
    statistics = attention(tiny_engine, "the cat sat on the mat").statistics
    assert table["attention to the next piece"].tolist() == pytest.approx(
        sorted(statistics.to_next.reshape(-1), reverse=True), abs=1e-4
    )


def test_damaged_habits_stop_only_their_own_part(known_habits: Path) -> None:
    (known_habits / "head-statistics.json").write_text("[]", encoding="utf-8")
    at = opened()
    assert title(at).startswith("Layer")
    assert "damaged" in at.error[0].value and str(known_habits) not in at.error[0].value
    assert heat_map(at) and marked(at)
    assert "Attention is not an explanation" in markup(at)


def test_the_address_sets_every_control() -> None:
    at = opened(
        text="the cat", text_pair="sat", layer="1", head="3", view="Lines", part="A to B",
        renormalise="true", scale="0 to 1", floor="0.2", top="50", log="true", words="true",
    )  # fmt: skip
    assert title(at) == "Layer 1, head 3"
    assert words_that_look(at) == ["the", "cat"]
    assert at.slider(key="floor").value == 0.2
    assert "Only A to B is shown" in markup(at) and "divided by its sum" in markup(at)
    assert "among the top 50 %" in markup(at) and "Words: attention" in markup(at)


def test_choosing_a_head_and_the_mean() -> None:
    at = opened(text="the cat sat")
    choice(at, "layer").set_value(1).run()
    choice(at, "head").set_value(2).run()
    assert title(at) == "Layer 1, head 2"
    assert marked(at) == ["1.2"]
    choice(at, "head").set_value(-1).run()
    assert title(at) == "Layer 1, mean of its 4 heads"
    assert marked(at) == ["1.0", "1.1", "1.2", "1.3"]


def test_any_heads_of_the_address_are_combined(tiny_engine: Engine) -> None:
    at = opened(text="the cat sat", heads=["0.1", "1.3"], how="largest", cell="1.1")
    assert title(at) == "Largest of heads 0.1, 1.3"
    result = attention(tiny_engine, "the cat sat")
    largest = max(result.attentions[0][1].max(), result.attentions[1][3].max())
    assert heat_map(at)["top"] == pytest.approx(float(largest))
    assert marked(at) == ["0.1", "1.3"]
    assert "Several heads are combined" in markup(at)
    at.multiselect(key="heads").set_value([]).run()
    assert title(at).startswith("Layer")


@pytest.mark.parametrize(
    ("picks", "heads"),
    [
        ([(1, 2, 0)], ()),
        ([(1, 2, 0), (0, 3, 1)], ("1.2", "0.3")),
        ([(1, 2, 0), (0, 3, 1), (1, 2, 1)], ("0.3",)),
        ([(1, 2, 0), (0, 3, 1), (1, 1, 0)], ()),
    ],
)
def test_clicks_in_the_grid_choose_and_shift_combines(
    picks: list[tuple[int, int, int]],
    heads: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state: dict[str, Any] = {}
    monkeypatch.setattr("streamlit.session_state", state)
    for layer, head, more in picks:
        controls.take_head(layer, head, more)
    assert tuple(state["heads"]) == heads
    plain = [pick for pick in picks if not pick[2]][-1]
    assert (state["layer"], state["head"]) == plain[:2]


def test_the_pinned_cell_of_the_address_is_computed_step_by_step(tiny_engine: Engine) -> None:
    at = opened(text="the cat sat", layer="1", head="2", cell="2.3")
    assert heat_map(at)["cell"] == [2, 3]
    value = attention(tiny_engine, "the cat sat").attentions[1][2, 2, 3]
    assert f"The cell: {value:.6f}." in markup(at)
    assert 'data-at="0.2"' in markup(at) and 'data-at="0.3"' in markup(at)
    assert "Click a cell" in markup(opened(text="the cat sat", cell="2.99"))


@pytest.mark.parametrize(("row", "column", "kept"), [(2, 3, "2.3"), (-1, -1, None)])
def test_a_pinned_cell_goes_into_the_address(
    row: int, column: int, kept: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = {"cell": "1.1"}
    monkeypatch.setattr("streamlit.query_params", address)
    controls.take_cell(row, column)
    assert address.get("cell") == kept


def test_hiding_special_tokens_offers_to_scale_what_is_left() -> None:
    at = opened(text="the cat sat")
    assert "renormalise" not in [toggle.key for toggle in at.toggle]
    at.toggle(key="special").set_value(False).run()
    assert heat_map(at)["rows"][0] == "the"
    assert "add up to less than 1" in markup(at)
    at.toggle(key="renormalise").set_value(True).run()
    assert "divided by its sum" in markup(at)


def test_words_are_shown_as_typed() -> None:
    at = opened(text="Playing the cat", words="true")
    assert heat_map(at)["rows"] == ["[CLS]", "Playing", "the", "cat", "[SEP]"]
    assert "attention from them is averaged" in markup(at)


def test_parts_are_offered_for_two_texts_only() -> None:
    single = opened(text="the cat")
    assert "part" not in [group.key for group in single.button_group]
    pair = opened(text="the cat", text_pair="sat on")
    assert "part" in [group.key for group in pair.button_group]
    assert "The first text (A) looks" in markup(pair)


def test_a_part_in_the_address_of_a_single_text_shows_everything() -> None:
    at = opened(text="the cat", part="A to B")
    assert len(heat_map(at)["rows"]) == 4


@pytest.mark.parametrize("which", ["Heat map", "Every head", "Lines"])
def test_every_picture_can_be_saved(which: str) -> None:
    at = opened(text="the cat sat", tab="Files", file=which)
    words = markup(at)
    for kind in ("svg", "png", "csv", "json"):
        assert f'data-save="{kind}"' in words
    labels = [button.proto.label for button in at.get("download_button")]
    assert [label for label in labels if "Matrix" in label] == [
        "Matrix (CSV)", "Matrix (JSON)",
    ]  # fmt: skip


def test_nasty_texts_reach_the_page_as_text_only(nasty: str) -> None:
    at = asked(f"cat {nasty}")
    assert "<script" not in markup(at) and "<img" not in markup(at)
    assert words_that_look(at)[:2] == ["[CLS]", "cat"]
    for element in at.get("bidi_component"):
        assert "<script" not in element.proto.html_content + element.proto.js_content


def test_a_long_text_is_cut_and_pooled() -> None:
    at = asked("the cat sat " * 30)
    assert "92 tokens are too many" in markup(at)
    assert len(words_that_look(at)) == 48
    assert "32 × 32 blocks" in markup(at)


@pytest.mark.parametrize(
    ("told", "taken"),
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
    told: object, taken: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    state: dict[str, object] = {"grid": told}
    monkeypatch.setattr("streamlit.session_state", state)
    components._take("grid", ("layer", "head"), (), state.update)
    state.pop("grid")
    assert state == taken


def test_a_head_that_this_model_lacks_is_forgotten() -> None:
    at = visits.unopened(PAGE)
    at.session_state["text"] = "the cat"
    at.session_state["layer"], at.session_state["head"] = 11, 99
    at.session_state["heads"] = ["0.1", "11.3"]
    assert not checked(at).error
    assert title(at) == "Layer 0, head 1"
    at.multiselect(key="heads").set_value([]).run()
    assert title(at) == "Layer 0, head 0"

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
from tests import visits
from tests.drawings import pictures
from tests.visits import checked

PAGE = "pages/4_attention.py"

pytestmark = pytest.mark.usefixtures("tiny_model")


opened = partial(visits.opened, PAGE)


def heat_map(at: AppTest) -> dict[str, Any]:
    """Return the data of the heat map."""
    drawn = {
        each.proto.component_name.rpartition(".")[2]: each.proto.json
        for each in at.get("bidi_component")
    }
    return json.loads(drawn["attention"])  # type: ignore[no-any-return]


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


def telling(engine: Engine, text: str) -> str:
    layer, head = attention(engine, text).telling
    return f"Layer {layer}, head {head}"


def test_a_text_opens_with_a_telling_head_unless_one_was_chosen(tiny_engine: Engine) -> None:
    rows = examples("attention")
    first = str(rows[0].values["text"])
    at = opened()
    assert title(at) == telling(tiny_engine, first) and not at.warning and not at.error
    layer, head = attention(tiny_engine, first).telling
    assert marked(at) == [f"{layer}.{head}"]
    top = float(attention(tiny_engine, first).attentions[layer][head].max())
    assert heat_map(at)["top"] == pytest.approx(top)
    assert "Attention is not an explanation" in markup(at)
    text = "the dog sat on the mat, the dog, the mat"
    at.text_area(key="text").set_value(text).run()
    assert title(at) == telling(tiny_engine, text)
    layer, head = attention(tiny_engine, text).telling
    choice(at, "head").set_value((head + 1) % 4).run()
    at.text_area(key="text").set_value("a bank a bank").run()
    assert title(at) == f"Layer {layer}, head {(head + 1) % 4}"
    plain = next(n for n, row in enumerate(rows) if "layer" not in row.values)
    other = next(n for n, row in enumerate(rows) if "layer" in row.values)
    at.button(key=f"_example_{other}").click().run()
    layer = int(rows[other].values["layer"])
    assert title(at).startswith(f"Layer {layer if layer < tiny_engine.provenance.layers else 0}, ")
    at.button(key=f"_example_{plain}").click().run()
    assert title(at) == telling(tiny_engine, str(rows[plain].values["text"]))


def test_damaged_habits_stop_only_their_own_part(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "known"
    shutil.copytree(tiny_model, folder)
    (folder / "head-statistics.json").write_text("[]", encoding="utf-8")
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(folder))
    at = opened()
    assert title(at).startswith("Layer")
    assert "damaged" in at.error[0].value and str(folder) not in at.error[0].value
    assert heat_map(at) and marked(at)


def test_the_address_sets_every_control_and_names_what_is_gone() -> None:
    gone = {"by": "entropy", "renormalise": "true", "scale": "0 to 1", "log": "true",
            "part": "A to B", "floor": "0.2", "heads": "0.1", "tab": "Files"}  # fmt: skip
    at = opened(
        text="the cat", text_pair="sat", layer="1", head="3", view="Lines", words="true",
        special="false", **gone,
    )  # fmt: skip
    assert title(at) == "Layer 1, head 3"
    assert words_that_look(at) == ["the", "cat", "sat"]
    assert "Words: attention" in markup(at) and "The first text (A) looks" in markup(at)
    said = next(each.value for each in at.caption if "Left out" in each.value)
    assert all(f"{name}=" in said for name in gone)


def test_choosing_a_head_and_the_mean() -> None:
    at = opened(text="the cat sat", layer="1", head="2", cell="1.1")
    assert title(at) == "Layer 1, head 2" and marked(at) == ["1.2"]
    choice(at, "head").set_value(-1).run()
    assert title(at) == "Layer 1, mean of its 4 heads"
    assert marked(at) == ["1.0", "1.1", "1.2", "1.3"]
    assert "show a single head to see its arithmetic" in markup(at)


def test_the_pinned_cell_of_the_address_is_computed_step_by_step(tiny_engine: Engine) -> None:
    at = opened(text="the cat sat", layer="1", head="2", cell="2.3")
    assert heat_map(at)["cell"] == [2, 3]
    value = attention(tiny_engine, "the cat sat").attentions[1][2, 2, 3]
    assert f"The cell: {value:.6f}." in markup(at)
    assert 'data-at="0.2"' in markup(at) and 'data-at="0.3"' in markup(at)
    at = opened(text="the cat sat", saved="true")  # the twin of the picture, as a table and files
    assert all(f'data-save="{kind}"' in markup(at) for kind in ("svg", "png", "csv", "json"))
    labels = [button.proto.label for button in at.get("download_button")]
    assert {"Heat map (SVG)", "Every head (SVG)", "Lines (SVG)", "Matrix (CSV)"} <= set(labels)


@pytest.mark.parametrize(("row", "column", "kept"), [(2, 3, "2.3"), (-1, -1, None)])
def test_a_pinned_cell_goes_into_the_address(
    row: int, column: int, kept: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = {"cell": "1.1"}
    monkeypatch.setattr("streamlit.query_params", address)
    controls.take_cell(row, column)
    assert address.get("cell") == kept


def test_special_tokens_are_hidden_and_words_shown_as_typed() -> None:
    at = opened(text="Playing the cat", words="true")
    assert heat_map(at)["tokens"] == ["[CLS]", "Playing", "the", "cat", "[SEP]"]
    at.toggle(key="special").set_value(False).run()
    assert heat_map(at)["tokens"] == ["Playing", "the", "cat"]
    assert "add up to less than 1" in markup(at)


@pytest.mark.parametrize("text", ["cat <script>alert(1)</script><img src=x>", "the cat sat " * 30])
def test_any_text_is_shown_as_text_and_a_long_one_is_cut_and_pooled(text: str) -> None:
    at = opened(text=text, view="Lines")
    assert "<script" not in markup(at) and "<img" not in markup(at)
    assert words_that_look(at)[:2] == ["[CLS]", text[:3]]
    if len(text) > 300:
        assert "92 tokens are too many" in markup(at) and "32 × 32 blocks" in markup(at)
        assert len(words_that_look(at)) == 48


@pytest.mark.parametrize(
    ("pick", "taken"),
    [
        ({"layer": 1, "head": 3}, {"layer": 1, "head": 3}),
        *((pick, {}) for pick in ({"layer": 1}, {"layer": "1", "head": 2}, [1, 2], None)),
        ({"layer": True, "head": 2}, {}),
    ],
)
def test_a_pick_is_taken_only_when_it_is_whole_numbers(
    pick: object, taken: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for sent in ({"pick": pick}, {} if not taken else {"pick": pick}):
        state: dict[str, object] = {"grid": sent}
        monkeypatch.setattr("streamlit.session_state", state)
        components._take("grid", ("layer", "head"), (), state.update)
        state.pop("grid")
        assert state == taken


def test_a_head_that_this_model_lacks_is_forgotten() -> None:
    at = visits.unopened(PAGE)
    at.session_state["text"] = "the cat"
    at.session_state["layer"], at.session_state["head"] = 11, 99
    assert not checked(at).error
    assert title(at) == "Layer 0, head 0"

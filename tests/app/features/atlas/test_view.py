"""What is drawn are the numbers of the result."""

import json
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from app.engine.models import Engine
from app.faces.paper.json import as_json
from app.features.atlas import view
from app.features.atlas.result import AtlasResult
from app.features.atlas.task import atlas
from app.words.pictures import NARROW, WIDE
from tests.drawings import elements, words
from tests.snippets import ran

pytestmark = pytest.mark.usefixtures("few_texts")


@pytest.fixture
def result(tiny_engine: Engine) -> AtlasResult:
    return atlas(tiny_engine, layer=1, head=2)


def marks(markup: object) -> dict[tuple[int, int], dict[str, str]]:
    """Return the attributes of the marks, by layer and head."""
    found = elements(markup, "g", "bx-at-mark")
    keys = [re.search(r"head\.(\d+)\.(\d+)", each.attributes["data-at"]) for each in found]
    return {
        (int(key[1]), int(key[2])): each.attributes
        for key, each in zip(keys, found, strict=True)
        if key
    }


def place(mark: dict[str, str]) -> np.ndarray:
    return np.array([float(n) for n in re.findall(r"-?[\d.]+", mark["transform"])])


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_distances_on_the_map_are_in_proportion(result: AtlasResult, size: str) -> None:
    drawn = marks(getattr(view.map_picture(result), size))
    assert drawn.keys() == {each.place for each in result.heads}
    pairs = list(combinations(result.heads, 2))
    shown = [np.linalg.norm(place(drawn[a.place]) - place(drawn[b.place])) for a, b in pairs]
    real = [np.hypot(a.x - b.x, a.y - b.y) for a, b in pairs]
    np.testing.assert_allclose(np.array(shown) / max(shown), np.array(real) / max(real), atol=0.01)
    width = WIDE if size == "wide" else NARROW
    assert all((place(each) >= 0).all() and place(each)[0] <= width for each in drawn.values())
    ruler = elements(getattr(view.map_picture(result), size), "line", "bx-svg-base")[0]
    length = ruler.number("x2") - ruler.number("x1")
    assert length / 0.25 == pytest.approx(max(shown) / max(real), rel=0.02)


def test_areas_grow_with_the_loss_without_the_head(result: AtlasResult) -> None:
    radii = view.radius(result) ** 2
    effects = np.array([each.effect for each in result.heads]).clip(0)
    share = (radii - radii.min()) / (radii.max() - radii.min())
    np.testing.assert_allclose(share, effects / effects.max(), atol=1e-9)
    drawn = marks(view.map_picture(result).wide)
    for head in result.heads:
        assert ("bx-at-less" in drawn[head.place]["class"]) is (head.effect < 0)


def test_a_live_map_can_be_used_without_a_pointer(result: AtlasResult) -> None:
    still, live = view.map_picture(result), view.map_picture(result, live=True)
    assert "tabindex" not in str(still.wide) and "data-pick" not in str(still.wide)
    found = marks(live.wide)
    assert [k for k, each in found.items() if each["tabindex"] == "0"] == [(1, 2)]
    assert all(
        each["role"] == "button" and each["data-value"] == str(4 * layer + head)
        for (layer, head), each in found.items()
    )
    assert found[1, 2]["aria-pressed"] == "true"
    said = view.say(result.shown)
    assert found[1, 2]["aria-label"] == said and "Layer 1, head 2" in said
    assert "aria-hidden" not in str(live.wide)


def test_the_legend_counts_and_lights_up(result: AtlasResult) -> None:
    drawn = view.map_picture(result).wide
    keys = [key for mark in marks(drawn).values() for key in mark["data-at"].split()]
    for item in elements(view.legend(result), "li"):
        number = keys.count(item.attributes["data-at"])
        assert number and item.text.endswith(f" {number}")


def test_the_card_says_what_the_head_does_and_costs(result: AtlasResult) -> None:
    head = result.shown
    said = words(view.head_card(result))
    assert f"Layer {head.layer}, head {head.head}" in said and view.DOES[head.name][1:] in said
    assert f"{abs(head.effect):.3f} ± {head.error:.3f} nats" in said
    assert ("interval contains 0" in said) is (abs(head.effect) <= head.error)
    picks = [int(each.attributes["data-value"])
             for each in elements(view.head_card(result), "button")]  # fmt: skip
    assert picks == [4 * each.layer + each.head for each in result.asked.nearest]


def test_typical_texts_are_escaped_and_open_only_where_there_is_a_page(result: AtlasResult) -> None:
    still, live = view.typical_texts(result), view.typical_texts(result, live=True)
    assert "<b>the end" not in str(still) and "<b>the end</b>" in words(still)
    assert len(elements(live, "button")) == 4 and elements(still, "button") == []
    assert [each.attributes["data-pick"] for each in elements(live, "button")] == ["open"] * 4
    heads = tuple(replace(each, name="none") for each in result.heads)
    asked = replace(result.asked, measure="to_cls")
    said = words(view.typical_texts(replace(result, heads=heads, asked=asked)))
    assert said.startswith("No pattern; most attention to: [CLS]")
    none = replace(result, asked=replace(result.asked, texts=()))
    assert "No text" in words(view.typical_texts(none))


def test_tables_have_all_numbers(result: AtlasResult) -> None:
    table = view.heads_table(result)
    assert len(table) == 8
    for row, head in zip(table.itertuples(index=False), result.heads, strict=True):
        assert tuple(row[:3]) == (head.layer, head.head, head.name)
        assert row[6] == head.effect and row[7] == head.error


def test_findings_are_marked_in_words(result: AtlasResult) -> None:
    said = words(view.findings_table(result))
    assert said.count("✓ yes") == sum(each.agrees for each in result.findings)
    assert said.count("✗ no") == sum(not each.agrees for each in result.findings)
    assert all(each.paper in said and each.here in said for each in result.findings)


def test_a_model_without_losses_is_drawn_without_them(result: AtlasResult) -> None:
    heads = tuple(replace(each, effect=None, error=None) for each in result.heads)
    bare = replace(result, heads=heads, loss=None, words=0)
    assert "nats" not in words(view.head_card(bare)) + view.headline(bare)
    assert "nats" not in str(view.map_picture(bare).wide)
    assert len(set(view.radius(bare))) == 1
    assert "Without" not in view.headline(bare)


def test_heads_that_look_at_everything_are_counted_by_themselves(result: AtlasResult) -> None:
    names = ["next", "broad", "none", "next", "broad", "broad", "[CLS]", "none"]
    heads = tuple(
        replace(each, name=name, effect=0.2, error=0.1 if name == "next" else 0.3)
        for each, name in zip(result.heads, names, strict=True)
    )
    assert view.headline(replace(result, heads=heads)) == (
        "3 of 8 heads look mostly at one kind of piece, 3 almost equally at everything. Each head "
        "was also switched off alone: the loss on hidden words clearly grows for 2 of them."
    )
    unsure = tuple(replace(each, effect=0.2, error=0.3) for each in heads)
    assert view.headline(replace(result, heads=unsure)).endswith("grows for none of them.")


def test_the_answer_is_small_and_the_code_runs(result: AtlasResult, tiny_folder: object) -> None:
    answer = json.dumps(as_json(result), allow_nan=False)
    assert len(answer) < 20_000 and "weights" not in answer
    code = view.snippet(result, str(tiny_folder)).replace("progress=print", 'texts=["the cat sat"]')
    assert "HeadName" in ran(code)[1]

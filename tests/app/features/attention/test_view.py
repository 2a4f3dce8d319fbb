"""What the attention page draws and says: the same numbers in pictures, tables and words."""

import base64
import csv
import io
import json
import zlib
from typing import Any

import numpy as np
import pytest

from app.features.attention import view as view
from app.features.attention import view_pictures as pictures
from app.features.attention.result import AttentionResult, HeadView, Selection
from app.features.attention.task import (
    attention,
    attention_grid,
    group_shares,
    head_view,
    strongest_links,
)
from app.models import Engine
from app.results import Cut
from app.words.charts import csv as as_csv
from bert_core.analysis.head_statistics import MEASURES, HeadStatistics

WORDS = Selection(special=False)


@pytest.fixture(scope="module")
def result(tiny_engine: Engine) -> AttentionResult:
    return attention(tiny_engine, "the cat sat", "on the <mat>.")


def long_result(length: int) -> AttentionResult:
    rng = np.random.default_rng(3)
    weights = rng.random((1, 2, length, length)).astype(np.float32) ** 8
    weights /= weights.sum(-1, keepdims=True)
    empty = np.zeros((1, 2))
    return AttentionResult(
        tokens=tuple(f"t{i}" for i in range(length)),
        sides=(None, *[0] * (length - 2), None),
        attentions=tuple(weights),
        statistics=HeadStatistics(*[empty] * len(MEASURES), 1.0, 1, 0, length, 0, 0),
        cut=Cut(512, length, (length, 0), (length, 0), ((), ())),
    )


def values_of(drawn: dict[str, Any]) -> np.ndarray:
    """Decode the values of a large head as the script in the browser does."""
    raw = base64.b64decode(drawn["values"])
    shape = (len(drawn["rows"]), len(drawn["columns"]))
    if not drawn["rounded"]:
        return np.frombuffer(raw, dtype="<f4").reshape(shape)
    planes = np.frombuffer(zlib.decompress(raw), dtype=np.uint8)
    low, high = planes[: planes.size // 2], planes[planes.size // 2 :]
    return ((low + 256.0 * high) / 10_000).reshape(shape)


def test_a_large_head_travels_exactly(result: AttentionResult) -> None:
    shown = head_view(result, 1, 3, Selection())
    drawn = pictures.head_picture(result, shown, common=True, palette="viridis")
    np.testing.assert_array_equal(values_of(drawn), shown.weights)
    assert drawn["rows"] == list(result.tokens)
    assert drawn["rowsAt"] == list(range(len(result.tokens)))
    assert drawn["rowBreak"] == drawn["columnBreak"] == result.sides.index(1)


def test_a_very_long_head_travels_to_the_four_decimals_that_are_shown() -> None:
    long = long_result(512)
    shown = head_view(long, 0, 1, Selection())
    drawn = pictures.head_picture(long, shown, common=True, palette="viridis")
    assert drawn["rounded"]
    np.testing.assert_allclose(values_of(drawn), shown.weights, atol=0.500001e-4)
    assert len(json.dumps(drawn)) < 400_000


def test_both_scales_say_what_their_last_colour_means(result: AttentionResult) -> None:
    shown = head_view(result, 0, 0, Selection())
    common = pictures.head_picture(result, shown, common=True, palette="viridis")
    own = pictures.head_picture(result, shown, common=False, palette="viridis")
    assert common["top"] == 1.0
    assert own["top"] == pytest.approx(float(shown.weights.max()))
    assert common["values"] == own["values"]


@pytest.mark.parametrize("palette", pictures.PALETTE_NAMES)
def test_a_palette_has_256_colours_that_grow_lighter(palette: pictures.Palette) -> None:
    colours = np.frombuffer(base64.b64decode(pictures.palette_bytes(palette)), dtype=np.uint8)
    red, green, blue = colours.reshape(256, 3).astype(float).T
    lightness = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    assert (np.diff(lightness) >= -0.5).all()
    assert lightness[-1] - lightness[0] > 120


def test_the_grid_marks_the_chosen_head_and_names_every_other(result: AttentionResult) -> None:
    grid = attention_grid(result, Selection())
    shown = head_view(result, 1, 2, Selection())
    drawn = pictures.grid_picture(result, grid, shown, common=True, palette="cividis")
    assert drawn["chosen"] == {"layer": 1, "head": 2}
    assert base64.b64decode(str(drawn["pictures"])) == grid.pictures.tobytes()
    notes = drawn["notes"]
    assert isinstance(notes, list) and len(notes) == result.layers * result.heads
    assert notes[1 * result.heads + 2] == view.head_note(result, 1, 2)
    mean = pictures.grid_picture(
        result, grid, head_view(result, 1, None, Selection()), common=False, palette="cividis"
    )
    assert mean["chosen"] == {"layer": 1, "head": None}


def test_lines_carry_their_numbers_and_the_chosen_head(result: AttentionResult) -> None:
    shown = head_view(result, 0, 2, Selection())
    links = strongest_links(result, shown)
    drawn = pictures.lines_picture(result, links)
    flat = drawn["links"]
    assert isinstance(flat, list) and all(type(number) is int for number in flat)
    quads = np.array(flat).reshape(-1, 4)
    np.testing.assert_array_equal(quads[:, 0], links.row)
    np.testing.assert_array_equal(quads[:, 2], links.head)
    np.testing.assert_allclose(quads[:, 3] / 10_000, links.weight, atol=0.500001e-4)
    assert drawn["active"] == [2]
    every = strongest_links(result, head_view(result, 0, None, Selection()))
    assert pictures.lines_picture(result, every)["active"] == [0, 1, 2, 3]
    colours = drawn["colours"]
    assert isinstance(colours, list) and len(set(colours)) == result.heads


def test_pins_last_while_the_axes_mean_the_same(result: AttentionResult) -> None:
    def identity(layer: int, head: int, selection: Selection) -> object:
        shown = head_view(result, layer, head, selection)
        return pictures.head_picture(result, shown, common=True, palette="viridis")["identity"]

    assert identity(0, 0, Selection()) == identity(1, 3, Selection())
    assert identity(0, 0, Selection()) != identity(0, 0, WORDS)


def test_data_for_the_browser_is_json_whatever_was_typed(tiny_engine: Engine, nasty: str) -> None:
    nasty_result = attention(tiny_engine, f"cat {nasty}", nasty)
    shown = head_view(nasty_result, 0, 0, Selection())
    grid = attention_grid(nasty_result, Selection())
    for drawn in (
        pictures.head_picture(nasty_result, shown, common=True, palette="viridis"),
        pictures.grid_picture(nasty_result, grid, shown, common=True, palette="viridis"),
        pictures.lines_picture(nasty_result, strongest_links(nasty_result, shown)),
    ):
        assert json.loads(json.dumps(drawn, allow_nan=False)) == drawn
        assert not set("\x00\x07\x1b\u202e\u200b") & set(json.dumps(drawn, ensure_ascii=False))


def test_no_text_becomes_markup(tiny_engine: Engine, nasty: str) -> None:
    nasty_result = attention(tiny_engine, nasty + " cat")
    markup = str(view.headline(nasty_result, head_view(nasty_result, 0, 0, Selection())))
    assert "<script" not in markup and "<img" not in markup


def strongest(shown: HeadView) -> float:
    return float(shown.weights[~np.equal.outer(shown.rows, shown.columns)].max())


@pytest.mark.parametrize("head", [0, 3, None])
def test_words_name_the_strongest_link_between_words(
    result: AttentionResult, head: int | None
) -> None:
    shown = head_view(result, 1, head, WORDS)
    said = view.describe_view(result, shown)
    assert said.startswith(
        f"Layer 1, {'mean over its 4 heads' if head is None else f'head {head}'}"
    )
    assert said.endswith(f": {strongest(shown):.4f}.")
    assert f"{strongest(shown):.4f}" in str(view.headline(result, shown))


def test_a_text_of_one_word_still_has_a_strongest_link(tiny_engine: Engine) -> None:
    single = attention(tiny_engine, "cat")
    for selection in (Selection(), WORDS):
        shown = head_view(single, 0, 0, selection)
        assert f"{float(shown.weights.max()):.4f}" in view.describe_view(single, shown)


def test_the_note_says_what_is_hidden_and_whether_it_was_scaled(result: AttentionResult) -> None:
    def note(selection: Selection) -> str:
        return str(view.selection_note(head_view(result, 0, 0, selection)))

    assert "nothing is hidden" in note(Selection())
    assert "[CLS] and [SEP] are hidden" in note(WORDS)
    assert "not renormalised and add up to less than 1" in note(WORDS)
    scaled = note(Selection(special=False, renormalise=True, part="ab"))
    assert "Only A to B is shown" in scaled
    assert "divided by its sum" in scaled and "not numbers that the model" in scaled
    share = float(head_view(result, 0, 0, WORDS).shown.mean())
    assert view.whole_percent(share) in note(WORDS)


def test_the_table_of_a_short_matrix_is_the_matrix(result: AttentionResult) -> None:
    shown = head_view(result, 0, 1, Selection())
    table = view.matrix_table(shown)
    assert list(table.columns[1:]) == [f"{i} {t}" for i, t in enumerate(result.tokens)]
    assert len(set(table.columns)) == len(table.columns)  # although "the" stands there twice
    np.testing.assert_allclose(table.iloc[:, 1:].to_numpy(), shown.weights, atol=0.500001e-4)
    assert view.matrix_title(shown) == view.MATRIX_TABLE


def test_the_table_of_a_long_matrix_is_its_strongest_links() -> None:
    long = long_result(view.TABLE_SIDE + 1)
    shown = head_view(long, 0, 0, Selection())
    table = view.matrix_table(shown)
    assert len(table) == view.TABLE_LINKS
    assert table["attention"].is_monotonic_decreasing
    assert table["attention"][0] == pytest.approx(float(shown.weights.max()), abs=1e-6)
    assert "CSV" in view.matrix_title(shown)


def test_the_csv_holds_every_shown_number(result: AttentionResult) -> None:
    shown = head_view(result, 1, 0, WORDS)
    rows = list(csv.reader(io.StringIO(as_csv(view.whole_matrix(shown)).decode("utf-8-sig"))))
    assert rows[0] == ["layer 1, head 0", *view.labels(shown.column_tokens, shown.columns)]
    assert [row[0] for row in rows[1:]] == view.labels(shown.row_tokens, shown.rows)
    np.testing.assert_allclose(
        np.array([row[1:] for row in rows[1:]], dtype=float), shown.weights, rtol=1e-6
    )
    assert view.csv_name(shown) == "attention-layer1-head0.csv"
    assert view.csv_name(head_view(result, 1, None, WORDS)) == "attention-layer1-mean.csv"


def test_the_numbers_of_every_head_stand_in_one_table(result: AttentionResult) -> None:
    table = view.patterns_table(result)
    assert table[["layer", "head"]].to_numpy().tolist() == [
        [i, j] for i in (0, 1) for j in range(4)
    ]
    row = table[(table["layer"] == 1) & (table["head"] == 2)].iloc[0]
    assert row["to itself"] == pytest.approx(float(result.statistics.to_itself[1, 2]), abs=1e-4)
    assert row["entropy (bits)"] == pytest.approx(float(result.statistics.entropy[1, 2]), abs=1e-4)


def test_shares_read_the_same_in_words_and_in_the_table(result: AttentionResult) -> None:
    shares = group_shares(result, head_view(result, 0, 0, WORDS))
    said = view.describe_shares(shares)
    line = str(view.shares_line(shares))
    table = view.shares_table(shares)
    for i in range(3):
        for j in range(3):
            share = float(shares.shares[i, j])
            assert view.whole_percent(share) in said and view.whole_percent(share) in line
            assert table.iloc[i, j + 1] == pytest.approx(share, abs=1e-4)


def test_lines_read_the_same_in_words_and_in_the_table(result: AttentionResult) -> None:
    links = strongest_links(result, head_view(result, 0, None, WORDS), floor=0.1)
    table = view.links_table(links)
    assert table["attention"].is_monotonic_decreasing
    assert len(table) == min(len(links.weight), view.TABLE_LINKS)
    said = view.describe_links(links)
    assert f"{len(links.weight):,} lines of at least 0.1" in said
    assert "4 heads" in said


def test_a_pooled_grid_says_so() -> None:
    assert "too long for one pixel" in str(view.grid_note(attention_grid(long_result(40), WORDS)))
    exact = attention_grid(long_result(20), WORDS)
    assert "One pixel is one number" in str(view.grid_note(exact))

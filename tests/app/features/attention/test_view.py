"""What the attention page draws and says: the same numbers in pictures, tables and words."""

import base64
import csv
import io
import json
import re
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.engine.models import Engine
from app.features.attention import view_pictures as pictures
from app.features.attention import view_text as view
from app.features.attention.result import (
    AttentionResult,
    Heads,
    HeadView,
    Selection,
)
from app.features.attention.result_views import (
    attention_grid,
    group_shares,
    head_view,
    strongest_links,
)
from app.features.attention.task import attention, in_words
from app.features.attention.task_habits import ranked_heads
from app.words.html import visible
from app.words.pictures import linked
from tests.made_up_attention import made, sides_of

WORDS = Selection(special=False)


@pytest.fixture(scope="module")
def result(tiny_engine: Engine) -> AttentionResult:
    return attention(tiny_engine, "the cat sat", "on the <mat>.")


def one(result: AttentionResult, layer: int, head: int | None, selection: Selection) -> HeadView:
    """View one head, or the mean of its layer."""
    heads = Heads.layer(layer, result.heads) if head is None else Heads.one(layer, head)
    return head_view(result, heads, selection)


def long_result(length: int, weights: np.ndarray | None = None) -> AttentionResult:
    if weights is None:
        rng = np.random.default_rng(3)
        weights = rng.random((1, 2, length, length)).astype(np.float32) ** 8
        weights /= weights.sum(-1, keepdims=True)
    return made(weights, sides_of(length))


def values_of(drawn: dict[str, Any]) -> np.ndarray:
    """Decode the values of a large head as the script in the browser does."""
    raw = base64.b64decode(drawn["values"])
    shape = (len(drawn["rows"]), len(drawn["columns"]))
    if not drawn["steps"]:
        return np.frombuffer(raw, dtype="<f4").reshape(shape)
    planes = np.frombuffer(zlib.decompress(raw), dtype=np.uint8)
    low, high = planes[: planes.size // 2], planes[planes.size // 2 :]
    return ((low + 256.0 * high) / drawn["steps"]).reshape(shape)


def test_a_large_head_travels_exactly(result: AttentionResult) -> None:
    shown = one(result, 1, 3, Selection())
    drawn = pictures.head_picture(result, shown, common=True)
    np.testing.assert_array_equal(values_of(drawn), shown.weights)
    assert drawn["rows"] == list(result.tokens)
    assert drawn["rowsAt"] == list(range(len(result.tokens)))
    assert drawn["rowBreak"] == drawn["columnBreak"] == result.sides.index(1)


def rows_to_one(weights: np.ndarray) -> np.ndarray:
    return weights.astype(np.float32) / weights.sum(-1, keepdims=True, dtype=np.float32)


@pytest.mark.parametrize("kind", ["sharp", "broad", "geometric"])
def test_512_tokens_stay_within_300_kb_a_head_and_a_255th_of_the_value(kind: str) -> None:
    rng = np.random.default_rng(8)
    shape = (1, 2, 512, 512)
    weights = {
        "sharp": lambda: rng.random(shape) ** 40,
        "broad": lambda: rng.random(shape),
        # Of all rows that sum to 1, these compress worst: the largest entropy for their mean.
        "geometric": lambda: rng.exponential(size=shape),
    }[kind]()
    long = long_result(512, rows_to_one(weights))
    shown = one(long, 0, 1, Selection())
    drawn = pictures.head_picture(long, shown)
    assert len(json.dumps(drawn)) < 360_000 and len(str(drawn["values"])) <= 300_000
    assert drawn["steps"] == 10_000
    np.testing.assert_allclose(values_of(drawn), shown.weights, atol=0.500001e-4)
    top = drawn["top"]
    assert isinstance(top, float)
    assert np.abs(values_of(drawn) - shown.weights).max() <= 1 / 255


def test_the_largest_of_many_heads_stays_within_the_same_bounds() -> None:
    rng = np.random.default_rng(1)
    dense = rng.random((1, 2, 512, 512)).astype(np.float32)  # as no single head could be
    long = long_result(512, dense)
    shown = head_view(long, Heads(((0, 0), (0, 1)), "max"), Selection())
    drawn = pictures.head_picture(long, shown)
    assert drawn["steps"] == 255
    assert np.abs(values_of(drawn) - shown.weights).max() <= 1 / 255


def test_the_own_peak_is_the_scale_unless_the_common_one_is_chosen(
    result: AttentionResult,
) -> None:
    shown = one(result, 0, 0, Selection())
    own = pictures.head_picture(result, shown)
    common = pictures.head_picture(result, shown, common=True)
    assert own["top"] == pytest.approx(float(shown.weights.max())) and common["top"] == 1.0
    assert common["values"] == own["values"]


@pytest.mark.parametrize(("theme", "grows"), [("light", -1), ("dark", 1)])
def test_a_scale_starts_at_its_paper_and_grows_evenly_away_from_it(theme: str, grows: int) -> None:
    red, green, blue = pictures.colours(theme).astype(float).T
    lightness = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    assert lightness[0] == pytest.approx(255 if theme == "light" else 0)
    steps = grows * np.diff(lightness)
    assert (steps >= -0.5).all() and steps.max() < 3
    assert abs(lightness[-1] - lightness[0]) > 180
    assert (blue >= red).all()
    sent = np.frombuffer(base64.b64decode(pictures.PALETTES[theme]), dtype=np.uint8)
    np.testing.assert_array_equal(sent.reshape(256, 3), pictures.colours(theme))


def test_the_pinned_cell_is_found_again_among_words(tiny_engine: Engine) -> None:
    result = attention(tiny_engine, "playing the cat")
    words = in_words(tiny_engine, result)
    at = next(pieces for pieces in words.units.pieces if len(pieces) > 1)
    last = len(result.tokens) - 1
    for shown, row in ((result, at[1]), (words, words.units.pieces.index(at))):
        view_of = one(shown, 0, 0, Selection())
        drawn = pictures.head_picture(shown, view_of, cell=(at[1], last))
        assert drawn["cell"] == [row, len(shown.tokens) - 1]
        hidden = one(shown, 0, 0, WORDS)
        assert pictures.head_picture(shown, hidden, cell=(at[1], last))["cell"] is None
    drawn = pictures.head_picture(words, one(words, 0, 0, Selection()))
    assert drawn["rowKeys"] == [linked(pieces) for pieces in words.units.pieces]
    assert drawn["rowsAt"] == [pieces[0] for pieces in words.units.pieces]


def test_the_grid_marks_the_chosen_heads_and_names_every_other(result: AttentionResult) -> None:
    grid = attention_grid(result, Selection())
    shown = one(result, 1, 2, Selection())
    drawn = pictures.grid_picture(result, grid, shown, common=True)
    assert drawn["chosen"] == [6]
    assert base64.b64decode(str(drawn["pictures"])) == grid.pictures.tobytes()
    notes = drawn["notes"]
    assert isinstance(notes, list) and len(notes) == result.layers * result.heads
    assert notes[1 * result.heads + 2] == view.head_note(result, 1, 2)
    mean = pictures.grid_picture(result, grid, one(result, 1, None, Selection()))
    assert mean["chosen"] == [4, 5, 6, 7]
    assert mean["said"] == "Layer 1, mean of its 4 heads"


def test_lines_carry_their_numbers_and_the_chosen_head(result: AttentionResult) -> None:
    shown = one(result, 0, 2, Selection())
    links = strongest_links(result, shown)
    drawn = pictures.lines_picture(result, links)
    flat = drawn["links"]
    assert isinstance(flat, list) and all(type(number) is int for number in flat)
    quads = np.array(flat).reshape(-1, 4)
    np.testing.assert_array_equal(quads[:, 0], links.row)
    np.testing.assert_array_equal(quads[:, 2], links.head)
    np.testing.assert_allclose(quads[:, 3] / 10_000, links.weight, atol=0.500001e-4)
    assert drawn["active"] == [2] and drawn["names"] == ["head 0", "head 1", "head 2", "head 3"]
    every = strongest_links(result, one(result, 0, None, Selection()))
    assert pictures.lines_picture(result, every)["active"] == [0, 1, 2, 3]
    colours = drawn["colours"]
    assert isinstance(colours, list) and len(set(colours)) == result.heads
    some = head_view(result, Heads(((0, 1), (1, 3))), Selection())
    drawn = pictures.lines_picture(result, strongest_links(result, some))
    assert drawn["names"] == ["0.1", "1.3"] and drawn["active"] == [0, 1]


def test_data_for_the_browser_is_json_whatever_was_typed(tiny_engine: Engine, nasty: str) -> None:
    nasty_result = attention(tiny_engine, f"cat {nasty}", nasty)
    for given in (nasty_result, in_words(tiny_engine, nasty_result)):
        shown = one(given, 0, 0, Selection())
        grid = attention_grid(given, Selection())
        for drawn in (
            pictures.head_picture(given, shown, common=True),
            pictures.grid_picture(given, grid, shown),
            pictures.lines_picture(given, strongest_links(given, shown)),
        ):
            assert json.loads(json.dumps(drawn, allow_nan=False)) == drawn
            assert not set("\x00\x07\x1b\u202e\u200b") & set(json.dumps(drawn, ensure_ascii=False))


def strongest(shown: HeadView) -> float:
    return float(shown.weights[~np.equal.outer(shown.rows, shown.columns)].max())


@pytest.mark.parametrize("head", [0, 3, None])
def test_words_name_the_strongest_link_between_words(
    result: AttentionResult, head: int | None
) -> None:
    shown = one(result, 1, head, WORDS)
    said = view.describe_view(result, shown)
    assert said.startswith(f"Layer 1, {'mean of its 4 heads' if head is None else f'head {head}'}")
    row, column = np.argwhere(shown.weights == strongest(shown))[0]
    places = (f"“{shown.row_tokens[row]}” ({shown.rows[row]}) gives "
              f"“{shown.column_tokens[column]}” ({shown.columns[column]})")  # fmt: skip
    end = f"{visible(places)} {strongest(shown):.4f} of its attention."
    assert said.endswith(end)
    assert view.headline(result, shown).endswith(end)
    assert "([CLS], [SEP] and each piece itself left out)" in said


def test_a_text_of_one_word_still_has_a_strongest_link(tiny_engine: Engine) -> None:
    single = attention(tiny_engine, "cat")
    for selection in (Selection(), WORDS):
        shown = one(single, 0, 0, selection)
        said = view.describe_view(single, shown)
        assert f"{float(shown.weights.max()):.4f}" in said
        assert "left out" not in said


def test_the_note_says_what_is_hidden_and_whether_it_was_scaled(
    result: AttentionResult, tiny_engine: Engine
) -> None:
    def note(selection: Selection, given: AttentionResult = result) -> str:
        return str(view.selection_note(given, one(given, 0, 0, selection)))

    assert note(Selection()) == ""
    assert "[CLS] and [SEP] are hidden" in note(WORDS)
    assert "rows add up to less than 1" in note(WORDS)
    scaled = note(Selection(special=False, renormalise=True, part="ab"))
    assert "Only A to B is shown" in scaled and "divided by its sum" in scaled
    share = float(one(result, 0, 0, WORDS).shown.mean())
    assert view.whole_percent(share) in note(WORDS)
    floor = Selection(floor=0.1, top=30)
    shown = np.count_nonzero(one(result, 0, 0, floor).weights)
    told = f"{shown} cells of {len(result.tokens) ** 2} shown: at least 0.1 and among the top 30 %."
    assert told in note(floor)
    assert "averaged" in note(Selection(), in_words(tiny_engine, result))


def test_the_table_of_a_short_matrix_is_the_matrix(result: AttentionResult) -> None:
    shown = one(result, 0, 1, Selection())
    table = view.matrix_table(result, shown)
    assert list(table.columns[1:-1]) == [f"{i} {t}" for i, t in enumerate(result.tokens)]
    assert len(set(table.columns)) == len(table.columns)  # although "the" is there twice
    np.testing.assert_allclose(table.iloc[:, 1:-1].to_numpy(float), shown.weights, atol=1e-7)
    assert list(table["at"]) == [f"0.{i}" for i in range(len(result.tokens))]


def test_the_table_of_a_long_matrix_is_its_strongest_links() -> None:
    long = long_result(view.SMALL + 1)
    shown = one(long, 0, 0, Selection())
    table = view.matrix_table(long, shown)
    assert len(table) == 200
    assert table["attention"].is_monotonic_decreasing
    assert table["attention"][0] == pytest.approx(float(shown.weights.max()), abs=1e-6)


def test_the_csv_holds_every_shown_number(result: AttentionResult) -> None:
    shown = one(result, 1, 0, WORDS)
    text = view.matrix_csv(result, shown).decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["Layer 1, head 0", *view.labels(shown.column_tokens, shown.columns)]
    assert [row[0] for row in rows[1:]] == view.labels(shown.row_tokens, shown.rows)
    np.testing.assert_allclose(
        np.array([row[1:] for row in rows[1:]], dtype=float), shown.weights, rtol=1e-6
    )
    assert view.file_name(shown) == "attention-layer1-head0"
    assert view.file_name(one(result, 1, None, WORDS)) == "attention-mean-of-4"


def test_the_list_marks_the_head_and_its_clicks_name_every_head(
    tiny_engine: Engine, result: AttentionResult
) -> None:
    ranked = ranked_heads(tiny_engine, result)
    markup = str(view.head_list(ranked, Heads((ranked[1].place,)), result.heads))
    rows = markup.split("<li")[1:]
    assert len(rows) == min(view.LIST, 8)
    for row, found in zip(rows, ranked, strict=False):
        layer, head = found.place
        assert f'data-value="{layer * result.heads + head}"' in row and found.here.name in row
        assert view.whole_percent(found.here.score) in row
    assert ["aria-current" in row for row in rows] == [number == 1 for number in range(len(rows))]
    table = view.ranking_table(ranked, "pattern")
    assert list(zip(table["layer"], table["head"], strict=True)) == [row.place for row in ranked]


def test_shares_read_the_same_in_words_and_in_the_table(result: AttentionResult) -> None:
    shares = group_shares(result, one(result, 0, 0, WORDS))
    line = str(view.shares_line(shares))
    table = view.shares_table(shares)
    for i in range(3):
        for j in range(3):
            share = float(shares.shares[i, j])
            assert view.whole_percent(share) in line
            assert table.iloc[i, j + 1] == pytest.approx(share, abs=1e-4)


def test_lines_read_the_same_in_words_and_in_the_table(result: AttentionResult) -> None:
    links = strongest_links(result, one(result, 0, None, replace(WORDS, floor=0.1)))
    table = view.links_table(result, links)
    assert table["attention"].is_monotonic_decreasing
    assert len(table) == min(len(links.weight), 200)
    assert view.describe_links(links) == f"4 heads: {len(links.weight):,} lines."


def test_a_pooled_grid_says_so() -> None:
    assert "32 × 32 blocks" in str(view.grid_note(attention_grid(long_result(40), WORDS)))
    exact = attention_grid(long_result(20), WORDS)
    assert "One pixel is one number" in str(view.grid_note(exact))


def test_the_line_above_the_picture_is_short_and_says_positions(result: AttentionResult) -> None:
    shown = one(result, 1, 0, WORDS)
    said = pictures.head_picture(result, shown, common=False, log=False, cell=None)["said"]
    assert said.count("\u2068") == said.count("\u2069") == 2  # each piece keeps its direction
    full = view.headline(result, shown)
    row, column = re.findall(r"” \((\d+)\)", full.partition(": ")[2])
    assert isinstance(said, str) and len(said) < 60
    assert said.startswith("Strongest between pieces: ")
    assert f"({row}) → " in said and f"({column}), {strongest(shown):.4f}" in said

"""What the attention page draws and says: the same numbers in pictures, tables and words."""

import csv
import io
import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.engine.models import Engine
from app.features.attention import view_lines as lines
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
    goals,
    group_shares,
    head_view,
    strongest_links,
)
from app.features.attention.task import attention, in_words
from app.features.attention.task_habits import ranked_heads
from app.words.html import visible
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


def sent(result: AttentionResult, shown: HeadView, *, common: bool = False) -> dict[str, Any]:
    """Return what the page's script gets."""
    return pictures.stage(result, shown, common=common, log=False)


def test_the_page_gets_every_number_of_a_short_text(result: AttentionResult) -> None:
    shown = one(result, 1, 3, Selection())
    drawn = sent(result, shown, common=True)
    np.testing.assert_allclose(drawn["values"], shown.weights.ravel(), atol=0.500001e-4)
    assert drawn["rows"] == list(result.tokens) and drawn["top"] == 1.0
    assert drawn["rowPieces"] == list(result.units.pieces)
    assert sent(result, shown)["top"] == pytest.approx(float(shown.weights.max()))


def rows_to_one(weights: np.ndarray) -> np.ndarray:
    return weights.astype(np.float32) / weights.sum(-1, keepdims=True, dtype=np.float32)


@pytest.mark.parametrize(("length", "kind", "most"), [
    (16, "broad", 60_000), (64, "sharp", 60_000), (64, "broad", 90_000),
    (512, "sharp", 130_000), (512, "broad", 400_000), (512, "geometric", 400_000),
])  # fmt: skip
def test_a_frame_of_one_head_stays_small(length: int, kind: str, most: int) -> None:
    rng = np.random.default_rng(8)
    shape = (1, 2, length, length)
    weights = {
        "sharp": lambda: rng.random(shape) ** 40,
        "broad": lambda: rng.random(shape),
        # Of all rows that sum to 1, these compress worst: the largest entropy for their mean.
        "geometric": lambda: rng.exponential(size=shape),
    }[kind]()
    long = long_result(length, rows_to_one(weights))
    assert len(json.dumps(sent(long, one(long, 0, 1, Selection())))) < most


def test_the_scale_starts_at_the_paper_and_grows_evenly_away_from_it() -> None:
    red, green, blue = pictures.colours().astype(float).T
    lightness = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    steps = -np.diff(lightness)
    assert lightness[0] == pytest.approx(255) and lightness[-1] < 75
    assert (steps >= -0.5).all() and steps.max() < 3
    assert (blue >= red).all()


def test_words_name_all_their_pieces(tiny_engine: Engine) -> None:
    words = in_words(tiny_engine, attention(tiny_engine, "playing the cat"))
    drawn = sent(words, one(words, 0, 0, WORDS))
    assert drawn["rowPieces"] == list(words.units.pieces[1:-1])
    assert max(map(len, drawn["rowPieces"])) > 1


def test_the_grid_marks_the_heads_and_each_names_itself(result: AttentionResult) -> None:
    grid = attention_grid(result, Selection())

    def drawn(head: int | None) -> str:
        shown = one(result, 1, head, Selection())
        return str(pictures.head_grid(result, grid, shown, common=True, log=False))

    heads = re.findall(r'data-head="([\d.]+)" stroke="#(\w+)"', drawn(2))
    assert [head for head, stroke in heads if stroke == "d55e00"] == ["1.2"]
    assert len(heads) == result.layers * result.heads
    assert f"Layer 1, head 2: {view.head_note(result, 1, 2)}" in drawn(2)
    numbers = dict(re.findall(r'data-head="(\d\.\d)"[^>]* data-value="(\d+)"', drawn(None)))
    assert numbers == {f"{n // 4}.{n % 4}": str(n) for n in range(8)}
    assert drawn(None).count("#d55e00") == 4


def test_data_for_the_browser_is_json_whatever_was_typed(tiny_engine: Engine, nasty: str) -> None:
    nasty_result = attention(tiny_engine, f"cat {nasty}", nasty)
    for given in (nasty_result, in_words(tiny_engine, nasty_result)):
        shown = one(given, 0, 0, Selection())
        grid = attention_grid(given, Selection())
        for drawn in (
            json.dumps(sent(given, shown), allow_nan=False, ensure_ascii=False),
            str(pictures.head_grid(given, grid, shown, common=False, log=False)),
            str(lines.lines_picture(given, strongest_links(given, shown)).wide),
        ):
            assert not set("\x00\x07\x1b\u202e\u200b") & set(drawn)


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
    said = view.short_headline(result, shown)
    assert said.count("\u2068") == said.count("\u2069") == 2  # each piece keeps its direction
    full = view.headline(result, shown)
    row, column = re.findall(r"” \((\d+)\)", full.partition(": ")[2])
    assert len(said) < 60
    assert said.startswith("Strongest between pieces: ")
    assert f"({row}) → " in said and f"({column}), {strongest(shown):.4f}" in said


def test_the_shares_of_a_head_add_up_over_all_its_rows(tiny_engine: Engine) -> None:
    result = attention(tiny_engine, "the cat sat on the cat")
    for place in ((0, 0), (1, 3)):
        every = goals(result, Heads.one(*place))
        weights = result.attentions[place[0]][place[1]]
        added = [at for at, side in enumerate(result.sides) if side is None]
        assert every["special"] == pytest.approx(weights[:, added].sum(-1).mean(), abs=1e-5)
        assert sum(every.values()) == pytest.approx(1, abs=1e-5)
        said = view.doing(result, Heads.one(*place))
        assert said.startswith("Attention: ")
        assert sum(map(int, re.findall(r"(\d+) %", said))) == 100
    assert view.doing(result, Heads(((0, 0), (0, 1)), "max")) == ""

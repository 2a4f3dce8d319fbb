"""What the attention page draws and says: the same numbers in pictures, tables and words."""

import csv
import io
import json
import re
from typing import Any

import numpy as np
import pytest

from app.engine.models import Engine
from app.features.attention import view_lines as lines
from app.features.attention import view_pictures as pictures
from app.features.attention import view_text as view
from app.features.attention.result import AttentionResult, Heads, HeadView
from app.features.attention.result_views import (
    attention_grid,
    goals,
    group_shares,
    head_view,
    rank,
    strongest_links,
)
from app.features.attention.task import attention, in_words
from app.words.html import visible
from tests.drawings import words
from tests.made_up_attention import made, sides_of


@pytest.fixture(scope="module")
def result(tiny_engine: Engine) -> AttentionResult:
    return attention(tiny_engine, "the cat sat", "on the <mat>.")


def one(result: AttentionResult, layer: int, head: int | None, *, special: bool = True) -> HeadView:
    """View one head, or the mean of its layer."""
    heads = Heads.layer(layer, result.heads) if head is None else Heads.one(layer, head)
    return head_view(result, heads, special=special)


def test_the_page_gets_every_number_of_a_short_text(
    tiny_engine: Engine, result: AttentionResult
) -> None:
    shown = one(result, 1, 3)
    drawn: dict[str, Any] = pictures.stage(result, shown)
    np.testing.assert_allclose(drawn["values"], shown.weights.ravel(), atol=0.500001e-4)
    assert drawn["tokens"] == list(result.tokens)
    assert drawn["pieces"] == list(result.units.pieces)
    assert drawn["top"] == pytest.approx(float(shown.weights.max()))
    typed = in_words(tiny_engine, attention(tiny_engine, "playing the cat"))
    pieces: Any = pictures.stage(typed, one(typed, 0, 0, special=False))["pieces"]
    assert pieces == list(typed.units.pieces[1:-1]) and max(map(len, pieces)) > 1


@pytest.mark.parametrize(("length", "kind", "most"), [
    (16, "broad", 60_000), (64, "sharp", 60_000), (64, "broad", 90_000),
    (512, "geometric", 400_000),
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
    long = made(weights / weights.sum(-1, keepdims=True), sides_of(length))
    assert len(json.dumps(pictures.stage(long, one(long, 0, 1)))) < most


def test_the_scale_starts_at_the_paper_and_grows_evenly_away_from_it() -> None:
    red, green, blue = pictures.colours().astype(float).T
    lightness = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    steps = -np.diff(lightness)
    assert lightness[0] == pytest.approx(255) and lightness[-1] < 75
    assert (steps >= -0.5).all() and steps.max() < 3
    assert (blue >= red).all()


def test_the_grid_marks_the_heads_and_each_names_itself(result: AttentionResult) -> None:
    grid = attention_grid(result)

    def drawn(head: int | None) -> str:
        shown = one(result, 1, head)
        return str(pictures.head_grid(result, grid, shown))

    heads = re.findall(r'data-head="([\d.]+)" stroke="#(\w+)"', drawn(2))
    assert [head for head, stroke in heads if stroke == "d55e00"] == ["1.2"]
    assert len(heads) == result.layers * result.heads
    assert f"Layer 1, head 2: {view.head_note(result, 1, 2)}" in drawn(2)
    numbers = dict(re.findall(r'data-head="(\d\.\d)"[^>]* data-value="(\d+)"', drawn(None)))
    assert numbers == {f"{n // 4}.{n % 4}": str(n) for n in range(8)}
    assert drawn(None).count("#d55e00") == 4
    for length, says in ((40, "32 × 32 blocks"), (20, "One pixel is one number")):
        long = made(np.full((1, 2, length, length), 1 / length), sides_of(length))
        assert says in str(view.grid_note(attention_grid(long)))


def test_data_for_the_browser_is_json_whatever_was_typed(tiny_engine: Engine, nasty: str) -> None:
    nasty_result = attention(tiny_engine, f"cat {nasty}", nasty)
    for given in (nasty_result, in_words(tiny_engine, nasty_result)):
        shown = one(given, 0, 0)
        grid = attention_grid(given)
        for drawn in (
            json.dumps(pictures.stage(given, shown), allow_nan=False, ensure_ascii=False),
            str(pictures.head_grid(given, grid, shown)),
            str(lines.lines_picture(given, strongest_links(given, shown)).wide),
        ):
            assert not set("\x00\x07\x1b\u202e\u200b") & set(drawn)


@pytest.mark.parametrize("head", [0, 3, None])
def test_words_name_the_strongest_link_between_words(
    result: AttentionResult, head: int | None
) -> None:
    shown = one(result, 1, head, special=False)
    strongest = float(shown.weights[~np.eye(len(shown.at), dtype=bool)].max())
    row, column = np.argwhere(shown.weights == strongest)[0]
    source, goal = shown.tokens[row], shown.tokens[column]
    places = f"“{source}” ({shown.at[row]}) gives “{goal}” ({shown.at[column]})"
    end = f"{visible(places)} {strongest:.4f} of its attention."
    name = "mean of its 4 heads" if head is None else f"head {head}"
    says = view.describe_view(result, shown)
    assert says.startswith(f"Layer 1, {name}") and says.endswith(end)
    assert view.headline(result, shown).endswith(end)
    short = view.short_headline(result, shown)
    assert short.count("\u2068") == short.count("\u2069") == 2  # each piece keeps its direction
    assert f"“{visible(source)}”\u2069 ({shown.at[row]}) → " in short  # quoted: it may be a comma
    assert f"“{visible(goal)}”\u2069 ({shown.at[column]}), " in short


def test_a_text_of_one_word_still_has_a_strongest_link(tiny_engine: Engine) -> None:
    single = attention(tiny_engine, "cat")
    for special in (True, False):
        shown = one(single, 0, 0, special=special)
        says = view.describe_view(single, shown)
        assert f"{float(shown.weights.max()):.4f}" in says and "left out" not in says


def test_the_note_says_what_is_hidden(result: AttentionResult, tiny_engine: Engine) -> None:
    assert str(view.selection_note(result, one(result, 0, 0))) == ""
    hidden = one(result, 0, 0, special=False)
    note = words(view.selection_note(result, hidden))
    assert "[CLS] and [SEP] are hidden" in note and "less than 1" in note
    assert view.whole_percent(float(hidden.shown.mean())) in note
    typed = in_words(tiny_engine, result)
    assert "averaged" in str(view.selection_note(typed, one(typed, 0, 0)))


def test_table_and_csv_have_every_number_of_a_short_matrix(result: AttentionResult) -> None:
    shown = one(result, 0, 1)
    table = view.matrix_table(result, shown)
    assert list(table.columns[1:-1]) == [f"{i} {t}" for i, t in enumerate(result.tokens)]
    assert len(set(table.columns)) == len(table.columns)  # although "the" is there twice
    np.testing.assert_allclose(table.iloc[:, 1:-1].to_numpy(float), shown.weights, atol=1e-7)
    assert list(table["at"]) == [f"0.{i}" for i in range(len(result.tokens))]
    rows = list(csv.reader(io.StringIO(view.matrix_csv(result, shown).decode("utf-8-sig"))))
    assert rows[0] == ["Layer 0, head 1", *table.columns[1:-1]]
    read = np.array([row[1:] for row in rows[1:]], dtype=float)
    np.testing.assert_allclose(read, shown.weights, rtol=1e-6)
    assert view.file_name(shown) == "attention-layer0-head1"
    assert view.file_name(one(result, 1, None, special=False)) == "attention-mean-of-4"


def test_the_list_marks_the_head_and_its_clicks_name_every_head(result: AttentionResult) -> None:
    ranked = rank(result)
    markup = str(view.head_list(ranked, Heads((ranked[1].place,)), result.heads))
    rows = markup.split("<li")[1:]
    assert len(rows) == min(view.LIST, 8)
    for row, found in zip(rows, ranked, strict=False):
        layer, head = found.place
        assert f'data-value="{layer * result.heads + head}"' in row and found.here.name in row
        assert view.whole_percent(found.here.score) in words(row)
    assert ["aria-current" in row for row in rows] == [number == 1 for number in range(len(rows))]


def test_shares_and_lines_read_the_same_in_words_and_in_tables(result: AttentionResult) -> None:
    shares = group_shares(result, Heads.one(0, 0))
    line, table = words(view.shares_line(shares)), view.shares_table(shares)
    for i, row in enumerate(shares.values()):
        for j, share in enumerate(row.values()):
            assert view.whole_percent(share) in line
            assert table.iloc[i, j + 1] == pytest.approx(share, abs=1e-4)
    links = strongest_links(result, one(result, 0, None, special=False))
    drawn = view.links_table(result, links)
    assert drawn["attention"].is_monotonic_decreasing
    assert len(drawn) == min(len(links.weight), 200)
    assert view.describe_links(links) == f"4 heads: {len(links.weight):,} lines."


@pytest.mark.parametrize("place", [(0, 0), (1, 3)])
def test_the_shares_of_a_head_add_up_over_all_its_rows(
    tiny_engine: Engine, place: tuple[int, int]
) -> None:
    result = attention(tiny_engine, "the cat sat on the cat")
    every = goals(result, Heads((place,)))
    weights = result.attentions[place[0]][place[1]]
    added = [at for at, side in enumerate(result.sides) if side is None]
    assert every["special"] == pytest.approx(weights[:, added].sum(-1).mean(), abs=1e-5)
    assert sum(every.values()) == pytest.approx(1, abs=1e-5)
    says = view.doing(result, Heads((place,)))
    assert sum(map(int, re.findall(r"(\d+) %", says))) == 100

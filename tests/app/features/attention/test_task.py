"""Attention: the model's own numbers, and arithmetic against matrices made by hand."""

import json
import shutil
from dataclasses import replace
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
import torch

from app.engine.models import Engine
from app.features.attention.result import AttentionResult, Heads
from app.features.attention.result_views import (
    GRID_SIDE,
    attention_grid,
    group_shares,
    head_view,
    rank,
    strongest_links,
)
from app.features.attention.task import attention, in_words, ranked_heads
from app.features.attention.task_cell import cell_arithmetic
from app.features.attention.view import screen
from app.words.html import join
from bert_core import BertModel
from bert_core.analysis.head_statistics import MEASURES, head_statistics, name_heads, rank_heads
from bert_core.analysis.statistics_file import NAME, to_json
from bert_core.errors import CheckpointError, InputError
from tests.made_up_attention import made, sides_of

GROUPS = ["A", "B", "special"]
HEAD = Heads.one(0, 0)


# [CLS] a [SEP] b c [SEP]: rows are easy to add up by head.
SIDES = (None, 0, None, 1, 1, None)
FIRST = np.array(
    [
        [0.5, 0.1, 0.1, 0.1, 0.1, 0.1],
        [0.1, 0.2, 0.1, 0.3, 0.2, 0.1],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [0.2, 0.4, 0.1, 0.1, 0.1, 0.1],
        [0.0, 0.0, 0.4, 0.2, 0.2, 0.2],
        [0.1, 0.1, 0.1, 0.1, 0.1, 0.5],
    ]
)
SECOND = np.eye(6)
PAIR = made(np.stack([np.stack([FIRST, SECOND])]), SIDES)


def random_result(layers: int, heads: int, length: int, *, pair: bool = False) -> AttentionResult:
    rng = np.random.default_rng(5)
    weights = rng.random((layers, heads, length, length)) ** 4
    weights /= weights.sum(-1, keepdims=True)
    return made(weights, sides_of(length, pair=pair))


def test_the_numbers_are_those_of_the_model(tiny_engine: Engine) -> None:
    result = attention(tiny_engine, "the cat sat", "on the mat.")
    encoding = tiny_engine.tokenizer.encode("the cat sat", "on the mat.")
    own = tiny_engine.run(BertModel, encoding, attentions=True).attentions
    assert own is not None
    assert (result.layers, result.heads) == (2, 4)
    assert result.tokens == tuple(encoding.tokens)
    assert result.sides == (None, 0, 0, 0, None, 1, 1, 1, 1, None)
    assert result.is_pair
    for mine, theirs in zip(result.attentions, own, strict=True):
        np.testing.assert_array_equal(mine, theirs[0].numpy())
        np.testing.assert_allclose(mine.sum(-1), 1, atol=1e-5)
    for layer in range(2):
        for head in range(4):
            view = head_view(result, Heads.one(layer, head))
            np.testing.assert_array_equal(view.weights, own[layer][0, head].numpy())


@pytest.mark.parametrize("text", ["", "  ", "\x00\u200b"])
def test_a_text_without_pieces_is_refused(tiny_engine: Engine, text: str) -> None:
    with pytest.raises(InputError, match="The first text has no piece"):
        attention(tiny_engine, text, "cat")


def test_a_long_text_is_cut_and_the_cut_is_told(tiny_engine: Engine) -> None:
    result = attention(tiny_engine, "a b " * 40)
    assert len(result.tokens) == tiny_engine.max_length == result.cut.limit
    assert result.cut.found == 82
    assert result.cut.lost[0] == tuple(["a", "b"] * 17)
    assert result.attentions[0].shape == (4, 48, 48)


def test_looking_again_at_a_text_runs_nothing_again(tiny_engine: Engine) -> None:
    first = attention(tiny_engine, "the dog sat on the bank")
    assert attention(tiny_engine, "the dog sat on the bank") is first
    assert attention(tiny_engine, "the dog sat on the bank", "the bank") is not first
    with pytest.raises(ValueError, match="read-only"):
        first.attentions[0][0, 0, 0] = 1.0  # everybody who looks at this text shares it


def test_added_tokens_can_be_hidden() -> None:
    view = head_view(PAIR, HEAD, special=False)
    values = [[0.2, 0.3, 0.2], [0.4, 0.1, 0.1], [0.0, 0.2, 0.2]]
    assert view.at == (1, 3, 4) and view.tokens == ("t1", "t3", "t4")
    np.testing.assert_allclose(view.weights, values, atol=1e-7)
    np.testing.assert_allclose(view.shown, np.sum(values, axis=-1), atol=1e-7)
    both = head_view(PAIR, Heads.layer(0, 2))
    np.testing.assert_allclose(both.weights, (FIRST + SECOND) / 2, atol=1e-7)


def test_shares_between_the_sentences_are_sums_over_their_columns() -> None:
    shares = group_shares(PAIR, HEAD)
    assert {name: [*row] for name, row in shares.items()} == dict.fromkeys(GROUPS, GROUPS)
    wanted = [
        [0.2, 0.5, 0.3],
        [(0.4 + 0.0) / 2, (0.2 + 0.4) / 2, (0.4 + 0.6) / 2],
        [(0.1 + 0.0 + 0.1) / 3, (0.2 + 0.0 + 0.2) / 3, (0.7 + 1.0 + 0.7) / 3],
    ]
    np.testing.assert_allclose([[*row.values()] for row in shares.values()], wanted, atol=1e-6)
    np.testing.assert_allclose(np.sum(wanted, axis=-1), 1, atol=1e-6)
    assert [*group_shares(random_result(1, 1, 6), HEAD)] == ["A", "special"]


@pytest.mark.parametrize(
    ("layer", "head", "said"),
    [(2, 0, "layer 2.*layers 0 to 1"), (-1, 0, "layer -1"), (0, 9, "head 9.*heads 0 to 2")],
)
def test_a_number_out_of_range_is_refused_with_the_range(layer: int, head: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        head_view(random_result(2, 3, 5), Heads.one(layer, head))


@pytest.mark.parametrize("special", [True, False])
def test_the_grid_shows_what_the_model_gave(special: bool) -> None:
    result = random_result(3, 5, 17, pair=True)
    grid = attention_grid(result, special=special)
    assert not grid.averaged
    for layer, head in np.ndindex(3, 5):
        weights = head_view(result, Heads.one(layer, head), special=special).weights
        drawn = grid.pictures[layer, head] / 255  # a byte of the head's own peak is its precision
        np.testing.assert_allclose(drawn, weights / weights.max(), atol=0.5 / 255 + 1e-6)


def test_a_pooled_picture_sums_columns_and_averages_rows() -> None:
    result = random_result(2, 2, 90)
    grid, side = attention_grid(result), GRID_SIDE[1]
    assert grid.averaged and grid.pictures.shape[-2:] == (side, side)
    block = np.arange(90) * side // 90
    ones = np.equal.outer(np.arange(side), block)  # (side, 90)
    wanted = ones @ result.attentions[1][0] @ ones.T / ones.sum(-1, keepdims=True)
    np.testing.assert_allclose(grid.pictures[1, 0] / 255, wanted / wanted.max(), atol=2.1e-3)
    assert not attention_grid(random_result(1, 2, side)).averaged


def test_the_pictures_of_many_heads_stay_small() -> None:
    grid = attention_grid(random_result(24, 16, 40))
    assert grid.pictures.nbytes <= 96 * 1024
    assert grid.pictures.shape[:2] == (24, 16)


def test_every_link_is_a_number_of_its_head_and_the_strongest_comes_last() -> None:
    result = random_result(2, 3, 12)
    links = strongest_links(result, head_view(result, Heads.layer(1, 3), special=False))
    assert (np.diff(links.weight) >= 0).all()
    for row, column, head, weight in zip(
        links.row, links.column, links.head, links.weight, strict=True
    ):
        assert result.attentions[1][head, links.view.at[row], links.view.at[column]] == weight
    assert len(links.weight) == links.over == 3 * 10 * 10


def test_a_small_budget_keeps_the_strongest_links_of_every_word() -> None:
    result = random_result(1, 2, 10)
    links = strongest_links(result, head_view(result, Heads.layer(0, 2)), budget=40)
    assert links.over == 200
    for head, row in np.ndindex(2, 10):
        mine = (links.head == head) & (links.row == row)
        best = np.sort(result.attentions[0][head, row])[-2:]
        assert np.sort(links.weight[mine]).tolist() == best.tolist()


def test_words_add_up_keys_and_average_queries(tiny_engine: Engine) -> None:
    result = attention(tiny_engine, "Playing, cat playing", "the playing")
    words = in_words(tiny_engine, result)
    assert any(len(pieces) > 1 for pieces in words.units.pieces)
    assert words.by_word and not result.by_word
    assert words.tokens[0] == "[CLS]" and words.tokens[1] == "Playing"  # as typed
    assert sorted(at for pieces in words.units.pieces for at in pieces) == [
        *range(len(result.tokens))
    ]
    for layer in range(result.layers):
        for head in range(result.heads):
            matrix = result.attentions[layer][head].astype(np.float64)
            wanted = [
                [sum(matrix[i, j] for i in a for j in b) / len(a) for b in words.units.pieces]
                for a in words.units.pieces
            ]
            np.testing.assert_allclose(words.attentions[layer][head], wanted, atol=1e-6)
            np.testing.assert_allclose(words.attentions[layer][head].sum(-1), 1, atol=1e-5)
    assert [words.sides[n] for n, p in enumerate(words.units.pieces)] == [
        result.sides[p[0]] for p in words.units.pieces
    ]
    assert attention_grid(words).pictures.shape[-1] == len(words.tokens)


def test_a_cell_is_computed_from_the_models_own_query_and_key(tiny_engine: Engine) -> None:
    result = attention(tiny_engine, "the cat sat", "on the mat.")
    encoding = tiny_engine.tokenizer.encode("the cat sat", "on the mat.")
    states = tiny_engine.run(BertModel, encoding, hidden_states=True).hidden_states
    assert states is not None
    last = len(result.tokens) - 1
    for layer, head, row, column in np.ndindex(2, 4, 2, 3):
        row, column = row * last, 3 * column
        cell = cell_arithmetic(tiny_engine, result, (layer, head), row, column)
        assert cell.value == result.attentions[layer][head, row, column]
        assert cell.computed == pytest.approx(cell.value, abs=1e-6)
        score = cell.products.sum() / sqrt(cell.query.size)
        assert cell.scores[column] == pytest.approx(score, abs=1e-5)
        with torch.inference_mode():
            block = tiny_engine.model(BertModel).encoder.layer_at(layer).attention.self
            query = block.query(states[layer])[0, row].numpy()
        own = slice(head * cell.query.size, (head + 1) * cell.query.size)
        np.testing.assert_allclose(cell.query, query[own], atol=1e-5)


@pytest.mark.parametrize(("place", "cell"), [((2, 0), (0, 0)), ((0, 4), (0, 0)), ((0, 0), (0, 99))])
def test_a_cell_that_does_not_exist_is_refused(
    tiny_engine: Engine, place: tuple[int, int], cell: tuple[int, int]
) -> None:
    with pytest.raises(InputError, match="There is no"):
        cell_arithmetic(tiny_engine, attention(tiny_engine, "the cat"), place, *cell)


def test_words_in_another_order_are_what_is_looked_at(tiny_engine: Engine) -> None:
    texts = ("the cat sat on ___ mat", "the dog [MASK]")
    mixed = attention(tiny_engine, *texts, shuffle=4)
    assert mixed.text.split()[4] == "[MASK]" and mixed.pair == "dog the [MASK]"
    assert sorted(mixed.text.split()) == sorted(["the", "cat", "sat", "on", "[MASK]", "mat"])
    alone = attention(tiny_engine, mixed.text, mixed.pair or "")
    np.testing.assert_array_equal(mixed.attentions[0], alone.attentions[0])
    assert (mixed.shuffle, in_words(tiny_engine, mixed).shuffle, alone.shuffle) == (4, 4, 0)
    said = str(join(*screen(mixed).first))
    assert f"{mixed.text} | dog the [MASK]</q>" in said
    assert "another order" not in str(join(*screen(alone).first))


def test_a_text_opens_with_a_head_that_has_a_pattern(tiny_engine: Engine) -> None:
    result = attention(tiny_engine, "the cat sat on the mat, the dog.")
    nothing = {name: np.zeros((2, 4)) for name in MEASURES}
    nothing["to_previous"][1, 3] = 0.95
    plain = replace(result.statistics, **nothing)
    assert replace(result, statistics=plain).telling == (1, 3)
    nothing["to_repeats"][0, 2] = 0.5  # less, but about this text
    assert replace(result, statistics=plain).telling == (0, 2)
    commas = attention(tiny_engine, "the cat sat, on a mat, dog.")  # only a comma repeats
    plain = replace(commas.statistics, **nothing)
    assert replace(commas, statistics=plain).telling == (1, 3)
    nothing["to_repeats"][0, 2] = 0.99
    shown = replace(commas, statistics=plain)
    assert shown.telling == (1, 3) and rank(shown)[-1].place == (0, 2)


@pytest.fixture
def measured(tiny_folder: Path, tmp_path: Path) -> Path:
    """A model beside which statistics of another one of its size lie."""
    folder = tmp_path / "measured"
    shutil.copytree(tiny_folder, folder)
    engine = Engine(str(folder))
    found = head_statistics(engine.model(BertModel), engine.tokenizer, ["the cat sat.", "a dog"])
    (folder / NAME).write_text(to_json(found), encoding="utf-8")
    return folder


def test_heads_are_named_here_and_usually(tiny_engine: Engine, measured: Path) -> None:
    result = attention(tiny_engine, "the cat sat on the mat, the dog.")
    ranked = ranked_heads(tiny_engine, result)
    assert [row.place for row in ranked] == list(rank_heads(result.statistics))
    names = name_heads(result.statistics)
    assert all(row.here == names[row.place[0]][row.place[1]] for row in ranked)
    assert all(row.usual is None for row in ranked)  # not measured for this model
    engine = Engine(str(measured))
    found = engine.head_statistics()
    assert found is not None and found.stale  # so its names are not those of this model
    assert all(row.usual is None for row in ranked_heads(engine, result))
    (measured / NAME).unlink()
    assert engine.head_statistics() is found  # read once


def test_statistics_of_another_size_are_refused(measured: Path) -> None:
    record = json.loads((measured / NAME).read_text(encoding="utf-8"))
    record |= {measure: record[measure][:1] for measure in MEASURES}
    (measured / NAME).write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(CheckpointError, match="1 layers of 4 heads; the model has 2 of 4"):
        Engine(str(measured)).head_statistics()

"""Attention: the model's own numbers, and arithmetic against matrices made by hand."""

from dataclasses import replace
from math import ceil, sqrt

import numpy as np
import pytest
import torch

from app.engine.models import Engine
from app.features.attention.result import AttentionResult, Heads, Selection
from app.features.attention.result_views import (
    GRID_SIDE,
    LINK_TOKENS,
    attention_grid,
    group_shares,
    head_view,
    strongest_links,
)
from app.features.attention.task import attention, in_words
from app.features.attention.task_cell import cell_arithmetic
from app.features.attention.view import screen
from app.words.html import join
from bert_core import BertModel
from bert_core.errors import InputError
from tests.made_up_attention import made, sides_of

WORDS = Selection(special=False)
SCALED = Selection(special=False, renormalise=True)
FIRST_HEAD = Heads.one(0, 0)


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
            view = head_view(result, Heads.one(layer, head), Selection())
            np.testing.assert_array_equal(view.weights, own[layer][0, head].numpy())


def test_the_statistics_equal_sums_written_out(tiny_engine: Engine) -> None:
    result = attention(tiny_engine, "the cat sat on the mat")
    length = len(result.tokens)
    for layer in range(result.layers):
        for head in range(result.heads):
            rows = result.attentions[layer][head].astype(np.float64)
            p = result.statistics
            itself = sum(rows[i, i] for i in range(length)) / length
            previous = sum(rows[i, i - 1] for i in range(1, length)) / (length - 1)
            following = sum(rows[i, i + 1] for i in range(length - 1)) / (length - 1)
            special = (rows[:, 0] + rows[:, -1]).mean()
            entropy = -(rows * np.log2(rows)).sum(-1).mean()
            found = [
                float(each[layer, head])
                for each in (p.to_itself, p.to_previous, p.to_next, p.to_special, p.entropy)
            ]
            wanted = [itself, previous, following, special, entropy]
            assert found == pytest.approx(wanted, abs=1e-5)


def test_a_single_text_has_no_second_side(tiny_engine: Engine) -> None:
    for blank in ("", " \n"):
        result = attention(tiny_engine, "the cat", blank)
        assert not result.is_pair
        assert set(result.sides) == {None, 0}


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


def test_nasty_texts_give_rows_that_add_up(tiny_engine: Engine, nasty: str) -> None:
    result = attention(tiny_engine, f"cat {nasty}")
    for layer in result.attentions:
        np.testing.assert_allclose(layer.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("part", "rows", "columns", "values"),
    [
        ("all", (1, 3, 4), (1, 3, 4), [[0.2, 0.3, 0.2], [0.4, 0.1, 0.1], [0.0, 0.2, 0.2]]),
        ("aa", (1,), (1,), [[0.2]]),
        ("ab", (1,), (3, 4), [[0.3, 0.2]]),
        ("ba", (3, 4), (1,), [[0.4], [0.0]]),
        ("bb", (3, 4), (3, 4), [[0.1, 0.1], [0.2, 0.2]]),
    ],
)
def test_a_part_shows_the_words_of_its_sentences(
    part: str, rows: tuple[int, ...], columns: tuple[int, ...], values: list[list[float]]
) -> None:
    selection = Selection(special=False, part=part)  # type: ignore[arg-type]
    view = head_view(PAIR, Heads.one(0, 0), selection)
    assert (view.rows, view.columns) == (rows, columns)
    assert view.row_tokens == tuple(f"t{i}" for i in rows)
    assert view.column_tokens == tuple(f"t{i}" for i in columns)
    np.testing.assert_allclose(view.weights, values, atol=1e-7)
    np.testing.assert_allclose(view.shown, np.sum(values, axis=-1), atol=1e-7)


def test_with_special_tokens_everything_is_shown() -> None:
    view = head_view(PAIR, Heads.one(0, 0), Selection())
    np.testing.assert_allclose(view.weights, FIRST, atol=1e-7)
    np.testing.assert_allclose(view.shown, 1, atol=1e-6)


def test_renormalised_rows_add_up_to_one_and_keep_their_proportions() -> None:
    view = head_view(PAIR, Heads.one(0, 0), SCALED)
    np.testing.assert_allclose(view.weights.sum(-1), 1, atol=1e-6)
    np.testing.assert_allclose(view.weights[0], np.array([0.2, 0.3, 0.2]) / 0.7, atol=1e-6)
    np.testing.assert_allclose(view.shown, [0.7, 0.6, 0.4], atol=1e-6)  # what it was before


def test_a_row_with_nothing_left_stays_at_zero() -> None:
    view = head_view(PAIR, Heads.one(0, 1), Selection(special=False, renormalise=True, part="ab"))
    np.testing.assert_array_equal(view.weights, [[0.0, 0.0]])


def test_the_mean_is_taken_over_the_heads_of_one_layer() -> None:
    view = head_view(PAIR, Heads.layer(0, PAIR.heads), Selection())
    np.testing.assert_allclose(view.weights, (FIRST + SECOND) / 2, atol=1e-7)
    scaled = head_view(PAIR, Heads.layer(0, PAIR.heads), SCALED)
    hidden = ((FIRST + SECOND) / 2)[np.ix_([1, 3, 4], [1, 3, 4])]
    np.testing.assert_allclose(
        scaled.weights, hidden / hidden.sum(-1, keepdims=True), atol=1e-6
    )  # first the mean, then the scaling


def test_shares_between_the_sentences_are_sums_over_their_columns() -> None:
    shares = group_shares(PAIR, head_view(PAIR, Heads.one(0, 0), SCALED))
    assert shares.groups == ("A", "B", "special")
    wanted = [
        [0.2, 0.5, 0.3],
        [(0.4 + 0.0) / 2, (0.2 + 0.4) / 2, (0.4 + 0.6) / 2],
        [(0.1 + 0.0 + 0.1) / 3, (0.2 + 0.0 + 0.2) / 3, (0.7 + 1.0 + 0.7) / 3],
    ]
    np.testing.assert_allclose(shares.shares, wanted, atol=1e-6)
    np.testing.assert_allclose(shares.shares.sum(-1), 1, atol=1e-6)


def test_a_single_text_has_shares_without_a_second_sentence() -> None:
    result = random_result(1, 1, 6)
    assert group_shares(result, head_view(result, Heads.one(0, 0), WORDS)).groups == (
        "A",
        "special",
    )


@pytest.mark.parametrize(
    ("layer", "head", "said"),
    [(2, 0, "layer 2.*layers 0 to 1"), (-1, 0, "layer -1"), (0, 9, "head 9.*heads 0 to 2")],
)
def test_a_number_out_of_range_is_refused_with_the_range(layer: int, head: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        head_view(random_result(2, 3, 5), Heads.one(layer, head), Selection())


def test_a_part_of_a_single_text_is_refused() -> None:
    with pytest.raises(InputError, match="needs a second text"):
        head_view(random_result(1, 1, 5), FIRST_HEAD, Selection(special=False, part="ab"))


def restored(result: AttentionResult, selection: Selection) -> np.ndarray:
    """Turn the pictures of a grid back into numbers."""
    grid = attention_grid(result, selection)
    return grid.pictures / 255.0 * grid.peaks[..., None, None]


@pytest.mark.parametrize("selection", [Selection(), WORDS, SCALED])
def test_the_grid_shows_what_the_model_gave(selection: Selection) -> None:
    result = random_result(3, 5, 17, pair=True)
    pictures = restored(result, selection)
    assert not attention_grid(result, selection).averaged
    for layer in range(3):
        for head in range(5):
            view = head_view(result, Heads.one(layer, head), selection)
            # A byte of the head's own peak is the precision of a picture.
            tolerance = float(view.weights.max()) / 255 / 2 + 1e-6
            np.testing.assert_allclose(pictures[layer, head], view.weights, atol=tolerance)


def test_the_grid_of_a_part_has_its_own_shape() -> None:
    grid = attention_grid(PAIR, Selection(special=False, part="ba"))
    assert grid.pictures.shape == (1, 2, 2, 1)
    assert grid.peaks.tolist() == [[pytest.approx(0.4), 0.0]]
    assert grid.pictures[0, 0].tolist() == [[255], [0]]


@pytest.mark.parametrize("selection", [Selection(), SCALED])
def test_a_pooled_picture_sums_columns_and_averages_rows(selection: Selection) -> None:
    result = random_result(2, 2, 90)
    grid = attention_grid(result, selection)
    assert grid.averaged
    side = grid.pictures.shape[-1]
    assert side == GRID_SIDE[1]
    weights = head_view(result, Heads.one(1, 0), selection).weights
    rows, columns = weights.shape
    row_block = np.arange(rows) * side // rows
    column_block = np.arange(columns) * side // columns
    wanted = np.zeros((side, side))
    for i in range(side):
        for j in range(side):
            block = weights[row_block == i][:, column_block == j]
            wanted[i, j] = block.sum(-1).mean()
    tolerance = float(grid.peaks[1, 0]) / 255 / 2 + 1e-5
    np.testing.assert_allclose(restored(result, selection)[1, 0], wanted, atol=tolerance)
    np.testing.assert_allclose(wanted.sum(-1).mean(), weights.sum(-1).mean(), atol=1e-3)


def test_the_pictures_of_many_heads_stay_small() -> None:
    grid = attention_grid(random_result(24, 16, 40), Selection())
    assert grid.pictures.nbytes <= 96 * 1024
    assert grid.pictures.shape[:2] == (24, 16)


def test_every_link_is_a_number_of_its_head_and_the_strongest_comes_last() -> None:
    result = random_result(2, 3, 12)
    view = head_view(result, Heads.one(1, 2), replace(WORDS, floor=0.05))
    links = strongest_links(result, view)
    assert links.places == ((1, 0), (1, 1), (1, 2))
    assert (np.diff(links.weight) >= 0).all()
    assert (links.weight >= 0.05).all()
    for row, column, head, weight in zip(
        links.row, links.column, links.head, links.weight, strict=True
    ):
        assert result.attentions[1][head, view.rows[row], view.columns[column]] == weight
    strong = result.attentions[1][:, 1:-1, 1:-1]
    assert len(links.weight) == links.over == int((strong >= 0.05).sum())


def test_a_small_budget_keeps_the_strongest_links_of_every_word() -> None:
    result = random_result(1, 2, 10)
    view = head_view(result, Heads.one(0, 0), Selection())
    links = strongest_links(result, view, budget=40)
    assert links.over == 200
    for head in range(2):
        for row in range(10):
            mine = (links.head == head) & (links.row == row)
            best = np.sort(result.attentions[0][head, row])[-2:]
            assert np.sort(links.weight[mine]).tolist() == best.tolist()


def test_renormalised_links_are_those_of_the_renormalised_view() -> None:
    result = random_result(1, 2, 8)
    view = head_view(result, Heads.one(0, 1), SCALED)
    links = strongest_links(result, view)
    mine = links.head == 1
    np.testing.assert_allclose(
        links.weight[mine], view.weights[links.row[mine], links.column[mine]], atol=1e-7
    )


def test_a_long_text_gets_the_lines_of_the_chosen_head_alone() -> None:
    result = random_result(1, 3, LINK_TOKENS + 1)
    one = strongest_links(result, head_view(result, Heads.one(0, 1), Selection()))
    assert one.places == ((0, 1),)
    assert set(one.head.tolist()) == {0}
    whole = head_view(result, Heads.layer(0, result.heads), Selection())
    every = strongest_links(result, whole, budget=500)
    assert every.places == ((0, 0), (0, 1), (0, 2))
    assert {(int(h), int(r)) for h, r in zip(every.head, every.row, strict=True)} == {
        (h, r) for h in range(3) for r in range(LINK_TOKENS + 1)
    }  # every word keeps a line in every head


def test_results_hold_no_tensors(tiny_engine: Engine) -> None:
    result = attention(tiny_engine, "the cat")
    assert all(isinstance(layer, np.ndarray) for layer in result.attentions)
    assert not any(
        isinstance(getattr(result.statistics, name), torch.Tensor)
        for name in ("to_itself", "to_previous", "to_next", "to_special", "entropy")
    )


def test_a_text_as_long_as_its_picture_is_drawn_number_by_number() -> None:
    side = GRID_SIDE[1]
    result = random_result(1, 2, side)
    exact = attention_grid(result, Selection())
    weights = result.attentions[0]
    steps = np.rint(255 * weights / weights.max(axis=(1, 2), keepdims=True))
    np.testing.assert_array_equal(exact.pictures[0], steps)
    assert not exact.averaged
    longer = attention_grid(random_result(1, 2, side + 1), Selection())
    assert longer.averaged and longer.pictures.shape == exact.pictures.shape


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
    assert attention_grid(words, Selection()).pictures.shape[-1] == len(words.tokens)


@pytest.mark.parametrize("how", ["mean", "max"])
def test_any_heads_become_one_matrix_cell_by_cell(how: str) -> None:
    result = random_result(3, 4, 6)
    places = ((0, 1), (2, 3), (1, 0))
    view = head_view(result, Heads(places, how), Selection())  # type: ignore[arg-type]
    stack = np.stack([result.attentions[i][j] for i, j in places])
    wanted = stack.mean(0) if how == "mean" else stack.max(0)
    np.testing.assert_allclose(view.weights, wanted, atol=1e-7)
    links = strongest_links(result, view)  # lines keep the heads apart
    assert links.places == places and set(links.head.tolist()) == {0, 1, 2}


@pytest.mark.parametrize("selection", [Selection(floor=0.1), Selection(top=20), SCALED])
def test_thresholds_hide_the_same_in_every_view(selection: Selection) -> None:
    selection = replace(selection, top=min(selection.top, 30) if selection.renormalise else 100)
    result = random_result(2, 3, 9)
    for layer in range(2):
        for head in range(3):
            view = head_view(result, Heads.one(layer, head), selection)
            free = head_view(
                result, Heads.one(layer, head), replace(selection, floor=0.0, top=100)
            ).weights
            flat = np.sort(free.reshape(-1))
            least = flat[-ceil(flat.size * selection.top / 100)]
            keep = (free >= selection.floor) & (free >= least)
            np.testing.assert_array_equal(view.weights, np.where(keep, free, 0))
            small = attention_grid(result, selection).pictures[layer, head]
            assert (small[~keep] == 0).all()
            links = strongest_links(result, view)
            mine = links.head == head
            assert mine.sum() == np.count_nonzero(view.weights)


def test_a_cell_is_computed_from_the_models_own_query_and_key(tiny_engine: Engine) -> None:
    result = attention(tiny_engine, "the cat sat", "on the mat.")
    model = tiny_engine.model(BertModel)
    encoding = tiny_engine.tokenizer.encode("the cat sat", "on the mat.")
    states = tiny_engine.run(BertModel, encoding, hidden_states=True).hidden_states
    assert states is not None
    length = len(result.tokens)
    for layer in range(result.layers):
        block = model.encoder.layer_at(layer).attention.self
        for head in range(result.heads):
            for row in range(length):
                for column in range(0, length, 3):
                    cell = cell_arithmetic(tiny_engine, result, (layer, head), row, column)
                    assert cell.value == result.attentions[layer][head, row, column]
                    assert cell.computed == pytest.approx(cell.value, abs=1e-6)
                    score = cell.products.sum() / sqrt(cell.query.size)
                    assert cell.scores[column] == pytest.approx(score, abs=1e-5)
            with torch.inference_mode():
                query = block.query(states[layer])[0, length - 1]
            size = cell.query.size
            np.testing.assert_allclose(
                cell.query, query[head * size : (head + 1) * size].numpy(), atol=1e-5
            )


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

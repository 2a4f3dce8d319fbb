"""Order of sentences: the matrix of pairs, and the best of all orders."""

import math
from itertools import pairwise, permutations

import numpy as np
import pytest

from app.engine.models import Engine
from app.features.next_sentence import view_order as view
from app.features.next_sentence.result import SentenceOrderResult
from app.features.next_sentence.task import next_sentence
from app.features.next_sentence.task_order import MOST, best_order, next_sentence_order, split
from app.records.results import Calibration
from bert_core.errors import InputError
from tests.drawings import elements, words

TEXT = "A cat played. The dog sat on the mat. Bank on it!"


def made_up(n: int, best: tuple[int, ...]) -> SentenceOrderResult:
    """Return a result of distinct probabilities."""
    table = (np.arange(n * n).reshape(n, n) + 1.0) / (n * n + 1)
    np.fill_diagonal(table, np.nan)
    names = tuple(f"Sentence {number}." for number in range(n))
    return SentenceOrderResult(names, table, best, 0, Calibration())


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
def test_the_best_order_is_the_best_of_all_permutations(n: int) -> None:
    gains = np.random.default_rng(n).normal(size=(n, n))
    np.fill_diagonal(gains, -np.inf)

    def total(order: tuple[int, ...]) -> float:
        return sum(gains[a, b] for a, b in pairwise(order))

    best = max(permutations(range(n)), key=total)
    assert best_order(gains) == best


def test_twelve_sentences_in_a_hidden_order_are_put_back() -> None:
    hidden = tuple(np.random.default_rng(3).permutation(MOST).tolist())
    gains = np.full((MOST, MOST), -1.0)
    for a, b in pairwise(hidden):
        gains[a, b] = -0.1
    assert best_order(gains) == hidden


def test_the_matrix_holds_the_answer_to_every_pair(tiny_engine: Engine) -> None:
    told: list[tuple[int, int]] = []
    result = next_sentence_order(tiny_engine, TEXT, lambda *step: told.append(step))
    assert result.sentences == ("A cat played.", "The dog sat on the mat.", "Bank on it!")
    for a, first in enumerate(result.sentences):
        for b, second in enumerate(result.sentences):
            if a == b:
                assert math.isnan(result.follows[a, b])
                continue
            alone = next_sentence(tiny_engine, first, second).probabilities[0]
            assert result.follows[a, b] == pytest.approx(alone, abs=1e-6)
    assert told[-1] == (6, 6)
    means = {order: result.mean_step(order) for order in permutations(range(3))}
    assert max(means, key=lambda order: means[order]) == result.best


def test_steps_and_neighbours_are_counted() -> None:
    result = made_up(4, (2, 3, 0, 1))
    assert result.kept == 2
    assert result.steps((0, 1, 3)) == [2 / 17, 8 / 17]
    assert result.mean_step((0, 1, 3)) == pytest.approx(math.sqrt(2 / 17 * 8 / 17))


@pytest.mark.parametrize("count", [0, 1, 13])
def test_too_few_or_too_many_sentences_are_refused_with_numbers(
    tiny_engine: Engine, count: int
) -> None:
    with pytest.raises(InputError, match=f"Found {count} sentences?; expected 2 to 12"):
        next_sentence_order(tiny_engine, "The cat sat. " * count)


def test_lines_of_chinese_and_empty_lines_split() -> None:
    assert split("我们。你们。\n\nA cat\nsat") == ("我们。", "你们。", "A cat sat")


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_each_cell_is_as_deep_as_its_probability(size: str) -> None:
    result = made_up(3, (2, 0, 1))
    drawing = getattr(view.matrix(result), size)
    cells = elements(drawing, "rect", "bx-svg-cell")
    order = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    depths = [(result.follows[pair] - 0.2) / 0.6 for pair in order]
    assert [cell.number("fill-opacity") for cell in cells] == pytest.approx(
        [view._INK * depth for depth in depths], abs=1e-4
    )
    true = elements(drawing, "rect", "bx-svg-true")
    assert [(each.number("x"), each.number("y")) for each in true] == [
        (cells[order.index(pair)].number("x"), cells[order.index(pair)].number("y"))
        for pair in ((0, 1), (1, 2))
    ]
    assert len(elements(drawing, "circle", "bx-svg-step")) == 2
    keys = [each.attributes["data-at"] for each in elements(drawing, "g")]
    assert keys == [f"1.{a} 1.{b}" for a, b in order]
    assert "Palest: 20 %, darkest: 80 %" in words(view.screen(result).parts[1])

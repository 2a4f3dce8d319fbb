"""Scores of spans over windows: compared with every span counted one by one."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from transformers.pipelines.document_question_answering import decode_spans

from bert_core.errors import InputError
from bert_core.reading.spans import SpanScores, WindowLogits, score_spans
from bert_core.text.encoding import window_bounds


def windows_of(tokens: int, size: int, stride: int, seed: int = 0) -> list[WindowLogits]:
    """Random logits for windows as the tokenizer makes them."""
    source = np.random.default_rng(seed)
    return [
        WindowLogits(first, source.normal(size=last - first), source.normal(size=last - first), n)
        for n, (first, last) in enumerate(window_bounds(tokens, size=size, stride=stride))
    ]


def listed(spans: SpanScores) -> Iterator[tuple[tuple[int, int], float, int]]:
    for row, more in zip(*np.nonzero(np.isfinite(spans.score)), strict=True):
        yield (
            (int(row), int(row + more)),
            float(spans.score[row, more]),
            int(spans.window[row, more]),
        )


CASES = [
    (1, 5, 0, 3),
    (9, 20, 4, 4),
    (40, 12, 6, 7),
    (41, 12, 8, 5),
    (23, 7, 1, 2),
    (60, 10, 9, 12),
]


@pytest.mark.parametrize(("tokens", "size", "stride", "longest"), CASES)
def test_probabilities_share_out_over_every_span_once_what_no_answer_leaves(
    tokens: int, size: int, stride: int, longest: int
) -> None:
    windows = windows_of(tokens, size, stride, seed=2)
    spans = score_spans(windows, longest, np.zeros(tokens, dtype=np.bool_))
    odds = {span: math.exp(score) for span, score, _ in listed(spans)}
    total, null = sum(odds.values()), math.exp(min(window.null for window in windows))
    left = max(odds.values()) / (max(odds.values()) + null)
    assert spans.null_probability() == pytest.approx(1 - left)
    given, shares = spans.shares(), spans.probability()
    for (first, last), odd in odds.items():
        assert given[first, last - first] == pytest.approx(odd / total)
        assert shares[first, last - first] == pytest.approx(left * odd / total)
    assert given.sum() == pytest.approx(1.0)
    assert shares.sum() + spans.null_probability() == pytest.approx(1.0)


def test_the_order_is_that_of_the_decoder_of_transformers() -> None:
    window = windows_of(40, 40, 0, seed=5)[0]
    allowed = np.ones(40, dtype=np.int64)
    start, end = np.exp(window.start), np.exp(window.end)
    starts, ends, _ = decode_spans(start[None], end[None], 60, 6, allowed)
    spans = score_spans([window], 6, np.zeros(40, dtype=np.bool_))
    order = np.argsort(-spans.score, axis=None)[:60]
    rows, more = np.unravel_index(order, spans.score.shape)
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == list(
        zip(rows.tolist(), (rows + more).tolist(), strict=True)
    )


def one_word(tokens: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where an answer may begin and end in a text of one word."""
    at = np.arange(tokens)
    return at == 0, at == tokens - 1


@pytest.mark.parametrize(("tokens", "size", "stride", "longest"), CASES)
def test_rules_on_ends_and_parts_leave_out_what_they_say_and_nothing_else(
    tokens: int, size: int, stride: int, longest: int
) -> None:
    windows = windows_of(tokens, size, stride, seed=3)
    source = np.random.default_rng(4)
    forbidden = np.zeros(tokens, dtype=np.bool_)
    begins, stops = source.random((2, tokens)) < 0.6
    parts = np.cumsum(source.random(tokens) < 0.2)
    plain = {span: score for span, score, _ in listed(score_spans(windows, longest, forbidden))}

    def whole(first: int, last: int) -> bool:
        return bool(begins[first] and stops[last])

    for options, kept in (
        ({"ends": (begins, stops)}, whole),
        ({"parts": parts}, lambda first, last: parts[first] == parts[last]),
        (
            {"ends": (begins, stops), "parts": parts},
            lambda a, b: whole(a, b) and parts[a] == parts[b],
        ),
    ):
        wanted = {span: score for span, score in plain.items() if kept(*span)}
        if wanted:
            spans = score_spans(windows, longest, forbidden, **options)
            assert {span: score for span, score, _ in listed(spans)} == wanted
            assert spans.probability().sum() + spans.null_probability() == pytest.approx(1.0)


def test_a_word_with_more_tokens_than_an_answer_may_have_is_no_answer() -> None:
    window, nothing = windows_of(4, 4, 0), np.zeros(4, dtype=np.bool_)
    with pytest.raises(InputError, match="more than 3 pieces"):
        score_spans(window, 3, nothing, ends=one_word(4))
    assert score_spans(window, 4, nothing, ends=one_word(4)).best == (0, 3)


def scored(*scores: float, null: float) -> SpanScores:
    """Spans of one token each."""
    start = np.array(scores)
    nothing = np.zeros(len(scores), dtype=np.bool_)
    return score_spans([WindowLogits(0, start, np.zeros(len(scores)), null)], 1, nothing)


def test_two_temperatures_by_hand() -> None:
    spans = scored(math.log(9), 0.0, null=math.log(3))  # odds of 9, 1 and 3
    assert spans.margin == pytest.approx(math.log(3))
    np.testing.assert_allclose(spans.probability()[:, 0], [0.75 * 0.9, 0.75 * 0.1])
    assert spans.null_probability() == pytest.approx(0.25)
    # Divided by 2, odds are their square roots: 3 to 1 among spans, the root of 3 for an answer.
    np.testing.assert_allclose(spans.probability(2.0)[:, 0], [0.75 * 0.75, 0.75 * 0.25])
    left = math.sqrt(3) / (1 + math.sqrt(3))
    np.testing.assert_allclose(
        spans.probability(2.0, has_answer=2.0)[:, 0], [left * 0.75, left * 0.25]
    )
    assert spans.null_probability(2.0) == pytest.approx(1 - left)


def test_many_weak_spans_together_do_not_outweigh_no_answer() -> None:
    crowd = scored(*[0.0] * 200, null=1.0)
    assert crowd.null_probability() == scored(0.0, null=1.0).null_probability() > 0.5
    assert scored(0.0, null=0.0).null_probability() == 0.5


@pytest.mark.parametrize("far", [80.0, 1e4])
def test_scores_far_apart_give_certainty_and_no_warning(far: float) -> None:
    assert scored(far, -far, null=0.0).null_probability(0.01) == 0.0
    assert scored(far, -far, null=0.0).probability(0.01)[:, 0].tolist() == [1.0, 0.0]
    assert scored(-far, null=far).null_probability(0.01) == 1.0
    assert scored(-far, null=far).probability(0.01).item() == 0.0

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


def one_by_one(
    windows: list[WindowLogits], longest: int, forbidden: np.ndarray
) -> dict[tuple[int, int], tuple[float, int]]:
    """Span -> score and window, by the rules as they are written down."""
    tokens = len(forbidden)
    found = {}
    for first in range(tokens):
        for last in range(first, min(tokens, first + longest)):
            if forbidden[first : last + 1].any():
                continue
            rooms = []
            for number, window in enumerate(windows):
                if window.first <= first and last < window.last:
                    left = first - window.first if window.first > 0 else math.inf
                    right = window.last - 1 - last if window.last < tokens else math.inf
                    rooms.append((-min(left, right), number))
            if rooms:
                number = min(rooms)[1]
                at = windows[number].first
                score = windows[number].start[first - at] + windows[number].end[last - at]
                found[first, last] = (score, number)
    return found


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
def test_every_span_has_the_score_of_the_window_with_most_room(
    tokens: int, size: int, stride: int, longest: int
) -> None:
    windows = windows_of(tokens, size, stride)
    forbidden = np.random.default_rng(1).random(tokens) < 0.1
    forbidden[0] = False
    wanted = one_by_one(windows, longest, forbidden)
    spans = score_spans(windows, longest, forbidden)
    found = {span: (score, window) for span, score, window in listed(spans)}
    assert found.keys() == wanted.keys()
    assert all(found[span] == pytest.approx(wanted[span]) for span in wanted)
    best = max(wanted, key=lambda span: wanted[span][0])
    assert spans.best == best
    assert spans.best_score == pytest.approx(wanted[best][0])


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


def test_no_allowed_span_is_lost_where_windows_share_enough() -> None:
    for tokens in (30, 57, 200):
        windows = windows_of(tokens, 20, 9)
        spans = score_spans(windows, 10, np.zeros(tokens, dtype=np.bool_))
        assert len(list(listed(spans))) == sum(min(10, tokens - first) for first in range(tokens))


def test_windows_that_agree_give_what_one_window_gives() -> None:
    whole = windows_of(50, 50, 0)[0]
    parts = [
        WindowLogits(first, whole.start[first:last], whole.end[first:last], whole.null)
        for first, last in window_bounds(50, size=16, stride=8)
    ]
    nothing = np.zeros(50, dtype=np.bool_)
    one, many = score_spans([whole], 9, nothing), score_spans(parts, 9, nothing)
    assert len(parts) > 3
    np.testing.assert_array_equal(one.score, many.score)
    np.testing.assert_array_equal(one.start, many.start)
    np.testing.assert_array_equal(one.end, many.end)
    assert one.null_probability() == many.null_probability()


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


def test_no_answer_is_as_likely_as_the_window_that_believes_least_in_it() -> None:
    nulls = [4.0, -2.5, 3.0]
    bounds = window_bounds(20, size=8, stride=2)
    windows = [
        WindowLogits(first, np.zeros(last - first), np.zeros(last - first), null)
        for (first, last), null in zip(bounds, nulls, strict=True)
    ]
    assert score_spans(windows, 3, np.zeros(20, dtype=np.bool_)).null == -2.5


def test_the_ends_of_the_text_are_no_cuts() -> None:
    windows = windows_of(10, 8, 6)
    spans = score_spans(windows, 1, np.zeros(10, dtype=np.bool_))
    assert [window.first for window in windows] == [0, 2]
    # The cuts are behind token 7 and before token 2; 4 and 5 are as far from one as the other.
    assert spans.window[:, 0].tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]


def test_extreme_logits_give_finite_probabilities() -> None:
    window = WindowLogits(0, np.array([1e4, -1e4]), np.array([-1e4, 1e4]), 2e4)
    spans = score_spans([window], 2, np.zeros(2, dtype=np.bool_))
    assert np.isfinite(spans.probability()).all()
    assert spans.probability()[0, 1] == pytest.approx(0.5)
    assert spans.null_probability() == pytest.approx(0.5)


def test_a_text_of_forbidden_tokens_alone_has_no_answer() -> None:
    with pytest.raises(InputError, match="only special tokens"):
        score_spans(windows_of(3, 5, 0), 2, np.ones(3, dtype=np.bool_))


def test_a_text_of_long_words_alone_has_no_answer() -> None:
    with pytest.raises(InputError, match="each word has more than 2 pieces"):
        score_spans(windows_of(3, 5, 0), 2, np.zeros(3, dtype=np.bool_), ends=one_word(3))


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


def test_temperatures_change_shares_and_neither_order_nor_decision() -> None:
    source = np.random.default_rng(3)
    for null in (-2.0, 1.0, 5.0):
        window = WindowLogits(0, source.normal(size=9), source.normal(size=9), null)
        spans = score_spans([window], 4, np.zeros(9, dtype=np.bool_))
        for temperature in (0.5, 1.0, 4.0):
            shares = spans.probability(temperature, has_answer=3.0)
            assert (np.argsort(shares, axis=None) == np.argsort(spans.score, axis=None)).all()
            none = spans.null_probability(temperature)
            assert (none > 0.5) == (null > spans.best_score)
        np.testing.assert_array_equal(spans.probability(), spans.probability(1.0, has_answer=1.0))


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

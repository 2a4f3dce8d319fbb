"""Scores of spans over windows: compared with every span counted one by one."""

import math

import numpy as np
import pytest
from transformers.pipelines.document_question_answering import decode_spans

from bert_core.reading.spans import SpanScores, Window, score_spans
from bert_core.text.encoding import window_bounds


def window(first: int, start: np.ndarray, end: np.ndarray, null: float) -> Window:
    """A window of these tokens between [CLS] and [SEP]."""
    return Window(first, 1, np.array([null, *start, 99.0]), np.array([0.0, *end, 99.0]))


def windows_of(tokens: int, size: int, stride: int, seed: int = 0) -> list[Window]:
    """Random logits for windows as the tokenizer makes them."""
    source = np.random.default_rng(seed)
    return [
        window(first, source.normal(size=last - first), source.normal(size=last - first), n)
        for n, (first, last) in enumerate(window_bounds(tokens, size=size, stride=stride))
    ]


def listed(spans: SpanScores) -> dict[tuple[int, int], float]:
    """First and last token of every span that may be an answer, with its score."""
    return {
        (int(row), int(row + more)): float(spans.score[row, more])
        for row, more in zip(*np.nonzero(np.isfinite(spans.score)), strict=True)
    }


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
    odds = {span: math.exp(score) for span, score in listed(spans).items()}
    total, null = sum(odds.values()), math.exp(min(each.null for each in windows))
    left = max(odds.values()) / (max(odds.values()) + null)
    assert spans.null_probability() == pytest.approx(1 - left)
    shares = spans.probability()
    for (first, last), odd in odds.items():
        assert shares[first, last - first] == pytest.approx(left * odd / total)
    assert shares.sum() + spans.null_probability() == pytest.approx(1.0)


def test_the_order_is_that_of_the_decoder_of_transformers() -> None:
    [only] = windows_of(40, 40, 0, seed=5)
    allowed = np.ones(40, dtype=np.int64)
    start, end = np.exp(only.start[1:-1]), np.exp(only.end[1:-1])
    starts, ends, _ = decode_spans(start[None], end[None], 60, 6, allowed)
    spans = score_spans([only], 6, np.zeros(40, dtype=np.bool_))
    order = np.argsort(-spans.score, axis=None)[:60]
    rows, more = np.unravel_index(order, spans.score.shape)
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == list(
        zip(rows.tolist(), (rows + more).tolist(), strict=True)
    )


def scored(*scores: float, null: float) -> SpanScores:
    """Spans of one token each."""
    only = window(0, np.array(scores), np.zeros(len(scores)), null)
    return score_spans([only], 1, np.zeros(len(scores), dtype=np.bool_))


def test_two_temperatures_by_hand() -> None:
    spans = scored(math.log(9), 0.0, null=math.log(3))  # odds of 9, 1 and 3
    assert spans.margin == pytest.approx(math.log(3))
    # Divided by 2, odds are their square roots: 3 to 1 among spans, the root of 3 for an answer.
    warm = math.sqrt(3) / (1 + math.sqrt(3))
    for temperatures, left, share in (
        ((1.0, 1.0), 0.75, 0.9), ((2.0, 1.0), 0.75, 0.75), ((2.0, 2.0), warm, 0.75)
    ):  # fmt: skip
        found = spans.probability(temperatures[0], has_answer=temperatures[1])
        np.testing.assert_allclose(found[:, 0], [left * share, left * (1 - share)])
        assert spans.null_probability(temperatures[1]) == pytest.approx(1 - left)


@pytest.mark.parametrize("far", [80.0, 1e4])
def test_scores_far_apart_give_certainty_and_no_warning(far: float) -> None:
    assert scored(far, -far, null=0.0).null_probability(0.01) == 0.0
    assert scored(far, -far, null=0.0).probability(0.01)[:, 0].tolist() == [1.0, 0.0]
    assert scored(-far, null=far).null_probability(0.01) == 1.0
    assert scored(-far, null=far).probability(0.01).item() == 0.0

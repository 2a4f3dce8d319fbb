"""What the model likes better than its answer, and why that may not be one."""

import numpy as np

from app.features.qa.result import Places, Reason, Rejected, Rules
from app.features.qa.task_passage import Reading, Window
from bert_core.reading.spans import SpanScores

_TOP_ENDS = 10  # of each kind and window, among which rejected pairs are looked for
_TOLD = 5  # rejected pairs that are told


def rejected(
    passage: str,
    question: str,
    reading: Reading,
    spans: SpanScores,
    *,
    rules: Rules,
    parts: Places,
) -> tuple[Rejected, ...]:
    """Find pairs of ends that the model likes better than the answer, though they break a rule.

    Args:
        passage: as typed.
        question: as typed.
        reading: what the model said.
        spans: the scores of what may be an answer.
        rules: what else was asked of an answer.
        parts: (N,) the sentence of each piece.
    """
    best, longest = spans.best_score, spans.score.shape[1]
    found: dict[tuple[str, str, int, int], Rejected] = {}
    for window in reading.windows:
        starts = np.argsort(-window.start)[:_TOP_ENDS]
        ends = np.argsort(-window.end)[:_TOP_ENDS]
        sums = window.start[starts, None] + window.end[ends]
        for row, column in zip(*np.nonzero(sums > best), strict=True):
            pair = int(starts[row]), int(ends[column])
            reason = _reason(reading, window, pair, longest) or _choice(
                reading, window, pair, rules, parts
            )
            if reason is None:
                continue
            first, last = (_spelling(passage, question, reading, window, at) for at in pair)
            key = (first, last, window.first + pair[0], window.first + pair[1])
            score = float(sums[row, column])
            if key not in found or score > found[key].score:
                found[key] = Rejected(first, last, score, reason, pair[1] - pair[0] + 1)
    return tuple(sorted(found.values(), key=lambda each: -each.score)[:_TOLD])


def _reason(reading: Reading, window: Window, pair: tuple[int, int], longest: int) -> Reason | None:
    """Name the first rule of all answers that a pair of positions breaks, or None."""
    first, last = pair
    separators = (reading.offset - 1, len(window.start) - 1)
    if first == last == 0:
        return None  # that is "no answer", which counts
    if 0 in pair:
        return "half_null"
    if first in separators or last in separators:
        return "special"
    if min(pair) < reading.offset:
        return "question"
    if last < first:
        return "backwards"
    if last - first + 1 > longest:
        return "long"
    at = window.first - reading.offset
    return "special" if reading.special[first + at : last + at + 1].any() else None


def _choice(
    reading: Reading, window: Window, pair: tuple[int, int], rules: Rules, parts: Places
) -> Reason | None:
    """Name the first of the visitor's rules that a pair in the passage breaks, or None."""
    if pair == (0, 0):
        return None
    first, last = (window.first + at - reading.offset for at in pair)
    if rules.one_sentence and parts[first] != parts[last]:
        return "over_sentences"
    words = reading.words
    inside = (first > 0 and words[first - 1] == words[first]) or (
        last + 1 < len(words) and words[last + 1] == words[last]
    )
    return "inside_word" if rules.whole_words and inside else None


def _spelling(passage: str, question: str, reading: Reading, window: Window, position: int) -> str:
    """Return the characters, as typed, of the token at a position of a window."""
    if position == 0:
        return "[CLS]"
    if position in (reading.offset - 1, len(window.start) - 1):
        return "[SEP]"
    if position < reading.offset:
        start, end = reading.asked[position - 1].tolist()
        return question[start:end]
    start, end = reading.spans[window.first + position - reading.offset].tolist()
    return passage[start:end]

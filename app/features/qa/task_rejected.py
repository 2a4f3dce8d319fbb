"""Pairs of ends that the model scores above its answer, and the rules that they break."""

import numpy as np

from app.features.qa.result import Reason, Rejected
from bert_core.reading.passage import PassageAnswers, PassageReading
from bert_core.reading.spans import Window

_TOP_ENDS = 10  # starts, and ends, per window that are searched for rejected pairs
_TOLD = 5  # rejected pairs that are reported


def rejected(answers: PassageAnswers) -> tuple[Rejected, ...]:
    """Find pairs of ends that score higher than the answer but break a rule."""
    reading, best = answers.reading, answers.spans.best_score
    found: dict[tuple[str, str, int, int], Rejected] = {}
    for window in reading.windows:
        starts = np.argsort(-window.start)[:_TOP_ENDS]
        ends = np.argsort(-window.end)[:_TOP_ENDS]
        sums = window.start[starts, None] + window.end[ends]
        for row, column in zip(*np.nonzero(sums > best), strict=True):
            pair = int(starts[row]), int(ends[column])
            reason = _reason(answers, window, pair) or _choice(answers, window, pair)
            if reason is None:
                continue
            first, last = (_spelling(reading, window, at) for at in pair)
            key = (first, last, window.first + pair[0], window.first + pair[1])
            score = float(sums[row, column])
            if key not in found or score > found[key].score:
                place = _place(reading, window, pair)
                found[key] = Rejected(first, last, score, reason, pair[1] - pair[0] + 1, place)
    return tuple(sorted(found.values(), key=lambda each: -each.score)[:_TOLD])


def _reason(answers: PassageAnswers, window: Window, pair: tuple[int, int]) -> Reason | None:
    """Return the first general rule that a pair of positions breaks, or None."""
    reading, (first, last) = answers.reading, pair
    separators = (*range(len(reading.asked) + 1, reading.offset), len(window.start) - 1)
    if first == last == 0:
        return None  # this pair means "no answer", which is allowed
    if 0 in pair:
        return "half_null"
    if first in separators or last in separators:
        return "special"
    if min(pair) < reading.offset:
        return "question"
    if last < first:
        return "backwards"
    if last - first + 1 > answers.longest:
        return "long"
    at = window.first - reading.offset
    return "special" if reading.special[first + at : last + at + 1].any() else None


def _choice(answers: PassageAnswers, window: Window, pair: tuple[int, int]) -> Reason | None:
    """Return the first user-selected rule that a pair in the passage breaks, or None."""
    if pair == (0, 0):
        return None
    reading, rules = answers.reading, answers.rules
    first, last = (window.first + at - reading.offset for at in pair)
    if rules.one_sentence and reading.sentences[first] != reading.sentences[last]:
        return "over_sentences"
    words = reading.words
    inside = (first > 0 and words[first - 1] == words[first]) or (
        last + 1 < len(words) and words[last + 1] == words[last]
    )
    return "inside_word" if rules.whole_words and inside else None


def _place(
    reading: PassageReading, window: Window, pair: tuple[int, int]
) -> tuple[int, int] | None:
    """Return the characters between two ends in the passage, or None if one is not in it."""
    if min(pair) < reading.offset or max(pair) >= len(window.start) - 1:
        return None
    spans = reading.spans[[window.first + at - reading.offset for at in pair]]
    return int(spans[:, 0].min()), int(spans[:, 1].max())


def _spelling(reading: PassageReading, window: Window, position: int) -> str:
    """Return the characters, as typed, of the token at a position of a window."""
    if position == 0:
        return "[CLS]"
    if position <= len(reading.asked):
        start, end = reading.asked[position - 1].tolist()
        return reading.question[start:end]
    if position < reading.offset or position == len(window.start) - 1:
        return "[SEP]"
    start, end = reading.spans[window.first + position - reading.offset].tolist()
    return reading.passage[start:end]

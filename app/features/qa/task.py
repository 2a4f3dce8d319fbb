"""Question answering: which characters of a passage answer a question.

`task_passage` runs the model, in overlapping windows where the passage is longer than the
model; `bert_core.reading.spans` gives every span of the passage its one score; the rest turns
scores into what a page shows.

A span may be an answer if it starts and ends in the passage, does not end before it starts, has
at most `longest` pieces, and holds no special token. Unless the visitor wants it otherwise, it
also takes words whole and stays within one sentence. What the model likes better but may not
answer is told with the reason (`reading.rejected`). Neighbouring windows share more pieces than
an answer may have, so no answer is lost at a cut.
"""

import itertools
import re
from collections.abc import Iterator

import numpy as np

from app.compute.recent import RECENT
from app.features.qa.result import (
    Answer,
    Coverage,
    Floats,
    Grid,
    QaResult,
    Rules,
    Span,
    Words,
)
from app.features.qa.task_passage import Progress, Reading, read
from app.features.qa.task_rejected import rejected
from app.models import Engine
from app.models.calibration import calibration
from bert_core import BertForQuestionAnswering
from bert_core.config import HAS_ANSWER
from bert_core.errors import InputError
from bert_core.reading.sentences import sentence_starts
from bert_core.reading.spans import SpanScores, score_spans
from bert_core.reading.wordings import Wordings

LONGEST = 60
MOST_ANSWERS = 20
MOST_QUESTIONS = 10

_GRID = 16  # words
_MOST_PLACES = 100  # of one answer
# Ends of sentences that `sentence_starts`, made for English on one line, does not know.
_ENDS = re.compile(r"[。！？]++[”』」]?\s*+|\n\s*?\n\s*+")
_LINES = re.compile(r"\n\s*+")


def qa(
    engine: Engine,
    passage: str,
    question: str,
    *,
    answers: int = 5,
    longest: int = 30,
    rules: Rules | None = None,
    progress: Progress | None = None,
) -> QaResult:
    """Find the answer to a question in a passage of any length.

    Args:
        engine: the model.
        passage: the text that is searched.
        question: what is asked.
        answers: how many different answers are wanted at most, 1 to 20.
        longest: the most pieces of an answer, 1 to 60.
        rules: what else is asked of an answer; by default whole words and a single sentence.
        progress: is told after each group of windows how many are done, and of how many.

    Raises:
        InputError: an empty text, a question too long for the model, a passage in which nothing
            can be an answer, or a number out of its range.
    """
    for name, number, most in (("answers", answers, MOST_ANSWERS), ("longest", longest, LONGEST)):
        if not 1 <= number <= most:
            raise InputError(f"Found {name}={number}; expected 1 to {most}.")
    reading = RECENT.get(
        ("qa", engine.provenance.name, engine.provenance.fingerprint, passage, question),
        make=lambda: read(engine, passage, question, progress),
        size=lambda made: made.nbytes,
    )
    if len(reading.windows) > 1:
        longest = min(longest, reading.shared + 1)
    rules = Rules() if rules is None else rules
    parts = reading.parts([0, *_starts(passage)])
    spans = score_spans(
        reading.logits(),
        longest,
        reading.special,
        words=reading.words if rules.whole_words else None,
        parts=parts if rules.one_sentence else None,
    )
    scale = calibration(engine, BertForQuestionAnswering)
    outer = calibration(engine, BertForQuestionAnswering, HAS_ANSWER)
    probability = spans.probability(scale.temperature, has_answer=outer.temperature)
    words = _words(reading, spans, probability)
    return QaResult(
        passage=passage,
        question=question,
        answers=tuple(_answers(passage, reading, spans, probability, answers)),
        touching=_touching(probability, *spans.best),
        null_score=spans.null,
        null_probability=spans.null_probability(outer.temperature),
        candidates=int(np.isfinite(spans.score).sum()),
        longest=longest,
        rules=rules,
        rejected=rejected(passage, question, reading, spans, rules=rules, parts=parts),
        words=words,
        grid=_grid(reading, spans, probability, words.near_ends(_GRID)),
        coverage=_coverage(reading, spans),
        sentences=_sentences(passage),
        calibration=scale,
        has_answer=outer,
    )


def questions(text: str) -> tuple[str, ...]:
    """Split a text into questions, one per line.

    Raises:
        InputError: there are more than the page answers.

    >>> questions("Who?\\n\\n  Where? ")
    ('Who?', 'Where?')
    """
    found = tuple(line.strip() for line in text.splitlines() if line.strip())
    if len(found) > MOST_QUESTIONS:
        raise InputError(
            f"There are {len(found)} questions, one per line; this page answers at most "
            f"{MOST_QUESTIONS} at once. Take some of them out."
        )
    return found


def _starts(passage: str) -> list[int]:
    """Find where sentences after the first begin, blank lines and East Asian marks included."""
    return sorted({*sentence_starts(passage), *(m.end() for m in _ENDS.finditer(passage))})


def _sentences(passage: str) -> tuple[tuple[int, int], ...]:
    """Find the sentences, lines apart: each runs to where the next begins."""
    starts = {0, *_starts(passage), *(match.end() for match in _LINES.finditer(passage))}
    bounds = [*sorted(starts), len(passage)]
    spans = itertools.pairwise(bounds)
    return tuple((start, end) for start, end in spans if passage[start:end].strip())


def _answers(
    passage: str, reading: Reading, spans: SpanScores, probability: Floats, most: int
) -> Iterator[Answer]:
    """Yield the best answers; all spans that say the same are one of them."""
    left = spans.score.copy()
    wordings = Wordings(passage, reading.spans)
    for _ in range(most):
        first, more = np.unravel_index(int(left.argmax()), left.shape)
        if not np.isfinite(left[first, more]):
            return
        rows, columns = wordings.alike(spans.score, int(first), int(first + more))
        left[rows, columns] = -np.inf
        # Several cuts into pieces may give the same characters of one place.
        held = np.column_stack([reading.spans[rows, 0], reading.spans[rows + columns, 1]])
        bounds, place = np.unique(held, axis=0, return_inverse=True)
        place = place.ravel()
        shares = np.bincount(place, probability[rows, columns])
        scores = np.full(len(bounds), -np.inf)
        np.maximum.at(scores, place, spans.score[rows, columns])
        pieces = np.full(len(bounds), spans.score.shape[1])
        np.minimum.at(pieces, place, columns + 1)
        best = np.argsort(-scores, kind="stable")[:_MOST_PLACES]
        kept = (each[best].tolist() for each in (bounds, pieces, scores, shares))
        places = tuple(
            Span(start, end, count, score, share)
            for (start, end), count, score, share in zip(*kept, strict=True)
        )
        text = passage[places[0].start : places[0].end]
        yield Answer(text, places, len(bounds), float(shares.sum()))


def _touching(probability: Floats, first: int, last: int) -> float:
    """Add up the spans that share a piece with the one from `first` to `last`."""
    rows = np.arange(max(0, first - probability.shape[1] + 1), last + 1)
    reaches = rows[:, None] + np.arange(probability.shape[1]) >= first
    return float(probability[rows][reaches].sum())


def _words(reading: Reading, spans: SpanScores, probability: Floats) -> Words:
    """Fold the curves from pieces to words."""
    pieces, longest = probability.shape
    ends = np.zeros(pieces)
    for more in range(longest):
        ends[more:] += probability[: pieces - more, more]
    begins = np.flatnonzero(np.diff(reading.words, prepend=-1))
    lasts = np.append(begins[1:], pieces) - 1
    first, last = spans.best
    return Words(
        starts=reading.spans[begins, 0],
        ends=reading.spans[lasts, 1],
        start_probability=np.add.reduceat(probability.sum(axis=1), begins),
        end_probability=np.add.reduceat(ends, begins),
        start_logit=np.maximum.reduceat(spans.start, begins),
        end_logit=np.maximum.reduceat(spans.end, begins),
        answer=(int(reading.words[first]), int(reading.words[last])),
    )


def _grid(
    reading: Reading, spans: SpanScores, probability: Floats, near: tuple[range, range]
) -> Grid:
    """Fold the spans near the ends of the answer into pairs of words."""
    rows, columns = near
    shares = np.zeros((len(rows), len(columns)))
    allowed = np.zeros((len(rows), len(columns)), dtype=np.bool_)
    first, behind = np.searchsorted(reading.words, [rows.start, rows.stop]).tolist()
    for piece in range(first, behind):
        row = int(reading.words[piece]) - rows.start
        for more in np.flatnonzero(np.isfinite(spans.score[piece])).tolist():
            column = int(reading.words[piece + more])
            if column in columns:
                shares[row, column - columns.start] += probability[piece, more]
                allowed[row, column - columns.start] = True
    return Grid(rows, columns, shares, allowed)


def _coverage(reading: Reading, spans: SpanScores) -> Coverage:
    """Say how the passage was read."""
    first, last = spans.best
    return Coverage(
        pieces=len(reading.spans),
        question=len(reading.asked),
        windows=tuple((window.first, window.last) for window in reading.logits()),
        tokens=max(len(window.start) for window in reading.windows),
        shared=reading.shared,
        answer=(first, last),
        answer_window=int(spans.window[first, last - first]),
    )

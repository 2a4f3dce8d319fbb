"""Question answering: which characters of a passage answer a question.

`_read` runs the model, in overlapping windows where the passage is longer than the model;
`bert_core.spans` gives every span of the passage its one score and says how; the rest turns
scores into what a page shows.

A span may be an answer if it starts and ends in the passage, does not end before it starts, has
at most `longest` pieces, and holds no special token; what the model likes better but may not
answer is told with the reason. Neighbouring windows share more pieces than an answer may have,
so no answer is lost at a cut.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.engine import Engine
from app.engine.recent import RECENT
from app.results.qa import (
    Answer,
    Coverage,
    Floats,
    Grid,
    Places,
    QaResult,
    Reason,
    Rejected,
    Span,
    Words,
)
from bert_core import BertForQuestionAnswering, Encoding
from bert_core.errors import InputError
from bert_core.spans import SpanScores, WindowLogits, score_spans, shifted

WINDOW = 384  # tokens; what Devlin et al. used
SHARED = 128  # pieces; likewise
GROUP = 4  # windows computed at once: others get their turn between two groups
LONGEST = 60
MOST_ANSWERS = 20
MOST_QUESTIONS = 10

_SPECIALS = ("[CLS]", "[SEP]", "[PAD]", "[MASK]")  # an unknown word may well be an answer
_TOP_ENDS = 10  # of each kind and window, among which rejected pairs are looked for
_TOLD = 5  # rejected pairs that are told
_GRID = 16  # words
_MOST_PLACES = 100  # of one answer
_BREAK = re.compile(r"[.!?…]+[\"'”’»)\]]*\s+|[。！？]+[”』」]?\s*|\n\s*")

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class _Window:
    """One input: which piece of the passage it begins with, and the logits of its T tokens."""

    first: int
    start: Floats
    end: Floats


@dataclass(frozen=True, slots=True)
class _Reading:
    """Everything the model said about one question and one passage of N pieces.

    `spans` (N, 2) are the characters of the pieces, `words` (N,) their word, counted from 0
    without gaps, `special` (N,) where a special token is written in the passage; `asked` (Q, 2)
    are the characters of the question's pieces.
    """

    spans: Places
    words: Places
    special: NDArray[np.bool_]
    asked: Places
    windows: tuple[_Window, ...]
    shared: int

    @property
    def offset(self) -> int:
        """The position of the first piece of the passage in every window."""
        return len(self.asked) + 2

    @property
    def nbytes(self) -> int:
        arrays = (self.spans, self.words, self.special, self.asked)
        logits = sum(2 * window.start.nbytes for window in self.windows)
        return sum(array.nbytes for array in arrays) + logits

    def logits(self) -> list[WindowLogits]:
        """Return what the windows say about the passage and about "no answer"."""
        inside = slice(self.offset, -1)
        return [
            WindowLogits(w.first, w.start[inside], w.end[inside], float(w.start[0] + w.end[0]))
            for w in self.windows
        ]


def qa(
    engine: Engine,
    passage: str,
    question: str,
    *,
    answers: int = 5,
    longest: int = 30,
    progress: Progress | None = None,
) -> QaResult:
    """Find the answer to a question in a passage of any length.

    Args:
        engine: the model.
        passage: the text that is searched.
        question: what is asked.
        answers: how many different answers are wanted at most, 1 to 20.
        longest: the most pieces of an answer, 1 to 60.
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
        make=lambda: _read(engine, passage, question, progress),
        size=lambda made: made.nbytes,
    )
    if len(reading.windows) > 1:
        longest = min(longest, reading.shared + 1)
    spans = score_spans(reading.logits(), longest, reading.special)
    probability = spans.probability()
    words = _words(reading, spans, probability)
    return QaResult(
        passage=passage,
        question=question,
        answers=tuple(_answers(passage, reading, spans, probability, answers)),
        touching=_touching(probability, *spans.best),
        null_score=spans.null,
        null_probability=spans.null_probability(),
        candidates=int(np.isfinite(spans.score).sum()),
        longest=longest,
        rejected=_rejected(passage, question, reading, spans),
        words=words,
        grid=_grid(reading, spans, probability, words.near_ends(_GRID)),
        coverage=_coverage(reading, spans),
        sentences=_sentences(passage),
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


def _sentences(passage: str) -> tuple[tuple[int, int], ...]:
    """Find the sentences: each runs to its closing mark or line break, blanks after it included."""
    ends = [match.end() for match in _BREAK.finditer(passage)] + [len(passage)]
    spans = zip([0, *ends], ends, strict=False)
    return tuple((start, end) for start, end in spans if passage[start:end].strip())


def _read(engine: Engine, passage: str, question: str, progress: Progress | None) -> _Reading:
    """Run the model over the whole passage, a few windows at a time."""
    whole = engine.tokenizer.encode(question, passage)
    sides = whole.sequence_ids
    asked = sides.count(0)
    _check(asked, sides.count(1), min(WINDOW, engine.max_length))
    encodings, shared = _windows(engine, whole, asked)
    windows: list[_Window] = []
    first = 0
    for begin in range(0, len(encodings), GROUP):
        group = encodings[begin : begin + GROUP]
        outputs = engine.run(BertForQuestionAnswering, group)
        assert outputs.start_logits is not None
        assert outputs.end_logits is not None
        for row, encoding in enumerate(group):
            start = outputs.start_logits[row, : len(encoding)].double().numpy()
            end = outputs.end_logits[row, : len(encoding)].double().numpy()
            windows.append(_Window(first, start, end))
            first += len(encoding) - asked - 3 - shared
        if progress is not None:
            progress(len(windows), len(encodings))
    inside = slice(asked + 2, -1)
    words = np.array(whole.word_ids[inside], dtype=np.intp)
    specials = [engine.tokenizer.vocab.get(name, -1) for name in _SPECIALS]
    return _Reading(
        spans=np.array(whole.offsets[inside], dtype=np.intp),
        words=np.cumsum(np.diff(words, prepend=words[0]) != 0),
        special=np.isin(whole.input_ids[inside], specials),
        asked=np.array(whole.offsets[1 : asked + 1], dtype=np.intp),
        windows=tuple(windows),
        shared=shared,
    )


def _check(asked: int, pieces: int, size: int) -> None:
    """Refuse texts without a piece, and a question that leaves the passage no room."""
    if not pieces:
        raise InputError("The passage holds nothing that the model reads. Write or paste a text.")
    if not asked:
        raise InputError("The question holds nothing that the model reads. Ask something.")
    if asked > size // 2:
        raise InputError(
            f"The question has {asked:,} pieces; it may have at most {size // 2:,}, half of the "
            f"{size:,} tokens that are read at once, so that the passage has room beside it. "
            "Shorten the question."
        )


def _windows(engine: Engine, whole: Encoding, asked: int) -> tuple[list[Encoding], int]:
    """Return the inputs, and how many pieces neighbours share; a text that fits is not cut."""
    if len(whole) <= engine.max_length:
        return [whole], 0
    assert whole.text_pair is not None
    size = min(WINDOW, engine.max_length)
    shared = min(SHARED, (size - 3 - asked) // 2)
    encodings = engine.tokenizer.encode_windows(
        whole.text, whole.text_pair, max_length=size, stride=shared
    )
    return encodings, shared


def _answers(
    passage: str, reading: _Reading, spans: SpanScores, probability: Floats, most: int
) -> Iterator[Answer]:
    """Yield the best answers; all places of the same characters are one of them."""
    left = spans.score.copy()
    for _ in range(most):
        first, more = np.unravel_index(int(left.argmax()), left.shape)
        if not np.isfinite(left[first, more]):
            return
        text = passage[reading.spans[first, 0] : reading.spans[first + more, 1]]
        rows, columns = _places(passage, reading, spans, text)
        left[rows, columns] = -np.inf
        # Several cuts into pieces may give the same characters of one place.
        starts, place = np.unique(reading.spans[rows, 0], return_inverse=True)
        shares = np.bincount(place, probability[rows, columns])
        scores = np.full(len(starts), -np.inf)
        np.maximum.at(scores, place, spans.score[rows, columns])
        pieces = np.full(len(starts), spans.score.shape[1])
        np.minimum.at(pieces, place, columns + 1)
        best = np.argsort(-scores, kind="stable")[:_MOST_PLACES]
        kept = (each[best].tolist() for each in (starts, pieces, scores, shares))
        places = tuple(
            Span(start, start + len(text), count, score, share)
            for start, count, score, share in zip(*kept, strict=True)
        )
        yield Answer(text, places, len(starts), float(shares.sum()))


def _places(passage: str, reading: _Reading, spans: SpanScores, text: str) -> tuple[Places, Places]:
    """Find every allowed span with these characters: rows and columns of `spans.score`."""
    starts, at = [], passage.find(text)
    while at >= 0:
        starts.append(at)
        at = passage.find(text, at + 1)
    rows = np.flatnonzero(np.isin(reading.spans[:, 0], starts))
    longest = spans.score.shape[1]
    ends = shifted(reading.spans[:, 1].astype(np.float64), longest, -1.0)[rows]  # (R, L)
    same = ends == (reading.spans[rows, 0] + len(text))[:, None]
    found, columns = np.nonzero(same & np.isfinite(spans.score[rows]))
    return rows[found], columns


def _touching(probability: Floats, first: int, last: int) -> float:
    """Add up the spans that share a piece with the one from `first` to `last`."""
    rows = np.arange(max(0, first - probability.shape[1] + 1), last + 1)
    reaches = rows[:, None] + np.arange(probability.shape[1]) >= first
    return float(probability[rows][reaches].sum())


def _words(reading: _Reading, spans: SpanScores, probability: Floats) -> Words:
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
    reading: _Reading, spans: SpanScores, probability: Floats, near: tuple[range, range]
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


def _coverage(reading: _Reading, spans: SpanScores) -> Coverage:
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


def _rejected(
    passage: str, question: str, reading: _Reading, spans: SpanScores
) -> tuple[Rejected, ...]:
    """Find pairs of ends that the model likes better than the answer, though they break a rule."""
    best, longest = spans.best_score, spans.score.shape[1]
    found: dict[tuple[str, str, int, int], Rejected] = {}
    for window in reading.windows:
        starts = np.argsort(-window.start)[:_TOP_ENDS]
        ends = np.argsort(-window.end)[:_TOP_ENDS]
        sums = window.start[starts, None] + window.end[ends]
        for row, column in zip(*np.nonzero(sums > best), strict=True):
            pair = int(starts[row]), int(ends[column])
            reason = _reason(reading, window, pair, longest)
            if reason is None:
                continue
            first, last = (_spelling(passage, question, reading, window, at) for at in pair)
            key = (first, last, window.first + pair[0], window.first + pair[1])
            score = float(sums[row, column])
            if key not in found or score > found[key].score:
                found[key] = Rejected(first, last, score, reason, pair[1] - pair[0] + 1)
    return tuple(sorted(found.values(), key=lambda each: -each.score)[:_TOLD])


def _reason(
    reading: _Reading, window: _Window, pair: tuple[int, int], longest: int
) -> Reason | None:
    """Name the first rule that a pair of positions breaks, or None."""
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


def _spelling(
    passage: str, question: str, reading: _Reading, window: _Window, position: int
) -> str:
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

"""Score the spans of a text as answers, from the logits of its windows.

A span's score is its start logit plus its end logit (Devlin et al. 2019, section 4.2); "no answer"
is position 0, [CLS], as both (section 4.3), in the window where that is lowest. Two optional rules:
whole words, and one sentence (of 23,874 answers in the training data, 44 and 38 break them).

Probabilities are computed in two steps, each with a temperature (Guo et al. 2017). That the passage
answers at all: the logistic function of the best span's score minus that of "no answer", so that
"no answer" is above one half exactly when it beats the best span, the published decision rule. Of a
span, given that the passage answers: the softmax over all allowed spans.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from bert_core.errors import InputError
from bert_core.reading.windows import readers

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Window:
    """The head's logits for the T tokens of one input; [SEP] is the last."""

    first: Annotated[int, "index in the text of its first token of the text"]
    offset: Annotated[int, "position of that token in the input"]
    start: Annotated[Floats, "(T,) start logits"]
    end: Annotated[Floats, "(T,) end logits"]

    @property
    def last(self) -> int:
        """Index in the text after the window's last token."""
        return self.first + len(self.start) - self.offset - 1

    @property
    def null(self) -> float:
        """The score of "no answer"."""
        return float(self.start[0] + self.end[0])


@dataclass(frozen=True, slots=True)
class SpanScores:
    """Scores of every span of a text of N tokens: row i, column d is the span from i to i + d."""

    score: Annotated[Floats, "(N, M) start logit plus end logit; -inf where no answer is allowed"]
    window: Annotated[NDArray[np.int32], "(N, M) window that scored it; -1 where none contains it"]
    start: Annotated[Floats, "(N,) start logits, of the window with most around the token"]
    end: Annotated[Floats, "(N,) end logits, likewise"]
    null: Annotated[float, 'the score of "no answer"']

    @property
    def best(self) -> tuple[int, int]:
        """The first and the last token of the span with the highest score."""
        row, more = np.unravel_index(int(self.score.argmax()), self.score.shape)
        return int(row), int(row + more)

    @property
    def best_score(self) -> float:
        """The highest score of a span."""
        return float(self.score.max())

    @property
    def margin(self) -> float:
        """The best span's score minus that of "no answer"; if above 0, the passage answers."""
        return self.best_score - self.null

    def probability(self, temperature: float = 1.0, *, has_answer: float = 1.0) -> Floats:
        """Return the (N, M) probability of every span; the remainder to 1 is "no answer".

        `temperature` divides the span scores, `has_answer` the margin.
        """
        odds = np.exp((self.score - self.best_score) / temperature)
        return np.asarray((1.0 - self.null_probability(has_answer)) * (odds / odds.sum()))

    def null_probability(self, has_answer: float = 1.0) -> float:
        """Return the probability of "no answer": the logistic function of the negative margin.

        >>> scores, windows = np.array([[2.0]]), np.array([[0]], dtype=np.int32)
        >>> spans = SpanScores(scores, windows, np.array([1.0]), np.array([1.0]), null=2.0)
        >>> spans.null_probability(), spans.probability().item()
        (0.5, 0.5)
        """
        return float(np.exp(-np.logaddexp(0.0, self.margin / has_answer)))


def score_spans(
    windows: Sequence[Window],
    longest: int,
    forbidden: NDArray[np.bool_],
    *,
    ends: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None = None,
    parts: NDArray[np.intp] | None = None,
) -> SpanScores:
    """Score every span of a text that may be an answer.

    A span more than one token longer than the overlap of neighbouring windows may not fit into any
    window; it is then not allowed as an answer.

    Args:
        forbidden: (N,) tokens that may not be part of an answer.
        ends: (N,) tokens with which an answer may begin, and (N,) those with which it may end;
            None for all.
        parts: (N,) number of each token's part of the text, never decreasing. If given, an answer
            begins and ends in the same part.
    """
    tokens, allowed = len(forbidden), longest
    longest = min(longest, tokens)
    score = np.full((tokens, longest), -np.inf)
    start, end = np.empty(tokens), np.empty(tokens)
    window_of, _ = readers([(window.first, window.last) for window in windows], longest)
    for number, window in enumerate(windows):
        held = slice(window.first, window.last)
        own = window_of[held] == number  # (n, M)
        opening, closing = (each[window.offset : -1] for each in (window.start, window.end))
        np.copyto(score[held], opening[:, None] + shifted(closing, longest, -np.inf), where=own)
        np.copyto(start[held], opening, where=own[:, 0])
        np.copyto(end[held], closing, where=own[:, 0])
    before = np.concatenate([[0.0], np.cumsum(forbidden)])  # (N + 1,) forbidden ones so far
    score[shifted(before[1:], longest, before[-1]) > before[:-1, None]] = -np.inf
    if ends is not None:
        begins, stops = ends
        score[~begins] = -np.inf
        score[shifted(stops.astype(np.float64), longest, 0.0) == 0] = -np.inf
    if parts is not None:
        score[shifted(parts.astype(np.float64), longest, np.inf) != parts[:, None]] = -np.inf
    if not np.isfinite(score).any():
        why = "it has only special tokens. Add a word."
        if not forbidden.all():
            why = f"each word has more than {allowed:,} pieces. Allow longer answers."
        raise InputError(f"Nothing in the text can be an answer: {why}")
    return SpanScores(score, window_of, start, end, min(window.null for window in windows))


def shifted(values: Floats, longest: int, fill: float) -> Floats:
    """Return (n, M) whose row i is values[i], values[i + 1], ...; `fill` beyond the end.

    >>> shifted(np.array([1.0, 2.0]), 2, 0.0).tolist()
    [[1.0, 2.0], [2.0, 0.0]]
    """
    padded = np.concatenate([values, np.full(longest - 1, fill)])
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, longest))

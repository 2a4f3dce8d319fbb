"""Which span of a text answers a question: from the logits of windows to one score per span.

The head for question answering gives every token two logits, one for "the answer starts here" and
one for "it ends here"; a span scores their sum (Devlin et al. 2019, section 4.2). A text longer
than the model is read in overlapping windows, and most spans are then held by several. Each is
scored once, by the window that `windows.readers` chooses.

"No answer" is position 0, [CLS], as start and as end (Devlin et al. 2019, section 4.3; the task is
that of Rajpurkar et al. 2018, "Know What You Don't Know"). Of several windows the least such score
counts, because a text answers the question as soon as one window of it does.

Two rules may be asked for that the usual decoders do not have: a span takes words whole, and it
stays within one part of the text, such as a sentence. They cost next to no right answer (of the
23,874 answers that people marked in the training data 44 began or ended inside a word, and 38 ran
over an end of a sentence as `sentences` finds it, mostly the point of an abbreviation) and shut out
what no person would mark. Without them the spans come in the usual order.

Probabilities come in two steps, because two things are asked. Whether the passage answers at all
tells the best span's score against that of "no answer": the logistic function of their difference.
So "no answer" is likelier than not exactly where it scores above the best span, which is what the
published decision compares (Devlin et al. 2019, section 4.3). How likely a span is, if the passage
answers, is the softmax of the scores over all spans that may be an answer, each counted once; the
product of both is its probability. One window that holds everything is no special case.

Each step divides by a temperature of its own (Guo et al. 2017; `BertConfig.temperature`), which
moves no span past another and changes no decision. The two are far apart: when they were first
fitted, to 1.04 for the choice of a span and 2.76 for there being an answer. One softmax over the
spans and "no answer" has a single temperature for both; and where many weak spans stand against
"no answer", it gives that less than half although it beats each of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bert_core.errors import InputError
from bert_core.reading.windows import readers

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WindowLogits:
    """What the head says about one window of a text, the text's n tokens in it alone.

    Attributes:
        first: which token of the text is the window's first.
        start: (n,) start logits.
        end: (n,) end logits.
        null: start logit plus end logit of [CLS].
    """

    first: int
    start: Floats
    end: Floats
    null: float

    @property
    def last(self) -> int:
        """The token of the text behind the window's last."""
        return self.first + len(self.start)


@dataclass(frozen=True, slots=True)
class SpanScores:
    """Every span of a text of N tokens: row i, column d is the one from token i to i + d.

    Attributes:
        score: (N, M) start logit plus end logit; -inf where no answer may stand.
        window: (N, M) number of the window that gave it; -1 where none holds the span.
        start: (N,) start logits, each from the window with most room around the token.
        end: (N,) end logits, likewise.
        null: the score of "no answer".
    """

    score: Floats
    window: NDArray[np.int32]
    start: Floats
    end: Floats
    null: float

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
        """The best span's score minus that of "no answer"; above 0 the passage answers."""
        return self.best_score - self.null

    def probability(self, temperature: float = 1.0, *, has_answer: float = 1.0) -> Floats:
        """Return (N, M) the probability of every span; what is missing from 1 is "no answer".

        Args:
            temperature: what the scores of spans are divided by.
            has_answer: what the margin is divided by.
        """
        return (1.0 - self.null_probability(has_answer)) * self.shares(temperature)

    def shares(self, temperature: float = 1.0) -> Floats:
        """Return (N, M) the probability of every span if the passage answers at all."""
        exponentials = np.exp((self.score - self.best_score) / temperature)
        return np.asarray(exponentials / exponentials.sum())

    def null_probability(self, has_answer: float = 1.0) -> float:
        """Return the probability of "no answer": the logistic function of the margin's negative.

        >>> scores, windows = np.array([[2.0]]), np.array([[0]], dtype=np.int32)
        >>> spans = SpanScores(scores, windows, np.array([1.0]), np.array([1.0]), null=2.0)
        >>> spans.null_probability(), spans.probability().item()
        (0.5, 0.5)
        """
        return float(np.exp(-np.logaddexp(0.0, self.margin / has_answer)))


def score_spans(
    windows: Sequence[WindowLogits],
    longest: int,
    forbidden: NDArray[np.bool_],
    *,
    words: NDArray[np.intp] | None = None,
    parts: NDArray[np.intp] | None = None,
) -> SpanScores:
    """Score every span of a text that may be an answer.

    A span longer than what neighbouring windows share, by more than one token, may be held whole
    by no window; it then counts as one that may not be an answer.

    Args:
        windows: the windows in the order of the text, covering it without a gap.
        longest: the most tokens of an answer (M; fewer where the text has fewer).
        forbidden: (N,) tokens that may not be part of an answer.
        words: (N,) number of each token's word. If given, an answer begins with the first token of
            a word and ends with the last of one.
        parts: (N,) number of each token's part of the text, never falling. If given, an answer
            begins and ends in the same part.

    Raises:
        InputError: no span at all may be an answer.
    """
    tokens = len(forbidden)
    longest = min(longest, tokens)
    score = np.full((tokens, longest), -np.inf)
    start, end = np.empty(tokens), np.empty(tokens)
    window_of, _ = readers([(window.first, window.last) for window in windows], longest)
    for number, window in enumerate(windows):
        held = slice(window.first, window.last)
        own = window_of[held] == number  # (n, M)
        sums = window.start[:, None] + shifted(window.end, longest, -np.inf)
        np.copyto(score[held], sums, where=own)
        np.copyto(start[held], window.start, where=own[:, 0])
        np.copyto(end[held], window.end, where=own[:, 0])
    score[_holds(forbidden, longest)] = -np.inf
    if words is not None:
        score[_cuts_words(words, longest)] = -np.inf
    if parts is not None:
        score[shifted(parts.astype(np.float64), longest, np.inf) != parts[:, None]] = -np.inf
    if not np.isfinite(score).any():
        raise InputError(
            "Nothing in the text can be an answer: it holds special tokens alone, or words of more "
            f"than {longest:,} pieces. Add a word, or allow longer answers."
        )
    return SpanScores(score, window_of, start, end, min(window.null for window in windows))


def shifted(values: Floats, longest: int, fill: float) -> Floats:
    """Return (n, M) whose row i is values[i], values[i + 1], ...; `fill` beyond the end.

    >>> shifted(np.array([1.0, 2.0]), 2, 0.0).tolist()
    [[1.0, 2.0], [2.0, 0.0]]
    """
    padded = np.concatenate([values, np.full(longest - 1, fill)])
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, longest))


def _holds(forbidden: NDArray[np.bool_], longest: int) -> NDArray[np.bool_]:
    """Return (N, M): whether a forbidden token stands in the span."""
    before = np.concatenate([[0], np.cumsum(forbidden)]).astype(np.float64)
    return np.asarray(shifted(before[1:], longest, float(before[-1])) > before[:-1, None])


def _cuts_words(words: NDArray[np.intp], longest: int) -> NDArray[np.bool_]:
    """Return (N, M): whether the span begins or ends inside a word."""
    changes = np.flatnonzero(np.diff(words)) + 1
    begins = np.zeros(len(words), dtype=np.bool_)
    ends = np.zeros(len(words), dtype=np.bool_)
    begins[[0, *changes]] = True
    ends[[*(changes - 1), -1]] = True
    return ~(begins[:, None] & (shifted(ends.astype(np.float64), longest, 0.0) > 0))

"""Results of question answering: spans of the passage, and how sure the model is of them.

The answers themselves come from `bert_core.reading.passage`. `Words` holds the two curves,
`Coverage` how a long passage was read, and `QaResult` both.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.records.results import Calibration
from bert_core.reading.passage import Answer, Rules, Span
from bert_core.reading.unread import Unread

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Words:
    """Start and end probabilities over the W words of the passage."""

    starts: Annotated[Places, "(W,) first character of each word"]
    ends: Annotated[Places, "(W,) character after the last one of each word"]
    start_probability: Annotated[
        Floats, "(W,) that the answer starts in this word: the sum over all such spans"
    ]
    end_probability: Annotated[Floats, "(W,) that the answer ends in this word"]
    pieces: Annotated[
        Places,
        "(W, 2) position of each word's first piece, and of the one after its last, among the "
        "tokens of the question and the whole passage",
    ]
    answer: Annotated[tuple[int, int], "the first and last word of the best answer, counted from 0"]

    def __len__(self) -> int:
        return len(self.starts)

    def covering(self, start: int, end: int) -> range:
        """Return the numbers of the words that share a character with a part of the passage."""
        first = int(np.searchsorted(self.ends, start, side="right"))
        return range(first, max(first, int(np.searchsorted(self.starts, end))))

    def positions(self, start: int, end: int) -> range:
        """Return the positions, among the tokens, of the pieces of `covering`."""
        words = self.covering(start, end)
        return range(*(self.pieces[[words[0], words[-1]], [0, 1]].tolist() if words else (0, 0)))

    def nearby(self, limit: int, middle: int | None = None) -> range:
        """Return the numbers of at most `limit` words, centred on a word or on the answer."""
        middle = sum(self.answer) // 2 if middle is None else middle
        first = max(0, min(middle - limit // 2, len(self) - limit))
        return range(first, min(len(self), first + limit))


@dataclass(frozen=True, slots=True)
class Coverage:
    """How the passage was read."""

    ANSWER: ClassVar = ("pieces", "question", "tokens", "shared", "answer")

    pieces: Annotated[int, "number of pieces in the passage"]
    question: Annotated[int, "number of pieces in the question"]
    windows: Annotated[
        tuple[tuple[int, int], ...], "for each window, its first piece and the one after its last"
    ]
    tokens: Annotated[
        int, "length of the longest input, question and added special tokens included"
    ]
    shared: Annotated[int, "pieces that neighbouring windows have in common; 0 for a single window"]
    answer: Annotated[
        tuple[int, int], "the first and last piece of the best answer, counted from 0"
    ]
    answer_window: Annotated[int, "the window that the best answer's numbers come from"]


@dataclass(frozen=True, slots=True)
class QaResult:
    """Where in a passage the answer to a question is found."""

    ANSWER: ClassVar = ("model", "question", "answered", "answers", "probability", "touching",
                        "null_probability", "null_score", "no_answer_score", "candidates",
                        "longest", "rules", "threshold", "coverage", "unread", "calibration",
                        "has_answer")  # fmt: skip

    model: Annotated[str, "the name of the model"]
    passage: Annotated[str, "the passage as typed"]
    question: Annotated[str, "the question as typed"]
    answers: Annotated[
        tuple[Answer, ...],
        "the best answers, at least one, in the order of their best spans; no two say the same",
    ]
    touching: Annotated[
        float, "probability of all spans that share a piece with the best one, itself included"
    ]
    null_score: Annotated[float, "start logit plus end logit at [CLS], the lowest over all windows"]
    null_probability: Annotated[
        float,
        'probability of "no answer"; above one half if and only if it scores above the best span',
    ]
    candidates: Annotated[int, "number of allowed spans"]
    longest: Annotated[int, "maximum number of pieces in an answer"]
    rules: Annotated[Rules, "further rules for answers"]
    threshold: Annotated[float, "the no-answer score above which there is no answer"]
    words: Annotated[Words, "the two curves"]
    coverage: Annotated[Coverage, "how the passage was read"]
    unread: Annotated[Unread, "what the vocabulary cannot read of both texts"]
    calibration: Annotated[
        Calibration, "how span scores became shares of the probability left for answers"
    ]
    has_answer: Annotated[
        Calibration, 'how the best score minus the "no answer" score became that probability'
    ]

    @property
    def best(self) -> Span:
        """The likeliest span."""
        return self.answers[0].best

    @property
    def probability(self) -> float:
        """Probability that the best answer is right, over all spans with the same wording."""
        return self.answers[0].probability

    @property
    def no_answer_score(self) -> float:
        """Null score minus best span score; over its temperature, the log-odds of "no answer"."""
        return self.null_score - self.best.score

    @property
    def answered(self) -> bool:
        """Whether the best span is an answer: its no-answer score is not above the threshold."""
        return self.no_answer_score <= self.threshold

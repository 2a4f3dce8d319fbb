"""What the question-answering page found: spans of the passage, and how sure the model is of them.

The answers themselves are those of `bert_core.reading.passage`. `Rejected` is a pair of ends that
no answer may have, `Words` the two curves, `Grid` the start and the end together, `Coverage` how a
long passage was read, and `QaResult` all of it.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.results import Calibration
from bert_core.reading.passage import Answer, Rules, Span

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

Reason = Literal[
    "backwards", "long", "question", "half_null", "special", "inside_word", "over_sentences"
]
"""Why a pair of ends is no answer: the end stands before the start; more pieces than allowed; an
end in the question; one end says "no answer" and the other does not; a special token in it; an end
inside a word; ends in two sentences."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A pair of ends with a higher score than the answer that yet cannot be one.

    Attributes:
        first: what stands where the model would start.
        last: what stands where it would end.
        score: start logit plus end logit.
        reason: the rule it breaks.
        pieces: from start to end, both included; less than 1 where the end stands before.
    """

    first: str
    last: str
    score: float
    reason: Reason
    pieces: int


@dataclass(frozen=True, slots=True)
class Words:
    """Start and end over the words of the passage; W words.

    Attributes:
        starts: (W,) first character of each word.
        ends: (W,) character after its last one.
        start_probability: (W,) that the answer starts in this word: the sum over all spans that do.
        end_probability: (W,) that the answer ends in this word.
        start_logit: (W,) what the model itself says; the highest of the word's pieces.
        end_logit: (W,) the same for the end.
        answer: the words of the best answer, first and last, counted from 0.
    """

    starts: Places
    ends: Places
    start_probability: Floats
    end_probability: Floats
    start_logit: Floats
    end_logit: Floats
    answer: tuple[int, int]

    def __len__(self) -> int:
        return len(self.starts)

    def nearby(self, limit: int) -> range:
        """Return the numbers of at most `limit` words, with the answer in their middle."""
        return self._around(sum(self.answer) // 2, limit)

    def near_ends(self, limit: int) -> tuple[range, range]:
        """Return at most `limit` words around the answer's first, and around its last."""
        first, last = self.answer
        return self._around(first, limit), self._around(last, limit)

    def _around(self, middle: int, limit: int) -> range:
        first = max(0, min(middle - limit // 2, len(self) - limit))
        return range(first, min(len(self), first + limit))


@dataclass(frozen=True, slots=True)
class Grid:
    """Every pair of a start word and an end word near the ends of the answer.

    Attributes:
        rows: r start words, by their numbers among the words of the passage.
        columns: c end words, likewise.
        probability: (r, c) of an answer from the row's word to the column's word.
        allowed: (r, c) whether any span from row to column may be an answer.
    """

    rows: range
    columns: range
    probability: Floats
    allowed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Coverage:
    """How the passage was read.

    Attributes:
        pieces: pieces of the passage.
        question: pieces of the question.
        windows: for each window the first piece it holds and the one after its last.
        tokens: the longest input in tokens, question and added specials included.
        shared: pieces that neighbouring windows have in common; 0 for a single window.
        answer: the pieces of the best answer, first and last, counted from 0.
        answer_window: the window whose numbers the best answer has.
    """

    pieces: int
    question: int
    windows: tuple[tuple[int, int], ...]
    tokens: int
    shared: int
    answer: tuple[int, int]
    answer_window: int


@dataclass(frozen=True, slots=True)
class QaResult:
    """Where in a passage the answer to a question stands.

    Attributes:
        passage: as typed.
        question: as typed.
        answers: the best answers, no two that say the same, in the order of their best spans; one
            at least.
        touching: probability of all spans that share a piece with the best one, itself included.
        null_score: start logit plus end logit at [CLS], the least of all windows.
        null_probability: probability of "no answer"; above one half if and only if it scores
            above the best span.
        candidates: how many spans were allowed.
        longest: the most pieces an answer was allowed to have.
        rules: what else was asked of an answer.
        rejected: pairs that beat the best answer but break a rule, best first.
        words: the two curves.
        grid: both ends together, near the answer.
        coverage: how the passage was read.
        sentences: first character of each sentence, and the one after its last.
        calibration: how the scores of spans became shares of what is left for answers.
        has_answer: how the best score, minus that of "no answer", became what is left for them.
    """

    passage: str
    question: str
    answers: tuple[Answer, ...]
    touching: float
    null_score: float
    null_probability: float
    candidates: int
    longest: int
    rules: Rules
    rejected: tuple[Rejected, ...]
    words: Words
    grid: Grid
    coverage: Coverage
    sentences: tuple[tuple[int, int], ...]
    calibration: Calibration
    has_answer: Calibration

    @property
    def best(self) -> Span:
        """The likeliest span."""
        return self.answers[0].best

    @property
    def probability(self) -> float:
        """That the best answer is right: of all spans that say what the likeliest one says."""
        return self.answers[0].probability

    @property
    def given_answer(self) -> float:
        """That the best answer is right if the passage answers at all."""
        return self.probability / left if (left := 1.0 - self.null_probability) else 0.0

    @property
    def no_answer_score(self) -> float:
        """Null score minus the best span's; by its temperature, the log-odds of "no answer"."""
        return self.null_score - self.best.score

    def answered(self, threshold: float) -> bool:
        """Whether the best span counts as an answer: the no-answer score is not above this."""
        return self.no_answer_score <= threshold

    def without(self, number: int) -> str:
        """Return the passage without one of its sentences; the rest keeps its characters."""
        start, end = self.sentences[number]
        return self.passage[:start] + self.passage[end:]

    def sentence_of_answer(self) -> int:
        """Return the number of the sentence in which the best answer starts."""
        return max(0, sum(start <= self.best.start for start, _ in self.sentences) - 1)

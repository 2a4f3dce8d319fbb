"""The answers to many questions about one passage, and how many are wanted."""

from dataclasses import dataclass

from app.records.counted import Share
from app.records.results import Calibration


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and the model's answer.

    Attributes:
        question: as typed.
        answer: as in the passage; "" where the model says that there is none.
        best: the best span, whether or not it is the answer.
        probability: that the best span is right, over all spans with the same wording.
        no_answer: probability that the passage has no answer.
        wanted: the answers that count as right, with a bar between them; "" for none, "-" where
            the passage has no answer.
        exact: whether the answer is one of them, by the rules of SQuAD; null if none is wanted.
        f1: the words that the answer shares with the nearest of them, 0 to 1; null as well.
    """

    question: str
    answer: str
    best: str
    probability: float
    no_answer: float
    wanted: str
    exact: bool | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class QuestionsResult:
    """Many questions about a passage.

    Attributes:
        rows: one for each question, in order; at least one.
        share: how many answers are exactly a wanted one.
        f1: mean F1 of the same answers; null if none is wanted.
        calibration: how span scores became shares of the probability left for answers.
        has_answer: how the best score minus the "no answer" score became that probability.
    """

    rows: tuple[Asked, ...]
    share: Share
    f1: float | None
    calibration: Calibration
    has_answer: Calibration

"""What fine-tuning shows: labelled rows, how well the model does so far, and where it is wrong."""

from dataclasses import dataclass
from typing import ClassVar

TEXTS, WORDS = "texts", "words"
KINDS = {TEXTS: "One label for each text", WORDS: "One tag for each word"}
"""What is labelled."""


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """One line of the rows.

    Attributes:
        line: its number, from 1.
        text: the text; its words are separated by single spaces if words are labelled.
        labels: one, or one for each word.
    """

    line: int
    text: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """Rows, divided into those that are trained on and those that are held out.

    Attributes:
        kind: "texts" or "words".
        labels: all labels, in the order of the model's outputs.
        train: the rows to train on.
        held_out: the rows to measure with.
        guess: share of the held-out labels that are right if one always says the most
            frequent label of the training rows.
        frequent: that label.
    """

    ANSWER: ClassVar = ("kind", "labels", "guess", "frequent")

    kind: str
    labels: tuple[str, ...]
    train: tuple[LabelledRow, ...]
    held_out: tuple[LabelledRow, ...]
    guess: float
    frequent: str

    @property
    def things(self) -> str:
        """What has a label."""
        return "row" if self.kind == TEXTS else "word"


@dataclass(frozen=True, slots=True)
class TuningPoint:
    """How fine-tuning looked after some step.

    Attributes:
        step: number of steps done.
        loss: mean over the steps since the last point; of the first point, of the held-out rows.
        held_out: loss of the held-out rows.
        right: number of held-out labels that the model gives.
        cases: number of held-out labels.
    """

    step: int
    loss: float
    held_out: float
    right: int
    cases: int


@dataclass(frozen=True, slots=True)
class Mistake:
    """A held-out label that the model does not give.

    Attributes:
        row: the row it is in.
        place: number of the word; -1 if the text has one label.
        wanted: the label of the row.
        said: the label of the model.
        share: the probability of that label.
    """

    row: LabelledRow
    place: int
    wanted: str
    said: str
    share: float


@dataclass(frozen=True, slots=True)
class FinetuneResult:
    """Fine-tuning so far.

    Attributes:
        rows: what is trained on and what is held out.
        points: how it looked, from before the first step on.
        steps: of the whole training.
        parameters: that are trained.
        low: lower end of the 95 % interval of the share of held-out labels that are right.
        high: upper end.
        mistakes: held-out labels that the model does not give now.
        cut: rows that are longer than what is read.
        diverged: why it ended early; "" if it did not.
    """

    rows: LabelledRows
    points: tuple[TuningPoint, ...]
    steps: int
    parameters: int
    low: float
    high: float
    mistakes: tuple[Mistake, ...]
    cut: int
    diverged: str

    @property
    def last(self) -> TuningPoint:
        """The newest point."""
        return self.points[-1]

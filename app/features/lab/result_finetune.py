"""What fine-tuning shows: labelled rows, how well the model does so far, and where it is wrong."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

TEXTS, WORDS = "texts", "words"
KINDS = {TEXTS: "One label for each text", WORDS: "One tag for each word"}


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """One line of the rows."""

    line: Annotated[int, "its number, from 1"]
    text: Annotated[str, "the text; its words are separated by single spaces if words are labelled"]
    labels: Annotated[tuple[str, ...], "one, or one for each word"]


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """Rows, divided into those that are trained on and those that are held out."""

    ANSWER: ClassVar = ("kind", "labels", "guess", "frequent")

    kind: Annotated[str, '"texts" or "words"']
    labels: Annotated[tuple[str, ...], "all labels, in the order of the model's outputs"]
    train: Annotated[tuple[LabelledRow, ...], "the rows to train on"]
    held_out: Annotated[tuple[LabelledRow, ...], "the rows to measure with"]
    guess: Annotated[
        float,
        "share of the held-out labels that are right if one always says the most frequent label of"
        " the training rows",
    ]
    frequent: Annotated[str, "that label"]

    @property
    def things(self) -> str:
        """What has a label."""
        return "row" if self.kind == TEXTS else "word"


@dataclass(frozen=True, slots=True)
class TuningPoint:
    """How fine-tuning looked after some step."""

    step: Annotated[int, "number of steps done"]
    loss: Annotated[
        float, "mean over the steps since the last point; of the first point, of the held-out rows"
    ]
    held_out: Annotated[float, "loss of the held-out rows"]
    right: Annotated[int, "number of held-out labels that the model gives"]
    cases: Annotated[int, "number of held-out labels"]


@dataclass(frozen=True, slots=True)
class Mistake:
    """A held-out label that the model does not give."""

    row: Annotated[LabelledRow, "the row it is in"]
    place: Annotated[int, "number of the word; -1 if the text has one label"]
    wanted: Annotated[str, "the label of the row"]
    said: Annotated[str, "the label of the model"]
    share: Annotated[float, "the probability of that label"]


@dataclass(frozen=True, slots=True)
class FinetuneResult:
    """Fine-tuning so far."""

    rows: Annotated[LabelledRows, "what is trained on and what is held out"]
    points: Annotated[tuple[TuningPoint, ...], "how it looked, from before the first step on"]
    steps: Annotated[int, "of the whole training"]
    parameters: Annotated[int, "that are trained"]
    low: Annotated[
        float, "lower end of the 95 % interval of the share of held-out labels that are right"
    ]
    high: Annotated[float, "upper end"]
    mistakes: Annotated[tuple[Mistake, ...], "held-out labels that the model does not give now"]
    cut: Annotated[int, "rows that are longer than what is read"]
    diverged: Annotated[str, 'why it ended early; "" if it did not']

    @property
    def last(self) -> TuningPoint:
        """The newest point."""
        return self.points[-1]

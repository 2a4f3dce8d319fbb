"""The result of the multiple-choice page."""

from dataclasses import dataclass
from typing import ClassVar

from app.records.results import Calibration, Cut, Unread
from bert_core import Encoding
from bert_core.bundled.figures import Figure


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice and its score.

    Attributes:
        text: as typed.
        logit: its raw score; the model scores each choice alone, with the context.
        probability: softmax of the logits of all choices at the temperature.
        encoding: the input: context and choice.
        cut: what was truncated from it.
    """

    text: str
    logit: float
    probability: float
    encoding: Encoding
    cut: Cut


@dataclass(frozen=True, slots=True)
class MultipleChoiceResult:
    """What the multiple-choice head answers.

    Attributes:
        context: the text before the choices.
        choices: in the order given.
        unread: what the vocabulary cannot read of them.
        calibration: how logits became probabilities.
        trained_on: what the head was trained on, as a phrase; "" if that is not known.
        figures: how often it was right, as measured; () if that is not stored with the weights.
    """

    ANSWER: ClassVar = (
        "best",
        "context",
        "choices",
        "unread",
        "calibration",
        "trained_on",
        "figures",
    )

    context: str
    choices: tuple[Choice, ...]
    unread: Unread
    calibration: Calibration
    trained_on: str = ""
    figures: tuple[Figure, ...] = ()

    @property
    def best(self) -> int:
        """The number of the choice with the highest score; of equals the first."""
        return max(range(len(self.choices)), key=lambda number: self.choices[number].logit)

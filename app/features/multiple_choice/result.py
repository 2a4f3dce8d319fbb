"""The result of the multiple-choice page."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from app.records.results import Calibration, Cut, Unread
from bert_core import Encoding
from bert_core.bundled.figures import Figure


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice and its score."""

    text: Annotated[str, "as typed"]
    logit: Annotated[float, "its raw score; the model scores each choice alone, with the context"]
    probability: Annotated[float, "softmax of the logits of all choices at the temperature"]
    encoding: Annotated[Encoding, "the input: context and choice"]
    cut: Annotated[Cut, "what was truncated from it"]


@dataclass(frozen=True, slots=True)
class MultipleChoiceResult:
    """What the multiple-choice head answers."""

    ANSWER: ClassVar = ("best", "context", "choices", "unread", "calibration", "trained_on",
                        "figures")  # fmt: skip

    context: Annotated[str, "the text before the choices"]
    choices: Annotated[tuple[Choice, ...], "in the order given"]
    unread: Annotated[Unread, "what the vocabulary cannot read of them"]
    calibration: Annotated[Calibration, "how logits became probabilities"]
    trained_on: Annotated[
        str, 'what the head was trained on, as a phrase; "" if that is not known'
    ] = ""
    figures: Annotated[
        tuple[Figure, ...],
        "how often it was right, as measured; () if that is not stored with the weights",
    ] = ()

    @property
    def best(self) -> int:
        """The number of the choice with the highest score; of equals the first."""
        return max(range(len(self.choices)), key=lambda number: self.choices[number].logit)

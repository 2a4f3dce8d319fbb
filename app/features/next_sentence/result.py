"""The result of the next-sentence page."""

from dataclasses import dataclass
from typing import ClassVar

from app.records.results import Calibration, Cut, Unread
from bert_core import Encoding

IS_NEXT = 0
"""Index of "the second sentence follows the first" in logits and probabilities."""

IS_RANDOM = 1
"""Index of "it does not follow": in BERT's own training it was a random sentence."""


@dataclass(frozen=True, slots=True)
class NextSentenceResult:
    """What the next-sentence head answers for one ordered pair.

    Attributes:
        logits: raw scores, index `IS_NEXT` first, then `IS_RANDOM`.
        probabilities: their softmax at the temperature, in the same order.
        encoding: the input.
        cut: what was truncated from the input.
        unread: what the vocabulary cannot read of it.
        calibration: how logits became probabilities.
        trained_on: what the head was trained on, as a phrase; "" if that is not known.
    """

    ANSWER: ClassVar = (
        "follows",
        "probabilities",
        "logits",
        "encoding",
        "cut",
        "unread",
        "calibration",
        "trained_on",
    )

    logits: tuple[float, float]
    probabilities: tuple[float, float]
    encoding: Encoding
    cut: Cut
    unread: Unread
    calibration: Calibration
    trained_on: str = ""

    @property
    def follows(self) -> bool:
        """Whether "follows" is the likelier answer."""
        return self.logits[IS_NEXT] >= self.logits[IS_RANDOM]

    @property
    def confidence(self) -> float:
        """Probability of the likelier answer, 0.5 to 1."""
        return max(self.probabilities)

    @property
    def margin(self) -> float:
        """Logit of "follows" minus that of "does not"; divided by the temperature, the log-odds."""
        return self.logits[IS_NEXT] - self.logits[IS_RANDOM]

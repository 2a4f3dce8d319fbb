"""The result of the next-sentence page."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from app.records.results import Calibration, Cut, Unread
from bert_core import Encoding

IS_NEXT = 0  # index of "the second sentence follows the first" in logits and probabilities

IS_RANDOM = 1  # index of "it does not follow": in BERT's own training it was a random sentence


@dataclass(frozen=True, slots=True)
class NextSentenceResult:
    """What the next-sentence head answers for one ordered pair."""

    ANSWER: ClassVar = ("follows", "probabilities", "logits", "encoding", "cut", "unread",
                        "calibration", "trained_on")  # fmt: skip

    logits: Annotated[tuple[float, float], "raw scores, index `IS_NEXT` first, then `IS_RANDOM`"]
    probabilities: Annotated[
        tuple[float, float], "their softmax at the temperature, in the same order"
    ]
    encoding: Annotated[Encoding, "the input"]
    cut: Annotated[Cut, "what was truncated from the input"]
    unread: Annotated[Unread, "what the vocabulary cannot read of it"]
    calibration: Annotated[Calibration, "how logits became probabilities"]
    trained_on: Annotated[
        str, 'what the head was trained on, as a phrase; "" if that is not known'
    ] = ""

    @property
    def follows(self) -> bool:
        """Whether "follows" is the likelier answer."""
        return self.logits[IS_NEXT] >= self.logits[IS_RANDOM]

    @property
    def confidence(self) -> float:
        """Probability of the likelier answer, 0.5 to 1."""
        return max(self.probabilities)

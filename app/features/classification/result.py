"""The result of the classification page."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from app.records.results import Calibration, Cut, Unread
from bert_core import Encoding

# What the outputs are: probabilities of labels of which one is true, probabilities of labels of
# which any number is true, or measured numbers.
Kind = Literal["single", "multi", "regression"]


@dataclass(frozen=True, slots=True)
class ClassificationResult:
    """What the classification head answers for a text or a pair of texts, C outputs."""

    ANSWER: ClassVar = ("chosen", "kind", "labels", "scores", "logits", "encoding", "cut",
                        "unread", "calibration", "trained_on")  # fmt: skip

    kind: Annotated[Kind, "what the outputs are, according to the configuration"]
    labels: Annotated[tuple[str, ...], "the names of the outputs"]
    logits: Annotated[tuple[float, ...], "C raw scores"]
    scores: Annotated[
        tuple[float, ...],
        '"single": their softmax at the temperature; "multi": the sigmoid of each; "regression": '
        "the logits themselves",
    ]
    encoding: Annotated[Encoding, "the input"]
    cut: Annotated[Cut, "what was truncated from the input"]
    unread: Annotated[Unread, "what the vocabulary cannot read of it"]
    calibration: Annotated[Calibration, "how logits became probabilities"]
    trained_on: Annotated[
        str, 'what the head was trained on, as a phrase; "" if that is not known'
    ] = ""

    @property
    def ranking(self) -> tuple[int, ...]:
        """The numbers of the outputs, the highest score first; of equals the first one."""
        return tuple(sorted(range(len(self.scores)), key=lambda label: -self.scores[label]))

    @property
    def chosen(self) -> tuple[str, ...]:
        """The labels the model says are true: the best, or in "multi" those from 1/2 on."""
        if self.kind == "single":
            return (self.labels[self.ranking[0]],)
        if self.kind == "multi":
            return tuple(self.labels[n] for n in self.ranking if self.scores[n] >= 0.5)
        return ()

"""The result of the next-sentence page."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True, slots=True)
class SentenceOrderResult:
    """Which sentence of a paragraph may follow which, n sentences."""

    sentences: Annotated[tuple[str, ...], "as written, in their true order"]
    follows: Annotated[
        NDArray[np.float64],
        "(n, n); `follows[i, j]` is the probability that sentence j follows sentence i. The "
        "diagonal is NaN: no sentence is asked to follow itself",
    ]
    best: Annotated[
        tuple[int, ...],
        "the order, as numbers of sentences, whose steps have the largest product of probabilities"
        " among all n! orders",
    ]
    cut: Annotated[int, "number of pairs that were too long and lost pieces"]
    calibration: Annotated[Calibration, "how logits became probabilities"]

    def steps(self, order: Sequence[int]) -> list[float]:
        """Return the probability of each of the n - 1 steps of an order."""
        return [float(self.follows[a, b]) for a, b in pairwise(order)]

    def mean_step(self, order: Sequence[int]) -> float:
        """Return the geometric mean of the steps: the larger, the larger their product."""
        steps = self.steps(order)
        return math.exp(math.fsum(map(math.log, steps)) / len(steps))

    @property
    def true(self) -> tuple[int, ...]:
        """The order in which the sentences were written."""
        return tuple(range(len(self.sentences)))

    @property
    def kept(self) -> int:
        """Number of true neighbours that are neighbours in the best order, in the same order."""
        return sum(b == a + 1 for a, b in pairwise(self.best))

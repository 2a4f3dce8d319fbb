"""The result of putting the sentences of a paragraph in order."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from app.records.results import Calibration


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

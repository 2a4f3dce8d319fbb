"""Two sentences in one model, or one sentence in two: where the runs differ."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TwoShares:
    """One possible answer in both runs.

    Attributes:
        name: the word, label or piece.
        first: its probability in the first run.
        second: its probability in the second run.
    """

    name: str
    first: float
    second: float

    @property
    def change(self) -> float:
        """The second probability minus the first."""
        return self.second - self.first


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """How two runs differ; equal runs give 0 everywhere.

    Attributes:
        models: the model of each run.
        tokens: the pieces of the first run.
        other_tokens: the pieces of the second run.
        pairs: positions of pieces that are compared, one of each run.
        answers: the most probable answers of both runs, largest change first.
        attention: (L, H), Jensen-Shannon distance of the attention of each head in both runs, a
            mean over the pairs, 0 to 1; NaN for a pruned head.
        turned: (L + 1, P), 1 - cosine of the vectors of each pair, 0 to 2; the input first.
    """

    ANSWER: ClassVar = (
        "models", "tokens", "other_tokens", "pairs", "answers", "attention", "turned",
    )  # fmt: skip

    models: tuple[str, str]
    tokens: tuple[str, ...]
    other_tokens: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    answers: tuple[TwoShares, ...]
    attention: Floats
    turned: Floats

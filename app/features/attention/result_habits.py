"""Where the heads of a model usually look: means over a fixed set of texts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.records.results import Measure
from bert_core.analysis.head_statistics import HeadName

Means = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class HeadHabits:
    """Where every head usually looks.

    Attributes:
        places: what was measured, in the order of `means`.
        means: (S, L, H), one number per place, layer and head; NaN for a pruned head.
        widest: entropy in bits if every token looked at all tokens equally.
        texts: number of texts measured.
        tokens: total number of tokens in these texts.
        stale: why the numbers do not belong to this model; "" if they do.
    """

    places: tuple[Measure, ...]
    means: Means
    widest: float
    texts: int
    tokens: int
    stale: str

    @property
    def layers(self) -> int:
        """L, the number of layers."""
        return int(self.means.shape[1])

    @property
    def heads(self) -> int:
        """H, the number of heads in each layer."""
        return int(self.means.shape[2])


@dataclass(frozen=True, slots=True, eq=False)
class HeadComparison:
    """One head's usual behaviour compared with its behaviour in one text.

    Attributes:
        habits: where the heads usually look.
        rows: place, its usual value and its value in this text; None if the text has no such
            place.
    """

    habits: HeadHabits
    rows: tuple[tuple[Measure, float, float | None], ...]


@dataclass(frozen=True, slots=True)
class RankedHead:
    """One head of a ranking.

    Attributes:
        place: layer and head.
        here: its pattern in this text.
        usual: its usual pattern; None if not measured.
        value: what it is ranked by; a share, or bits for "entropy".
    """

    place: tuple[int, int]
    here: HeadName
    usual: HeadName | None
    value: float

"""Where the heads of a model usually look: means over a fixed set of texts."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from app.records.results import Measure
from bert_core.analysis.head_statistics import HeadName

Means = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class HeadHabits:
    """Where every head usually looks."""

    places: Annotated[tuple[Measure, ...], "what was measured, in the order of `means`"]
    means: Annotated[
        Means, "(S, L, H), one number per place, layer and head; NaN for a pruned head"
    ]
    widest: Annotated[float, "entropy in bits if every token looked at all tokens equally"]
    texts: Annotated[int, "number of texts measured"]
    tokens: Annotated[int, "total number of tokens in these texts"]
    stale: Annotated[str, 'why the numbers do not belong to this model; "" if they do']

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
    """One head's usual behaviour compared with its behaviour in one text."""

    habits: Annotated[HeadHabits, "where the heads usually look"]
    rows: Annotated[
        tuple[tuple[Measure, float, float | None], ...],
        "place, its usual value and its value in this text; None if the text has no such place",
    ]


@dataclass(frozen=True, slots=True)
class RankedHead:
    """One head of a ranking."""

    place: Annotated[tuple[int, int], "layer and head"]
    here: Annotated[HeadName, "its pattern in this text"]
    usual: Annotated[HeadName | None, "its usual pattern; None if not measured"]
    value: Annotated[float, 'what it is ranked by; a share, or bits for "entropy"']

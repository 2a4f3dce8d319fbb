"""Where the heads of a model usually look: means over a fixed set of texts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Means = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Place:
    """Something that a head may look at, or how widely it looks.

    Attributes:
        key: its name in addresses and tables.
        name: its name on the screen.
        meaning: what the number says, one sentence.
        is_share: it is a share between 0 and 1; otherwise a number of bits.
    """

    key: str
    name: str
    meaning: str
    is_share: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class HeadHabits:
    """Where every head usually looks.

    Attributes:
        places: what was measured, in the order of `means`.
        means: (S, L, H), one number per place, layer and head; NaN for a head that was pruned.
        widest: what the entropy would be if every token looked at all alike, in bits.
        texts: how many texts that was measured on.
        tokens: how many tokens they have together.
        stale: why these are not the numbers of this model; "" where they are.
    """

    places: tuple[Place, ...]
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
    """What one head usually does, beside what it does in one text.

    Attributes:
        habits: where the heads usually look.
        layer: counted from 0.
        head: counted from 0; None is the mean over the layer's heads.
        rows: place, its usual number, and the number in this text; None where this text has no
            such place.
    """

    habits: HeadHabits
    layer: int
    head: int | None
    rows: tuple[tuple[Place, float, float | None], ...]

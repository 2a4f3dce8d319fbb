"""What the lens says about some answers in every layer."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.features.xray.result import Floats, Lens


@dataclass(frozen=True, slots=True, eq=False)
class LensPaths:
    """The ranks of some answers after every layer, by both lenses.

    Attributes:
        names: N answers, the one that is followed first.
        count: number of all possible answers.
        lenses: the lenses, in the order of the arrays.
        ranks: (lenses, N, L + 1), 1 for the most probable answer.
        shares: (lenses, N, L + 1), probabilities.
        best: for each lens L + 1 rows of the most probable answers with their probabilities.
    """

    names: tuple[str, ...]
    count: int
    lenses: tuple[Lens, ...]
    ranks: NDArray[np.int64]
    shares: Floats
    best: tuple[tuple[tuple[tuple[str, float], ...], ...], ...]

"""The results of the attention page: every head at once, and one view of some of them."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.results import Cut
from bert_core.analysis.head_statistics import HeadStatistics

Floats = NDArray[np.float32]

Part = Literal["all", "aa", "ab", "ba", "bb"]
"""Which part of a pair's matrix is shown: all of it, or from one sentence to one sentence."""

PARTS: tuple[Part, ...] = ("all", "aa", "ab", "ba", "bb")


@dataclass(frozen=True, slots=True, eq=False)
class AttentionResult:
    """The attention of every head for one input, exactly as the model computed it.

    Attributes:
        tokens: T tokens, [CLS] and [SEP] included.
        sides: for each token 0 (first text), 1 (second text) or None (added special token).
        attentions: L arrays (H, T, T); rows attend to columns, and each row sums to 1.
        statistics: where every head looks on average in this input.
        cut: what was truncated from the input.
    """

    tokens: tuple[str, ...]
    sides: tuple[int | None, ...]
    attentions: tuple[Floats, ...]
    statistics: HeadStatistics
    cut: Cut

    @property
    def layers(self) -> int:
        """L, the number of layers."""
        return len(self.attentions)

    @property
    def heads(self) -> int:
        """H, the number of heads in each layer."""
        return int(self.attentions[0].shape[0])

    @property
    def is_pair(self) -> bool:
        """Whether a second text is part of the input."""
        return 1 in self.sides


@dataclass(frozen=True, slots=True)
class Selection:
    """Which tokens are shown, and whether the rows are rescaled to sum to 1.

    Attributes:
        special: show the added [CLS] and [SEP]; they belong to no part, so only with "all".
        renormalise: divide every shown row by its sum.
        part: from which sentence to which; a single text allows only "all".
    """

    special: bool = True
    renormalise: bool = False
    part: Part = "all"


@dataclass(frozen=True, slots=True, eq=False)
class AttentionGrid:
    """A small picture of every head.

    Attributes:
        pictures: (L, H, r, c), values 0 to 255; 255 is that head's own maximum.
        peaks: (L, H), the largest value in each picture.
        averaged: True when a picture is coarser than the matrix.
    """

    pictures: NDArray[np.uint8]
    peaks: Floats
    averaged: bool


@dataclass(frozen=True, slots=True, eq=False)
class HeadView:
    """One head, or the mean over the heads of one layer, restricted to a selection.

    Attributes:
        layer: counted from 0.
        head: counted from 0; None is the mean over the layer's heads.
        rows: positions of the R tokens that attend.
        columns: positions of the C tokens that are attended to.
        row_tokens: the tokens at `rows`.
        column_tokens: the tokens at `columns`.
        weights: (R, C).
        shown: (R,), the share of each row's attention that goes to shown columns.
        selection: the selection that produced the view.
    """

    layer: int
    head: int | None
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    row_tokens: tuple[str, ...]
    column_tokens: tuple[str, ...]
    weights: Floats
    shown: Floats
    selection: Selection


@dataclass(frozen=True, slots=True, eq=False)
class GroupShares:
    """How the attention in one view is divided between the sentences.

    Attributes:
        groups: names of the groups present, in order: "A", "B", "special".
        shares: (G, G), the attention that tokens of the row's group give to the column's group,
            averaged over those tokens; rows sum to 1.
    """

    groups: tuple[str, ...]
    shares: Floats


@dataclass(frozen=True, slots=True, eq=False)
class LayerLinks:
    """The strongest links of some heads of one layer, restricted to a selection.

    Attributes:
        layer: counted from 0.
        heads: the heads included, counted from 0.
        view: the rows, columns and labels that links point into.
        row: (N,) index into `view.rows`.
        column: (N,) index into `view.columns`.
        head: (N,) head of each link.
        weight: (N,) its strength.
        floor: the requested minimum weight; weaker links are left out.
        over: number of links at or above the floor, drawn or not.
    """

    layer: int
    heads: tuple[int, ...]
    view: HeadView
    row: NDArray[np.intp]
    column: NDArray[np.intp]
    head: NDArray[np.intp]
    weight: Floats
    floor: float
    over: int

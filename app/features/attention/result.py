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
        sides: for each token 0 (first text), 1 (second text) or None (added special).
        attentions: L arrays (H, T, T); rows look, columns are looked at, rows sum to 1.
        statistics: where every head looks on average in this input.
        cut: what had to be left out of the input.
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
    """Which tokens are shown, and whether what is left of a row is scaled up to 1.

    Attributes:
        special: show the added [CLS] and [SEP]; they belong to no part, so only with "all".
        renormalise: divide every shown row by its sum.
        part: from which sentence to which; a single text knows "all" alone.
    """

    special: bool = True
    renormalise: bool = False
    part: Part = "all"


@dataclass(frozen=True, slots=True, eq=False)
class AttentionGrid:
    """A small picture of every head.

    Attributes:
        pictures: (L, H, r, c) between 0 and 255; 255 is that head's own peak.
        peaks: (L, H), the largest value in each picture.
        averaged: True when a picture is coarser than the matrix.
    """

    pictures: NDArray[np.uint8]
    peaks: Floats
    averaged: bool


@dataclass(frozen=True, slots=True, eq=False)
class HeadView:
    """One head, or the mean over the heads of one layer, after a selection.

    Attributes:
        layer: counted from 0.
        head: counted from 0; None is the mean over the layer's heads.
        rows: positions of the tokens that look; R of them.
        columns: positions of the tokens that are looked at; C of them.
        row_tokens: their tokens.
        column_tokens: their tokens.
        weights: (R, C).
        shown: (R,), the share of each row's attention that goes to shown columns.
        selection: how the view was made.
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
    """How the attention of one view is divided between the sentences.

    Attributes:
        groups: names of the groups present, in order: "A", "B", "special".
        shares: (G, G), mean over the tokens of the row's group of what they give to the
            column's group; rows sum to 1.
    """

    groups: tuple[str, ...]
    shares: Floats


@dataclass(frozen=True, slots=True, eq=False)
class LayerLinks:
    """The strongest links of some heads of one layer, after a selection.

    Attributes:
        layer: counted from 0.
        heads: the heads included, counted from 0.
        view: the rows, columns and labels that links point into.
        row: (N,) index into `view.rows`.
        column: (N,) index into `view.columns`.
        head: (N,) head of each link.
        weight: (N,) its strength.
        floor: weaker links were left out by request.
        over: links as strong as the floor, drawn or not.
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

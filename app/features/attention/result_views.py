"""Views of the attention of one input: arithmetic on the arrays of its result.

`head_view` (one head, or a layer's mean), `attention_grid` (a small picture of every head),
`group_shares` (sentence to sentence) and `strongest_links` (lines between words).
"""

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from app.features.attention.result import (
    AttentionGrid,
    AttentionResult,
    Heads,
    HeadView,
    Links,
    RankedHead,
)
from bert_core.analysis.head_statistics import HeadName

GRID_BYTES = 96 * 1024
"""Pixels in the pictures of all heads together; what a page sends stays below 150 kB."""

GRID_SIDE = (8, 32)
"""Least and greatest side of one head's picture, in pixels."""

LINK_BUDGET = 4_000
"""Lines worth drawing at once; a browser moves that many without a pause."""


def _units(result: AttentionResult, *, special: bool) -> list[int]:
    return [i for i, side in enumerate(result.sides) if special or side is not None]


def head_view(result: AttentionResult, heads: Heads, *, special: bool = True) -> HeadView:
    """Extract one head, or the mean of a layer's, from a result.

    Raises:
        InputError: no such layer or head.
    """
    at = _units(result, special=special)
    weights = result.matrix_of(heads)[np.ix_(at, at)]
    tokens = tuple(result.tokens[i] for i in at)
    return HeadView(heads, tuple(at), tokens, weights, weights.sum(axis=-1), special)


def goals(result: AttentionResult, heads: Heads) -> dict[str, float]:
    """Return where attention goes, averaged over all rows: exclusive shares that sum to 1.

    What [CLS] and [SEP] get counts for them, what a neighbour gets for the neighbour, even if it is
    the same piece. Rows and columns are those of the result: pieces, or words.
    """
    weights, size = result.matrix_of(heads), len(result.tokens)
    added = np.array([side is None for side in result.sides])
    names = np.array(result.tokens)
    row, column = np.indices((size, size))
    kinds = {
        "special": added[column],
        "itself": column == row,
        "previous": column == row - 1,
        "next": column == row + 1,
        "same": names[row] == names[column],
    }
    kind = np.select(list(kinds.values()), range(len(kinds)), len(kinds))
    return {
        name: float(weights[kind == number].sum()) / size
        for number, name in enumerate((*kinds, "other"))
    }


def group_shares(result: AttentionResult, heads: Heads) -> dict[str, dict[str, float]]:
    """Return how heads divide their attention between the sentences "A", "B" and "special".

    Returns:
        For each group that is there, the mean attention of its tokens to every group. All tokens
        count, and each row sums to 1.
    """
    matrix = result.matrix_of(heads)  # (U, U)
    members = {
        name: [at for at, side in enumerate(result.sides) if side == which]
        for name, which in (("A", 0), ("B", 1), ("special", None))
    }
    groups = {name: places for name, places in members.items() if places}
    return {
        a: {b: float(matrix[np.ix_(groups[a], groups[b])].sum(axis=-1).mean()) for b in groups}
        for a in groups
    }


def attention_grid(result: AttentionResult, *, special: bool = True) -> AttentionGrid:
    """Draw a small picture of every head.

    A long matrix is pooled by summing over the columns of each block and averaging over its rows.
    This preserves row sums, so the result is still an attention matrix.
    """
    at = _units(result, special=special)
    least, most = GRID_SIDE
    side = min(most, max(least, isqrt(GRID_BYTES // (result.layers * result.heads))))
    starts = _starts(len(at), side)
    members = np.diff([*starts, len(at)]).astype(np.float32)[:, None]  # (r, 1)
    small = []
    for layer in result.attentions:  # whole rows first: they add quickly and leave fewer numbers
        summed = np.add.reduceat(layer[:, at], starts, axis=1)[:, :, at]
        small.append(np.add.reduceat(summed, starts, axis=2) / members)  # (H, r, r)
    pictures = np.stack(small)  # (L, H, r, r)
    peaks = pictures.max(axis=(-2, -1), keepdims=True)
    scale = np.divide(255.0, peaks, out=np.zeros_like(peaks), where=peaks > 0)
    return AttentionGrid(np.rint(pictures * scale).astype(np.uint8), len(at) > side)


def _starts(length: int, side: int) -> NDArray[np.intp]:
    """Return where each of at most `side` blocks of about equal size begins."""
    count = min(side, length)
    return -(-np.arange(count) * length // count)


def strongest_links(result: AttentionResult, view: HeadView, *, budget: int = LINK_BUDGET) -> Links:
    """Choose the lines to draw: the strongest links of each head and word.

    Args:
        result: what `attention` returned.
        view: the heads, and the tokens shown.
        budget: approximate number of links to keep; every word keeps at least one per head.
    """
    chosen = np.ix_(view.at, view.at)
    weights = np.stack([result.attentions[i][j][chosen] for i, j in view.heads.places])  # (h, S, S)
    each = max(1, min(weights.shape[-1], budget // (weights.shape[0] * weights.shape[1])))
    best = np.argpartition(weights, -each, axis=-1)[..., -each:]  # (h, S, each)
    values = np.take_along_axis(weights, best, axis=-1)
    head, row, rank = np.nonzero(values)
    strength = values[head, row, rank]
    order = np.argsort(strength, kind="stable")  # the strongest links are drawn last, on top
    return Links(
        view=view,
        row=row[order],
        column=best[head, row, rank][order],
        head=head[order],
        weight=strength[order],
        over=int(np.count_nonzero(weights)),
    )


def rank(
    result: AttentionResult, usual: tuple[tuple[HeadName, ...], ...] | None = None
) -> tuple[RankedHead, ...]:
    """Name what every head does in one text, the clearest pattern first."""
    return tuple(
        RankedHead(
            (each.layer, each.head),
            HeadName(each.name, each.score),
            usual[each.layer][each.head] if usual else None,
        )
        for each in result.patterns
    )

"""Views of the attention of one input: arithmetic on the arrays of its result.

`head_view` (one head, or the mean of several), `attention_grid` (a small picture of every head),
`group_shares` (sentence to sentence) and `strongest_links` (lines between words).
"""

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from app.features.attention.result import (
    AttentionGrid,
    AttentionResult,
    Floats,
    Heads,
    HeadView,
    Links,
    Part,
    RankedHead,
    Selection,
)
from bert_core.analysis.head_statistics import HeadName
from bert_core.errors import InputError

GRID_BYTES = 96 * 1024
"""Pixels in the pictures of all heads together; what a page sends stays below 150 kB."""

GRID_SIDE = (8, 32)
"""Least and greatest side of one head's picture, in pixels."""

LINK_BUDGET = 4_000
"""Lines worth drawing at once; a browser moves that many without a pause."""

LINK_TOKENS = 64
"""Longest text for which the lines of all heads of a layer are prepared at once."""

_PART_SIDES: dict[Part, tuple[int, int]] = {"aa": (0, 0), "ab": (0, 1), "ba": (1, 0), "bb": (1, 1)}


def _positions(result: AttentionResult, selection: Selection) -> tuple[list[int], list[int]]:
    """Return the row and column positions that a selection shows."""
    sides = result.sides
    if selection.part == "all":
        shown = [i for i, side in enumerate(sides) if selection.special or side is not None]
        return shown, shown
    if not result.is_pair:
        raise InputError(
            f"The part {selection.part!r} needs a second text and there is none. "
            "Write one, or show all of the matrix."
        )
    looks, looked_at = _PART_SIDES[selection.part]
    return (
        [i for i, side in enumerate(sides) if side == looks],
        [i for i, side in enumerate(sides) if side == looked_at],
    )


def _at_least(floor: float, weights: Floats) -> Floats:
    """Set smaller values to 0."""
    return np.where(weights >= floor, weights, np.float32(0)) if floor > 0 else weights


def head_view(result: AttentionResult, heads: Heads, selection: Selection) -> HeadView:
    """Extract one head, or the mean of several, from a result.

    Raises:
        InputError: no such layer, head or part.
    """
    rows, columns = _positions(result, selection)
    weights = result.matrix_of(heads)[np.ix_(rows, columns)]
    return HeadView(
        heads=heads,
        rows=tuple(rows),
        columns=tuple(columns),
        row_tokens=tuple(result.tokens[i] for i in rows),
        column_tokens=tuple(result.tokens[i] for i in columns),
        weights=_at_least(selection.floor, weights),
        shown=weights.sum(axis=-1),
        selection=selection,
    )


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


def attention_grid(result: AttentionResult, selection: Selection) -> AttentionGrid:
    """Draw a small picture of every head.

    A long matrix is pooled by summing over the columns of each block and averaging over its rows.
    This preserves row sums, so the result is still an attention matrix.

    Raises:
        InputError: no such part.
    """
    rows, columns = _positions(result, selection)
    least, most = GRID_SIDE
    side = min(most, max(least, isqrt(GRID_BYTES // (result.layers * result.heads))))
    down, across = (_starts(len(each), side) for each in (rows, columns))
    members = np.diff([*down, len(rows)]).astype(np.float32)[:, None]  # (r, 1)
    small = []
    for layer in result.attentions:  # whole rows first: they add quickly and leave fewer numbers
        summed = np.add.reduceat(layer[:, rows], down, axis=1)[:, :, columns]
        small.append(np.add.reduceat(summed, across, axis=2) / members)  # (H, r, c)
    pictures = _at_least(selection.floor, np.stack(small))  # (L, H, r, c)
    peaks = pictures.max(axis=(-2, -1))
    scale = np.divide(255.0, peaks, out=np.zeros_like(peaks), where=peaks > 0)
    return AttentionGrid(
        pictures=np.rint(pictures * scale[..., None, None]).astype(np.uint8),
        peaks=peaks,
        averaged=max(len(rows), len(columns)) > side,
    )


def _starts(length: int, side: int) -> NDArray[np.intp]:
    """Return where each of at most `side` blocks of about equal size begins."""
    count = min(side, length)
    return -(-np.arange(count) * length // count)


def strongest_links(result: AttentionResult, view: HeadView, *, budget: int = LINK_BUDGET) -> Links:
    """Choose the lines to draw: the strongest links of each head and word.

    A short text gets the lines of all heads of the layer, so that a page can switch between
    heads without another request; otherwise only those of the viewed heads.

    Args:
        result: what `attention` returned.
        view: the heads, the tokens shown and the threshold.
        budget: approximate number of links to keep; every word keeps at least one per head.
    """
    places = view.heads.places
    if len(places) == 1 and len(view.rows) <= LINK_TOKENS:
        places = Heads.layer(places[0][0], result.heads).places
    chosen = np.ix_(view.rows, view.columns)
    weights = np.stack([result.attentions[i][j][chosen] for i, j in places])  # (h, R, C)
    weights = _at_least(view.selection.floor, weights)
    each = max(1, min(weights.shape[-1], budget // (weights.shape[0] * weights.shape[1])))
    best = np.argpartition(weights, -each, axis=-1)[..., -each:]  # (h, R, each)
    values = np.take_along_axis(weights, best, axis=-1)
    head, row, rank = np.nonzero(values)
    strength = values[head, row, rank]
    order = np.argsort(strength, kind="stable")  # the strongest links are drawn last, on top
    return Links(
        places=places,
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

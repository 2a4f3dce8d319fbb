"""Views of the attention of one input: arithmetic on the arrays of its result.

`head_view` (one head, or several as one matrix), `attention_grid` (a small picture of every head),
`group_shares` (sentence to sentence) and `strongest_links` (lines between words).
"""

from collections.abc import Iterator, Sequence
from math import ceil, isqrt

import numpy as np
from numpy.typing import NDArray

from app.features.attention.result import (
    AttentionGrid,
    AttentionResult,
    Floats,
    GroupShares,
    Heads,
    HeadView,
    Links,
    Part,
    Place,
    Selection,
)
from app.features.attention.result_habits import RankedHead
from bert_core.analysis.head_statistics import HeadName, name_heads, rank_heads
from bert_core.errors import InputError

GRID_BYTES = 96 * 1024
"""Pixels in the pictures of all heads together; what a page sends stays below 150 kB."""

GRID_SIDE = (8, 32)
"""Least and greatest side of one head's picture, in pixels."""

LINK_BUDGET = 4_000
"""Lines worth drawing at once; a browser moves that many without a pause."""

LINK_TOKENS = 64
"""Longest text for which the lines of all heads of a layer are prepared at once."""

_PART_SIDES: dict[Part, tuple[int, int]] = {
    "aa": (0, 0),
    "ab": (0, 1),
    "ba": (1, 0),
    "bb": (1, 1),
}


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


def one_head(result: AttentionResult, place: Place) -> Floats:
    """Return one head, (U, U).

    Raises:
        InputError: there is no such head.
    """
    layer, head = place
    if not 0 <= layer < result.layers:
        raise InputError(
            f"There is no layer {layer}; this model has layers 0 to {result.layers - 1}."
        )
    if not 0 <= head < result.heads:
        raise InputError(f"There is no head {head}; every layer has heads 0 to {result.heads - 1}.")
    found: Floats = result.attentions[layer][head]
    return found


def _rows_to_one(weights: Floats) -> Floats:
    """Divide every row (last axis) by its sum; rows of zeros are left unchanged."""
    sums = weights.sum(axis=-1, keepdims=True)
    scaled: Floats = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
    return scaled


def _matrix(result: AttentionResult, heads: Heads) -> Floats:
    """Return one head (U, U), or the mean or the largest value of several in every cell."""
    first, *more = (one_head(result, place) for place in heads.places)
    if not more:
        return first
    if heads.how == "max":
        largest: Floats = np.maximum.reduce([first, *more])
        return largest
    total: Floats = np.add.reduce([first, *more]) / np.float32(len(heads.places))
    return total


def _strong(weights: Floats, selection: Selection) -> Floats:
    """Set what the selection's thresholds hide to 0; each matrix (the last two axes) on its own."""
    if selection.floor <= 0 and selection.top >= 100:
        return weights
    keep = weights >= selection.floor
    if selection.top < 100:
        flat = weights.reshape(*weights.shape[:-2], -1)
        count = max(1, ceil(flat.shape[-1] * selection.top / 100))
        least = np.partition(flat, -count, axis=-1)[..., -count]
        keep &= weights >= least[..., None, None]
    return np.where(keep, weights, np.float32(0))


def head_view(result: AttentionResult, heads: Heads, selection: Selection) -> HeadView:
    """Extract one head, or several as one matrix, from a result.

    Raises:
        InputError: no such layer, head or part.
    """
    rows, columns = _positions(result, selection)
    weights = _matrix(result, heads)[np.ix_(np.array(rows), np.array(columns))]
    shown = weights.sum(axis=-1)
    if selection.renormalise:
        weights = _rows_to_one(weights)
    return HeadView(
        heads=heads,
        rows=tuple(rows),
        columns=tuple(columns),
        row_tokens=tuple(result.tokens[i] for i in rows),
        column_tokens=tuple(result.tokens[i] for i in columns),
        weights=_strong(weights, selection),
        shown=shown,
        selection=selection,
    )


def goals(result: AttentionResult, heads: Heads) -> dict[str, float]:
    """Return where attention goes, averaged over all rows: exclusive shares that sum to 1.

    What [CLS] and [SEP] get counts for them, what a neighbour gets for the neighbour, even if it is
    the same piece. Rows and columns are those of the result: pieces, or words.
    """
    weights, size = _matrix(result, heads), len(result.tokens)
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


def group_shares(result: AttentionResult, view: HeadView) -> GroupShares:
    """Return how the viewed head divides its attention between the sentences.

    These are the model's own numbers: tokens hidden by the view count, and nothing is rescaled.
    """
    matrix = _matrix(result, view.heads)  # (U, U)
    members = {
        name: np.array([side == which for side in result.sides])
        for name, which in (("A", 0), ("B", 1), ("special", None))
    }
    groups = tuple(name for name, mask in members.items() if mask.any())
    shares = [
        [float(matrix[members[a]][:, members[b]].sum(axis=-1).mean()) for b in groups]
        for a in groups
    ]
    return GroupShares(groups=groups, shares=np.array(shares, dtype=np.float32))


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
    row_blocks = _blocks(rows, side, len(result.tokens))
    column_blocks = _blocks(columns, side, len(result.tokens))
    members = np.bincount(row_blocks[rows]).astype(np.float32)[:, None]  # (r, 1)
    small = []
    for layer in result.attentions:
        factors = _to_one(layer, column_blocks) if selection.renormalise else None
        pooled = _sum_columns(_sum_rows(layer, row_blocks, factors), column_blocks)
        small.append(pooled / members)  # (H, r, c)
    pictures = _strong(np.stack(small), selection)  # (L, H, r, c)
    peaks = pictures.max(axis=(-2, -1))
    scale = np.divide(255.0, peaks, out=np.zeros_like(peaks), where=peaks > 0)
    return AttentionGrid(
        pictures=np.rint(pictures * scale[..., None, None]).astype(np.uint8),
        peaks=peaks,
        averaged=max(len(rows), len(columns)) > side,
    )


def _blocks(positions: Sequence[int], side: int, length: int) -> NDArray[np.intp]:
    """Assign each of T positions to one of at most `side` blocks; hidden positions get -1."""
    count = min(side, len(positions))
    blocks = np.full(length, -1, dtype=np.intp)
    blocks[positions] = np.arange(len(positions)) * count // len(positions)
    return blocks


def _runs(blocks: NDArray[np.intp]) -> Iterator[tuple[int, slice]]:
    """Yield each contiguous run of positions in the same block, skipping hidden positions."""
    starts = np.flatnonzero(np.diff(blocks, prepend=-2))
    for start, stop in zip(starts, [*starts[1:], len(blocks)], strict=True):
        if blocks[start] >= 0:
            yield int(blocks[start]), slice(int(start), int(stop))


def _to_one(layer: Floats, column_blocks: NDArray[np.intp]) -> Floats:
    """Return the factor for every row (H, T) that makes its shown part sum to 1."""
    shown = np.where(column_blocks < 0, -1, 0)  # all shown positions form one block
    sums = sum(layer[:, :, run].sum(axis=-1) for _, run in _runs(shown))
    factors: Floats = np.divide(1, sums, out=np.zeros_like(sums), where=np.greater(sums, 0))
    return factors


def _sum_rows(layer: Floats, blocks: NDArray[np.intp], factors: Floats | None) -> Floats:
    """Sum (H, T, T) over the rows of each block: (H, r, T).

    Rows are summed first because whole rows add quickly and leave far fewer numbers for the
    column sums. Multiplying by a matrix of zeros and ones would take one line, but on a busy
    machine its threads wait for each other, which made it ten times slower.
    """
    summed = np.zeros((layer.shape[0], int(blocks.max()) + 1, layer.shape[2]), layer.dtype)
    for block, run in _runs(blocks):
        part = layer[:, run] if factors is None else layer[:, run] * factors[:, run, None]
        summed[:, block] += part.sum(axis=1)
    return summed


def _sum_columns(values: Floats, blocks: NDArray[np.intp]) -> Floats:
    """Sum (H, r, T) over the columns of each block: (H, r, c)."""
    summed = np.zeros((*values.shape[:2], int(blocks.max()) + 1), values.dtype)
    for block, run in _runs(blocks):
        summed[:, :, block] += values[:, :, run].sum(axis=-1)
    return summed


def strongest_links(result: AttentionResult, view: HeadView, *, budget: int = LINK_BUDGET) -> Links:
    """Choose the lines to draw: the strongest links of each head and word.

    A short text gets the lines of all heads of the layer, so that a page can switch between
    heads without another request; otherwise only those of the viewed heads.

    Args:
        result: what `attention` returned.
        view: the heads, the tokens shown and the thresholds.
        budget: approximate number of links to keep; every word keeps at least one per head.
    """
    places = view.heads.places
    if len(places) == 1 and len(view.rows) <= LINK_TOKENS:
        places = Heads.layer(places[0][0], result.heads).places
    chosen = np.ix_(np.array(view.rows), np.array(view.columns))
    weights = np.stack([result.attentions[i][j][chosen] for i, j in places])  # (h, R, C)
    if view.selection.renormalise:
        weights = _rows_to_one(weights)
    weights = _strong(weights, view.selection)
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
    result: AttentionResult,
    by: str = "pattern",
    usual: tuple[tuple[HeadName, ...], ...] | None = None,
) -> tuple[RankedHead, ...]:
    """Rank all heads by what they do in one text, and name it.

    Args:
        result: the attention for the text.
        by: see `bert_core.analysis.head_statistics.rank_heads`.
        usual: what each head usually does, by layer and head; None if not measured.

    Raises:
        InputError: there is no such ranking.
    """
    here = name_heads(result.statistics)
    values = None if by == "pattern" else getattr(result.statistics, by, None)
    return tuple(
        RankedHead(
            place=(layer, head),
            here=here[layer][head],
            usual=None if usual is None else usual[layer][head],
            value=here[layer][head].score if values is None else float(values[layer, head]),
        )
        for layer, head in rank_heads(result.statistics, by)
    )

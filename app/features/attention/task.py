"""Where every head of the model looks: one forward pass, then cheap views of its result.

`attention` runs the model. Everything after it is arithmetic on the numpy arrays it returned:
`head_view` (one head, or a layer's mean), `attention_grid` (a small picture of every head),
`group_shares` (sentence to sentence) and `strongest_links` (lines between words).
"""

from collections.abc import Iterator, Sequence
from math import isqrt

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from app.compute.recent import RECENT
from app.features.attention.result import (
    AttentionGrid,
    AttentionResult,
    Floats,
    GroupShares,
    HeadView,
    LayerLinks,
    Part,
    Selection,
)
from app.models import Engine
from app.results import Cut
from bert_core.analysis.head_statistics import text_statistics
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


def attention(engine: Engine, text: str, text_pair: str = "") -> AttentionResult:
    """Run the encoder once and keep the attention of every layer and head.

    Args:
        engine: the loaded model.
        text: the first text; it must hold at least one piece.
        text_pair: a second text, or "" for none.

    Raises:
        InputError: there is nothing to read in the first text.
    """
    pair = text_pair if text_pair.strip() else None
    model = (engine.provenance.name, engine.provenance.fingerprint)
    return RECENT.get(
        ("attention", *model, text, pair),
        make=lambda: _run(engine, text, pair),
        size=lambda made: sum(layer.nbytes for layer in made.attentions),
    )


def _run(engine: Engine, text: str, pair: str | None) -> AttentionResult:
    """Encode the input, truncate it if necessary, and compute the attention."""
    whole = engine.tokenizer.encode(text, pair)
    if 0 not in whole.sequence_ids:
        raise InputError(
            "The first text holds no piece that the model reads; at least one is needed. "
            "Write a word or pick an example."
        )
    encoding = whole
    if len(whole.input_ids) > engine.max_length:
        encoding = engine.tokenizer.encode(text, pair, max_length=engine.max_length)
    layers = tuple(_read_only(layer) for layer in engine.attentions(encoding))  # (H, T, T)
    sides = tuple(encoding.sequence_ids)
    return AttentionResult(
        tokens=tuple(encoding.tokens),
        sides=sides,
        attentions=layers,
        statistics=text_statistics(layers, encoding),
        cut=Cut.between(whole.tokens, whole.sequence_ids, sides, limit=engine.max_length),
    )


def _read_only(layer: Tensor) -> Floats:
    """Convert (H, T, T) to a read-only array, because sessions share the result."""
    array: Floats = layer.numpy()
    array.setflags(write=False)
    return array


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


def _layer(result: AttentionResult, layer: int, head: int | None = None) -> Floats:
    """Return one layer's (H, T, T) after validating user-supplied layer and head numbers."""
    if not 0 <= layer < result.layers:
        raise InputError(
            f"There is no layer {layer}; this model has layers 0 to {result.layers - 1}."
        )
    if head is not None and not 0 <= head < result.heads:
        raise InputError(f"There is no head {head}; every layer has heads 0 to {result.heads - 1}.")
    return result.attentions[layer]


def _rows_to_one(weights: Floats) -> Floats:
    """Divide every row (last axis) by its sum; rows of zeros are left unchanged."""
    sums = weights.sum(axis=-1, keepdims=True)
    scaled: Floats = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
    return scaled


def head_view(
    result: AttentionResult, layer: int, head: int | None, selection: Selection
) -> HeadView:
    """Extract one head, or the mean over the heads of its layer (None), from a result.

    Raises:
        InputError: no such layer, head or part.
    """
    every = _layer(result, layer, head)
    rows, columns = _positions(result, selection)
    matrix = every.mean(axis=0) if head is None else every[head]  # (T, T)
    weights = matrix[np.ix_(np.array(rows), np.array(columns))]
    shown = weights.sum(axis=-1)
    return HeadView(
        layer=layer,
        head=head,
        rows=tuple(rows),
        columns=tuple(columns),
        row_tokens=tuple(result.tokens[i] for i in rows),
        column_tokens=tuple(result.tokens[i] for i in columns),
        weights=_rows_to_one(weights) if selection.renormalise else weights,
        shown=shown,
        selection=selection,
    )


def group_shares(result: AttentionResult, view: HeadView) -> GroupShares:
    """Return how the viewed head divides its attention between the sentences.

    These are the model's own numbers: tokens hidden by the view count, and nothing is rescaled.
    """
    every = result.attentions[view.layer]
    matrix = every.mean(axis=0) if view.head is None else every[view.head]  # (T, T)
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
    pictures = np.stack(small)  # (L, H, r, c)
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


def strongest_links(
    result: AttentionResult, view: HeadView, *, floor: float = 0.0, budget: int = LINK_BUDGET
) -> LayerLinks:
    """Choose the lines to draw: the strongest links of each head and word.

    A short text gets the lines of all heads of the layer, so that a page can switch between
    heads without another request; a long text gets only those of the viewed head.

    Args:
        result: what `attention` returned.
        view: the layer, the head (all heads for the mean) and the tokens shown.
        floor: links weaker than this are left out.
        budget: approximate number of links to keep; every word keeps at least one per head.
    """
    every = view.head is None or len(view.rows) <= LINK_TOKENS
    heads = np.arange(result.heads) if every else np.array([view.head])
    place = np.ix_(heads, np.array(view.rows), np.array(view.columns))
    weights = result.attentions[view.layer][place]  # (h, R, C)
    if view.selection.renormalise:
        weights = _rows_to_one(weights)
    each = max(1, min(weights.shape[-1], budget // (weights.shape[0] * weights.shape[1])))
    best = np.argpartition(weights, -each, axis=-1)[..., -each:]  # (h, R, each)
    values = np.take_along_axis(weights, best, axis=-1)
    head_index, row, rank = np.nonzero((values >= floor) & (values > 0))
    strength = values[head_index, row, rank]
    order = np.argsort(strength, kind="stable")  # the strongest links are drawn last, on top
    return LayerLinks(
        layer=view.layer,
        heads=tuple(int(number) for number in heads),
        view=view,
        row=row[order],
        column=best[head_index, row, rank][order],
        head=heads[head_index][order],
        weight=strength[order],
        floor=floor,
        over=int(((weights >= floor) & (weights > 0)).sum()),
    )

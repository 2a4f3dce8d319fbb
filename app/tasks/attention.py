"""Where every head of the model looks: one forward pass, then cheap cuts through its result.

`attention` runs the model. Everything after it is arithmetic on the numpy arrays it returned:
`head_view` (one head, or a layer's mean), `attention_grid` (a small picture of every head),
`group_shares` (sentence to sentence) and `strongest_links` (lines between words).
"""

from collections.abc import Sequence
from math import isqrt, log

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from app.engine import Engine
from app.engine.recent import RECENT
from app.results.attention import (
    AttentionGrid,
    AttentionResult,
    Floats,
    GroupShares,
    HeadPatterns,
    HeadView,
    LayerLinks,
    Part,
    Selection,
)
from app.results.cut import Cut
from bert_core import BertModel
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
    """Encode, cut where it must be, and compute."""
    whole = engine.tokenizer.encode(text, pair)
    if 0 not in whole.sequence_ids:
        raise InputError(
            "The first text holds no piece that the model reads; at least one is needed. "
            "Write a word or pick an example."
        )
    encoding = whole
    if len(whole.input_ids) > engine.max_length:
        encoding = engine.tokenizer.encode(text, pair, max_length=engine.max_length)
    outputs = engine.run(BertModel, encoding, attentions=True)
    assert outputs.attentions is not None  # asked for in the line above
    layers = [layer[0] for layer in outputs.attentions]  # L times (H, T, T)
    sides = tuple(encoding.sequence_ids)
    return AttentionResult(
        tokens=tuple(encoding.tokens),
        sides=sides,
        attentions=tuple(_read_only(layer) for layer in layers),
        patterns=_patterns(layers, sides),
        cut=Cut.between(whole.tokens, whole.sequence_ids, sides, limit=engine.max_length),
    )


def _read_only(layer: Tensor) -> Floats:
    """Turn (H, T, T) into an array that nobody can change: sessions share the result."""
    array: Floats = layer.numpy()
    array.setflags(write=False)
    return array


def _patterns(layers: Sequence[Tensor], sides: Sequence[int | None]) -> HeadPatterns:
    """Summarise every head; `layers` holds L tensors (H, T, T)."""
    special = torch.tensor([side is None for side in sides])

    def over_layers(rows: Sequence[Tensor]) -> Floats:
        return torch.stack(list(rows)).numpy()  # (L, H)

    def diagonal(offset: int) -> Floats:
        return over_layers([layer.diagonal(offset, -2, -1).mean(-1) for layer in layers])

    return HeadPatterns(
        to_itself=diagonal(0),
        to_previous=diagonal(-1),
        to_next=diagonal(1),
        to_special=over_layers([layer[:, :, special].sum(-1).mean(-1) for layer in layers]),
        entropy=over_layers(_entropies(layers)),
    )


def _entropies(layers: Sequence[Tensor]) -> list[Tensor]:
    """Return the mean entropy of the rows of every head in bits, L times (H,).

    One scratch tensor serves all layers and the logarithm runs over it in place: at 512 tokens
    that takes half the time of `torch.special.entr`.
    """
    scratch = torch.empty_like(layers[0])
    found = []
    for layer in layers:
        torch.clamp(layer, min=torch.finfo(layer.dtype).tiny, out=scratch)  # 0 times ln 0 is 0
        found.append(-scratch.log_().mul_(layer).sum(-1).mean(-1) / log(2))
    return found


def _positions(result: AttentionResult, selection: Selection) -> tuple[list[int], list[int]]:
    """Return the positions of the rows and of the columns that a selection shows."""
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
    """Return one layer's (H, T, T) after checking the numbers a visitor may have typed."""
    if not 0 <= layer < result.layers:
        raise InputError(
            f"There is no layer {layer}; this model has layers 0 to {result.layers - 1}."
        )
    if head is not None and not 0 <= head < result.heads:
        raise InputError(f"There is no head {head}; every layer has heads 0 to {result.heads - 1}.")
    return result.attentions[layer]


def _rows_to_one(weights: Floats) -> Floats:
    """Divide every row (last axis) by its sum; a row of zeros stays as it is."""
    sums = weights.sum(axis=-1, keepdims=True)
    scaled: Floats = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
    return scaled


def head_view(
    result: AttentionResult, layer: int, head: int | None, selection: Selection
) -> HeadView:
    """Cut one head, or the mean over the heads of its layer (None), out of a result.

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
    """Divide the attention of the viewed head between the sentences.

    The numbers are the model's own: what the view hides counts, and nothing is scaled.
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
    """Draw every head small.

    A long matrix is pooled so that it stays an attention matrix: summed over the columns of a
    block, averaged over its rows, which keeps the sum of every row.

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
        pooled = _sum_blocks(layer, column_blocks, axis=-1)  # (H, T, c)
        if selection.renormalise:
            pooled = _rows_to_one(pooled)
        small.append(_sum_blocks(pooled, row_blocks, axis=-2) / members)  # (H, r, c)
    pictures = np.stack(small)  # (L, H, r, c)
    peaks = pictures.max(axis=(-2, -1))
    scale = np.divide(255.0, peaks, out=np.zeros_like(peaks), where=peaks > 0)
    return AttentionGrid(
        pictures=np.rint(pictures * scale[..., None, None]).astype(np.uint8),
        peaks=peaks,
        averaged=max(len(rows), len(columns)) > side,
    )


def _blocks(positions: Sequence[int], side: int, length: int) -> NDArray[np.intp]:
    """Number the block of each of T positions, at most `side` of them; -1 is a hidden position."""
    count = min(side, len(positions))
    blocks = np.full(length, -1, dtype=np.intp)
    blocks[positions] = np.arange(len(positions)) * count // len(positions)
    return blocks


def _sum_blocks(values: Floats, blocks: NDArray[np.intp], *, axis: int) -> Floats:
    """Sum along an axis block by block, leaving out what is hidden.

    Neighbours of one block are summed where they lie, in one pass over memory. A product with a
    matrix of zeros and ones does the same in one line and no faster; while other work is on the
    machine its threads wait for each other, which made it ten times slower.
    """
    starts = np.flatnonzero(np.diff(blocks, prepend=-2))
    shown = blocks[starts] >= 0
    runs = np.compress(shown, np.add.reduceat(values, starts, axis=axis), axis=axis)
    firsts = np.flatnonzero(np.diff(blocks[starts][shown], prepend=-1))
    summed: Floats = np.add.reduceat(runs, firsts, axis=axis)
    return summed


def strongest_links(
    result: AttentionResult, view: HeadView, *, floor: float = 0.0, budget: int = LINK_BUDGET
) -> LayerLinks:
    """Choose the lines worth drawing: for each head and word, its strongest links.

    A short text gets the lines of all heads of the layer, so that a page can switch between
    them without asking again; a long one gets those of the viewed head alone.

    Args:
        result: what `attention` returned.
        view: the layer, the head (all of them for the mean) and the tokens that are shown.
        floor: links weaker than this are left out.
        budget: about how many links to keep; every word keeps at least one in each head.
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
    order = np.argsort(strength, kind="stable")  # the strongest are drawn last, on top
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

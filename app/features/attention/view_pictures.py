"""Input data for the three attention components in `assets/components`.

Every function returns plain data for JSON. Strings are shown as text, never as markup. Colours
are sampled here, so that a picture and its legend cannot disagree.
"""

import base64
import hashlib
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.features.attention.result import (
    AttentionGrid,
    AttentionResult,
    Floats,
    HeadView,
    Links,
)
from app.features.attention.view_text import (
    describe_grid,
    describe_view,
    head_note,
    name_of,
    short_headline,
)
from app.words.html import visible
from app.words.pictures import linked

EXACT_CELLS = 192 * 192
"""Matrices up to here travel as float32, larger ones in whole steps, which compress well."""

STEPS = (10_000, 2_550, 255)
"""Steps in 1: the finest that stays within `PACKED_CHARACTERS` is sent."""

PACKED_CHARACTERS = 300_000
"""Most characters of one large head on its way to the browser."""

_STOPS = {
    "light": ("#ffffff", "#deebf7", "#9ecae1", "#4292c6", "#08519c", "#08306b"),
    "dark": ("#000000", "#0d2a45", "#155a8f", "#3d95cf", "#8fcaf2", "#dcf0ff"),
}

# fmt: off
HEAD_COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a63d2", "#8f8f1f",
    "#a0522d", "#1b9aaa", "#b5396b", "#5a8f5a", "#c7a500", "#4b6fd4", "#9c6b9e", "#7a7a7a",
)
# fmt: on
"""One colour per head, of middle lightness so that both themes show them; the first six are
Okabe and Ito's. A head's number is beside its colour everywhere."""


def head_colour(number: int) -> str:
    """Return the colour of a head's lines, by its number."""
    return HEAD_COLOURS[number % len(HEAD_COLOURS)]


def encoded(values: NDArray[Any]) -> str:
    """Encode the bytes of an array in base64, for JSON."""
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def colours(theme: str) -> NDArray[np.uint8]:
    """Return the sequential scale of a theme, (256, 3): from its paper to its strongest blue."""
    stops = [[int(stop[at : at + 2], 16) for at in (1, 3, 5)] for stop in _STOPS[theme]]
    places = np.linspace(0, 255, len(stops))
    channels = [np.interp(np.arange(256), places, each) for each in np.array(stops).T]
    found: NDArray[np.uint8] = np.rint(np.stack(channels, axis=-1)).astype(np.uint8)
    return found


PALETTES = {theme: encoded(colours(theme)) for theme in _STOPS}
"""Both scales for the components: white to blue, and black to light blue on a dark page."""


def packed(values: Floats) -> tuple[str, int]:
    """Encode values from 0 to 1 in whole steps: all low bytes, then all high ones, deflated.

    Most cells of a long text are tiny, so their high bytes are zeros and compress well.

    Returns:
        The text, in base64, and the number of steps in 1.
    """
    for steps in STEPS:
        whole = np.rint(values * steps).astype("<u2").reshape(-1).view(np.uint8)
        planes = np.concatenate([whole[0::2], whole[1::2]]).tobytes()
        text = base64.b64encode(zlib.compress(planes, level=1)).decode("ascii")
        if len(text) <= PACKED_CHARACTERS:
            break
    return text, steps


def _identity(*parts: object) -> str:
    """Identify a picture's axes, so that the browser keeps a choice only while they match."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _second_starts(result: AttentionResult, positions: tuple[int, ...]) -> int | None:
    """Return the index where the second text begins; None if it is absent or comes first."""
    first = next((i for i, at in enumerate(positions) if result.sides[at] == 1), 0)
    return first or None


def _axes(result: AttentionResult, view: HeadView) -> dict[str, object]:
    """Return the labels of both axes, and the keys that link them to the rest of the page."""
    pieces = result.units.pieces
    return {
        "rows": [visible(token) for token in view.row_tokens],
        "columns": [visible(token) for token in view.column_tokens],
        "rowKeys": [linked(pieces[at]) for at in view.rows],
        "columnKeys": [linked(pieces[at]) for at in view.columns],
        "rowBreak": _second_starts(result, view.rows),
        "columnBreak": _second_starts(result, view.columns),
    }


def grid_picture(
    result: AttentionResult,
    grid: AttentionGrid,
    shown: HeadView,
    *,
    common: bool = False,
    log: bool = False,
) -> dict[str, object]:
    """Prepare the grid of all heads with the shown ones marked.

    Args:
        result: the attention.
        grid: its small pictures.
        shown: the large picture.
        common: whether all heads share the scale from 0 to 1.
        log: whether the scale is logarithmic.
    """
    size = result.heads
    every = [(i, j) for i in range(result.layers) for j in range(size)]
    alone = shown.heads.places[0] if len(shown.heads.places) == 1 else None
    name = name_of(shown.heads, size)
    return {
        "layers": result.layers,
        "heads": size,
        "rows": grid.pictures.shape[2],
        "columns": grid.pictures.shape[3],
        "pictures": encoded(grid.pictures),
        "peaks": [round(float(peak), 5) for peak in grid.peaks.reshape(-1)],
        "common": common,
        "log": log,
        "preview": True,
        "palettes": PALETTES,
        "chosen": [i * size + j for i, j in shown.heads.places],
        "notes": [head_note(result, i, j) for i, j in every],
        "label": describe_grid(result),
        "said": f"{name}: {head_note(result, *alone)}" if alone else name,
        "top": "1" if common else "own peak",
    }


def head_picture(
    result: AttentionResult,
    view: HeadView,
    *,
    common: bool = False,
    log: bool = False,
    cell: tuple[int, int] | None = None,
) -> dict[str, object]:
    """Prepare the large heat map.

    Args:
        result: the attention.
        view: what is shown of it.
        common: whether the scale ends at 1 instead of the largest value.
        log: whether the scale is logarithmic.
        cell: positions of the pieces of the pinned cell.
    """
    exact = view.weights.size <= EXACT_CELLS
    values, steps = (encoded(view.weights.astype("<f4")), 0) if exact else packed(view.weights)
    pieces = result.units.pieces
    pinned = None
    if cell is not None:
        row = next((i for i, at in enumerate(view.rows) if cell[0] in pieces[at]), None)
        column = next((i for i, at in enumerate(view.columns) if cell[1] in pieces[at]), None)
        pinned = None if row is None or column is None else [row, column]
    return {
        **_axes(result, view),
        "rowsAt": [pieces[at][0] for at in view.rows],
        "columnsAt": [pieces[at][0] for at in view.columns],
        "values": values,
        "steps": steps,
        "top": 1.0 if common else float(view.weights.max()),
        "log": log,
        "palettes": PALETTES,
        "cell": pinned,
        "said": short_headline(result, view),
        "label": describe_view(result, view),
    }


def lines_picture(result: AttentionResult, links: Links) -> dict[str, object]:
    """Prepare the line view; at first it draws the viewed heads."""
    view = links.view
    flat = np.stack(
        [links.row, links.column, links.head, np.rint(links.weight * 10_000).astype(np.intp)],
        axis=-1,
    )
    layers = {layer for layer, _ in links.places}
    one = len(layers) == 1
    names = [f"head {head}" if one else f"{layer}.{head}" for layer, head in links.places]
    return {
        **_axes(result, view),
        "rowsSpecial": [result.sides[at] is None for at in view.rows],
        "columnsSpecial": [result.sides[at] is None for at in view.columns],
        "names": names,
        "colours": [head_colour(head if one else i) for i, (_, head) in enumerate(links.places)],
        "links": flat.reshape(-1).tolist(),
        "active": [links.places.index(place) for place in view.heads.places],
        "identity": _identity(view.row_tokens, view.column_tokens, view.rows, view.columns),
        "said": f"Layer {layers.pop()}, " if one else "",
        "cut": ", the strongest of each word" if len(links.weight) < links.over else "",
    }

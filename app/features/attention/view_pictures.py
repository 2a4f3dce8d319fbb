"""Input data for the three attention components in `assets/components`.

Every function returns plain data for JSON. Strings are shown as text, never as markup. Colours
are sampled here, so that a picture and its legend cannot disagree.
"""

import base64
import hashlib
import zlib
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import plotly.colors
from numpy.typing import NDArray

from app.features.attention.result import (
    AttentionGrid,
    AttentionResult,
    Floats,
    HeadView,
    LayerLinks,
)
from app.features.attention.view import describe_grid, describe_view, head_note
from app.words.html import visible

Palette = Literal["viridis", "cividis"]
PALETTE_NAMES: dict[Palette, str] = {"viridis": "viridis", "cividis": "cividis"}
"""Both grow evenly lighter, and stay readable without red-green vision."""

EXACT_CELLS = 192 * 192
"""Matrices up to here travel as float32; larger ones rounded to the four decimals that are shown,
which makes them a third of the size."""

# fmt: off
HEAD_COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a63d2", "#8f8f1f",
    "#a0522d", "#1b9aaa", "#b5396b", "#5a8f5a", "#c7a500", "#4b6fd4", "#9c6b9e", "#7a7a7a",
)
# fmt: on
"""One colour per head, of middle lightness so that both themes show them; the first six are
Okabe and Ito's. A head's number stands beside its colour everywhere."""


def encoded(values: NDArray[Any]) -> str:
    """Encode the bytes of an array in base64, for JSON."""
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def _rounded(values: Floats) -> str:
    """Encode values in ten-thousandths: all low bytes, then all high bytes, deflated, base64.

    Most cells of a long text are tiny, so their high bytes are zeros and compress well.
    """
    steps = np.rint(values * 10_000).astype("<u2").reshape(-1).view(np.uint8)
    planes = np.concatenate([steps[0::2], steps[1::2]]).tobytes()
    return base64.b64encode(zlib.compress(planes, level=1)).decode("ascii")


@lru_cache(maxsize=len(PALETTE_NAMES))
def palette_bytes(palette: Palette) -> str:
    """Sample a palette as 256 red-green-blue triples, in base64."""
    scale = plotly.colors.get_colorscale(palette)
    samples = plotly.colors.sample_colorscale(scale, 256, colortype="tuple")
    return encoded(np.rint(np.array(samples) * 255).astype(np.uint8))


def _identity(*parts: object) -> str:
    """Identify a picture's axes, so that the browser keeps pins only while the axes match."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _second_starts(result: AttentionResult, positions: tuple[int, ...]) -> int | None:
    """Return the index where the second text begins; None if it is absent or comes first."""
    first = next((i for i, at in enumerate(positions) if result.sides[at] == 1), 0)
    return first or None


def grid_picture(
    result: AttentionResult,
    grid: AttentionGrid,
    shown: HeadView,
    *,
    common: bool,
    palette: Palette,
) -> dict[str, object]:
    """Prepare the grid of all heads with `shown` marked; `common` uses one scale, 0 to 1."""
    return {
        "layers": result.layers,
        "heads": result.heads,
        "rows": grid.pictures.shape[2],
        "columns": grid.pictures.shape[3],
        "pictures": encoded(grid.pictures),
        "peaks": [round(float(peak), 5) for peak in grid.peaks.reshape(-1)],
        "common": common,
        "palette": palette_bytes(palette),
        "chosen": {"layer": shown.layer, "head": shown.head},
        "notes": [
            head_note(result, i, j) for i in range(result.layers) for j in range(result.heads)
        ],
        "label": describe_grid(result),
        "top": "1" if common else "each head's own peak",
    }


def head_picture(
    result: AttentionResult, view: HeadView, *, common: bool, palette: Palette
) -> dict[str, object]:
    """Prepare one large head with its exact values."""
    peak = float(view.weights.max())
    exact = view.weights.size <= EXACT_CELLS
    return {
        "rows": [visible(token) for token in view.row_tokens],
        "columns": [visible(token) for token in view.column_tokens],
        "rowsAt": list(view.rows),
        "columnsAt": list(view.columns),
        "rowBreak": _second_starts(result, view.rows),
        "columnBreak": _second_starts(result, view.columns),
        "values": encoded(view.weights.astype("<f4")) if exact else _rounded(view.weights),
        "rounded": not exact,
        "top": 1.0 if common else peak,
        "palette": palette_bytes(palette),
        "identity": _identity(view.row_tokens, view.column_tokens, view.rows, view.columns),
        "label": describe_view(result, view),
    }


def lines_picture(result: AttentionResult, links: LayerLinks) -> dict[str, object]:
    """Prepare the line view; initially it shows the chosen head, or all heads for the mean."""
    view = links.view
    flat = np.stack(
        [links.row, links.column, links.head, np.rint(links.weight * 10_000).astype(np.intp)],
        axis=-1,
    )
    return {
        "rows": [visible(token) for token in view.row_tokens],
        "columns": [visible(token) for token in view.column_tokens],
        "rowsSpecial": [result.sides[at] is None for at in view.rows],
        "columnsSpecial": [result.sides[at] is None for at in view.columns],
        "rowBreak": _second_starts(result, view.rows),
        "columnBreak": _second_starts(result, view.columns),
        "layer": links.layer,
        "heads": list(links.heads),
        "colours": [HEAD_COLOURS[head % len(HEAD_COLOURS)] for head in links.heads],
        "links": flat.reshape(-1).tolist(),
        "active": list(links.heads) if view.head is None else [view.head],
        "identity": _identity(view.row_tokens, view.column_tokens, view.rows, view.columns),
        "cut": ", the strongest of each word" if len(links.weight) < links.over else "",
    }

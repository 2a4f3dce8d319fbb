"""Attention as pictures: one head as a heat map or as lines, and all heads as small maps.

The only drawing of them: pages, saved files and other interfaces have the same SVG, and
`live/maps.js` makes it node by node. It is on white paper in one scale of colours, which a dark
page inverts. `assets/components/attention.js` adds pointer and keys to the heat map; the others
explain themselves by `bridge.js`.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.features.attention.result import (
    AttentionGrid,
    AttentionResult,
    Floats,
    HeadView,
    Place,
    RankedHead,
)
from app.features.attention.view_text import (
    SMALL,
    describe_grid,
    describe_view,
    file_name,
    head_note,
    matrix_table,
    name_of,
    ranking_table,
    short_name,
)
from app.words.blocks import Html, join, pick, tag, visible
from app.words.pictures import NARROW, WIDE, Picture, linked, picture
from app.words.pixels import address, image

_STOPS = ("#ffffff", "#deebf7", "#9ecae1", "#4292c6", "#08519c", "#08306b")
LETTER = 9.6  # width of a letter of 17 units
_SMALLEST = 7.0  # size of a number in a cell
_LEAST = 0.005  # a weight that is printed
_PIXELS = 128  # a side of a heat map at least
_TALL = 0.72  # of the width of a wide heat map: as much as a screen has
_EXACT = SMALL * SMALL  # values that the page is sent beside a heat map


def colours() -> NDArray[np.uint8]:
    """Return the scale, (256, 3): from white paper to its strongest blue."""
    stops = [[int(stop[at : at + 2], 16) for at in (1, 3, 5)] for stop in _STOPS]
    places = np.linspace(0, 255, len(stops))
    channels = [np.interp(np.arange(256), places, each) for each in np.array(stops).T]
    found: NDArray[np.uint8] = np.rint(np.stack(channels, axis=-1)).astype(np.uint8)
    return found


_PAPER = colours()
_IMAGE = re.compile('data:image/png[^"]+')


def shades(weights: Floats) -> NDArray[np.intp]:
    """Return the number of the colour of each value, 0 to 255; the last is the largest's."""
    shares: Floats = weights.astype(np.float64) / (weights.max() or 1.0)
    found: NDArray[np.intp] = np.rint(255 * shares).astype(np.intp)
    return found


def _image(number: NDArray[np.integer[Any]], x: float, y: float, wide: float, high: float) -> Html:
    href = _address(number.shape[1], number.astype(np.uint8).tobytes())
    return image(href, x=x, y=y, width=wide, height=high)


@lru_cache(8)
def _address(columns: int, shades: bytes) -> str:
    """Return an image as an address; each is drawn twice, wide and narrow."""
    return address(np.frombuffer(shades, np.uint8).reshape(-1, columns), _PAPER)


def paper(width: float, height: float, *children: Html, **more: str) -> Html:
    """Write an `svg` element with a white background and letters of its own size."""
    sheet = tag("rect", width="100%", height="100%", fill="#ffffff")
    hidden = None if more else "true"
    return tag(
        "svg", sheet, *children, view_box=f"0 0 {width:g} {height:g}", class_="bx-att-paper",
        xmlns="http://www.w3.org/2000/svg", font_size=17, fill="#111111", aria_hidden=hidden,
        font_family="Arial, Helvetica, sans-serif", **more,
    )  # fmt: skip


def words(anchor: str, size: float, *children: Html) -> Html:
    """Group texts that share their look."""
    return tag("g", *children, text_anchor=anchor, dominant_baseline="central",
               font_size=f"{size:.1f}")  # fmt: skip


def _frame(x: float, y: float, wide: float, high: float) -> Html:
    return tag("rect", x=f"{x:.2f}", y=f"{y:.2f}", width=f"{wide:.2f}", height=f"{high:.2f}",
               fill="none", stroke="#777777")  # fmt: skip


def short(label: str, room: float, size: float = 17) -> str:
    """Cut a label to the letters that fit."""
    letters = max(2, int(room / (LETTER * size / 17)))
    return label if len(label) <= letters else f"{label[: letters - 1]}…"


# -- one head as a heat map ------------------------------------------------------------------------


def map_picture(result: AttentionResult, view: HeadView) -> Picture:
    """Draw the large heat map."""
    number = shades(view.weights)
    return picture(
        file_name(view),
        lambda width: _map(result, view, number, width),
        alt=describe_view(result, view),
        table=matrix_table(result, view),
    )


def _map(result: AttentionResult, view: HeadView, number: NDArray[np.intp], width: int) -> Html:
    """Draw the cells (an image), the labels of both axes, and the scale.

    A small image has several pixels for a cell: not every program keeps the edges of a pixel.
    """
    tokens = [visible(token) for token in view.tokens]
    count, longest = len(tokens), LETTER * max(map(len, tokens)) + 12
    left, head = min(0.28 * width, longest), min(110.0, longest)
    side = (width - left - 4) / count
    high = min(side, 36.0)
    if width == WIDE:
        high = min(high, (_TALL * width - head - 42) / count)
    size, turned_size = (min(17.0, 0.9 * each) if each > 9 else 11.0 for each in (high, side))
    bottom, right = head + count * high, left + count * side
    fine = max(1, _PIXELS // count)
    large = number.repeat(fine, 0).repeat(fine, 1)
    links = [linked(result.units.pieces[at]) for at in view.at]
    names = [
        tag("text", short(tokens[n], left - 10, size), x=f"{left - 6:.1f}",
            y=f"{head + (n + 0.5) * high:.2f}", data_at=links[n])
        for n in range(0, count, 1 if high > 9 else int(np.ceil(11 / high)))
    ]  # fmt: skip
    turned = [
        tag("text", short(tokens[n], head - 10, turned_size),
            transform=f"translate({left + (n + 0.5) * side:.2f} {head - 6:.1f}) rotate(-90)",
            data_at=links[n])
        for n in range(0, count, 1 if side > 9 else int(np.ceil(11 / side)))
    ]  # fmt: skip
    second = next((n for n, at in enumerate(view.at) if result.sides[at] == 1), 0)
    parts = [
        _image(large, left, head, count * side, count * high),
        *_values(view.weights, number, left, head, side, high), words("end", size, *names),
        words("start", turned_size, *turned),
        tag("g", _frame(left, head, count * side, count * high), class_="bx-att-cells"),
        *([_dashed(f"M0 {head + second * high:.1f}H{right:.1f}"),
           _dashed(f"M{left + second * side:.1f} 0V{bottom:.1f}")] if second else []),
        *_scale(left, bottom, float(view.weights.max())),
    ]  # fmt: skip
    name = name_of(view.heads, result.heads)
    beside = left + 275 + LETTER * len(name) < width
    x, y = (left + 275, bottom + 22) if beside else (left, bottom + 46)
    lines = [tag("text", each, x=f"{x:.1f}", y=f"{y + 20 * n:.1f}")
             for n, each in enumerate((name, visible(result.model)))]  # fmt: skip
    return paper(width, y + 42, *parts, words("start", 17, *lines))


def _dashed(path: str) -> Html:
    return tag("path", d=path, stroke="#111111", stroke_width=1.5, stroke_dasharray="6 4")


def _values(
    weights: Floats, number: NDArray[np.intp], left: float, head: float, side: float, high: float
) -> list[Html]:
    """Print the values in cells that are large enough, a text for each row."""
    size = min(17.0, 0.42 * side, 0.6 * high)
    if size < _SMALLEST:
        return []
    rows = []
    for r, row in enumerate(weights):
        values = [
            tag("tspan", _printed(row[c]), x=f"{left + (c + 0.5) * side:.1f}",
                fill=_ink(int(number[r, c])))
            for c in np.flatnonzero(row >= _LEAST)
        ]  # fmt: skip
        rows.append(tag("text", *values, y=f"{head + (r + 0.5) * high:.1f}"))
    return [words("middle", size, *rows)]


def _printed(weight: float) -> str:
    """Print a weight in two digits.

    >>> _printed(0.256), _printed(0.999)
    ('.26', '1.0')
    """
    return f"{weight:.1f}" if weight >= 1 - _LEAST else f"{weight:.2f}"[1:]


def _ink(shade: int) -> str | None:
    """Return white where it is easier to read on a shade than the black of the paper."""
    red, green, blue = _PAPER[shade].astype(float)
    return None if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"


def _scale(left: float, bottom: float, top: float) -> list[Html]:
    y = f"{bottom + 22:.1f}"
    return [
        _image(np.arange(256)[None, :], left + 64, bottom + 16, 120, 12),
        _frame(left + 64, bottom + 16, 120, 12),
        words("end", 17, tag("text", "0", x=f"{left + 58:.1f}", y=y)),
        words("start", 17, tag("text", f"{top:.4g}", x=f"{left + 190:.1f}", y=y)),
    ]


def stage(result: AttentionResult, view: HeadView) -> dict[str, object]:
    """Return the heat map for `attention.js`, with what it says of a cell that is pointed at.

    The exact values of a large matrix are not sent: the script reads them off the colours. Nor is
    the image of the cells sent twice: the script puts that of the wide drawing into the narrow one.
    """
    drawn = map_picture(result, view)
    sizes = (("wide", drawn.wide), ("narrow", drawn.narrow))
    markup = join(
        tag("p", class_="bx-att-said", aria_live="polite"),
        tag("div", *(tag("div", each, class_=f"bx-{size}") for size, each in sizes),
            class_="bx-drawing bx-att-map", role="application", tabindex=0, aria_label=drawn.alt,
            aria_roledescription="heat map"),
    )  # fmt: skip
    before, _, after = markup.markup.rpartition(_IMAGE.findall(markup.markup)[0])
    exact = view.weights.size <= _EXACT
    return {
        "markup": before + after,
        "tokens": [visible(token) for token in view.tokens],
        "pieces": [result.units.pieces[at] for at in view.at],
        "values": [round(float(each), 4) for each in view.weights.flat] if exact else [],
        "top": float(view.weights.max()),
    }


# -- every head ------------------------------------------------------------------------------------


def grid_picture(
    result: AttentionResult,
    grid: AttentionGrid,
    ranked: Sequence[RankedHead],
    *,
    shown: Sequence[Place] = (),
) -> Picture:
    """Draw the small maps of all heads."""
    return picture(
        "attention-all-heads",
        lambda width: heads_map(width, grid.pictures, shown),
        alt=describe_grid(result),
        table=ranking_table(ranked)[:200],
    )


def heads_map(
    width: int, number: NDArray[np.uint8], shown: Sequence[Place], says: Sequence[str] = ()
) -> Html:
    """Draw a map for each head: layers are rows, heads are columns.

    All maps are one image, in which a white line is between them.

    Args:
        width: of the drawing.
        number: the colours, (L, H, r, c).
        shown: the heads that are marked.
        says: what each head says when it is pointed at, (L * H); then a click picks it.
    """
    layers, heads, rows, columns = number.shape
    side = (width - 30) / heads
    high, wide = (side * n / (n + 1) if n > 1 else side for n in (rows, columns))
    gaps = [(0, 0), (0, 0), (0, int(rows > 1)), (0, int(columns > 1))]
    whole = np.pad(number, gaps).transpose(0, 2, 1, 3)
    whole = whole.reshape(whole.shape[0] * whole.shape[1], -1)
    tops = [tag("text", str(head), x=f"{30 + head * side + wide / 2:.2f}", y=12)
            for head in range(heads)]  # fmt: skip
    names = [tag("text", str(layer), x=24, y=f"{22 + layer * side + high / 2:.2f}")
             for layer in range(layers)]  # fmt: skip

    def frame(layer: int, head: int) -> Html:
        number = layer * heads + head
        look: dict[str, str | int] = {"stroke": "#999999"}
        if (layer, head) in shown:
            look = {"stroke": "#d55e00", "stroke_width": 3}
        if says:
            look |= pick("head", number, stop=not number)
            look |= {"data_say": "", "aria_label": says[number]}
        return tag(
            "rect", x=f"{30 + head * side:.2f}", y=f"{22 + layer * side:.2f}",
            width=f"{wide:.2f}", height=f"{high:.2f}", fill="none", pointer_events="all",
            data_head=short_name((layer, head)), **look,
        )  # fmt: skip

    frames = [frame(layer, head) for head in range(heads) for layer in range(layers)]
    return paper(
        width, 24 + layers * side, words("middle", 15, *tops), words("end", 15, *names),
        _image(whole, 30, 22, heads * side, layers * side),
        tag("g", *frames, class_="bx-att-heads-map", data_rove=layers if says else None),
        **({"role": "group"} if says else {}),
    )  # fmt: skip


def head_grid(result: AttentionResult, grid: AttentionGrid, view: HeadView) -> Html:
    """Draw the small maps for the page, where a click shows a head."""
    notes = [
        f"Layer {layer}, head {head}: {head_note(result, layer, head)}"
        for layer in range(result.layers)
        for head in range(result.heads)
    ]
    drawn = heads_map(NARROW, grid.pictures, view.heads.places, notes)
    return tag(
        "figure",
        tag("div", drawn, role="group", aria_label=describe_grid(result)),
        tag("p", "\u00a0", class_="bx-att-said", data_readout="", aria_hidden="true"),
        class_="bx-picture",
        data_name="attention-grid",
    )

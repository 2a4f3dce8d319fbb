"""The lens tab: the rank of some answers in every layer, raw and affine."""

import math

import pandas as pd

from app.features.xray.result import XrayResult
from app.features.xray.result_lens import LensPaths
from app.features.xray.view_words import column_name
from app.words.blocks import hint, record_table
from app.words.format import moment, percent
from app.words.html import Html, join, tag, visible
from app.words.lines import printed_width
from app.words.pictures import Picture, picture, svg

_HIGH, _TOP, _BOTTOM = 300, 14, 34
_DASHES = ("", "7 5", "2 4", "10 4 2 4")
_COLOURS = (0, 5, 2, 1)

NOTE = (
    "The lens gives the vectors of every layer to the model’s output head, which turns vectors "
    "into answers, as if the model ended there. But this head was trained on vectors of the last "
    "layer only. In the first layers the raw lens may say little: what looks like a wild guess may "
    "only be a vector in other coordinates. The affine lens first maps each layer to the last one, "
    "by a linear map fitted once on 100 texts. It still reads only what a linear map can find. "
    "Compare both before you say that a layer “does not know” a word."
)


def paths(found: LensPaths) -> Picture:
    """Draw the ranks of the answers over the layers, on a logarithmic scale, one panel per lens."""
    return picture(
        "xray-lens",
        lambda width: _panels(found, width),
        alt=describe(found),
        table=table(found),
    )


def describe(found: LensPaths) -> str:
    """Say how the answer that is followed rises."""
    said = []
    for number, lens in enumerate(found.lenses):
        ranks = found.ranks[number, 0]
        first = next((column for column, rank in enumerate(ranks) if rank == 1), None)
        where = f"first {moment(first)}" if first is not None else "never first"
        said.append(f"by the {lens} lens rank {ranks[0]:,} in the input, {where}")
    return f"{visible(found.names[0])} of {found.count:,} answers: {'; '.join(said)}."


def table(found: LensPaths) -> pd.DataFrame:
    """Return all ranks and probabilities drawn."""
    rows = [
        (lens, name, column_name(column), int(found.ranks[k, n, column]),
         float(found.shares[k, n, column]))
        for k, lens in enumerate(found.lenses)
        for n, name in enumerate(found.names)
        for column in range(found.ranks.shape[2])
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["lens", "answer", "after", "rank", "probability"])


def _panels(found: LensPaths, width: int) -> Html:
    wide = width > 500
    room = width / 2 if wide else width
    parts = []
    for number in range(len(found.lenses)):
        x, y = (number * room, 0) if wide else (0, number * (_HIGH + 20))
        inner = _panel(found, number, room - (16 if wide else 0))
        parts.append(tag("g", *inner, transform=f"translate({x:g} {y:g})"))
    return svg(width, _HIGH if wide else 2 * _HIGH + 20, *parts)


def _panel(found: LensPaths, number: int, width: float) -> list[Html]:
    """Draw one lens."""
    columns = int(found.ranks.shape[2])
    lowest = math.log10(found.count)
    named = max(printed_width(visible(name), 15) for name in found.names)
    left, right, top, bottom = 56, 14 + min(named, 90), _TOP + 20, _HIGH - _BOTTOM

    def across(column: int) -> float:
        return left + (width - left - right) * column / max(1, columns - 1)

    def down(rank: float) -> float:
        return top + (bottom - top) * math.log10(rank) / lowest

    parts = [tag("text", f"{found.lenses[number]} lens", x=left, y=_TOP, class_="bx-svg-strong")]
    for decade in range(int(lowest) + 1):
        level = f"{down(10**decade):.1f}"
        parts += [
            tag(
                "line", x1=left, x2=f"{width - right:.1f}", y1=level, y2=level, class_="bx-svg-grid"
            ),
            tag("text", f"{10**decade:,}", x=left - 8, y=level, class_="bx-svg-name bx-svg-small"),
        ]
    parts += [
        tag("text", "in" if column == 0 else str(column - 1), x=f"{across(column):.1f}",
            y=bottom + 18, class_="bx-svg-middle bx-svg-small")
        for column in range(columns)
    ]  # fmt: skip
    taken: list[float] = []
    for each, name in enumerate(found.names):
        points = [(across(c), down(rank)) for c, rank in enumerate(found.ranks[number, each])]
        colour = f"var(--bx-c{_COLOURS[each % 4]})"
        parts.append(
            tag("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points), fill="none",
                stroke=colour, stroke_width=3 if each == 0 else 2,
                stroke_dasharray=_DASHES[each % 4] or None)
        )  # fmt: skip
        for column, (x, y) in enumerate(points):
            says = (
                f"{moment(column)}: {visible(name)} has rank "
                f"{found.ranks[number, each, column]:,} "
                f"({percent(float(found.shares[number, each, column]), finest=4)})"
            )
            dot = tag("circle", tag("title", says), cx=f"{x:.1f}", cy=f"{y:.1f}", r=4, fill=colour)
            parts.append(dot)
        y = points[-1][1]
        while any(abs(y - other) < 16 for other in taken):  # names that would overlap
            y += 16
        taken.append(y)
        parts.append(
            tag("text", visible(name), x=f"{points[-1][0] + 10:.1f}", y=f"{y:.1f}",
                class_="bx-svg-small" + (" bx-svg-strong" if each == 0 else ""))
        )  # fmt: skip
    return parts


def best(result: XrayResult, found: LensPaths) -> Html:
    """Draw the best answers after every layer, by both lenses, side by side."""
    rows: list[list[Html | str]] = [
        [
            column_name(column),
            *(_named(result, found.best[number][column]) for number in range(len(found.lenses))),
        ]
        for column in range(result.layers + 1)
    ]
    heads = ("after", *(f"{lens} lens" for lens in found.lenses))
    return record_table("The best answers after every layer, by both lenses", heads, rows)


def _named(result: XrayResult, row: tuple[tuple[str, float], ...]) -> Html:
    parts = [
        tag("strong" if name == result.followed else "span", f"{visible(name)} ",
            tag("small", percent(share, 0)))
        for name, share in row
    ]  # fmt: skip
    return join(*parts, by=" · ")


def explanation() -> Html:
    """Say what the lens can and cannot show."""
    return hint(NOTE)

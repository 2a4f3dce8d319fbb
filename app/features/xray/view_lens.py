"""The lens tab: the rank of some answers in every layer, raw and affine."""

import math
from functools import partial

from app.features.xray.result import XrayResult
from app.features.xray.result_lens import LensPaths
from app.features.xray.view_words import column_name
from app.words.blocks import hint, record_table
from app.words.format import moment, percent
from app.words.html import Html, join, tag, visible
from app.words.lines import printed_width
from app.words.panel import SMALL, Panel
from app.words.pictures import Picture, beside, picture

_HIGH = 300
_STRONG = f"{SMALL} bx-svg-strong"
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
        lambda width: beside(
            width, _HIGH, [partial(_panel, found, n) for n in range(len(found.lenses))]
        ),
        alt=describe(found),
        table=[
            (
                lens,
                name,
                column_name(column),
                int(found.ranks[k, n, column]),
                float(found.shares[k, n, column]),
            )
            for k, lens in enumerate(found.lenses)
            for n, name in enumerate(found.names)
            for column in range(found.ranks.shape[2])
        ],
        columns=("lens", "answer", "after", "rank", "probability"),
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


def _panel(found: LensPaths, number: int, width: float) -> list[Html]:
    """Draw one lens."""
    columns = int(found.ranks.shape[2])
    right = width - 14 - min(max(printed_width(visible(name), 15) for name in found.names), 90)
    across = (0, max(1, columns - 1))
    panel = Panel((56, right), (34, 266), across, (found.count, 1), bend_y=math.log10)
    panel.text(0, 1, f"{found.lenses[number]} lens", dy=-20, class_="bx-svg-strong")
    panel.levels((10**d, f"{10**d:,}") for d in range(int(math.log10(found.count)) + 1))
    panel.ticks(((c, str(c - 1) if c else "in") for c in range(columns)), dy=18)
    taken: list[float] = []
    for each, name in enumerate(found.names):
        points = list(enumerate(found.ranks[number, each].tolist()))
        colour = f"var(--bx-c{_COLOURS[each % 4]})"
        panel.line(points, stroke=colour, stroke_width=2 if each else 3,
                   stroke_dasharray=_DASHES[each % 4] or None)  # fmt: skip
        for column, rank in points:
            share = percent(float(found.shares[number, each, column]), finest=4)
            says = f"{moment(column)}: {visible(name)} has rank {rank:,} ({share})"
            panel.dot(column, rank, 4, says, fill=colour)
        last = y = panel.y(points[-1][1])
        while any(abs(y - other) < 16 for other in taken):  # names that would overlap
            y += 16
        taken.append(y)
        panel.text(*points[-1], name, 10, y - last, class_=SMALL if each else _STRONG)
    return panel.drawn


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

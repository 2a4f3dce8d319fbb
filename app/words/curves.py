"""Curves: numbers over a whole-numbered axis, such as layers or positions."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.words.html import Html, tag, visible
from app.words.pictures import svg

_DASHES = ("", "7 5", "2 4", "10 4 2 4")
_TICKS = 8
"""Most labels on the horizontal axis."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a drawing.

    Attributes:
        name: written at its end; "" for none.
        values: one number per place of the axis.
    """

    name: str
    values: Sequence[float]


def curves(
    lines: Sequence[Curve],
    *,
    width: int,
    height: int,
    ends: tuple[float, float],
    axis: str,
    names: Sequence[str] = (),
    marked: int | None = None,
    dots: bool = False,
) -> Html:
    """Draw curves over the places 0, 1, 2 ...; they differ in colour and in dashes.

    Args:
        lines: curves of equal length, at least one place long.
        width: of the drawing.
        height: of the drawing.
        ends: lowest and highest value of the vertical axis.
        axis: what the horizontal axis counts.
        names: of its places; () for their numbers.
        marked: a place to mark with a vertical line.
        dots: whether to mark every number; for axes with few places.
    """
    places = len(lines[0].values)
    named = max((len(line.name) for line in lines), default=0)
    left, right, top, bottom = 52, 12 + 9 * named, 10, height - 54
    low, high = ends

    def across(place: float) -> float:
        return left + (width - left - right) * place / max(1, places - 1)

    def up(value: float) -> float:
        return bottom - (bottom - top) * (value - low) / (high - low)

    drawn: list[Html] = []
    for value in (low, (low + high) / 2, high):
        level = f"{up(value):.1f}"
        drawn += [
            tag("line", x1=left, x2=width - right, y1=level, y2=level, class_="bx-svg-grid"),
            tag(
                "text", f"{value:.3g}".replace("-", "−"), x=left - 8, y=level, class_="bx-svg-name"
            ),
        ]
    step = -(-places // _TICKS)
    drawn += [
        tag(
            "text",
            names[place] if names else str(place),
            x=f"{across(place):.1f}",
            y=bottom + 18,
            text_anchor="middle",
        )
        for place in range(0, places, step)
    ]
    drawn.append(tag("text", axis, x=left, y=height - 12))
    if marked is not None:
        here = f"{across(marked):.1f}"
        drawn.append(tag("line", x1=here, x2=here, y1=top, y2=bottom, class_="bx-svg-here"))
    for number, line in enumerate(lines):
        points = [(across(place), up(value)) for place, value in enumerate(line.values)]
        colour = f"var(--bx-c{(0, 5, 2, 1)[number % 4]})"
        drawn.append(
            tag("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points), fill="none",
                stroke=colour, stroke_width=2.5, stroke_dasharray=_DASHES[number % 4] or None)
        )  # fmt: skip
        if dots:
            drawn += [
                tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=4, fill=colour) for x, y in points
            ]
        end_x, end_y = points[-1]
        drawn.append(tag("text", visible(line.name), x=f"{end_x + 10:.1f}", y=f"{end_y:.1f}"))
    return svg(width, height, *drawn)

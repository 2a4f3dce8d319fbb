"""Curves: numbers over a whole-numbered axis, such as layers or positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from app.words.html import Html
from app.words.panel import Panel
from app.words.pictures import svg

_DASHES = ("", "7 5", "2 4", "10 4 2 4")
_TICKS = 8  # most labels on the horizontal axis


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a drawing."""

    name: Annotated[str, 'written at its end; "" for none']
    values: Annotated[Sequence[float], "one number per place of the axis"]


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

    All have equal lengths. `ends` are the lowest and the highest value; `names` are those of the
    places, if not their numbers; a vertical line stands at the place `marked`.
    """
    places = len(lines[0].values)
    named = max((len(line.name) for line in lines), default=0)
    low, high = ends
    panel = Panel((52, width - 12 - 9 * named), (10, height - 54), (0, max(1, places - 1)), ends)
    panel.levels(
        ((value, f"{value:.3g}".replace("-", "−")) for value in (low, (low + high) / 2, high)),
        class_="bx-svg-name",
    )
    shown = range(0, places, -(-places // _TICKS))
    panel.ticks(
        ((place, names[place] if names else str(place)) for place in shown),
        dy=18, class_=None, text_anchor="middle",
    )  # fmt: skip
    panel.text(0, low, axis, dy=42, class_=None)
    if marked is not None:
        panel.post(marked, class_="bx-svg-here")
    for number, line in enumerate(lines):
        colour = f"var(--bx-c{(0, 5, 2, 1)[number % 4]})"
        points = list(enumerate(line.values))
        panel.line(
            points, stroke=colour, stroke_width=2.5, stroke_dasharray=_DASHES[number % 4] or None
        )
        for place, value in points if dots else ():
            panel.dot(place, value, 4, fill=colour)
        panel.text(*points[-1], line.name, dx=10, class_=None)
    return svg(width, height, *panel.drawn)

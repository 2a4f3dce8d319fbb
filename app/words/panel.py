"""A panel: the place of a chart in a drawing. Only here does a number become a coordinate.

A panel has two scales. Its marks take numbers, and are kept in the order in which they were made:
lines and dots through points, levels and posts across the whole panel, spans, texts beside a point.
What is not a number (a distance from a point, the size of a dot) is in units of the drawing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any

from app.words.html import Html, tag, visible
from app.words.lines import units

Ends = tuple[float, float]
Look = Any  # the value of an attribute: a class, a colour, a width

# Small letters that begin, end, or have their middle where they are put.
SMALL, NAME, MIDDLE = "bx-svg-small", "bx-svg-name bx-svg-small", "bx-svg-middle bx-svg-small"


@dataclass(slots=True)
class Panel:
    """A place with two scales, and what was drawn there."""

    across: Annotated[Ends, "left and right edge, in units of the drawing"]
    down: Annotated[Ends, "upper and lower edge"]
    xs: Annotated[Ends, "the numbers at the left and the right edge"] = (0.0, 1.0)
    ys: Annotated[
        Ends, "the numbers at the lower and the upper edge; rows from the top are `(rows, 0)`"
    ] = (0.0, 1.0)
    bend_x: Annotated[
        Callable[[float], float], "makes the scale other than even, such as `math.log10`"
    ] = float
    bend_y: Annotated[Callable[[float], float], "the same for the vertical scale"] = float
    drawn: Annotated[list[Html], "the marks, the first at the back"] = field(default_factory=list)

    @classmethod
    def of_units(cls, width: float, height: float) -> "Panel":
        """Return a panel whose numbers are units of the drawing: for what belongs to no scale."""
        return cls((0, width), (0, height), (0, width), (height, 0))

    @classmethod
    def even(cls, across: Ends, down: Ends, points: Iterable[Sequence[float]]) -> "Panel":
        """Return a panel with one scale for both axes, in whose middle the points are."""
        ends = [(min(numbers), max(numbers)) for numbers in zip(*points, strict=True)]
        rooms = across[1] - across[0], down[1] - down[0]
        unit = max((high - low) / room for (low, high), room in zip(ends, rooms, strict=True))
        half = [max(unit, 1e-9) * room / 2 for room in rooms]
        middle = [(low + high) / 2 for low, high in ends]
        xs, ys = ((m - h, m + h) for m, h in zip(middle, half, strict=True))
        return cls(across, down, xs, ys)

    def x(self, number: float) -> float:
        """Return where a number is on the horizontal axis."""
        (left, right), low, high = self.across, *map(self.bend_x, self.xs)
        return left + (right - left) * (self.bend_x(number) - low) / ((high - low) or 1.0)

    def y(self, number: float) -> float:
        """Return where a number is on the vertical axis."""
        (top, bottom), low, high = self.down, *map(self.bend_y, self.ys)
        return bottom - (bottom - top) * (self.bend_y(number) - low) / ((high - low) or 1.0)

    @contextmanager
    def group(self, **look: Look) -> Iterator[None]:
        """Put what is drawn inside into one group."""
        before, self.drawn = self.drawn, []
        yield
        self.drawn = [*before, tag("g", *self.drawn, **look)]

    def line(self, points: Iterable[tuple[float, float]], **look: Look) -> None:
        """Draw a line through points."""
        places = " ".join(f"{units(self.x(x))},{units(self.y(y))}" for x, y in points)
        look = {"fill": None if "class_" in look else "none", **look}
        self.drawn.append(tag("polyline", points=places, **look))

    def level(self, y: float, xs: Ends | None = None, **look: Look) -> None:
        """Draw a horizontal line, all across or between two numbers; a grid line, if not told."""
        left, right = (units(self.x(x)) for x in xs or self.xs)
        look = look or {"class_": "bx-svg-grid"}
        self.drawn.append(
            tag("line", x1=left, x2=right, y1=units(self.y(y)), y2=units(self.y(y)), **look)
        )

    def post(self, x: float, ys: Ends | None = None, **look: Look) -> None:
        """Draw a vertical line, from bottom to top or between two numbers; see `level`."""
        low, high = (self.y(y) for y in ys or self.ys)
        place, look = units(self.x(x)), look or {"class_": "bx-svg-grid"}
        self.drawn.append(tag("line", x1=place, x2=place, y1=units(low), y2=units(high), **look))

    def span(
        self,
        xs: Ends | None = None,
        ys: Ends | None = None,
        *,
        inset: float = 0,
        below: float = 0,
        least: float = 0,
        **look: Look,
    ) -> None:
        """Draw a rectangle between two numbers, or all across.

        `inset` units are left free above and below; it goes on `below` for so many, and is at least
        `least` wide.
        """
        left, right = sorted(map(self.x, xs or self.xs))
        top, bottom = sorted(map(self.y, ys or self.ys))
        width, height = max(least, right - left), bottom + below - top - 2 * inset
        place = {"x": left, "y": top + inset, "width": width, "height": height}
        self.drawn.append(tag("rect", **{name: units(at) for name, at in place.items()}, **look))

    def dot(self, x: float, y: float, r: float, says: str = "", **look: Look) -> None:
        """Draw a round mark, with words for the one who points at it."""
        words = [tag("title", says)] if says else []
        self.drawn.append(
            tag("circle", *words, cx=units(self.x(x)), cy=units(self.y(y)), r=units(r), **look)
        )

    def diamond(self, x: float, y: float, wide: float, high: float, **look: Look) -> None:
        """Draw a mark with four edges; `wide` and `high` are half its size."""
        top = f"M{units(self.x(x))} {units(self.y(y) - high)}"
        sides = f"l{wide:g} {high:g}l-{wide:g} {high:g}l-{wide:g}-{high:g}z"
        self.drawn.append(tag("path", d=top + sides, **look))

    def whisker(self, xs: Ends, y: float, high: float, **look: Look) -> None:
        """Draw an interval as a line with a short post at each end; `high` is half of a post."""
        left, right = (units(self.x(x)) for x in xs)
        path = f"M{left} {units(self.y(y) - high)}v{2 * high:g}m0-{high:g}H{right}"
        self.drawn.append(tag("path", d=f"{path}m0-{high:g}v{2 * high:g}", **look))

    def text(
        self, x: float, y: float, says: Html | str, dx: float = 0, dy: float = 0, **look: Look
    ) -> None:
        """Write beside a point, `dx` and `dy` units away."""
        place = {"x": units(self.x(x) + dx), "y": units(self.y(y) + dy)}
        shown = visible(says) if isinstance(says, str) else says
        self.drawn.append(tag("text", shown, **place, **{"class_": SMALL, **look}))

    def levels(self, ticks: Iterable[tuple[float, str]], **look: Look) -> None:
        """Draw the grid of the vertical axis, with the numbers at its left."""
        for number, says in ticks:
            self.level(number)
            self.text(self.xs[0], number, says, -8, **{"class_": NAME, **look})

    def ticks(self, ticks: Iterable[tuple[float, str]], dy: float = 16, **look: Look) -> None:
        """Write the numbers of the horizontal axis below it."""
        for number, says in ticks:
            self.text(number, self.ys[0], says, 0, dy, **{"class_": MIDDLE, **look})

    def sample(self, x: float, y: float, says: str, long: float = 24, **look: Look) -> None:
        """Draw what a line of `long` units looks like, and its name behind it."""
        left, middle = self.x(x), units(self.y(y))
        self.drawn.append(
            tag("line", x1=units(left), x2=units(left + long), y1=middle, y2=middle, **look)
        )
        self.text(x, y, says, long + 7)

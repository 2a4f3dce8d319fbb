"""Learning curves: the lines of SVG files stored with the weights, drawn again.

A file is untrusted input. Of a chart as `training/curve.py` writes it, the lines, their names and
the numbers on the axes are read, and nothing else; what is shown is drawn here.
"""

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.words.blocks import line
from app.words.format import count
from app.words.html import Html, join, tag, visible
from app.words.panel import NAME, Panel
from app.words.pictures import WIDE, Picture, figure, picture, svg

Ticks = Sequence[tuple[float, float]]
"""Numbers of an axis: the place in the drawing, and the value."""

_SPACE = "{http://www.w3.org/2000/svg}"
_MOST_LINES = 12
_MOST_POINTS = 2_000  # of one line
_MOST_LETTERS = 60  # of a name
_MOST_WORDS = 300  # characters of the title
_ROWS = 100  # of the table
_LOOKS = 6  # colours with dashes of their own in the style sheet; further lines are thicker


@dataclass(frozen=True, slots=True)
class Curves:
    """The lines of one chart.

    Attributes:
        title: what the chart is called; "" if it has no title.
        x: what the horizontal axis counts.
        y: what the vertical axis shows.
        lines: name -> points (N, 2), in the units of the axes.
    """

    title: str
    x: str
    y: str
    lines: dict[str, np.ndarray]


def curve(name: str, svg_file: bytes) -> Html:
    """Draw a learning curve, or say that it cannot be read.

    Args:
        name: file name.
        svg_file: contents of the file.
    """
    found = read_curves(svg_file)
    if found is None:
        return line(f"{visible(name)} is not shown: it is not a chart that this site can read.")
    return join(
        tag("h2", visible(found.title) or visible(name), class_="bx-card-title"),
        figure(curves_picture(name, found)),
    )


def curves_picture(name: str, found: Curves) -> Picture:
    """Draw the lines of a chart."""
    title = found.title or name
    last = ", ".join(f"{label} {points[-1, 1]:.2f}" for label, points in found.lines.items())
    return picture(
        name.rpartition(".")[0],
        lambda width: _draw(found, width),
        alt=f"{title}: {count(len(found.lines), 'line')}. Last values, {found.y}: {last}.",
        table=curves_table(found),
    )


def curves_table(found: Curves) -> pd.DataFrame:
    """List the lines at up to 100 evenly spaced places; between two points they are straight."""
    first = min(points[0, 0] for points in found.lines.values())
    last = max(points[-1, 0] for points in found.lines.values())
    most = max(len(points) for points in found.lines.values())
    at = np.linspace(first, last, min(_ROWS, most))
    lines = {
        name: np.interp(at, points[:, 0], points[:, 1]) for name, points in found.lines.items()
    }
    return pd.DataFrame({found.x: at, **lines}).round(3)


def _draw(found: Curves, width: int) -> Html:
    """Draw the axes, the lines, and their names below: in one column, on a wide screen in two."""
    end = max(points[-1, 0] for points in found.lines.values()) or 1.0
    top = max(1.0, math.ceil(max(points[:, 1].max() for points in found.lines.values())))
    panel = Panel((40, width - 16), (24, 324), (0, end), (0, top))
    panel.levels((tick, str(tick)) for tick in range(0, int(top) + 1, 1 + int(top) // 6))
    quarters = (end * quarter / 4 for quarter in range(5))
    panel.ticks(((step, f"{step:,.0f}") for step in quarters), class_="bx-card-tick")
    panel.text(0, top, found.y, -40, -16)
    panel.text(end, 0, found.x, dy=36, class_=NAME)
    key, columns = Panel.of_units(width, 1), 2 if width == WIDE else 1
    for number, (name, points) in enumerate(found.lines.items()):
        panel.line(points.tolist(), class_=_look(number))
        row, column = divmod(number, columns)
        key.sample(40 + column * width / 2, 384 + 22 * row, name, 32, class_=_look(number))
    height = 376 + 22 * math.ceil(len(found.lines) / columns)
    return svg(width, height, *panel.drawn, *key.drawn)


def _look(number: int) -> str:
    thick = " bx-card-thick" if number // _LOOKS % 2 else ""
    return f"bx-card-line bx-card-l{number % _LOOKS}{thick}"


def read_curves(svg_file: bytes) -> Curves | None:
    """Read the lines of a chart; None if the file is none, or too large a one."""
    try:
        text = svg_file.decode("utf-8")
        if "<!" in text:  # no entities
            return None
        root = ElementTree.fromstring(text)  # noqa: S314 - no entities, so no expansion
        return _curves(root) if root.tag == f"{_SPACE}svg" else None
    except (ValueError, KeyError, IndexError, StopIteration, ElementTree.ParseError):
        return None


def _curves(root: ElementTree.Element) -> Curves | None:
    """Read a parsed chart.

    Raises:
        ValueError: an axis or a line is not as expected; KeyError and IndexError as well.
    """
    texts = [part for part in root if part.tag == f"{_SPACE}text"]
    across = [part for part in texts if part.get("text-anchor") == "middle"]
    axis = next(part for part in across if not _is_number(_words(part)))
    below = [(float(part.attrib["x"]), float(_words(part))) for part in across if part is not axis]
    # A number beside the vertical axis is written right after the line it belongs to.
    beside = [
        (float(before.attrib["y1"]), float(_words(part)))
        for before, part in zip(root, list(root)[1:], strict=False)
        if part.tag == f"{_SPACE}text" and part.get("text-anchor") == "end"
    ]
    unit = next(part for part in texts if part.get("text-anchor") is None)
    parts = list(root)
    lines: dict[str, np.ndarray] = {}
    for at, part in enumerate(parts):
        if part.tag == f"{_SPACE}polyline":
            name = _words(parts[at + 2])  # the sample of the line comes between
            lines[name] = _points(part.attrib["points"], below, beside)
    if not 0 < len(lines) <= _MOST_LINES:
        return None
    title = " ".join((root.findtext(f"{_SPACE}title") or "").split())[:_MOST_WORDS]
    return Curves(title, _words(axis), _words(unit), lines)


def _points(text: str, below: Ticks, beside: Ticks) -> np.ndarray:
    """Turn places in the drawing into values of the axes: (N, 2)."""
    places = np.array([[float(value) for value in pair.split(",")] for pair in text.split()])
    if places.ndim != 2 or places.shape[1] != 2 or len(places) > _MOST_POINTS:
        raise ValueError("not a line")
    values = np.stack([_scaled(places[:, 0], below), _scaled(places[:, 1], beside)], axis=1)
    if not np.isfinite(values).all() or (np.diff(values[:, 0]) < 0).any():
        raise ValueError("not a curve over steps")
    return values


def _scaled(places: np.ndarray, ticks: Ticks) -> np.ndarray:
    """Measure places along an axis, by its first and its last number."""
    (start, low), (end, high) = ticks[0], ticks[-1]
    if start == end:
        raise ValueError("an axis with one number")
    return low + (places - start) * (high - low) / (end - start)


def _words(part: ElementTree.Element) -> str:
    return " ".join((part.text or "").split())[:_MOST_LETTERS]


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()

"""Draw a running text with marks: tinted letters, underlines in rows, and a label below each.

Marks may overlap: each gets a row of its own below the line. Labels are drawn below the text, so
that no label comes between a word and its punctuation.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import pandas as pd

from app.features.ner.result import NerResult
from app.words.blocks import sideways
from app.words.html import Html, tag, visible
from app.words.lines import Box, Typeset, letters, printed_width
from app.words.lines import units as _n
from app.words.pictures import ROWS, Picture, data_table, figure, linked, svg
from app.words.screen import Drawn, Part, Table
from bert_core.text.encoding import Span

SIZE, LABEL = 19, 13.5
"""Sizes of the letters of the text and of the labels; the page's style sheet repeats them."""

LINKED = 4000
"""Characters; in a longer text only marks light up, not every piece."""

_BOX, _ROW, _GAP = 26, 25, 8  # heights: of a line of letters, of a row of labels, between lines
_CLEAR = 8  # between two labels in a row
_NEAR = 0.01

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Okabe and Ito's colours; with the five shapes of underlines they give 30 different pairs."""

Colours = Mapping[str, str]
"""The colours that the visitor chose, by kind."""

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_LONG = 2500  # characters; a longer text scrolls in its own frame


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked stretch of the text.

    Attributes:
        start: its first character.
        end: the character after its last.
        label: the text below it.
        told: the text of its tooltip.
        colour: a colour in CSS; ours, or a checked one.
        stroke: number of the shape of its underline, below `STROKES`.
        weight: from 0 to 1; deepens the tint and thickens the underline.
        at: keys that link it to its pieces.
        differs: whether it gets a dashed frame.
    """

    start: int
    end: int
    label: str
    told: str
    colour: str
    stroke: int = 0
    weight: float = 0.5
    at: str | None = None
    differs: bool = False


STROKES = 5
"""Shapes of underlines: solid, dashed, double, dotted, zigzag."""
_DASHES = {1: "9 4", 3: "2 4"}


def draw_text(
    text: str, marks: Sequence[Mark], width: int, spots: Sequence[tuple[Span, str]] = ()
) -> Html:
    """Draw a text and its marks.

    Args:
        text: as typed.
        marks: in any order; they may overlap.
        width: of the drawing.
        spots: stretches that light up with others, each with its keys.
    """
    cuts = [place for mark in marks for place in (mark.start, mark.end)]
    lines = Typeset(text, width, SIZE, cuts, words=len(text) <= LINKED)
    placed = [(mark, box) for mark in marks for box in lines.where(mark.start, mark.end)]
    placed.sort(key=lambda each: (each[1].line, each[1].left, -each[1].right))
    rows = _rows(placed, width)
    used = [(box.line, row) for (_, box), (_, row) in zip(placed, rows, strict=True)]
    tops = _tops(lines.lines, used)
    linked = [_spot(box, tops, at) for place, at in spots for box in lines.where(*place)]
    drawn = [_mark(*each, row, tops, width) for each, row in zip(placed, rows, strict=True)]
    words = [
        word
        for box in lines.boxes
        if (word := letters(lines, box, tops[box.line] + _BOX / 2, "bx-ner-word")) is not None
    ]
    return svg(width, tops[-1], *linked, *drawn, *words)


def _rows(placed: Sequence[tuple[Mark, Box]], width: float) -> list[tuple[int, int]]:
    """Give each mark the first row for its underline and the first one for its label.

    Overlapping marks get different rows, and so do labels that would meet.
    """
    rows: list[tuple[int, int]] = []
    line = -1
    lines: list[float] = []  # where the last underline of each row ends
    labels: list[float] = []
    for mark, box in placed:
        if box.line != line:
            line, lines, labels = box.line, [], []
        row = _first(lines, box.left + _NEAR, 0)
        lines[row] = box.right
        below = row
        if box.start == mark.start:
            x, label = _label(mark, box, width)
            below = _first(labels, x, row)
            labels[below] = x + printed_width(label, LABEL) + _CLEAR
        rows.append((row, below))
    return rows


def _first(ends: list[float], left: float, least: int) -> int:
    """Return the first row, from a least one on, that is free from `left` on; add it if new."""
    row = next((n for n in range(least, len(ends)) if ends[n] <= left), max(least, len(ends)))
    ends += [0.0] * (row + 1 - len(ends))
    return row


def _label(mark: Mark, box: Box, width: float) -> tuple[float, str]:
    """Return where a label begins, and the label, shortened if it is wider than the drawing."""
    label = visible(mark.label)
    while len(label) > 1 and printed_width(label, LABEL) > width:
        label = f"{label[:-2]}…"
    return max(0.0, min(box.left, width - printed_width(label, LABEL))), label


def _tops(lines: int, rows: Sequence[tuple[int, int]]) -> list[float]:
    """Return the top of every line, and the height of all."""
    needed = [0] * lines
    for line, row in rows:
        needed[line] = max(needed[line], row + 1)
    tops = [2.0]
    for count in needed:
        tops.append(tops[-1] + _BOX + count * _ROW + _GAP)
    return tops


def _mark(mark: Mark, box: Box, rows: tuple[int, int], tops: Sequence[float], width: float) -> Html:
    """Draw one mark on one line: the tint, the underline and, where it begins, the label."""
    top = tops[box.line]
    under, below = (top + _BOX + 3 + row * _ROW for row in rows)
    parts = [
        tag("title", visible(mark.told)),
        tag("rect", x=_n(box.left), y=_n(top), width=_n(box.right - box.left), height=_BOX, rx=4,
            class_="bx-ner-tint bx-ner-differs" if mark.differs else "bx-ner-tint",
            fill_opacity=f"{0.1 + 0.3 * mark.weight:.3f}"),
        tag("path", d=_underline(mark.stroke, box, under), class_="bx-ner-line",
            stroke_width=f"{1.5 + 2 * mark.weight:.2f}",
            stroke_dasharray=_DASHES.get(mark.stroke)),
    ]  # fmt: skip
    if box.start == mark.start:
        x, label = _label(mark, box, width)
        if below > under:  # the label is further down: a thin line leads to it
            path = f"M{_n(box.left + 1)} {_n(under)}V{_n(below + 4)}"
            parts.append(tag("path", d=path, class_="bx-ner-line", stroke_width=1))
        parts.append(tag("text", label, x=_n(x), y=_n(below + 12), class_="bx-ner-name"))
    return tag(
        "g", *parts, class_="bx-ner-mark", style=f"--bx-c:{mark.colour}", data_at=mark.at,
        data_start=box.start, data_end=box.end,
    )  # fmt: skip


def _underline(stroke: int, box: Box, y: float) -> str:
    """Write the path of an underline in one of the shapes."""
    left, right = box.left + 1, max(box.left + 2, box.right - 1)
    if stroke == 2:  # two lines
        return f"M{_n(left)} {_n(y - 2)}H{_n(right)}M{_n(left)} {_n(y + 2)}H{_n(right)}"
    if stroke == 4:  # a zigzag
        steps = max(2, round((right - left) / 5))
        points = (
            f"L{_n(left + (right - left) * n / steps)} {_n(y + (2 if n % 2 else -2))}"
            for n in range(1, steps + 1)
        )
        return f"M{_n(left)} {_n(y - 2)}{''.join(points)}"
    return f"M{_n(left)} {_n(y)}H{_n(right)}"


def _spot(box: Box, tops: Sequence[float], at: str) -> Html:
    """Draw a place that can light up."""
    return tag(
        "rect", x=_n(box.left), y=_n(tops[box.line]), width=_n(box.right - box.left), height=_BOX,
        rx=3, class_="bx-ner-spot", fill_opacity=0, data_at=at,
    )  # fmt: skip


def framed(shown: Picture, text: str) -> Html:
    """Draw the picture of a text; a long one scrolls in a frame."""
    drawn = figure(shown)
    if len(text) <= _LONG:
        return drawn
    return tag(
        "div", drawn, class_="bx-ner-long", role="region", aria_label="The marked text", tabindex=0
    )


def drawn(shown: Picture, text: str, name: str) -> Drawn:
    """Draw the picture of a text; on a page, a long one scrolls in a frame."""
    return Drawn(framed(shown, text), name, shown)


def spots_of(result: NerResult) -> list[tuple[Span, str]]:
    """Return the places of the pieces, with the keys that link them; none in a long text."""
    if len(result.text) > LINKED:
        return []
    return [(span, linked([number])) for number, span in enumerate(result.pieces.spans)]


def colour_of(result: NerResult, kind: str, colours: Colours = MappingProxyType({})) -> str:
    """Return a kind's colour: the visitor's, or the same for every text of a model."""
    own = colours.get(kind, "")
    return own if _COLOUR.fullmatch(own) else COLOURS[_number(result, kind) % len(COLOURS)]


def stroke_of(result: NerResult, kind: str) -> int:
    """Return the number of the shape of a kind's underline."""
    return _number(result, kind) % STROKES


def _number(result: NerResult, kind: str) -> int:
    kinds = result.labels.kinds
    return kinds.index(kind) if kind in kinds else len(kinds)  # annotations may have other kinds


def score(value: float) -> str:
    """Format a score with two digits; rounding never makes it 0 or 1.

    >>> score(0.973), score(0.9999), score(0.0001)
    ('0.97', '> 0.99', '< 0.01')
    """
    shown = f"{value:.2f}"
    return {"1.00": "> 0.99", "0.00": "< 0.01"}.get(shown, shown)


def short_table(table: pd.DataFrame, words: str, name: str) -> Part:
    """Draw a table; a long one scrolls, and one that is too wide for a phone does, too."""
    if len(table) <= ROWS:
        return sideways(data_table(table, name), words)
    return Table(table.drop(columns="at", errors="ignore"), words, name)

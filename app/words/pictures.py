"""Pictures: SVG drawn here, with its words, its numbers as a table, and buttons to save both.

A picture is drawn twice from one function, for a wide and for a narrow screen, so that letters
keep their size; the style sheet shows the one that fits. The same markup serves the site, the
Gradio side and a page saved as a file. `assets/components/bridge.js` makes the buttons work.

Colours are CSS variables of `assets/site.css`; wherever colour distinguishes things, a pattern,
a dash or a word does so too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from app.words.format import shortened
from app.words.html import Html, tag, visible
from app.words.panel import Panel

if TYPE_CHECKING:
    import pandas as pd  # 0.5 s, which only files and Streamlit's tables wait for

    Frame = pd.DataFrame
else:
    Frame = Any

# Widths in units of the drawing, which are pixels while the picture has its natural size.
WIDE, NARROW = 760, 380

ROWS = 200  # the most rows of a table in the page: a longer one would slow every redraw down

_BAR, _GAP = 24, 10
_TRACK = 20
_LETTER = 8.6  # mean width of a letter of 17 pixels


# What was drawn: rows, or columns by their names.
Rows = Frame | Mapping[str, object] | Iterable[Sequence[object] | Mapping[str, object]]


@dataclass(frozen=True)
class Picture:
    """A drawing and everything needed to read it without seeing it."""

    name: Annotated[str, "a file name without extension"]
    wide: Annotated[Html, "the drawing for places wider than 38 rem, an `svg` element"]
    narrow: Annotated[Html, "the same for a narrow column or a phone"]
    alt: Annotated[str, "what it shows, in words"]
    rows: Annotated[Rows, "the numbers drawn"]
    live: Annotated[
        bool, "whether parts of it can be pointed at, which screen readers must then be told of"
    ] = False
    columns: Annotated[Sequence[str], "names of the columns, if the numbers are rows"] = ()

    @cached_property
    def table(self) -> Frame:
        """The numbers as a table."""
        return listed(self.rows, self.columns)


def picture(
    name: str,
    draw: Callable[[int], Html],
    *,
    alt: str,
    table: Rows,
    columns: Sequence[str] = (),
    live: bool = False,
) -> Picture:
    """Draw a picture for wide and narrow screens.

    `draw` draws it for `WIDE` or `NARROW` units as an `svg` element. `live` parts explain
    themselves when they are pointed at.
    """
    rows = table if isinstance(table, Sized) else list(table)
    return Picture(name, draw(WIDE), draw(NARROW), alt, rows, live, columns)


def listed(rows: Rows, columns: Sequence[str] = ()) -> Frame:
    """Return rows as a table."""
    import pandas as pd

    if isinstance(rows, pd.DataFrame | Mapping):
        return pd.DataFrame(rows, columns=list(columns) or None)
    return pd.DataFrame(list(rows), columns=list(columns) or None)


def cells(rows: Rows, columns: Sequence[str] = ()) -> tuple[list[str], list[Any]]:
    """Return the names of columns, and the values of each row.

    >>> cells({"a": [1, 2], "b": "xy"})
    (['a', 'b'], [(1, 'x'), (2, 'y')])
    """
    if isinstance(rows, Mapping):
        return list(rows), list(zip(*rows.values(), strict=True))
    frame: Any = rows
    if hasattr(frame, "itertuples"):
        return list(frame.columns), list(frame.itertuples(index=False, name=None))
    every: list[Any] = list(rows)
    if every and isinstance(every[0], Mapping):
        return list(every[0]), [tuple(row.values()) for row in every]
    return list(columns), every


def figure(shown: Picture) -> Html:
    """Draw a picture with its fold: the table of its numbers, and the files to save.

    A table that is too long for the page is left to `show_table`.
    """
    drawings = (
        tag("div", each, class_=f"bx-{size}")
        for size, each in (("wide", shown.wide), ("narrow", shown.narrow))
    )
    return tag(
        "figure",
        tag("div", *drawings, role="group" if shown.live else "img", aria_label=visible(shown.alt),
            class_="bx-drawing"),
        numbers(shown.rows, shown.name, shown.columns, pictures=True)
        if len(cells(shown.rows)[1]) <= ROWS
        else _files(shown.name, ["svg", "png"]),
        class_="bx-picture",
        data_name=shown.name,
    )  # fmt: skip


def numbers(
    rows: Rows, name: str, columns: Sequence[str] = (), *, pictures: bool = False, title: str = ""
) -> Html:
    """Draw a table in a fold, with buttons that save it.

    `name` is a file name without extension, `title` what the fold is called.

    Raises:
        ValueError: the table is longer; it would be cut off.
    """
    columns, rows = cells(rows, columns)
    if len(rows) > ROWS:
        raise ValueError(f"{len(rows)} rows; a table in a page has at most {ROWS}")
    kinds = (["svg", "png"] if pictures else []) + ["csv", "json"]
    return _files(name, kinds, data_table(rows, name, columns), title=title or "Numbers and files")


def _files(name: str, kinds: Sequence[str], *below: Html, title: str = "Files") -> Html:
    buttons = (
        tag("button", kind.upper(), type="button", class_="bx-save", data_save=kind,
            aria_label=f"Save as {kind.upper()}")
        for kind in kinds
    )  # fmt: skip
    return tag(
        "details",
        tag("summary", title),
        tag("p", "Save: ", *buttons, class_="bx-files"),
        *below,
        class_="bx-twin",
        data_name=name,
    )


def data_table(rows: Rows, name: str, columns: Sequence[str] = ()) -> Html:
    """Draw a table; the exact values are in its cells for the CSV and JSON files.

    A column named `at` is not drawn: it holds the keys that link a row to pieces of the text
    (`linked`).
    """
    names, values = cells(rows, columns)
    shown = [n for n, each in enumerate(names) if each != "at"]
    at = names.index("at") if "at" in names else None
    head = tag("tr", *(tag("th", str(names[n]), scope="col") for n in shown))
    body = (
        tag("tr", *(_cell(row[n]) for n in shown), data_at=None if at is None else row[at])
        for row in values
    )
    return tag(
        "table", tag("thead", head), tag("tbody", *body), class_="bx-numbers", data_name=name
    )


def bars(
    names: Sequence[str],
    values: Sequence[float],
    printed: Sequence[str],
    *,
    width: int,
    top: float,
    marked: Sequence[bool] = (),
) -> Html:
    """Draw numbers as horizontal bars, the first on top, each followed by its number.

    `top` is the value of a bar of full length, so that pictures side by side have equal axes.
    `marked` bars have another colour and hatching. Long names are shortened here, not in the table.
    """
    letters = max(4, min(18, max(map(len, names), default=0)))
    left, right = letters * 10 + 12, 84
    room = width - left - right
    panel = Panel.of_units(width, 1)
    for number, (name, value, text) in enumerate(zip(names, values, printed, strict=True)):
        y = number * (_BAR + _GAP)
        end = left + bar_length(value / top, room)
        panel.text(left - 10, y + _BAR / 2, shortened(name, letters), class_="bx-svg-name")
        panel.span((left, end), (y, y + _BAR), class_=_look(marked, number))
        panel.text(end + 8, y + _BAR / 2, text, class_="bx-svg-value")
    return svg(width, len(values) * (_BAR + _GAP), *panel.drawn)


def captioned_bars(
    names: Sequence[str],
    values: Sequence[float],
    printed: Sequence[str],
    *,
    width: int,
    marked: Sequence[bool] = (),
) -> Html:
    """Draw numbers as horizontal bars, each with a name above it that may be a sentence.

    At most two lines of a name are shown. A pale track has the length of 1.
    """
    room = width - max(map(len, printed), default=0) * _LETTER - 16
    panel, y = Panel.of_units(width, 1), 0
    for number, (name, value) in enumerate(zip(names, values, strict=True)):
        for line in _lines(name, int(width / _LETTER)):
            panel.text(0, y + 11, line, class_=None)
            y += 23
        panel.span((0, room), (y, y + _TRACK), class_="bx-svg-track")
        panel.span((0, bar_length(value, room)), (y, y + _TRACK), class_=_look(marked, number))
        panel.text(room + 10, y + _TRACK / 2, printed[number], class_="bx-svg-value")
        y += _TRACK + 14
    return svg(width, max(1, y - 10), *panel.drawn)


def bar_length(share: float, room: float) -> float:
    """Return the length of a bar, at most all the room; what is above 0 can be seen."""
    return max(1.5, room * min(1.0, share)) if share > 0 else 0.0


def _look(marked: Sequence[bool], number: int) -> str:
    return "bx-svg-mark" if marked and marked[number] else "bx-svg-bar"


def _lines(text: str, letters: int) -> list[str]:
    """Break a text into at most two lines; what is left out is marked."""
    wide = any(character > "\u2e80" for character in text)  # Chinese and the like: twice as wide
    room, shown = letters // 2 if wide else letters, visible(" ".join(text.split())) or "–"
    if len(shown) <= room:
        return [shown]
    space = shown.rfind(" ", 0, room + 1)
    at = space if space > 0 else room
    return [shown[:at], shortened(shown[at:].strip(), room)]


def csv(table: Frame) -> bytes:
    """Write a table as CSV; a mark at the start tells spreadsheets that it is UTF-8."""
    return table.to_csv(index=False, float_format="%.8g").encode("utf-8-sig")


def harmless(table: Frame) -> Frame:
    """Keep a spreadsheet from computing what visitors wrote: such a cell begins with an apostrophe.

    >>> harmless(listed([("=1+1", -1.5)], ["@x", "plain"])).to_dict("records")
    [{"'@x": "'=1+1", 'plain': -1.5}]
    """

    def kept(value: object) -> object:
        computed = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
        return f"'{value}" if computed else value

    return table.map(kept).rename(columns=kept)


def svg(width: float, height: float, *children: Html, live: bool = False) -> Html:
    """Write an `svg` element that fills the width it is given and keeps its proportions.

    Parts of a `live` one can be reached by keyboard, which screen readers must be told of.
    """
    return tag(
        "svg", *children, view_box=f"0 0 {width:g} {height:g}", class_="bx-svg",
        xmlns="http://www.w3.org/2000/svg", aria_hidden=None if live else "true",
    )  # fmt: skip


def beside(
    width: float, high: float, plots: Iterable[Callable[[float], Sequence[Html]]], gap: float = 16
) -> Html:
    """Draw two plots beside each other; on a narrow screen, below each other.

    `plots` draw one for a width, at the upper left corner.
    """
    wide = width > (WIDE + NARROW) / 2
    room = (width - gap) / 2 if wide else width
    step = (room + gap, 0) if wide else (0, high + 16)
    drawn = [
        tag("g", *draw(room), transform=f"translate({n * step[0]:g} {n * step[1]:g})")
        for n, draw in enumerate(plots)
    ]
    return svg(width, high if wide else len(drawn) * (high + 16) - 16, *drawn)


def linked(pieces: Sequence[int], *, text: int = 0) -> str:
    """Return the keys that link a place on the page to pieces of a text.

    What carries the same key in `data_at` lights up together under the pointer or the keyboard.
    `text` is the number of the input, on a page that shows several.

    >>> linked([3, 4])
    '0.3 0.4'
    """
    return " ".join(f"{text}.{piece}" for piece in pieces)


def _cell(value: object) -> Html:
    """Draw one value; a float is shown with four digits and saved with eight."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return tag("td", f"{value:.4g}", data_value=f"{value:.8g}")
    if isinstance(value, int):
        return tag("td", f"{value:,}", data_value=str(value))
    return tag("td", visible(str(value)))

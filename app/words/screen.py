"""What a feature shows, declared once and drawn by every face.

A page draws the main parts and the tab that is open, paper draws all, a terminal prints words and
tables. A view says what there is (`screen(result)`), and nothing of how a face looks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from app.words.blocks import line
from app.words.html import Html, tag
from app.words.pictures import ROWS, Picture, numbers
from app.words.report import Block, Report


@dataclass(frozen=True, slots=True)
class Beside:
    """Parts beside each other on a wide page; below each other on paper.

    Attributes:
        left: in reading order.
        right: in reading order.
        widths: of the two, as a ratio.
    """

    left: "tuple[Part, ...]"
    right: "tuple[Part, ...]"
    widths: tuple[int, int] = (1, 1)


@dataclass(frozen=True, slots=True)
class Turned:
    """A chart that is turned with the mouse; only a page has it.

    Attributes:
        name: of the chart on its page.
        figure: makes the figure of plotly.
        alt: what it shows.
        table: the same in numbers.
    """

    name: str
    figure: Callable[[], Any]
    alt: str
    table: pd.DataFrame


@dataclass(frozen=True, slots=True)
class Rows:
    """A table to take along as a file; a page has it in its Save menu.

    Attributes:
        title: what it has.
        make: returns it.
        name: of the file, without an extension.
        json: whether it is offered as JSON, too.
    """

    title: str
    make: Callable[[], pd.DataFrame]
    name: str
    json: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is seen as such; of a longer one, paper has the first 200 rows.

    Attributes:
        rows: of the table; a function makes them when the fold is open.
        alt: what it shows.
        name: of the table on its page, and of its files.
        title: of the fold that a page has it in; "" for none. What a function makes is not on
            paper: it is long, and the Save menu has it.
    """

    rows: pd.DataFrame | Callable[[], pd.DataFrame]
    alt: str
    name: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """A file to take along; it is written when it is asked for, in the Save menu of a page.

    Attributes:
        title: what it has; files of one title share a line.
        label: what its button says.
        make: returns its bytes.
        name: of the file.
        mime: its type.
    """

    title: str
    label: str
    make: Callable[[], bytes]
    name: str
    mime: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """Markup with SVG in it that a page draws in its own way.

    Attributes:
        markup: what a page draws.
        name: of the drawing on its page.
        paper: what paper has of it.
    """

    markup: Html
    name: str
    paper: Block


@dataclass(frozen=True, slots=True)
class Choice:
    """One of many things to look at; paper has the one that a page has at first.

    Attributes:
        label: what is chosen.
        key: of its widget, in links.
        options: names of what there is.
        start: number of the one that is chosen at first.
        make: draws it.
        above: draws what is above the widget.
    """

    label: str
    key: str
    options: Sequence[str]
    start: int
    make: "Callable[[str], Parts]"
    above: "Callable[[str], Parts] | None" = None


Part = Html | Picture | Beside | Table | Turned | Rows | File | Drawn | Choice
Parts = tuple[Part, ...]
Clicks = Mapping[str, Callable[[int], Mapping[str, Any]]]
"""What a click does, by the name of its `data-pick`: the values that widgets take, by their keys,
for the number that was clicked. Numbers come from a browser: any may come, and {} does nothing."""


@dataclass(frozen=True, slots=True)
class Screen:
    """What a feature shows.

    Attributes:
        headline: the result in one sentence or two of plain text.
        parts: what is seen first, in reading order.
        tabs: further parts by title, made when their tab is opened; paper has them all, below
            their titles.
        first: what must be known before the answer, such as what the model did not read.
        answer: the headline as a page draws it, if that is more than its words.
        why: whether the page "Why?" can explain this answer.
        asked: what a page shows in its boxes, and only paper has to repeat.
        unanswered: see `Report`.
        clicks: what clicks into its parts do.
        text: the text as it was read, if that is not what was typed.
    """

    headline: str
    parts: Parts
    tabs: Mapping[str, Callable[[], Parts]] = field(default_factory=dict)
    first: tuple[Html, ...] = ()
    answer: Html | None = None
    why: bool = False
    asked: Parts = ()
    unanswered: bool = False
    clicks: Clicks = field(default_factory=dict)
    text: str = ""

    def report(self) -> Report:
        """Return it as it would appear on paper."""
        blocks = [block for part in (*self.asked, *self.parts) for block in drawn(part)]
        for title, make in self.tabs.items():
            if parts := [block for part in make() for block in drawn(part)]:
                blocks += [tag("h2", title), *parts] if title else parts
        return Report(self.headline, tuple(blocks), first=self.first, unanswered=self.unanswered)


def drawn(part: Part) -> Iterator[Block]:
    """Yield what paper has of a part."""
    if isinstance(part, Html | Picture):
        yield part
    elif isinstance(part, Drawn):
        yield part.paper
    elif isinstance(part, Table) and isinstance(part.rows, pd.DataFrame):
        yield numbers(part.rows[:ROWS], part.name)
        if len(part.rows) > ROWS:
            yield line(f"… and {len(part.rows) - ROWS:,} more rows.")
    elif isinstance(part, Choice):
        first = part.options[part.start]
        for each in (*(part.above(first) if part.above else ()), *part.make(first)):
            yield from drawn(each)
    elif isinstance(part, Beside):
        for each in (*part.left, *part.right):
            yield from drawn(each)

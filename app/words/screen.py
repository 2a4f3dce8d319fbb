"""What a feature shows, declared once and drawn by every face.

A page draws the main parts and the tab that is open, paper draws all, a terminal prints words and
tables. A view says what there is (`screen(result)`), and nothing of how a face looks.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from app.words.blocks import line
from app.words.html import Html
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
        rows: of the table.
        alt: what it shows.
        name: of the table on its page, and of its files.
    """

    rows: pd.DataFrame
    alt: str
    name: str


Part = Html | Picture | Beside | Table | Turned | Rows
Parts = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Screen:
    """What a feature shows.

    Attributes:
        headline: the result in one sentence or two of plain text.
        parts: what is seen first, in reading order.
        tabs: further parts by title, made when their tab is opened; paper has them all.
        first: what must be known before the answer, such as what the model did not read.
        answer: the headline as a page draws it, if that is more than its words.
        why: whether the page "Why?" can explain this answer.
        asked: what a page shows in its boxes, and only paper has to repeat.
        unanswered: see `Report`.
    """

    headline: str
    parts: Parts
    tabs: Mapping[str, Callable[[], Parts]] = field(default_factory=dict)
    first: tuple[Html, ...] = ()
    answer: Html | None = None
    why: bool = False
    asked: Parts = ()
    unanswered: bool = False

    def report(self) -> Report:
        """Return it as it would appear on paper."""
        tabs = [part for make in self.tabs.values() for part in make()]
        blocks = tuple(block for part in (*self.asked, *self.parts, *tabs) for block in drawn(part))
        return Report(self.headline, blocks, first=self.first, unanswered=self.unanswered)


def drawn(part: Part) -> Iterator[Block]:
    """Yield what paper has of a part."""
    if isinstance(part, Html | Picture):
        yield part
    elif isinstance(part, Table):
        yield numbers(part.rows[:ROWS], part.name)
        if len(part.rows) > ROWS:
            yield line(f"… and {len(part.rows) - ROWS:,} more rows.")
    elif isinstance(part, Beside):
        for each in (*part.left, *part.right):
            yield from drawn(each)

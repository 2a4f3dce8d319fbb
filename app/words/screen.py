"""What a feature shows, declared once and drawn by every face.

A page draws the main parts and the tab that is open, paper draws all, a terminal prints words and
tables. A view says what there is (`screen(result)`), and nothing of how a face looks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from app.words.blocks import line
from app.words.html import Html, tag
from app.words.pictures import ROWS, Picture, cells, figure, numbers
from app.words.pictures import Rows as NumberRows

Block = Html | Picture  # markup, or a picture with its words and its table


@dataclass(frozen=True, slots=True)
class Report:
    """A result on paper."""

    headline: Annotated[str, "the result in one sentence or two of plain text"]
    blocks: Annotated[tuple[Block, ...], "what follows, in reading order"]
    first: Annotated[
        tuple[Html, ...],
        "what must be known before the answer, such as what the model did not read",
    ] = ()
    unanswered: Annotated[
        bool,
        "whether nothing was asked, as in a text without a gap; the headline says what is missing,"
        " and the command line takes it for a refusal",
    ] = False

    def drawn(self) -> list[Html]:
        """Draw everything as markup, in reading order."""
        head = tag("p", self.headline, class_="bx-headline")
        blocks = (figure(each) if isinstance(each, Picture) else each for each in self.blocks)
        return [*self.first, head, *blocks]


@dataclass(frozen=True, slots=True)
class Beside:
    """Parts beside each other on a wide page; below each other on paper."""

    left: Annotated["tuple[Part, ...]", "in reading order"]
    right: Annotated["tuple[Part, ...]", "in reading order"]
    widths: Annotated[tuple[int, int], "of the two, as a ratio"] = (1, 1)


@dataclass(frozen=True, slots=True)
class Turned:
    """A chart that is turned with the mouse; only a page has it."""

    name: Annotated[str, "of the chart on its page"]
    figure: Annotated[Callable[[], Any], "makes the figure of plotly"]
    alt: Annotated[str, "what it shows"]
    table: Annotated[NumberRows, "the same in numbers"]


@dataclass(frozen=True, slots=True)
class Rows:
    """A table to export; a page has it in its Save menu."""

    title: Annotated[str, "what it has"]
    make: Annotated[Callable[[], NumberRows], "returns it"]
    name: Annotated[str, "of the file, without an extension"]
    json: Annotated[bool, "whether it is offered as JSON, too"] = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is seen as such; of a longer one, paper has the first 200 rows."""

    rows: Annotated[
        NumberRows | Callable[[], NumberRows],
        "of the table; a function makes them when the fold is open",
    ]
    alt: Annotated[str, "what it shows"]
    name: Annotated[str, "of the table on its page, and of its files"]
    title: Annotated[
        str,
        'of the fold that a page has it in; "" for none. What a function makes is not on paper: it'
        " is long, and the Save menu has it",
    ] = ""


@dataclass(frozen=True, slots=True)
class File:
    """A file to export; it is written when it is asked for, in the Save menu of a page."""

    title: Annotated[str, "what it has; files of one title share a line"]
    label: Annotated[str, "what its button says"]
    make: Annotated[Callable[[], bytes], "returns its bytes"]
    name: Annotated[str, "of the file"]
    mime: Annotated[str, "its type"]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Markup with SVG in it that a page draws in its own way."""

    markup: Annotated[Html, "what a page draws"]
    name: Annotated[str, "of the drawing on its page"]
    paper: Annotated[Block, "what paper has of it"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of many things to look at; paper has the one that a page has at first."""

    label: Annotated[str, "what is chosen"]
    key: Annotated[str, "of its widget, in links"]
    options: Annotated[Sequence[str], "names of what there is"]
    start: Annotated[int, "number of the one that is chosen at first"]
    make: Annotated["Callable[[str], Parts]", "draws it"]
    above: Annotated["Callable[[str], Parts] | None", "draws what is above the widget"] = None


Part = Html | Picture | Beside | Table | Turned | Rows | File | Drawn | Choice
Parts = tuple[Part, ...]
# What a click does, by the name of its `data-pick`: the values that widgets take, by their keys,
# for the number that was clicked. Numbers come from a browser: any may come, and {} does nothing.
Clicks = Mapping[str, Callable[[int], Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Screen:
    """What a feature shows."""

    headline: Annotated[str, "the result in one sentence or two of plain text"]
    parts: Annotated[Parts, "what is seen first, in reading order"]
    tabs: Annotated[
        Mapping[str, Callable[[], Parts]],
        "further parts by title, made when their tab is opened; paper has them all, below their "
        "titles",
    ] = field(default_factory=dict)
    first: Annotated[
        tuple[Html, ...],
        "what must be known before the answer, such as what the model did not read",
    ] = ()
    answer: Annotated[
        Html | None, "the headline as a page draws it, if that is more than its words"
    ] = None
    why: Annotated[bool, 'whether the page "Why?" can explain this answer'] = False
    asked: Annotated[Parts, "what a page shows in its boxes, and only paper has to repeat"] = ()
    unanswered: Annotated[bool, "see `Report`"] = False
    clicks: Annotated[Clicks, "what clicks into its parts do"] = field(default_factory=dict)
    text: Annotated[str, "the text as it was read, if that is not what was typed"] = ""

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
    elif isinstance(part, Table) and not callable(part.rows):
        columns, rows = cells(part.rows)
        yield numbers(rows[:ROWS], part.name, columns)
        if len(rows) > ROWS:
            yield line(f"… and {len(rows) - ROWS:,} more rows.")
    elif isinstance(part, Choice):
        first = part.options[part.start]
        for each in (*(part.above(first) if part.above else ()), *part.make(first)):
            yield from drawn(each)
    elif isinstance(part, Beside):
        for each in (*part.left, *part.right):
            yield from drawn(each)

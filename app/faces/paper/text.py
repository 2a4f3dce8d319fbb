"""A report on a terminal: its markup as lines of text, its pictures as words and tables."""

import unicodedata
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from itertools import groupby
from numbers import Integral, Real
from textwrap import wrap

from app.catalog import Feature
from app.engine.models import Provenance
from app.faces.paper.page import signature
from app.words.html import Html, visible
from app.words.pictures import Picture, cells
from app.words.screen import Report

_ROWS = 30  # of a table; the file and the JSON have them all
_WIDEST = 40  # letters in a column
_GAP = "  "
_ITEM, _SHORT = "- ", 24  # an item of a list; letters below which several share a line
_BREAKS = frozenset({
    "br", "div", "figcaption", "figure", "h1", "h2", "h3", "hr", "li", "ol", "p", "section",
    "summary", "table", "tr", "ul",
})  # fmt: skip
_NOT_READ = frozenset({"button", "script", "style", "svg"})
_LEFT_OUT = frozenset({"bx-hint", "bx-files"})  # what unfolds, and buttons


def as_text(
    feature: Feature,
    model: Provenance,
    report: Report,
    notices: Sequence[str] = (),
    *,
    width: int = 100,
) -> str:
    """Write a report as plain text, without a control character of anybody's.

    A line has at most `width` letters; a table may be wider.
    """
    blocks = [
        *notices,
        *(_read(each, width) for each in report.first),
        _wrapped(visible(report.headline), width),
        *(_block(each, width) for each in report.blocks),
        _wrapped(f"Note: {feature.beware}", width),
        _wrapped(visible(signature(model)), width),
    ]
    return "\n\n".join(block for block in blocks if block.strip()) + "\n"


def _block(block: Html | Picture, width: int) -> str:
    if isinstance(block, Html):
        return _read(block, width)
    said = _wrapped(visible(block.alt), width)
    table = _cells(block)
    return f"{said}\n\n{_table(table, width)}" if len(table) > 1 else said


def _cells(block: Picture) -> list[list[str]]:
    names, rows = cells(block.rows, block.columns)
    shown = [n for n, name in enumerate(names) if name != "at"]
    found = [[str(names[n]) for n in shown]]
    found += [[_cell(row[n]) for n in shown] for row in rows[:_ROWS]]
    more = len(rows) - _ROWS
    return [*found, [f"… {more:,} more rows"]] if more > 0 else found


def _cell(value: object) -> str:
    is_fraction = isinstance(value, Real) and not isinstance(value, Integral)
    shown = f"{value:.4g}" if is_fraction else visible(str(value))
    text = " ".join(shown.split())
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _table(rows: Sequence[Sequence[str]], width: int) -> str:
    columns = max(map(len, rows))
    wide = [max((_printed(row[n]) for row in rows if n < len(row) > 1), default=0)
            for n in range(columns)]  # fmt: skip
    fit, used = 0, 0
    while fit < columns and (fit == 0 or used + wide[fit] <= width):
        used += wide[fit] + len(_GAP)
        fit += 1
    lines = []
    for row in rows:
        cells = zip(row, wide[:fit], strict=False)
        lines.append(_GAP.join(text + " " * (size - _printed(text)) for text, size in cells))
    rest = [f"… {columns - fit:,} more columns"] if fit < columns else []
    return "\n".join(line.rstrip() for line in [*lines, *rest])


def _printed(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    >>> _printed("ab"), _printed("海"), _printed("e\\u0301")
    (2, 2, 1)
    """
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )


def _wrapped(text: str, width: int) -> str:
    return "\n".join(wrap(text, width, break_on_hyphens=False))


def _read(markup: Html, width: int) -> str:
    reader = _Reader()
    reader.feed(markup.markup)
    reader.close()
    return "\n".join(reader.lines(width)).strip("\n")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        # For each open element: whether it is left out, and what follows it.
        self._open: list[tuple[bool, str]] = []
        self._found: list[str | list[list[str]]] = [""]
        self._cell: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        looks = set((given.get("class") or "").split())
        hidden = tag in _NOT_READ or given.get("aria-hidden") == "true" or bool(_LEFT_OUT & looks)
        badge = any(look.endswith("-badge") for look in looks)
        if tag not in {"br", "hr", "img"}:
            self._open.append((hidden, "] " if badge else ""))
        if self._is_left_out():
            return
        if tag == "table":
            self._found.append([])
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in {"td", "th"}:
            self._cell = ""
        elif badge:
            self.handle_data(" [")
        elif tag in _BREAKS:
            self._break(_ITEM if tag == "li" else "")

    def handle_endtag(self, tag: str) -> None:
        if self._is_left_out():
            self._open.pop()
            return
        self.handle_data(self._open.pop()[1])
        if tag in {"td", "th"} and self._cell is not None and self._rows:
            self._rows[-1].append(" ".join(self._cell.split()))
            self._cell = None
        elif tag == "table" or (tag in _BREAKS and self._cell is None and self._rows is None):
            self._break()

    def handle_data(self, data: str) -> None:
        if self._is_left_out():
            return
        if self._cell is not None:
            self._cell += data
        elif isinstance(self._found[-1], str):
            self._found[-1] += data

    def _is_left_out(self) -> bool:
        return any(hidden for hidden, _ in self._open)

    @property
    def _rows(self) -> list[list[str]] | None:
        return self._found[-1] if isinstance(self._found[-1], list) else None

    def _break(self, start: str = "") -> None:
        if self._cell is not None:
            self._cell += " "
        else:
            self._found.append(start)

    def lines(self, width: int) -> Iterator[str]:
        """Yield the lines, wrapped; tables aligned, lists of single words in one line."""
        found = (each for each in self._found if each and each != _ITEM)
        for short, group in groupby(found, key=_is_short_item):
            if short:
                words = (str(each).removeprefix(_ITEM).strip() for each in group)
                yield _wrapped("  ".join(words), width)
                continue
            for each in group:
                if isinstance(each, list):
                    yield from ["", _table([row for row in each if row], width), ""]
                elif each.strip():
                    yield _wrapped(each, width)


def _is_short_item(found: str | list[list[str]]) -> bool:
    return isinstance(found, str) and found.startswith(_ITEM) and len(found) < _SHORT

"""The text with its entities marked: tinted, underlined, each with its label behind it."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import pandas as pd

from app.features.ner.result import NerResult, Selection
from app.words.blocks import sideways
from app.words.html import Html, tag, visible
from app.words.pictures import ROWS, data_table, linked
from app.words.screen import Part, Table
from bert_core.reading.entities import Entity

LINKED = 4000
"""Characters; in a longer text only entities light up, not every piece."""

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Okabe and Ito's colours; with the five shapes of underlines they give 30 different pairs."""

STROKES = 5
"""Shapes of underlines: solid, dashed, double, dotted, wavy; those but the first in style.css."""

Colours = Mapping[str, str]
"""The colours that the visitor chose, by kind."""

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_LONG = 2500  # characters; a longer text scrolls in its own frame


def running_text(
    result: NerResult, selection: Selection, colours: Colours = MappingProxyType({})
) -> Html:
    """Draw the text as typed, with the exact characters of every shown entity marked.

    Args:
        result: the text with its entities.
        selection: the entities to show.
        colours: the visitor's own colours.
    """
    parts: list[Html | str] = []
    done = 0
    for entity in selection.shown:
        start = max(done, entity.start)  # pieces can share a character
        if start < entity.end:
            parts += [*_pieces(result, done, start), _mark(result, entity, start, colours)]
            done = entity.end
    parts += _pieces(result, done, len(result.text))
    long = len(result.text) > _LONG
    return tag(
        "div", *parts, class_="bx-text bx-ner-text bx-ner-long" if long else "bx-text bx-ner-text",
        dir="auto", role="group", aria_label="The text with its entities marked",
        tabindex=0 if long else None,
    )  # fmt: skip


def _mark(result: NerResult, entity: Entity, start: int, colours: Colours) -> Html:
    """Mark one entity from a character on; its label is behind it."""
    long = len(result.text) > LINKED
    return tag(
        "mark",
        *_pieces(result, start, entity.end),
        tag("small", f"{visible(entity.label)} {score(entity.score)}", class_="bx-ner-name"),
        class_=f"bx-ner-mark bx-ner-l{stroke_of(result, entity.kind)}",
        style=f"--bx-c:{colour_of(result, entity.kind, colours)};--bx-w:{entity.score:.3f}",
        title=f"{visible(entity.label)}, score {entity.score:.4f}, characters {entity.start} to "
        f"{entity.end}",
        data_at=linked(range(*entity.pieces)) if long else None,
    )


def _pieces(result: NerResult, start: int, end: int) -> Iterator[Html | str]:
    """Yield a stretch of the text, each piece in it with the key that links it."""
    if len(result.text) <= LINKED:
        for number, (first, last) in enumerate(result.pieces.spans):
            if start <= first < last <= end:
                yield visible(result.text[start:first])
                yield tag("span", visible(result.text[first:last]), data_at=linked([number]))
                start = last
    yield visible(result.text[start:end])


def colour_of(result: NerResult, kind: str, colours: Colours = MappingProxyType({})) -> str:
    """Return a kind's colour: the visitor's, or the same for every text of a model."""
    own = colours.get(kind, "")
    number = result.labels.kinds.index(kind)
    return own if _COLOUR.fullmatch(own) else COLOURS[number % len(COLOURS)]


def stroke_of(result: NerResult, kind: str) -> int:
    """Return the number of the shape of a kind's underline."""
    return result.labels.kinds.index(kind) % STROKES


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

"""The ways of reading entities from labels, side by side, with their differences drawn."""

from collections import defaultdict
from collections.abc import Sequence

import pandas as pd

from app.features.ner.result import AGGREGATION_NAMES, NerResult
from app.features.ner.view_text import (
    Colours,
    Mark,
    colour_of,
    draw_text,
    score,
    spots_of,
    stroke_of,
)
from app.words.blocks import hint, line
from app.words.html import Html, tag
from app.words.pictures import Picture, linked, picture
from bert_core.reading.entities import Aggregation, Entity

_JOINED: tuple[Aggregation, ...] = ("first", "average", "max", "simple")
_RULES: dict[Aggregation, str] = {
    "first": "The word takes the label of its first piece. Usually only first pieces have a label "
    "in training, so only their answers are learned.",
    "average": "The word takes the label with the highest mean probability over its pieces.",
    "max": "The word takes the label of its surest piece.",
    "simple": "Pieces are not combined into words first, so an entity may begin or end inside a "
    "word.",
    "none": "Nothing is joined: every labelled piece is an entity, with its B- or I-.",
}


def said(ways: pd.DataFrame) -> Html:
    """State whether the ways agree, with the rules of each behind a fold.

    Args:
        ways: the table that `comparison` returned.
    """
    items = [
        tag("li", tag("strong", AGGREGATION_NAMES[how]), f": {rule}")
        for how, rule in _RULES.items()
    ]
    why = hint(
        "Rare words are split into several pieces, and every piece has its own label. The first "
        "three rules turn them into one label. All but the last then join neighbours of the same "
        "kind.",
        tag("ul", *items, class_="bx-ner-rules"),
    )
    return tag("div", why, line(agreement(ways)))


def overlaps(result: NerResult, colours: Colours) -> Picture:
    """Draw the entities of the four ways that join pieces, one underline for each that differs.

    Args:
        result: the text with its entities in all ways of reading.
        colours: the visitor's own colours.
    """
    ways: dict[tuple[int, int, str], list[Aggregation]] = defaultdict(list)
    known: dict[tuple[int, int, str], Entity] = {}
    for how in _JOINED:
        for entity in result.readings[how].entities:
            place = (entity.start, entity.end, entity.kind)
            ways[place].append(how)
            known.setdefault(place, entity)
    marks = [_mark(result, known[place], found, colours) for place, found in sorted(ways.items())]
    spots = spots_of(result)
    table = comparison(result)
    return picture(
        "ways-of-reading",
        lambda width: draw_text(result.text, marks, width, spots),
        alt=agreement(table),
        table=table,
    )


def _mark(
    result: NerResult, entity: Entity, found: Sequence[Aggregation], colours: Colours
) -> Mark:
    """Draw an entity of one or more ways; one that not all ways find is framed."""
    all_agree = len(found) == len(_JOINED)
    names = [AGGREGATION_NAMES[how] for how in found]
    short = ", ".join(name.split()[0] for name in names)  # the tooltip has the whole names
    label = entity.kind if all_agree else f"{entity.kind}: {short}"
    return Mark(
        entity.start,
        entity.end,
        label=label,
        told=f"{entity.kind}, characters {entity.start} to {entity.end}: {', '.join(names)}",
        colour=colour_of(result, entity.kind, colours),
        stroke=stroke_of(result, entity.kind),
        weight=len(found) / len(_JOINED) / 2,
        at=linked(range(*entity.pieces)),
        differs=not all_agree,
    )


def differing(ways: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `comparison` in which the ways differ."""
    return ways[ways["differ"] != ""].drop(columns="differ")


def comparison(result: NerResult) -> pd.DataFrame:
    """Compare the ways of reading, with one row for every place that any of them marks.

    Returns:
        A table with `text`, `start`, `end`, one column for each way that joins pieces (label and
        score, or "–" if it marks nothing at exactly this place), the labels of the pieces there,
        and `differ`.
    """
    ways = {how: _by_place(result.readings[how].entities) for how in _JOINED}
    places = sorted({place for marks in ways.values() for place in marks})
    names = result.labels.names
    best: list[int] = result.pieces.probabilities.argmax(axis=1).tolist()
    rows = []
    for start, end in places:
        marks = [ways[how].get((start, end)) for how in _JOINED]
        first, stop = next(mark.pieces for mark in marks if mark)
        rows.append(
            [
                result.text[start:end],
                start,
                end,
                *(f"{mark.label} {score(mark.score)}" if mark else "–" for mark in marks),
                " ".join(names[best[piece]] for piece in range(first, stop)),
                "≠" if len({mark.label if mark else "" for mark in marks}) > 1 else "",
            ]
        )
    ways_named = [AGGREGATION_NAMES[how] for how in _JOINED]
    every = AGGREGATION_NAMES["none"]
    return pd.DataFrame(rows, columns=["text", "start", "end", *ways_named, every, "differ"])


def agreement(ways: pd.DataFrame) -> str:
    """State in one sentence whether the ways of reading agree.

    Args:
        ways: the table that `comparison` returned.
    """
    count, differ = len(ways), int((ways["differ"] == "≠").sum())
    if not count:
        return "None of the ways of reading finds anything in this text."
    if not differ:
        return (
            "The four ways that join pieces find the same entities here; their scores may differ."
        )
    which = "place" if count == 1 else "places"
    return (
        f"The four ways that join pieces do not agree: of {count:,} {which} that any of them "
        f"marks, {differ:,} {'is' if differ == 1 else 'are'} not marked with the same label by all "
        "of them."
    )


def _by_place(entities: Sequence[Entity]) -> dict[tuple[int, int], Entity]:
    return {(entity.start, entity.end): entity for entity in entities}

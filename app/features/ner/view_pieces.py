"""How entities arise: labels per piece, labels that break the scheme, ways of reading compared."""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from app.features.ner.result import NerResult
from app.features.ner.view import AGGREGATION_NAMES, colour_of, line_of
from app.words.blocks import line
from app.words.charts import bars
from app.words.format import percent
from app.words.html import Html, join, tag, visible
from bert_core.reading.entities import Aggregation, Entity
from bert_core.reading.tagging import Fault

PART = 240
"""Pieces drawn at once; more are paged. The table lists all."""

_BARS = 12  # labels drawn for one piece; its table lists all
_FEW = 5  # invalid labels quoted; the strip marks all of them, and the table lists them
_JOINED: tuple[Aggregation, ...] = ("first", "average", "max", "simple")


def part_names(result: NerResult) -> dict[str, range]:
    """Name the parts that the pieces are drawn in."""
    count = len(result.pieces)
    parts = (range(start, min(start + PART, count)) for start in range(0, count, PART))
    return {f"pieces {part.start:,} to {part.stop - 1:,}": part for part in parts}


def least_sure(result: NerResult, part: range) -> int:
    """Return the piece of a part whose best label has the lowest probability."""
    best = result.pieces.probabilities[part.start : part.stop].max(axis=1)
    return part.start + int(best.argmin())


def piece_names(result: NerResult, part: range) -> dict[str, int]:
    """Name every piece of a part by its number and spelling."""
    return {f"{number}: {visible(result.pieces.tokens[number])[:40]}": number for number in part}


def strip(result: NerResult, part: range) -> Html:
    """Draw each piece as a small card with its likeliest label, bracketed if it does not count."""
    faults = {fault.at for fault in result.reading.faults}
    cards = [_card(result, number, out_of_rule=number in faults) for number in part]
    return tag("ol", *cards, class_="bx-ner-pieces", start=part.start)


def _card(result: NerResult, number: int, *, out_of_rule: bool) -> Html:
    """Draw one piece."""
    pieces, labels = result.pieces, result.labels
    best = int(pieces.probabilities[number].argmax())
    kind = labels.tags[best].kind
    asked = bool(result.reading.asked[number])
    share = percent(float(pieces.probabilities[number, best]), 0)
    name = visible(labels.names[best])
    sign = " ⚠" if out_of_rule else ""
    shown = f"{name}{sign}" if asked else f"({name})"
    classes = ["bx-ner-piece", *([] if asked else ["bx-ner-mute"])]
    if kind:
        classes.append(line_of(result, kind))
    why = "" if asked else ", has no say in this way of reading"
    return tag(
        "li",
        tag("span", tag("bdi", visible(pieces.tokens[number])), class_="bx-ner-token"),
        tag("span", shown, class_="bx-ner-label"),
        tag("span", share, class_="bx-ner-share"),
        class_=" ".join(classes),
        style=colour_of(result, kind) if kind else None,
        title=f"piece {number}: {name} {share}{why}",
    )


def strip_note(result: NerResult) -> Html:
    """Explain what the cards show."""
    mute = (
        " A label in brackets has no say in the way of reading you chose."
        if not result.reading.asked.all()
        else ""
    )
    return line(f"Every piece with its likeliest label and the probability of that label.{mute}")


def fault_note(result: NerResult) -> Html:
    """Name the labels that break the scheme and how they were read; empty if there are none."""
    faults = result.reading.faults
    if not faults:
        return join()
    named = [tag("li", _fault(result, fault)) for fault in faults[:_FEW]]
    if len(faults) > _FEW:
        named.append(tag("li", f"… and {len(faults) - _FEW:,} more, marked ⚠ and in the table."))
    head = (
        "1 label is out of rule" if len(faults) == 1 else f"{len(faults):,} labels are out of rule"
    )
    return tag(
        "div",
        tag("strong", f"⚠ {head}. "),
        "The model decides on every piece alone, so nothing keeps its labels in order. A label "
        "that continues what is not there is read as a beginning; what a label promises and does "
        "not follow is not waited for.",
        tag("ul", *named),
        class_="bx-note bx-caution",
    )


def _fault(result: NerResult, fault: Fault) -> str:
    """Describe one label that breaks the scheme."""
    start, end = result.pieces.spans[fault.at]
    place = f"“{visible(result.text[start:end])}” (piece {fault.at:,})"
    return f"{place}: {_why(fault)}."


def _why(fault: Fault) -> str:
    label, before = visible(fault.label), visible(fault.before)
    if fault.why == "not closed":
        return f"{label} is neither continued nor ended"
    return f"{label} {f'stands after {before}' if before else 'opens the text'}"


def piece_table(result: NerResult) -> pd.DataFrame:
    """List every piece: its place, its label, whether the label counts, and all probabilities."""
    pieces, labels = result.pieces, result.labels
    best = pieces.probabilities.argmax(axis=1)
    why = {fault.at: _why(fault) for fault in result.reading.faults}
    frame = pd.DataFrame(
        {
            "piece": range(len(pieces)),
            "token": list(pieces.tokens),
            "word": pieces.words,
            "start": [start for start, _ in pieces.spans],
            "end": [end for _, end in pieces.spans],
            "label": [labels.names[label] for label in best.tolist()],
            "score": pieces.probabilities.max(axis=1),
            "has a say": ["yes" if asked else "no" for asked in result.reading.asked.tolist()],
            "out of rule": [why.get(number, "") for number in range(len(pieces))],
        }
    )
    shares = pd.DataFrame(
        pieces.probabilities,
        columns=[f"P({name}) {n}" if labels.names.count(name) > 1 else f"P({name})"
                 for n, name in enumerate(labels.names)],
    )  # fmt: skip
    return pd.concat([frame, shares], axis=1)


def label_bars(result: NerResult, piece: int) -> go.Figure:
    """Draw the label probabilities of one piece, the likeliest on top."""
    count = len(result.labels.names)
    rows = _ranked(result, piece)[:_BARS]
    values = [share for _, share in rows]
    names = [name for name, _ in rows]
    fig = bars(names, values, [percent(value, 0) for value in values])
    fig.update_yaxes(tickfont={"size": 16})
    fig.update_xaxes(
        range=[0, 1.14],  # room for the number after the longest bar
        tickvals=[0, 0.25, 0.5, 0.75, 1],
        tickformat=".0%",
    )
    if count > _BARS:
        fig.update_xaxes(title=f"the {_BARS} likeliest of {count} labels")
        fig.update_layout(height=fig.layout.height + 30, margin_b=62)
    return fig


def describe_piece(result: NerResult, piece: int) -> str:
    """Describe the bars of a piece in one sentence."""
    rows = _ranked(result, piece)
    best = ", ".join(f"{visible(name)} {percent(share, 0)}" for name, share in rows[:3])
    return f"Labels of piece {piece}, {visible(result.pieces.tokens[piece])}: {best}."


def label_table(result: NerResult, piece: int) -> pd.DataFrame:
    """List every label of one piece with its probability."""
    return pd.DataFrame(_ranked(result, piece), columns=["label", "probability"])


def _ranked(result: NerResult, piece: int) -> list[tuple[str, float]]:
    """Return all labels of one piece, the likeliest first."""
    shares: list[float] = result.pieces.probabilities[piece].tolist()
    return sorted(zip(result.labels.names, shares, strict=True), key=lambda row: -row[1])


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
                *(f"{mark.label} {percent(mark.score, 0)}" if mark else "–" for mark in marks),
                " ".join(names[best[piece]] for piece in range(first, stop)),
                "yes" if len({mark.label if mark else "" for mark in marks}) > 1 else "",
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
    count, differ = len(ways), int((ways["differ"] == "yes").sum())
    if not count:
        return "None of the ways of reading finds anything in this text."
    if not differ:
        return (
            "The four ways that join pieces find the same entities here; their scores may differ."
        )
    which = "place" if count == 1 else "places"
    return (
        f"The four ways that join pieces do not agree: of {count:,} {which} that any of them "
        f"marks, {differ:,} {'is' if differ == 1 else 'are'} not marked, or not with the same "
        "label, by all of them."
    )


def agreement_note(ways: pd.DataFrame) -> Html:
    """Draw the sentence about agreement."""
    return line(agreement(ways))


def _by_place(entities: Sequence[Entity]) -> dict[tuple[int, int], Entity]:
    return {(entity.start, entity.end): entity for entity in entities}

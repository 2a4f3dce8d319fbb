"""How entities arise: the labels of every piece, and the labels that break their scheme."""

from functools import partial
from itertools import groupby

import pandas as pd

from app.features.ner.result import NerResult
from app.features.ner.view_text import colour_of, score, stroke_of
from app.settings import settings
from app.words.blocks import hint, line, note
from app.words.html import Html, join, tag, visible
from app.words.pictures import Picture, bars, linked, picture
from app.words.screen import Choice, Parts, Rows, Table
from bert_core.reading.tagging import Fault

PART = 240
"""Pieces drawn at once; more are paged. The table lists all."""

_BARS = 12  # labels drawn for one piece; its table lists all
_FEW = 5  # invalid labels quoted; the strip marks all of them, and the table lists them


def parts(result: NerResult, *, live: bool) -> Parts:
    """Draw the model's label for every piece, and all its scores for one of them.

    Args:
        result: the result.
        live: whether a piece can be chosen; if not, a table has them all.
    """
    words = f"All {len(result.pieces):,} pieces with every label's probability."
    if not live:
        said = (label_note(result), fault_note(result))
        return (*said, Table(piece_table(result), words, "all_pieces"))
    names = part_names(result)
    first, *more = names.values()
    rows = partial(piece_table, result)
    drawn: Parts = (_part(result, first),)
    if more:
        make = {name: (_part(result, part),) for name, part in names.items()}
        drawn = (Choice("Part of the text", "stretch", tuple(names), 0, make.__getitem__),)
    table = Table(rows, words, "all_pieces", title="Every piece as a table")
    return (*drawn, table, Rows("Every piece", rows, "pieces", json=True))


def _part(result: NerResult, part: range) -> Choice:
    """Draw the pieces of one part, and the scores of one of them."""
    names = piece_names(result, part)
    return Choice(
        "All labels of one piece",
        "labels",
        tuple(names),
        least_sure(result, part) - part.start,
        lambda name: (label_bars(result, names[name]), bars_note(result)),
        above=lambda name: (
            join(
                label_note(result),
                fault_note(result),
                strip(result, part, names[name]),
                strip_note(result),
            ),
        ),
    )


def chosen(result: NerResult, clicked: int) -> dict[str, str]:
    """Choose the piece whose card was clicked."""
    for part in part_names(result).values():
        if clicked in part:
            names = piece_names(result, part)
            return {"labels": next(name for name, at in names.items() if at == clicked)}
    return {}


def label_note(result: NerResult) -> Html:
    """State which labels this model has and how they are read."""
    labels = result.labels
    if labels.nameless:
        return note(
            tag("strong", "These labels have no names. "),
            f"The model's configuration numbers its {len(labels.names)} labels without saying what "
            "they mean, not even which of them is “no entity”. So each is shown as it is, and "
            "neighbours with the same number are joined.",
            caution=True,
        )
    limit = settings().shown_pieces
    listed = " ".join(visible(name) for name in labels.names[:limit])
    rest = len(labels.names) - limit
    return tag(
        "div",
        hint(
            tag("code", listed),
            f" … and {rest:,} more. " if rest > 0 else ". ",
            "A label that continues nothing begins an entity.",
        ),
        line(tag("strong", f"{len(labels.names)} labels: "), _SCHEMES[labels.name]),
    )


_SCHEMES = {
    "BIO": "B- begins an entity, I- continues it, O is outside.",
    "IOB1": "I- is inside an entity, O outside; B- only separates two neighbours of one kind.",
    "IO": "I- is inside an entity, O outside; neighbours of one kind are joined.",
    "BIOES": "B- begins an entity, I- (or M-) continues it, E- (or L-) ends it, S- (or U-) is an "
    "entity of one word, O is outside.",
    "plain": "The labels have no B- and I-, so neighbours with the same label are joined.",
}


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


def strip(result: NerResult, part: range, picked: int = -1) -> Html:
    """Draw each piece as a small card with its likeliest label, bracketed if it does not count.

    The pieces of a word are framed together. A click on a card shows all labels of the piece.

    Args:
        result: the result.
        part: the pieces to draw.
        picked: the piece whose labels are shown.
    """
    faults = {fault.at for fault in result.reading.faults}
    words = result.pieces.words
    groups = groupby(part, key=lambda number: int(words[number]))
    items = [_group(result, list(pieces), faults, picked, first=part.start) for _, pieces in groups]
    return tag("ol", *items, class_="bx-ner-pieces", data_rove="pieces", start=part.start)


def _group(
    result: NerResult, pieces: list[int], faults: set[int], picked: int, *, first: int
) -> Html:
    """Draw the pieces of one word, below the word as typed if there are several."""
    cards = [
        _card(result, n, out_of_rule=n in faults, picked=n == picked, stop=n == first)
        for n in pieces
    ]
    if len(cards) == 1:
        return tag("li", *cards)
    spans = result.pieces.spans
    word = visible(result.text[spans[pieces[0]][0] : spans[pieces[-1]][1]])
    head = tag("bdi", word, class_="bx-ner-whole", data_at=linked(pieces))
    return tag("li", head, tag("span", *cards), class_="bx-ner-group")


def _card(result: NerResult, number: int, *, out_of_rule: bool, picked: bool, stop: bool) -> Html:
    """Draw one piece; its tooltip lists the likeliest labels."""
    pieces, labels = result.pieces, result.labels
    best = int(pieces.probabilities[number].argmax())
    kind = labels.tags[best].kind
    asked = bool(result.reading.asked[number])
    name = visible(labels.names[best])
    sign = " ⚠" if out_of_rule else ""
    shown = f"{name}{sign}" if asked else f"({name})"
    classes = ["bx-ner-piece", *([] if asked else ["bx-ner-mute"])]
    if kind:
        classes.append(f"bx-ner-l{stroke_of(result, kind)}")
    every = ", ".join(f"{visible(n)} {score(p)}" for n, p in _ranked(result, number)[:_BARS])
    return tag(
        "button",
        tag("span", tag("bdi", visible(pieces.tokens[number])), class_="bx-ner-token"),
        tag("span", shown, class_="bx-ner-label"),
        tag("span", score(float(pieces.probabilities[number, best])), class_="bx-ner-share"),
        type="button",
        class_=" ".join(classes),
        style=f"--bx-c:{colour_of(result, kind)}" if kind else None,
        title=f"piece {number}: {every}{'' if asked else '; has no say'}",
        data_pick="piece",
        data_value=number,
        data_at=linked([number]),
        aria_pressed="true" if picked else "false",
        tabindex=0 if stop else -1,
    )


def strip_note(result: NerResult) -> Html:
    """Explain what the cards show."""
    mute = (
        " A label in brackets has no say in the way of reading you chose."
        if not result.reading.asked.all()
        else ""
    )
    return line(f"Every piece with its most likely label and the probability of that label.{mute}")


def fault_note(result: NerResult) -> Html:
    """Name the labels that break the scheme and how they were read; empty if there are none."""
    faults = result.reading.faults
    if not faults:
        return join()
    named = [tag("li", _fault(result, fault)) for fault in faults[:_FEW]]
    if len(faults) > _FEW:
        named.append(tag("li", f"… and {len(faults) - _FEW:,} more, marked ⚠ and in the table."))
    head = (
        "1 label breaks the rule" if len(faults) == 1 else f"{len(faults):,} labels break the rule"
    )
    why = hint(
        "The model labels every piece separately, so nothing keeps the labels in order. A label "
        "that continues nothing is read as a beginning."
    )
    return tag(
        "div", why, tag("strong", f"⚠ {head}. "), tag("ul", *named), class_="bx-note bx-caution"
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
    return f"{label} {f'follows {before}' if before else 'begins the text'}"


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
            "breaks the rule": [why.get(number, "") for number in range(len(pieces))],
        }
    )
    shares = pd.DataFrame(
        pieces.probabilities,
        columns=[f"P({name}) {n}" if labels.names.count(name) > 1 else f"P({name})"
                 for n, name in enumerate(labels.names)],
    )  # fmt: skip
    return pd.concat([frame, shares], axis=1)


def label_bars(result: NerResult, piece: int) -> Picture:
    """Draw the label probabilities of one piece, the likeliest on top."""
    rows = _ranked(result, piece)[:_BARS]
    names, values = [visible(name) for name, _ in rows], [share for _, share in rows]
    printed = [score(value) for value in values]
    best = ", ".join(f"{name} {score(share)}" for name, share in _ranked(result, piece)[:3])
    return picture(
        "labels",
        lambda width: bars(names, values, printed, width=width, top=1.0),
        alt=f"Labels of piece {piece}, {result.pieces.tokens[piece]}: {best}.",
        table=_ranked(result, piece),
        columns=("label", "probability"),
    )


def bars_note(result: NerResult) -> Html:
    """Count the labels that have no bar; empty if all have one."""
    labels = len(result.labels.names)
    return line(f"The {_BARS} likeliest of {labels:,} labels.") if labels > _BARS else join()


def _ranked(result: NerResult, piece: int) -> list[tuple[str, float]]:
    """Return all labels of one piece, the likeliest first."""
    shares: list[float] = result.pieces.probabilities[piece].tolist()
    return sorted(zip(result.labels.names, shares, strict=True), key=lambda row: -row[1])

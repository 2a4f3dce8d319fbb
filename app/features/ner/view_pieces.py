"""How entities arise: the labels of every piece, and the labels that break their scheme."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby

from app.features.ner.result import NerResult
from app.features.ner.view_text import colour_of, score, stroke_of
from app.settings import settings
from app.words.blocks import Html, hint, join, line, note, pick, tag, visible
from app.words.pictures import Picture, bars, linked, picture
from app.words.screen import Choice, Parts, Rows, Table
from bert_core.reading.tagging import Fault

# Pieces drawn at once: those of the part with the piece that is looked at. The table lists all.
PART = 240

_BARS = 12  # labels drawn for one piece; its table lists all
_FEW = 5  # invalid labels quoted; the strip marks all of them, and the table lists them
_SCHEMES = {
    "BIO": "B- begins an entity, I- continues it, O is outside.",
    "IOB1": "I- is inside an entity, O outside; B- only separates two neighbours of one kind.",
    "IO": "I- is inside an entity, O outside; neighbours of one kind are joined.",
    "BIOES": "B- begins an entity, I- (or M-) continues it, E- (or L-) ends it, S- (or U-) is an "
    "entity of one word, O is outside.",
    "plain": "The labels have no B- and I-, so neighbours with the same label are joined.",
}


def parts(result: NerResult, *, live: bool) -> Parts:
    """Draw the model's label for every piece, and all its scores for one of them."""
    words = f"All {len(result.pieces):,} pieces with every label's probability."
    notes = label_note(result), fault_note(result)
    if not live:
        return (*notes, strip(result, None), Table(piece_table(result), words, "all_pieces"))
    names = _names(result)
    least = int(result.pieces.probabilities[:PART].max(axis=1).argmin())
    rows, labels = partial(piece_table, result), len(result.labels.names)
    more = line(f"The {_BARS} likeliest of {labels:,} labels.") if labels > _BARS else join()
    return (
        Choice(
            "All labels of one piece",
            "labels",
            names,
            least,
            lambda name: (label_bars(result, names.index(name)), more),
            above=lambda name: (join(*notes, strip(result, names.index(name))),),
        ),
        Table(rows, words, "all_pieces", title="Every piece as a table"),
        Rows("Every piece", rows, "pieces", json=True),
    )


def chosen(result: NerResult, clicked: int) -> dict[str, str]:
    """Choose the piece whose card was clicked."""
    names = _names(result)
    return {"labels": names[clicked]} if clicked in range(len(names)) else {}


def _names(result: NerResult) -> tuple[str, ...]:
    return tuple(f"{n}: {visible(piece)[:40]}" for n, piece in enumerate(result.pieces.tokens))


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
    rest = len(labels.names) - limit
    return tag(
        "div",
        hint(
            tag("code", " ".join(map(visible, labels.names[:limit]))),
            f" … and {rest:,} more. " if rest > 0 else ". ",
            "A label that continues nothing begins an entity.",
        ),
        line(tag("strong", f"{len(labels.names)} labels: "), _SCHEMES[labels.name]),
    )


def fault_note(result: NerResult) -> Html:
    """Name the labels that break the scheme and how they were read; empty if there are none."""
    faults = result.reading.faults
    if not faults:
        return join()
    named = []
    for fault in faults[:_FEW]:
        start, end = result.pieces.spans[fault.at]
        place = f"“{visible(result.text[start:end])}” (piece {fault.at:,})"
        named.append(tag("li", f"{place}: {_why(fault)}."))
    if len(faults) > _FEW:
        named.append(tag("li", f"… and {len(faults) - _FEW:,} more, marked ⚠ and in the table."))
    one = len(faults) == 1
    head = "1 label breaks the rule" if one else f"{len(faults):,} labels break the rule"
    why = hint(
        "The model labels every piece separately, so nothing keeps the labels in order. A label "
        "that continues nothing is read as a beginning."
    )
    words = why, tag("strong", f"⚠ {head}. "), tag("ul", *named)
    return tag("div", *words, class_="bx-note bx-caution")


def _why(fault: Fault) -> str:
    label, before = visible(fault.label), visible(fault.before)
    if fault.why == "not closed":
        return f"{label} is neither continued nor ended"
    return f"{label} {f'follows {before}' if before else 'begins the text'}"


def strip(result: NerResult, picked: int | None) -> Html:
    """Draw pieces as small cards with their likeliest labels, bracketed if they do not count.

    The pieces of a word are framed together. A click on a card shows all labels of the piece; on
    paper (`picked` is None) nothing is clicked, and the table is what is read aloud.
    """
    first = picked - picked % PART if picked else 0
    part = range(first, min(first + PART, len(result.pieces)))
    words, spans = result.pieces.words, result.pieces.spans
    items = []
    for _, group in groupby(part, key=lambda number: int(words[number])):
        pieces = list(group)
        cards = [_card(result, n, picked) for n in pieces]
        if len(cards) == 1:
            items.append(tag("li", *cards))
            continue
        word = visible(result.text[spans[pieces[0]][0] : spans[pieces[-1]][1]])
        head = tag("bdi", word, class_="bx-ner-whole", data_at=linked(pieces))
        items.append(tag("li", head, tag("span", *cards), class_="bx-ner-group"))
    mute = " A label in brackets has no say in the way of reading you chose."
    more = "the table has the others" if picked is None else "choose another one to move on"
    drawn = "" if len(part) == len(result.pieces) else (
        f" Drawn are pieces {part.start:,} to {part.stop - 1:,}; {more}."
    )  # fmt: skip
    return join(
        tag("ol", *items, class_="bx-ner-pieces", data_rove="pieces", start=part.start,
            aria_hidden="true" if picked is None else None),
        line(
            "Every piece with its most likely label and the probability of that label."
            f"{'' if result.reading.asked.all() else mute}{drawn}"
        ),
    )  # fmt: skip


def _card(result: NerResult, number: int, picked: int | None) -> Html:
    pieces, labels = result.pieces, result.labels
    best = int(pieces.probabilities[number].argmax())
    kind = labels.tags[best].kind
    asked = bool(result.reading.asked[number])
    name = visible(labels.names[best])
    sign = " ⚠" if any(fault.at == number for fault in result.reading.faults) else ""
    look = f" bx-ner-l{stroke_of(result, kind)}" if kind else ""
    every = ", ".join(f"{visible(n)} {score(p)}" for n, p in _ranked(result, number)[:_BARS])
    click: dict[str, str | int] = {}
    if picked is not None:
        click = pick("piece", number, stop=number == picked, element="button")
        click["aria_pressed"] = "true" if number == picked else "false"
    return tag(
        "button" if click else "span",
        tag("span", tag("bdi", visible(pieces.tokens[number])), class_="bx-ner-token"),
        tag("span", f"{name}{sign}" if asked else f"({name})", class_="bx-ner-label"),
        tag("span", score(float(pieces.probabilities[number, best])), class_="bx-ner-share"),
        class_=f"bx-ner-piece{'' if asked else ' bx-ner-mute'}{look}",
        style=f"--bx-c:{colour_of(result, kind)}" if kind else None,
        title=f"piece {number}: {every}{'' if asked else '; has no say'}",
        data_at=linked([number]),
        **click,
    )


def piece_table(result: NerResult) -> dict[str, Sequence[object]]:
    """List every piece: its place, its label, whether the label counts, and all probabilities."""
    pieces, labels = result.pieces, result.labels
    why = {fault.at: _why(fault) for fault in result.reading.faults}
    shares = {
        f"P({name}) {n}" if labels.names.count(name) > 1 else f"P({name})": values.tolist()
        for n, (name, values) in enumerate(zip(labels.names, pieces.probabilities.T, strict=True))
    }
    return {
        "piece": range(len(pieces)),
        "token": pieces.tokens,
        "word": pieces.words.tolist(),
        "start": [start for start, _ in pieces.spans],
        "end": [end for _, end in pieces.spans],
        "label": [labels.names[best] for best in pieces.probabilities.argmax(axis=1)],
        "score": pieces.probabilities.max(axis=1).tolist(),
        "has a say": ["yes" if asked else "no" for asked in result.reading.asked.tolist()],
        "breaks the rule": [why.get(number, "") for number in range(len(pieces))],
        **shares,
    }


def label_bars(result: NerResult, piece: int) -> Picture:
    """Draw the label probabilities of one piece, the likeliest on top."""
    every = _ranked(result, piece)
    names = [visible(name) for name, _ in every[:_BARS]]
    values = [share for _, share in every[:_BARS]]
    printed = [score(value) for value in values]
    best = ", ".join(f"{name} {score(share)}" for name, share in every[:3])
    return picture(
        "labels",
        lambda width: bars(names, values, printed, width=width, top=1.0),
        alt=f"Labels of piece {piece}, {result.pieces.tokens[piece]}: {best}.",
        table=every,
        columns=("label", "probability"),
    )


def _ranked(result: NerResult, piece: int) -> list[tuple[str, float]]:
    shares: list[float] = result.pieces.probabilities[piece].tolist()
    return sorted(zip(result.labels.names, shares, strict=True), key=lambda row: -row[1])

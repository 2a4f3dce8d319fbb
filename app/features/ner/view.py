"""The entity tagger on the screen: the running text, its legend, the table, and what is hidden.

The label, the shape of the underline and the colour show the kind of an entity, in this order of
reliability. The number, the weight of the underline and the depth of the colour show its score.
`view_text` draws the text; pieces, ways of reading and annotations have modules of their own.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

import pandas as pd

from app.features.ner.result import NerResult, Selection
from app.features.ner.view_text import LINKED, STROKES, Mark, draw_text
from app.settings import settings
from app.words.blocks import hint, line, note
from app.words.format import count
from app.words.html import Html, join, tag, visible
from app.words.notes import calibration_line
from app.words.pictures import Picture, figure, linked, picture
from app.words.report import Report
from bert_core.reading.entities import Aggregation, Entity
from bert_core.text.encoding import Span

HINT = "A few sentences with names in them."
"""What the empty box suggests."""

AGGREGATION_NAMES: dict[Aggregation, str] = {
    "first": "First piece",
    "average": "Average",
    "max": "Surest piece",
    "simple": "Join pieces",
    "none": "Every piece",
}
"""Ways of reading, by what decides; the default is first."""

MEANINGS = {
    "PER": "person",
    "PERSON": "person",
    "LOC": "place",
    "ORG": "organisation",
    "MISC": "other name",
    "GPE": "country, city or state",
    "NORP": "nationality, religion or party",
    "FAC": "building or road",
    "DATE": "date",
    "TIME": "time",
    "MONEY": "sum of money",
}
"""Common labels in words; others speak for themselves."""

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Okabe and Ito's colours; with the five shapes of underlines they give 30 different pairs."""

Colours = Mapping[str, str]
"""The colours that the visitor chose, by kind."""

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_LONG = 2500  # characters; a longer text scrolls in its own frame

_SCORES: dict[Aggregation, str] = {
    "none": "the probability (softmax) of the label at that piece",
    "simple": "the mean, over its pieces, of the probability (softmax) of each one's label",
    "first": "the mean, over its words, of the probability (softmax) of the label at the first "
    "piece of each",
    "average": "the mean, over its words, of the probability of the label, itself averaged over "
    "the pieces of each",
    "max": "the mean, over its words, of the probability (softmax) of the label at the surest "
    "piece of each",
}


def running_text(
    result: NerResult, selection: Selection, colours: Colours = MappingProxyType({})
) -> Picture:
    """Draw the text as typed, with the exact characters of every shown entity marked.

    Args:
        result: the text with its entities.
        selection: the entities to show.
        colours: the visitor's own colours.
    """
    marks = [_mark(result, entity, colours) for entity in selection.shown]
    spots = spots_of(result)
    return picture(
        "entities",
        lambda width: draw_text(result.text, marks, width, spots),
        alt=describe(result, selection),
        table=entity_table(result, selection),
    )


def framed(shown: Picture, text: str) -> Html:
    """Draw the picture of a text; a long one scrolls in a frame."""
    drawn = figure(shown)
    if len(text) <= _LONG:
        return drawn
    return tag(
        "div", drawn, class_="bx-ner-long", role="region", aria_label="The marked text", tabindex=0
    )


def _mark(result: NerResult, entity: Entity, colours: Colours) -> Mark:
    """Draw one entity with its label and score."""
    return Mark(
        entity.start,
        entity.end,
        label=f"{entity.label} {score(entity.score)}",
        told=f"{entity.label}, score {entity.score:.4f}, characters {entity.start} to {entity.end}",
        colour=colour_of(result, entity.kind, colours),
        stroke=stroke_of(result, entity.kind),
        weight=entity.score,
        at=linked(range(*entity.pieces)),
    )


def spots_of(result: NerResult) -> list[tuple[Span, str]]:
    """Return the places of the pieces, with the keys that link them; none in a long text."""
    if len(result.text) > LINKED:
        return []
    return [(span, linked([number])) for number, span in enumerate(result.pieces.spans)]


def colour_of(result: NerResult, kind: str, colours: Colours = MappingProxyType({})) -> str:
    """Return a kind's colour: the visitor's, or the same for every text of a model."""
    own = colours.get(kind, "")
    return own if _COLOUR.fullmatch(own) else COLOURS[_number(result, kind) % len(COLOURS)]


def stroke_of(result: NerResult, kind: str) -> int:
    """Return the number of the shape of a kind's underline."""
    return _number(result, kind) % STROKES


def _number(result: NerResult, kind: str) -> int:
    kinds = result.labels.kinds
    return kinds.index(kind) if kind in kinds else len(kinds)  # annotations may have other kinds


def legend(
    result: NerResult, selection: Selection, colours: Colours = MappingProxyType({})
) -> Html:
    """List every kind found with its colour, its meaning and its number; a click shows it alone."""
    found = Counter(entity.kind for entity in result.reading.entities)
    shown = Counter(entity.kind for entity in selection.shown)
    chips = []
    for number, kind in enumerate(result.labels.kinds):
        if not found[kind]:
            continue
        counted = (
            str(found[kind])
            if shown[kind] == found[kind]
            else (f"{shown[kind]:,} of {found[kind]:,}")
        )
        chips.append(tag(
            "button",
            tag("b", visible(kind), class_=f"bx-ner-key bx-ner-l{stroke_of(result, kind)}"),
            f" {MEANINGS[kind]}" if kind in MEANINGS else "",
            tag("span", " ", counted, class_="bx-ner-count"),
            type="button", class_="bx-ner-chip", data_pick="only", data_value=number,
            style=f"--bx-c:{colour_of(result, kind, colours)}",
            aria_pressed="true" if kind in selection.only else "false",
            title="Show only this label, or all again",
        ))  # fmt: skip
    if not chips:
        return join()
    return tag("div", *chips, class_="bx-ner-legend", role="group", aria_label="Labels shown")


def score(value: float) -> str:
    """Format a score with two digits; rounding never makes it 0 or 1.

    >>> score(0.973), score(0.9999), score(0.0001)
    ('0.97', '> 0.99', '< 0.01')
    """
    shown = f"{value:.2f}"
    return {"1.00": "> 0.99", "0.00": "< 0.01"}.get(shown, shown)


def outcome(result: NerResult, selection: Selection) -> Html:
    """State how many entities are found and how many are hidden, or that there are none."""
    found, shown = len(result.reading.entities), len(selection.shown)
    if not found:
        return _nothing(result)
    hidden = []
    if selection.below:
        best = max(entity.score for entity in selection.below)
        hidden.append(
            f"{len(selection.below):,} scored below {selection.least:.2f} (the best of these has "
            f"{best:.2f})"
        )
    if selection.other:
        hidden.append(f"{len(selection.other):,} with other labels")
    told = f" Hidden: {'; '.join(hidden)}." if hidden else ""
    if not shown:
        return tag(
            "p",
            tag("strong", "Nothing is left to show. "),
            f"The model found {_count(found, result.aggregation)}, but your settings hide ",
            "all of them." if found > 1 else "it.",
            told,
            class_="bx-note",
            role="status",
        )
    head = f"{_count(shown, result.aggregation)}{'' if shown == found else f' of {found:,}'}."
    return tag("p", tag("strong", head), told, class_="bx-line", role="status")


def _nothing(result: NerResult) -> Html:
    """State that there is no entity, and what came closest to one."""
    near = ""
    strongest = result.strongest()
    if strongest is not None:
        piece, label = strongest
        start, end = result.pieces.spans[piece]
        best = score(float(result.pieces.probabilities[piece, label]))
        near = (
            f" Closest to a name: {visible(result.labels.names[label])}, score {best}, at "
            f"“{visible(result.text[start:end])}”."
        )
    others = [
        AGGREGATION_NAMES[how] for how, reading in result.readings.items() if reading.entities
    ]
    return tag(
        "p",
        tag("strong", "Nothing found. "),
        "Read in this way, the most likely label is “none” everywhere in the text.",
        near,
        f" Other ways of reading do find something: {', '.join(others)}." if others else "",
        class_="bx-note",
        role="status",
    )


def trust(result: NerResult, model: str = "") -> Html:
    """Say how far to trust the numbers; link the card of the model, if it is named."""
    return calibration_line(
        result.calibration,
        "labels of single pieces other than O",
        f"An entity's score is {_SCORES[result.aggregation]}. Deeper colour and heavier line: "
        "higher score. It says how sure the model is, not how often it is right: an entity is "
        "right only if all its pieces are. ",
        model=model,
    )


def coverage(result: NerResult) -> Html:
    """State, for a text longer than the model's input, that it was read whole, and how."""
    read, pieces = result.pieces.coverage, len(result.pieces)
    if read.windows == 1:
        return join()
    return tag(
        "div",
        tag("strong", "Long text, read whole. "),
        f"Its {pieces:,} pieces were read in {read.windows:,} windows.",
        hint(
            f"The model reads {read.room:,} pieces at once, and each window shares "
            f"{read.shared:,} with the next. Every piece takes its labels from the window in which "
            f"it has the most text around it: at least {read.context:,} pieces on both sides, "
            "except at the two ends of the text. Entities are joined afterwards, so none is cut at "
            "a window's edge."
        ),
        class_="bx-note",
    )


def entity_table(result: NerResult, selection: Selection) -> pd.DataFrame:
    """List the shown entities with text, label, place and score, linked to its pieces."""
    shown = selection.shown
    return pd.DataFrame(
        {
            "text": [result.text[entity.start : entity.end] for entity in shown],
            "label": [entity.label for entity in shown],
            "start": [entity.start for entity in shown],
            "end": [entity.end for entity in shown],
            "score": [entity.score for entity in shown],
            "at": [linked(range(*entity.pieces)) for entity in shown],
        }
    )


def describe(result: NerResult, selection: Selection) -> str:
    """Describe the marked text in one sentence, for screen readers."""
    named = [
        f"{result.text[entity.start : entity.end]} ({entity.label}, {score(entity.score)})"
        for entity in selection.shown[:8]
    ]
    rest = len(selection.shown) - len(named)
    if not named:
        return "No entity is shown."
    return f"Entities in the text: {', '.join(named)}{f' and {rest:,} more' if rest else ''}."


def report(
    result: NerResult,
    selection: Selection | None = None,
    colours: Colours = MappingProxyType({}),
) -> Report:
    """Write the result as it would appear on paper.

    Args:
        result: the text with its entities.
        selection: the entities to show; None for all.
        colours: the visitor's own colours.
    """
    selection = selection or result.select()
    found = len(result.reading.entities)
    hidden = not found or len(selection.shown) < found
    return Report(
        f"The model finds {_count(found, result.aggregation)}.",
        (
            outcome(result, selection) if hidden else join(),
            legend(result, selection, colours),
            running_text(result, selection, colours),
            trust(result),
            coverage(result),
        ),
    )


def entities_json(result: NerResult, selection: Selection, model: str) -> bytes:
    """Write the shown entities as JSON, with the text and everything that decided on them.

    Args:
        result: the text with its entities.
        selection: the entities to write.
        model: the model's name.
    """
    rows = entity_table(result, selection).drop(columns="at").to_dict("records")
    told = {
        "model": model,
        "aggregation": result.aggregation,
        "least_score": selection.least,
        "only": list(selection.only),
        "text": result.text,
        "entities": rows,
    }
    return json.dumps(told, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace")


def snippet(result: NerResult, model: str) -> str:
    """Write the same computation in Python.

    Args:
        result: the text with its entities.
        model: the model's name.
    """
    return f"""from bert_core import BertForTokenClassification, BertTokenizer
from bert_core.reading.entities import find_entities

name = {model!r}
text = {result.text!r}

tokenizer = BertTokenizer.from_pretrained(name)
model = BertForTokenClassification.from_pretrained(name).eval()
entities = find_entities(model, tokenizer, text, {result.aggregation!r})
for entity in entities:
    print(text[entity.start : entity.end], entity.label, round(entity.score, 4))
"""


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


def _count(number: int, how: Aggregation) -> str:
    """Format a count of entities, or of labelled pieces if pieces are not joined."""
    name, names = ("labelled piece", "") if how == "none" else ("entity", "entities")
    return count(number, name, names)

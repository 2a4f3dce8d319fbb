"""The entity tagger on the screen: the running text, its legend, the table, and what is hidden.

The label, the shape of the underline and the colour show the kind of an entity, in this order of
reliability. The number, the weight of the underline and the depth of the colour show its score.
`view_text` draws the text; pieces have a module of their own.
"""

import json
from collections import Counter
from collections.abc import Sequence
from types import MappingProxyType

import pandas as pd

from app.features.ner import view_pieces
from app.features.ner.result import AGGREGATION_NAMES, NerResult, Selection
from app.features.ner.view_text import (
    Colours,
    colour_of,
    running_text,
    score,
    short_table,
    stroke_of,
)
from app.words.blocks import hint, line
from app.words.format import count
from app.words.html import Html, join, tag, visible
from app.words.notes import calibration_hint, shared_note, unread_note
from app.words.pictures import linked, listed
from app.words.screen import File, Parts, Rows, Screen
from bert_core.reading.entities import Aggregation

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
    return calibration_hint(
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
    return listed(
        (
            (result.text[each.start : each.end], each.label, each.start, each.end, each.score,
             linked(range(*each.pieces)))
            for each in selection.shown
        ),
        ("text", "label", "start", "end", "score", "at"),
    )  # fmt: skip


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


def screen(
    result: NerResult,
    model: str = "",
    *,
    selection: Selection | None = None,
    colours: Colours = MappingProxyType({}),
) -> Screen:
    """Say what is shown.

    Args:
        result: the text with its entities.
        model: its name on a page, "" on paper.
        selection: the entities to show; None for all.
        colours: the visitor's own colours.
    """
    chosen = selection or result.select()
    found = len(result.reading.entities)
    hidden = model or not found or len(chosen.shown) < found
    return Screen(
        f"The model finds {_count(found, result.aggregation)}.",
        (
            join(trust(result, model), outcome(result, chosen) if hidden else ""),
            legend(result, chosen, colours),
            running_text(result, chosen, colours),
            join(coverage(result), shared_note(result.pieces.spans)),
        ),
        tabs={
            "Table": lambda: _table(result, chosen, model),
            "Pieces": lambda: view_pieces.parts(result, live=bool(model)),
        },
        first=(unread_note(result.unread),),
        answer=join(),
        why=bool(found),
        clicks={
            "only": lambda clicked: {"only": toggled(result.labels.kinds, chosen.only, clicked)},
            "piece": lambda clicked: view_pieces.chosen(result, clicked),
        },
    )


def _table(result: NerResult, chosen: Selection, model: str) -> Parts:
    """List the entities, and give their files."""
    table = entity_table(result, chosen)
    if not len(table):
        return (line("No entity is shown."),)
    rows = table.drop(columns="at")
    return (
        short_table(table, describe(result, chosen), "entities"),
        Rows("Entities", lambda: rows, "entities"),
        File(
            "Entities",
            "JSON",
            lambda: entities_json(result, chosen, model),
            "entities.json",
            "application/json",
        ),
    )


def toggled(kinds: Sequence[str], chosen: Sequence[str], clicked: int) -> list[str]:
    """Return the labels chosen after a click on one of them."""
    if clicked not in range(len(kinds)):
        return list(chosen)
    return [kind for kind in kinds if (kind in chosen) != (kind == kinds[clicked])]


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
    return f"""from bert_core import BertForTokenClassification, load_tokenizer
from bert_core.reading.entities import find_entities

name = {model!r}
text = {result.text!r}

tokenizer = load_tokenizer(name)
model = BertForTokenClassification.from_pretrained(name).eval()
entities = find_entities(model, tokenizer, text, {result.aggregation!r})
for entity in entities:
    print(text[entity.start : entity.end], entity.label, round(entity.score, 4))
"""


def _count(number: int, how: Aggregation) -> str:
    """Format a count of entities, or of labelled pieces if pieces are not joined."""
    name, names = ("labelled piece", "") if how == "none" else ("entity", "entities")
    return count(number, name, names)

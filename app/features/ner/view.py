"""The entity tagger on the screen: the running text, its legend, the table, and what is hidden.

The label, the shape of the underline and the colour show the kind of an entity, in this order of
reliability. The number, the weight of the underline and the depth of the colour show its score.
`view_text` draws the text; pieces have a module of their own.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import product

import pandas as pd

from app.features.ner import view_pieces
from app.features.ner.result import NerResult, Selection
from app.features.ner.view_text import colour_of, running_text, score, stroke_of
from app.words.blocks import hint, line, note, sideways
from app.words.format import count
from app.words.html import Html, join, tag, visible
from app.words.notes import calibration_hint, shared_note, unread_note
from app.words.pictures import ROWS, data_table, linked, listed
from app.words.screen import Part, Parts, Rows, Screen, Table
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


def screen(result: NerResult, model: str = "", *, selection: Selection | None = None) -> Screen:
    """Say what is shown."""
    chosen = selection or result.select()
    headline = f"The model finds {_count(len(result.reading.entities), result.aggregation)}."
    return Screen(
        headline,
        (
            outcome(result, chosen),
            legend(result, chosen),
            running_text(result, chosen),
            join(coverage(result), shared_note(result.pieces.spans)),
        ),
        tabs={
            "Table": lambda: _table(result, chosen),
            "Pieces": lambda: view_pieces.parts(result, live=bool(model)),
        },
        answer=tag(
            "div", trust(result, model), tag("p", headline), class_="bx-answer", role="status"
        ),
        first=(unread_note(result.unread),),
        why=bool(result.reading.entities),
        clicks={
            "only": lambda clicked: {"only": toggled(result.labels.kinds, chosen.only, clicked)},
            "piece": lambda clicked: view_pieces.chosen(result, clicked),
        },
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


def outcome(result: NerResult, selection: Selection) -> Html:
    """State how many entities are hidden, or what came closest to one if there are none."""
    found, shown = len(result.reading.entities), len(selection.shown)
    if not found:
        return note(
            tag("strong", "Nothing found. "),
            "The most likely label is “none” everywhere in the text.",
            _closest(result),
        )
    hidden = []
    if selection.below:
        best = max(entity.score for entity in selection.below)
        hidden.append(
            f"{len(selection.below):,} scored below {selection.least:.2f} (the best of these has "
            f"{best:.2f})"
        )
    if selection.other:
        hidden.append(f"{len(selection.other):,} with other labels")
    if not hidden:
        return join()
    head = "Nothing is left to show. " if not shown else f"Shown: {shown:,} of {found:,}. "
    return tag("p", tag("strong", head), f"Hidden: {'; '.join(hidden)}.", class_="bx-line")


def _closest(result: NerResult) -> str:
    """Name the piece that is the likeliest to be in an entity, among those that count."""
    inside = [n for n, each in enumerate(result.labels.tags) if each.kind]
    pieces = [n for n, asked in enumerate(result.reading.asked.tolist()) if asked]
    if not inside:
        return ""
    shares = result.pieces.probabilities
    piece, label = max(product(pieces, inside), key=lambda place: shares[place])
    start, end = result.pieces.spans[piece]
    return (
        f" Closest to an entity: {visible(result.labels.names[label])}, score "
        f"{score(float(shares[piece, label]))}, at “{visible(result.text[start:end])}”."
    )


def legend(result: NerResult, selection: Selection) -> Html:
    """List every kind found with its colour, its meaning and its number; a click shows it alone."""
    found = Counter(entity.kind for entity in result.reading.entities)
    shown = Counter(entity.kind for entity in selection.shown)
    chips = [
        tag(
            "button",
            tag("b", visible(kind), class_=f"bx-ner-key bx-ner-l{stroke_of(result, kind)}"),
            f" {MEANINGS[kind]}" if kind in MEANINGS else "",
            tag("span", " ", f"{shown[kind]:,} of " if shown[kind] < found[kind] else "",
                f"{found[kind]:,}", class_="bx-ner-count"),
            type="button", class_="bx-ner-chip", data_pick="only", data_value=number,
            style=f"--bx-c:{colour_of(result, kind)}",
            aria_pressed="true" if kind in selection.only else "false",
            title="Show only this label, or all again",
        )
        for number, kind in enumerate(result.labels.kinds) if found[kind]
    ]  # fmt: skip
    group = {"role": "group", "aria_label": "Labels shown"}
    return tag("div", *chips, class_="bx-ner-legend", **group) if chips else join()


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


def _table(result: NerResult, chosen: Selection) -> Parts:
    table = entity_table(result, chosen)
    if not len(table):
        return (line("No entity is shown."),)
    words, rows = "The entities in the text.", table.drop(columns="at")
    drawn: Part = Table(rows, words, "entities")
    if len(table) <= ROWS:
        drawn = sideways(data_table(table, "entities"), words)
    return drawn, Rows("Entities", lambda: rows, "entities", json=True)


def toggled(kinds: Sequence[str], chosen: Sequence[str], clicked: int) -> list[str]:
    """Return the labels chosen after a click on one of them."""
    if clicked not in range(len(kinds)):
        return list(chosen)
    return [kind for kind in kinds if (kind in chosen) != (kind == kinds[clicked])]


def snippet(result: NerResult, model: str) -> str:
    """Write the same computation in Python."""
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

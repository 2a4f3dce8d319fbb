"""The entity tagger on the screen: the running text, its legend and the table.

The label, the shape of the underline and the colour show the kind of an entity, in this order of
reliability. The number, the weight of the underline and the depth of the colour show its score.
`view_text` draws the text; pieces have a module of their own.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import product

from app.features.ner import view_pieces
from app.features.ner.result import NerResult
from app.features.ner.view_text import colour_of, running_text, score, stroke_of
from app.words.blocks import Html, hint, join, line, note, sideways, tag, visible
from app.words.format import count
from app.words.notes import calibration_hint, shared_note, unread_note
from app.words.pictures import ROWS, data_table, linked
from app.words.screen import Part, Parts, Rows, Screen, Table
from bert_core.reading.entities import Aggregation

MEANINGS = {  # common labels in words; others speak for themselves
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


def screen(result: NerResult, model: str = "") -> Screen:
    """Say what is shown."""
    headline = f"The model finds {_count(len(result.reading.entities), result.aggregation)}."
    return Screen(
        headline,
        (
            closest(result),
            legend(result),
            running_text(result),
            join(coverage(result), shared_note(result.pieces.spans)),
        ),
        tabs={
            "Table": lambda: _table(result),
            "Pieces": lambda: view_pieces.parts(result, live=bool(model)),
        },
        answer=tag(
            "div", trust(result, model), tag("p", headline), class_="bx-answer", role="status"
        ),
        first=(unread_note(result.unread),),
        why=bool(result.reading.entities),
        clicks={"piece": lambda clicked: view_pieces.chosen(result, clicked)},
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


def closest(result: NerResult) -> Html:
    """Name the piece that is likeliest to be in an entity, if none was found; else empty."""
    if result.reading.entities:
        return join()
    inside = [n for n, each in enumerate(result.labels.tags) if each.kind]
    pieces = [n for n, asked in enumerate(result.reading.asked.tolist()) if asked]
    shares, near = result.pieces.probabilities, ""
    if inside:
        piece, label = max(product(pieces, inside), key=lambda place: shares[place])
        start, end = result.pieces.spans[piece]
        near = (
            f" Closest to an entity: {visible(result.labels.names[label])}, score "
            f"{score(float(shares[piece, label]))}, at “{visible(result.text[start:end])}”."
        )
    says = "The most likely label is “none” everywhere in the text."
    return note(tag("strong", "Nothing found. "), says, near)


def legend(result: NerResult) -> Html:
    """List every kind found with its colour, its meaning and its number."""
    found = Counter(entity.kind for entity in result.reading.entities)
    chips = [
        tag(
            "span",
            tag("b", visible(kind), class_=f"bx-ner-key bx-ner-l{stroke_of(result, kind)}"),
            f" {MEANINGS[kind]}" if kind in MEANINGS else "",
            tag("span", f" {found[kind]:,}", class_="bx-ner-count"),
            class_="bx-ner-chip", style=f"--bx-c:{colour_of(result, kind)}",
        )
        for kind in result.labels.kinds if found[kind]
    ]  # fmt: skip
    return tag("div", join(*chips, by=" "), class_="bx-ner-legend") if chips else join()


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


def _table(result: NerResult) -> Parts:
    found = result.reading.entities
    if not found:
        return (line("No entity is shown."),)
    words = "The entities in the text."
    rows: dict[str, Sequence[object]] = {
        "text": [result.text[each.start : each.end] for each in found],
        **{name: [getattr(each, name) for each in found]
           for name in ("label", "start", "end", "score")},
    }  # fmt: skip
    drawn: Part = Table(rows, words, "entities")
    if len(found) <= ROWS:
        at = [linked(range(*each.pieces)) for each in found]
        drawn = sideways(data_table(rows | {"at": at}, "entities"), words)
    return drawn, Rows("Entities", lambda: rows, "entities", json=True)


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
    name, names = ("labelled piece", "") if how == "none" else ("entity", "entities")
    return count(number, name, names)

"""The entity tagger on the screen: the marked text, its legend, what is hidden, and the table.

The label, the shape of the underline and the colour show the kind of an entity, in this order of
reliability. The number, the weight of the underline and the depth of the colour show its score.
Pieces and ways of reading are drawn in `view_pieces`.
"""

from collections import Counter

import pandas as pd

from app.features.ner.result import NerResult, Selection
from app.settings import ASSETS, settings
from app.words.blocks import line, note
from app.words.format import count, percent
from app.words.html import Html, document, join, tag, visible
from app.words.notes import calibrated
from bert_core.reading.entities import Aggregation, Entity

HINT = "A few sentences with names in them."
"""What the empty box suggests."""

AGGREGATION_NAMES: dict[Aggregation, str] = {
    "first": "First piece",
    "average": "Average",
    "max": "Surest piece",
    "simple": "Join pieces",
    "none": "Every piece",
}
"""Ways of reading, by what decides; the default stands first."""

_RULES: dict[Aggregation, str] = {
    "first": "The word takes the label of its first piece. In training only first pieces carried a "
    "label, so theirs are the answers that were learned.",
    "average": "The word takes the label with the highest mean probability over its pieces.",
    "max": "The word takes the label of the piece that is surest of its own.",
    "simple": "Pieces are not put together to words first, so an entity may begin or end inside a "
    "word.",
    "none": "Nothing is joined: every labelled piece stands alone, with its B- or I-.",
}

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

_LONG = 4000  # characters; a longer text scrolls in its own frame

COLOURS, LINES = 6, 5
"""Colours and shapes of line in the style sheet: having no common factor, they give 30 pairs."""

_KEPT = """
:root { color-scheme: light dark; }
body { font-family: system-ui, sans-serif; line-height: 1.5; margin: 2rem 1rem; }
main { max-width: 60rem; margin: 0 auto; }
main .bx-ner-long { max-height: none; border: 0; padding: 0; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: start; padding: 0.25rem 0.75rem; border: 1px solid var(--bx-line); }
"""
"""How a kept page looks besides the site's own style."""

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


def marked_text(result: NerResult, selection: Selection) -> Html:
    """Draw the text as typed, marking the exact characters of every shown entity."""
    parts: list[Html | str] = []
    done = 0
    for entity in selection.shown:
        start = max(done, entity.start)  # two pieces may share a character, such as a ligature
        parts += [visible(result.text[done:start]), _mark(result, entity, start)]
        done = max(start, entity.end)
    parts.append(visible(result.text[done:]))
    if len(result.text) <= _LONG:
        return tag("div", *parts, class_="bx-text bx-ner-text", dir="auto")
    return tag(
        "div", *parts, class_="bx-text bx-ner-text bx-ner-long", dir="auto",
        role="region", aria_label="The marked text", tabindex=0,
    )  # fmt: skip


def _mark(result: NerResult, entity: Entity, start: int) -> Html:
    """Draw one entity with its label and score."""
    told = f"{entity.label}, score {entity.score:.4f}, characters {entity.start} to {entity.end}"
    return tag(
        "mark",
        tag("bdi", visible(result.text[start : entity.end])),
        tag("span", " ", visible(entity.label), " ", tag("b", percent(entity.score, 0)), dir="ltr"),
        class_=f"bx-ner {line_of(result, entity.kind)}",
        style=f"{colour_of(result, entity.kind)};--bx-s:{entity.score:.3f}",
        title=visible(told),
    )


def colour_of(result: NerResult, kind: str) -> str:
    """Return the style for a kind's colour, the same for every text of a model."""
    return f"--bx-c:var(--bx-c{result.labels.kinds.index(kind) % COLOURS})"


def line_of(result: NerResult, kind: str) -> str:
    """Return the style class for the shape of a kind's underline."""
    return f"bx-ner-l{result.labels.kinds.index(kind) % LINES}"


def legend(result: NerResult, selection: Selection) -> Html:
    """List every kind found in the text with its style, its meaning and how many are shown."""
    found = Counter(entity.kind for entity in result.reading.entities)
    shown = Counter(entity.kind for entity in selection.shown)
    items = [
        tag(
            "li",
            tag(
                "mark",
                visible(kind),
                class_=f"bx-ner {line_of(result, kind)}",
                style=f"{colour_of(result, kind)};--bx-s:1",
            ),
            f" {MEANINGS[kind]}" if kind in MEANINGS else "",
            tag("span", f" · {shown[kind]:,} of {found[kind]:,} shown", class_="bx-ner-count"),
        )
        for kind in result.labels.kinds
        if found[kind]
    ]
    return tag("ul", *items, class_="bx-ner-legend", aria_label="Legend") if items else join()


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
        hidden.append(f"{len(selection.other):,} with other labels than those chosen")
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
        share = percent(float(result.pieces.probabilities[piece, label]), 0)
        near = (
            f" What came nearest: {visible(result.labels.names[label])} with {share} at "
            f"“{visible(result.text[start:end])}”."
        )
    others = [
        AGGREGATION_NAMES[how] for how, reading in result.readings.items() if reading.entities
    ]
    return tag(
        "p",
        tag("strong", "Nothing found. "),
        "In this way of reading the label for “none” is the likeliest everywhere in the text.",
        near,
        f" Other ways of reading do find something: {', '.join(others)}." if others else "",
        class_="bx-note",
        role="status",
    )


def score_note(result: NerResult) -> Html:
    """Explain the numbers next to the labels."""
    return line(
        f"An entity's score is {_SCORES[result.aggregation]}. Deeper colour and heavier line: "
        "higher score. It says how sure the model is, not how often it is right: an entity is "
        "right only where all its pieces are. ",
        calibrated(result.calibration, "labels of single pieces other than O"),
    )


def coverage(result: NerResult) -> Html:
    """State that the whole text was read, and how."""
    read, count = result.pieces.coverage, len(result.pieces)
    if read.windows == 1:
        told = f"All {count:,} pieces were read at once." if count > 1 else "The piece was read."
        return line(told)
    return note(
        tag("strong", "Long text, read whole. "),
        f"{count:,} pieces are more than the {read.room:,} that the model reads at once, so it "
        f"read {read.windows:,} windows, each sharing {read.shared:,} pieces with the next. Every "
        "piece takes its labels from the window in which it has most text around it: at least "
        f"{read.context:,} pieces on both sides, except at the two ends of the text. Entities are "
        "joined afterwards, so none is cut at a window's edge.",
    )


def entity_table(result: NerResult, selection: Selection) -> pd.DataFrame:
    """List the shown entities with text, label, place, score and pieces."""
    shown = selection.shown
    return pd.DataFrame(
        {
            "text": [result.text[entity.start : entity.end] for entity in shown],
            "label": [entity.label for entity in shown],
            "start": [entity.start for entity in shown],
            "end": [entity.end for entity in shown],
            "score": [entity.score for entity in shown],
            "pieces": [entity.pieces[1] - entity.pieces[0] for entity in shown],
        }
    )


def describe(result: NerResult, selection: Selection) -> str:
    """Describe the marked text in one sentence, for screen readers."""
    named = [
        f"{result.text[entity.start : entity.end]} ({entity.label}, {percent(entity.score, 0)})"
        for entity in selection.shown[:8]
    ]
    rest = len(selection.shown) - len(named)
    if not named:
        return "No entity is shown."
    return f"Entities in the text: {', '.join(named)}{f' and {rest:,} more' if rest else ''}."


def kept_page(result: NerResult, selection: Selection, model: str) -> bytes:
    """Return the marked text, its legend and its table as one file that works offline.

    Args:
        result: the text with its entities.
        selection: the entities to show.
        model: description of the model.
    """
    sheet = (ASSETS / "site.css").read_text(encoding="utf-8")
    table = entity_table(result, selection)
    head = tag("tr", *(tag("th", name, scope="col") for name in table.columns))
    rows = [
        tag(
            "tr",
            tag("td", tag("bdi", visible(text))),
            tag("td", visible(label)),
            tag("td", str(start)),
            tag("td", str(end)),
            tag("td", f"{score:.4f}"),
            tag("td", str(pieces)),
        )
        for text, label, start, end, score, pieces in table.itertuples(index=False)
    ]
    return document(
        "Named entities",
        f"{_KEPT}{sheet}",
        tag("h2", "Named entities"),
        outcome(result, selection),
        marked_text(result, selection),
        legend(result, selection),
        score_note(result),
        coverage(result),
        tag("table", tag("thead", head), tag("tbody", *rows)) if rows else join(),
        line(f"Found by {visible(model)}."),
    )


def label_note(result: NerResult) -> Html:
    """State which labels this model has and how they are read."""
    labels = result.labels
    if labels.nameless:
        return note(
            tag("strong", "These labels have no names. "),
            f"The model's configuration numbers its {len(labels.names)} labels without saying what "
            "they stand for, not even which of them means “no entity”. So every one is shown as it "
            "is, and neighbours with the same number are joined.",
            caution=True,
        )
    limit = settings().shown_pieces
    listed = " ".join(visible(name) for name in labels.names[:limit])
    rest = len(labels.names) - limit
    return line(
        tag("strong", f"{len(labels.names)} labels: "),
        tag("code", listed),
        f" … and {rest:,} more. " if rest > 0 else ". ",
        _SCHEMES[labels.name],
    )


_SCHEMES = {
    "BIO": "B- begins an entity, I- continues it, O is outside; two entities of one kind in a row "
    "are told apart by the second B-. An I- with nothing to continue begins an entity too.",
    "IOB1": "I- is inside an entity, O outside; B- stands only where one entity follows another of "
    "its own kind.",
    "IO": "I- is inside an entity, O outside; neighbours of one kind cannot be told apart, and "
    "are joined.",
    "BIOES": "B- begins an entity, I- (or M-) continues it, E- (or L-) ends it, S- (or U-) is one "
    "of a single word, O is outside. What continues nothing begins an entity too.",
    "plain": "The labels have no B- and I-, so neighbours with the same label are joined.",
}


def rules() -> Html:
    """Explain what decides a word's label in each way of reading."""
    items = [
        tag("li", tag("strong", AGGREGATION_NAMES[how]), f": {rule}")
        for how, rule in _RULES.items()
    ]
    return join(
        line(
            "Rare words fall into several pieces, and every piece gets labels of its own. What is "
            "the word, then? Except for the last, all ways end by joining neighbours of one kind."
        ),
        tag("ul", *items, class_="bx-ner-rules"),
    )


def _count(number: int, how: Aggregation) -> str:
    """Format a count of entities, or of labelled pieces if pieces are not joined."""
    name, names = ("labelled piece", "") if how == "none" else ("entity", "entities")
    return count(number, name, names)

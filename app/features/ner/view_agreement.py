"""The entity tagger compared with annotations: figures, what they count, every difference."""

from itertools import pairwise

import pandas as pd

from app.features.ner.result import NerResult
from app.features.ner.result_agreement import Agreement, Counts, Named
from app.features.ner.view_text import Colours, Mark, colour_of, draw_text, short_table, stroke_of
from app.words.blocks import hint, line, note, sideways
from app.words.format import count, percent
from app.words.html import Html, join, tag, visible
from app.words.pictures import Picture, data_table, picture
from app.words.screen import Drawn, Rows, Screen

TITLE = "Your annotations"

ASK = "Your annotations: word, TAB, tag"
HINT = "Ada\tB-PER\nLovelace\tI-PER\nlived\tO\nin\tO\nLondon\tB-LOC"
"""What the empty box suggests."""

_FEW = 3  # differences quoted in the text; the table lists all


def screen(agreement: Agreement, model: str = "", *, text: tuple[Drawn, ...] = ()) -> Screen:
    """Say what is shown; a page has the annotated `text`, too."""
    rows = differences_table(agreement)
    listed = (short_table(rows, describe(agreement), "errors"),) if len(rows) else ()
    files = Rows("Differences", lambda: rows, "errors", json=True)
    return Screen(
        describe(agreement),
        (outcome(agreement), *text, kinds(agreement, "kinds"), *listed, files),
        answer=join(),
    )


def how() -> Html:
    """Explain what to paste and what is compared."""
    return tag(
        "div",
        hint(
            "One word, a TAB and its tag per line; a blank line after each sentence. CoNLL files "
            "can be pasted as they are. The model reads these words, and each takes the label of "
            "its first piece. Its names are compared with yours. Settings have no effect here."
        ),
        line("Paste words with your own tags and compare them with the model's."),
    )


def start_lines(result: NerResult) -> str:
    """Write the text as lines of words and the model's tags, to be corrected by a person."""
    pieces, names = result.pieces, result.labels.names
    best: list[int] = pieces.probabilities.argmax(axis=1).tolist()
    opens = [n for n in range(len(pieces)) if n == 0 or pieces.words[n] != pieces.words[n - 1]]
    lines = []
    for first, stop in pairwise([*opens, len(pieces)]):
        start, end = pieces.spans[first][0], pieces.spans[stop - 1][1]
        lines.append(f"{result.text[start:end]}\t{names[best[first]]}")
    return "\n".join(lines)


def overlaps(agreement: Agreement, result: NerResult, colours: Colours) -> Picture:
    """Draw the annotated words with the entities of both sides, framed where only one has them.

    Args:
        agreement: the comparison.
        result: a result of the same model, for the looks of its kinds.
        colours: the visitor's own colours.
    """
    gold, found = set(agreement.annotated), set(agreement.found)
    marks = [
        Mark(
            named.start,
            named.end,
            label=f"{named.kind} · {who}" if who else named.kind,
            told=f"{named.kind}, {who or 'annotated and found'}",
            colour=colour_of(result, named.kind, colours),
            stroke=stroke_of(result, named.kind),
            weight=0.3 if who else 0.7,
            differs=bool(who),
        )
        for group, who in ((gold & found, ""), (gold - found, "you"), (found - gold, "model"))
        for named in group
    ]
    return picture(
        "annotations",
        lambda width: draw_text(agreement.text, marks, width),
        alt=describe(agreement),
        table=differences_table(agreement),
    )


def outcome(agreement: Agreement) -> Html:
    """State how well the two agree, with the counts that each figure is based on."""
    total = agreement.total
    words = count(agreement.words, "word")
    head = f"{words} in {count(agreement.sentences, 'sentence')}. "
    if not total.annotated and not total.found:
        return tag(
            "p", head, "Neither the annotations nor the model mark any name here.",
            class_="bx-note", role="status",
        )  # fmt: skip
    precision, recall, f1 = _figures(total)
    return join(
        hint(
            "A name is right if its first word, its last word and its kind are. F1 is the harmonic "
            "mean of precision and recall"
            + (
                "; with so few names a single one moves it by several points."
                if 0 < total.annotated < 50
                else "."
            )
        ),
        tag(
            "p",
            tag("strong", f"F1 {f1}. "),
            head,
            f"Precision {precision}: of {count(total.found, 'name')} that the model marked, "
            f"{total.right:,} {'is' if total.right == 1 else 'are'} right. Recall {recall}: of "
            f"{count(total.annotated, 'annotated name')} it found {total.right:,}.",
            class_="bx-note",
            role="status",
        ),
        _unknown(agreement),
    )


def _unknown(agreement: Agreement) -> Html:
    """Name the kinds that the model cannot find because it has no label for them."""
    if not agreement.unknown:
        return join()
    named = [tag("code", visible(kind)) for kind in agreement.unknown]
    return note(
        tag("strong", "The model has no label for "),
        join(*named, by=", "),
        ", so it misses all of these; perhaps it calls them something else.",
        caution=True,
    )


def kinds(agreement: Agreement, name: str) -> Html:
    """Draw the figures of every kind; on a phone they scroll in a box of their own."""
    return sideways(data_table(kinds_table(agreement), name), "Figures of every kind")


def kinds_table(agreement: Agreement) -> pd.DataFrame:
    """List the counts and figures for every kind and for all kinds together."""
    rows = [_kind_row(each.kind, each) for each in agreement.kinds]
    rows.append(_kind_row("all kinds", agreement.total))
    columns = ["kind", "annotated", "found", "right", "precision", "recall", "F1"]
    return pd.DataFrame(rows, columns=columns)


def _kind_row(name: str, counts: Counts) -> tuple[str | int, ...]:
    return visible(name), counts.annotated, counts.found, counts.right, *_figures(counts)


def _figures(counts: Counts) -> list[str]:
    """Format precision, recall and F1, with a dash for a figure that is undefined."""
    figures = (counts.precision, counts.recall, counts.f1)
    return [percent(figure, counted=True) for figure in figures]


def differences_table(agreement: Agreement) -> pd.DataFrame:
    """List every difference: the annotation, the model's answer and the place."""
    rows = [
        (
            each.verdict,
            _text(agreement, each.annotated),
            visible(each.annotated.kind) if each.annotated else "–",
            _text(agreement, each.found),
            visible(each.found.kind) if each.found else "–",
            each.sentence,
        )
        for each in agreement.differences
    ]
    columns = ["difference", "annotated", "its kind", "model", "model's kind", "sentence"]
    return pd.DataFrame(rows, columns=columns)


def describe(agreement: Agreement) -> str:
    """Describe in one sentence where the two differ."""
    differences = len(agreement.differences)
    if not differences:
        return "No difference between the annotations and the model."
    named = [
        f"{each.verdict}: “{_text(agreement, each.annotated or each.found)}”"
        for each in agreement.differences[:_FEW]
    ]
    rest = f" and {differences - _FEW:,} more" if differences > _FEW else ""
    return f"{count(differences, 'difference')}: {', '.join(named)}{rest}."


def _text(agreement: Agreement, named: Named | None) -> str:
    return visible(agreement.text[named.start : named.end]) if named else "–"

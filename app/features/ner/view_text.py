"""The text with its entities marked: tinted, underlined, each with its label behind it."""

from collections.abc import Iterator

from app.features.ner.result import NerResult
from app.words.html import Html, tag, visible
from app.words.pictures import linked
from bert_core.reading.entities import Entity

LINKED = 4000  # characters; in a longer text only entities light up, not every piece

# Colours of the site, and shapes of underlines (solid, dashed, double, dotted, wavy): 30 pairs.
COLOURS, STROKES = 6, 5

_LONG = 2500  # characters; a longer text scrolls in its own frame


def running_text(result: NerResult) -> Html:
    """Draw the text as typed, with the exact characters of every entity marked."""
    parts: list[Html | str] = []
    done = 0
    for entity in result.reading.entities:
        start = max(done, entity.start)  # pieces can share a character
        if start < entity.end:
            parts += [*_pieces(result, done, start), _mark(result, entity, start)]
            done = entity.end
    parts += _pieces(result, done, len(result.text))
    long = len(result.text) > _LONG
    return tag(
        "div", *parts, class_="bx-text bx-ner-text bx-ner-long" if long else "bx-text bx-ner-text",
        dir="auto", role="group", aria_label="The text with its entities marked",
        tabindex=0 if long else None,
    )  # fmt: skip


def _mark(result: NerResult, entity: Entity, start: int) -> Html:
    label, long = visible(entity.label), len(result.text) > LINKED
    return tag(
        "mark",
        *_pieces(result, start, entity.end),
        tag("small", f"{label} {score(entity.score)}", class_="bx-ner-name"),
        class_=f"bx-ner-mark bx-ner-l{stroke_of(result, entity.kind)}",
        style=f"--bx-c:{colour_of(result, entity.kind)};--bx-w:{entity.score:.3f}",
        title=f"{label}, score {entity.score:.4f}, characters {entity.start} to {entity.end}",
        data_at=linked(range(*entity.pieces)) if long else None,
    )


def _pieces(result: NerResult, start: int, end: int) -> Iterator[Html | str]:
    """Yield a stretch of the text, each piece in it with the key that links it."""
    if len(result.text) <= LINKED:
        for number, (first, last) in enumerate(result.pieces.spans):
            if start <= first < last <= end:
                yield visible(result.text[start:first])
                yield tag("span", visible(result.text[first:last]), data_at=linked([number]))
                start = last
    yield visible(result.text[start:end])


def colour_of(result: NerResult, kind: str) -> str:
    """Return a kind's colour: the same for every text of a model."""
    return f"var(--bx-c{result.labels.kinds.index(kind) % COLOURS})"


def stroke_of(result: NerResult, kind: str) -> int:
    """Return the number of the shape of a kind's underline."""
    return result.labels.kinds.index(kind) % STROKES


def score(value: float) -> str:
    """Format a score with two digits; rounding never makes it 0 or 1.

    >>> score(0.973), score(0.9999), score(0.0001)
    ('0.97', '> 0.99', '< 0.01')
    """
    shown = f"{value:.2f}"
    return {"1.00": "> 0.99", "0.00": "< 0.01"}.get(shown, shown)

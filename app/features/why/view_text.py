"""The running text with what each word did: a bar behind it for the answer, below it against.

The sign of a score is its direction and its pattern as well as its colour; its size is a length.
"""

from collections.abc import Sequence

from app.features.why.result import SIGNED, Place, WhyResult
from app.words.format import signed
from app.words.html import Html, tag, visible
from app.words.lines import Box, Typeset, letters, printed_width, units
from app.words.pictures import linked, svg

SIZE = 20
"""Size of the letters; the style sheet repeats it."""

_LETTERS = 27  # height of a line of letters
_TALL = 30  # of the longest bar
_LEAST = 6  # below a line, where nothing speaks against the answer
_GAP = 9  # between two lines
_APART = 16  # between two texts
_KEY = 15  # side of a sample in the key
_STRIPE = 5  # between two stripes of a bar against the answer


def drawn_text(result: WhyResult, width: int) -> Html:
    """Draw the texts that the model read, with the scores."""
    shortest = min(lengths(result.story.scores), default=0.0)
    below = max(_LEAST, -_TALL * shortest)  # the room that bars need below a line
    parts: list[Html] = []
    top = 2.0
    for sequence in sorted({word.place.sequence for word in result.words}):
        drawn, top = _one_text(result, sequence, width, top, below)
        parts += drawn
        top += _APART
    key, bottom = _key(result, width, top)
    return svg(width, bottom, *parts, *key)


def lengths(scores: Sequence[float]) -> list[float]:
    """Return the lengths of bars, negative ones downwards; the longest is 1.

    >>> lengths([2.0, -1.0, 0.0])
    [1.0, -0.5, 0.0]
    """
    most = max(map(abs, scores), default=0.0) or 1.0
    return [score / most for score in scores]


def _one_text(
    result: WhyResult, sequence: int, width: int, top: float, below: float
) -> tuple[list[Html], float]:
    """Draw one of the texts; return also where it ends."""
    scores = result.story.scores
    rows = [
        row
        for row in zip(result.words, scores, lengths(scores), strict=True)
        if row[0].place.sequence == sequence
    ]
    first, last = rows[0][0].place.start, rows[-1][0].place.end
    typed = (result.encoding.text_pair if sequence else result.encoding.text) or ""
    asked = [
        Place(sequence, each.start - first, each.end - first)
        for each in result.explained.places
        if each.sequence == sequence
    ]
    cuts = [edge - first for word, *_ in rows for edge in (word.place.start, word.place.end)]
    lines = Typeset(typed[first:last], width, SIZE, cuts)
    step = _LETTERS + below + _GAP
    drawn = []
    for word, score, length in rows:
        for box in lines.where(word.place.start - first, word.place.end - first):
            axis = top + box.line * step + _LETTERS
            told = tag("title", visible(f"{word.text}: {printed(result, score)}"))
            shapes = _bar(box, axis, length, kind_of(result.story.method, score))
            drawn.append(tag("g", told, *shapes, class_="bx-why-bar", data_at=linked(word.pieces)))
    for place in asked:
        for box in lines.where(place.start, place.end):
            drawn.append(_frame(box, top + box.line * step))
    for box in lines.boxes:
        middle = top + box.line * step + _LETTERS / 2
        shown = letters(lines, box, middle, "bx-why-word")
        drawn += [] if shown is None else [shown]
    return drawn, top + lines.lines * step


def printed(result: WhyResult, score: float) -> str:
    """Print a score, with its sign if the method has one."""
    return signed(score, 3) if result.story.method in SIGNED else f"{score:.3f}"


def _bar(box: Box, axis: float, length: float, kind: str) -> list[Html]:
    """Draw one score: upwards behind the letters, or downwards from their line."""
    tall = max(0.75, _TALL * abs(length))
    y = axis if length < 0 else axis - tall
    width = max(1.0, box.right - box.left)
    return bar(box.left, y, width, tall, kind)


def bar(x: float, y: float, width: float, height: float, kind: str) -> list[Html]:
    """Draw the rectangle of a score (see `kind_of`); one against the answer is striped."""
    place = {"x": units(x), "y": units(y), "width": units(width), "height": units(height)}
    drawn = [tag("rect", **place, class_=f"bx-why-{kind}")]
    if kind == "against":
        stripes = range(1, int(width // _STRIPE) + 1)
        path = "".join(f"M{units(x + n * _STRIPE - 1)} {units(y)}v{units(height)}" for n in stripes)
        drawn += [tag("path", d=path, class_="bx-why-stripes")] if path else []
    return drawn


def kind_of(method: str, score: float) -> str:
    """Return what a bar says: "for" or "against" the answer, "size" without a sign, or "none".

    >>> kind_of("shapley", -0.5), kind_of("attention", 0.1)
    ('against', 'size')
    """
    if not score:
        return "none"
    if method not in SIGNED:
        return "size"
    return "for" if score > 0 else "against"


def _frame(box: Box, top: float) -> Html:
    """Draw the frame of the answer, which is not scored or is what the number is about."""
    return tag(
        "rect", x=units(box.left - 1), y=units(top), width=units(box.right - box.left + 2),
        height=units(_LETTERS), rx=4, class_="bx-why-asked",
    )  # fmt: skip


def _key(result: WhyResult, width: int, top: float) -> tuple[list[Html], float]:
    """Explain the bars in one line, in two where it is narrow; return also where it ends."""
    most = max(map(abs, result.story.scores), default=0.0)
    unit = f" {result.explained.unit}" if result.story.method in SIGNED else ""
    full = ("", f"longest: {most:.2f}{unit}")
    samples = (
        [("for", "for the answer"), ("against", "against it"), full]
        if result.story.method in SIGNED
        else [("size", "size only, no sign"), full]
    )
    x, y = 0.0, top + 4
    drawn: list[Html] = []
    for kind, says in samples:
        lead = _KEY + 8 if kind else 0
        wide = lead + printed_width(says, 16)
        if x and x + wide > width:
            x, y = 0.0, y + 24
        drawn += bar(x, y, _KEY, _KEY, kind) if kind else []
        drawn.append(
            tag("text", says, x=units(x + lead), y=units(y + _KEY / 2), class_="bx-why-key")
        )
        x += wide + 22
    return drawn, y + _KEY + 6

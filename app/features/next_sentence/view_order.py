"""Who may follow whom: the sentences of a paragraph as a matrix, and the best order."""

from collections.abc import Sequence
from itertools import pairwise, permutations, product

import numpy as np

from app.features.next_sentence.result_order import SentenceOrderResult
from app.words.blocks import hint, line
from app.words.format import count, percent, shortened
from app.words.html import Html, join, tag, visible
from app.words.matrix import Matrix
from app.words.pictures import Picture, linked, picture, svg
from app.words.screen import Screen

TITLE = "Order of a paragraph"

EXAMPLE = {
    "paragraph": "The kettle began to whistle, so Nora got up. She poured the water over the tea "
    "leaves. Then she carried her cup to the window. The bridge across the river was closed that "
    "day. Its steel cables had rusted in the rain."
}
"""What is in the box at first."""

_INK = 0.72  # opacity of the deepest colour: dark letters remain readable on it
_OWN = 1  # number of this text in the keys that link its places
_LETTER = 8.4


def screen(result: SentenceOrderResult) -> Screen:
    """Say what is shown."""
    scale = scale_of(result, own=True)
    numbers = ", ".join(str(number + 1) for number in result.best)
    return Screen(
        f"The model’s best order is {numbers}; it keeps {result.kept} of "
        f"{count(len(result.sentences) - 1, 'true step')}.",
        (matrix(result, result.true, scale), legend(scale), orders(result, result.true)),
    )


def scale_of(result: SentenceOrderResult, *, own: bool) -> tuple[float, float]:
    """Return the probabilities drawn faintest and deepest: 0 and 1, or the ends of its own."""
    if not own:
        return 0.0, 1.0
    return float(np.nanmin(result.follows)), float(np.nanmax(result.follows))


def matrix(
    result: SentenceOrderResult, order: Sequence[int], scale: tuple[float, float]
) -> Picture:
    """Draw, for every pair of sentences, the probability that one follows the other.

    Args:
        result: the paragraph.
        order: the order of the rows and columns, as numbers of sentences.
        scale: the probabilities drawn faintest and drawn deepest.
    """
    written, best = (percent(result.mean_step(each)) for each in (result.true, result.best))
    steps = set(pairwise(result.best))
    return picture(
        "sentence-order",
        lambda width: _grid(result, order, scale, width),
        alt=f"Matrix of {len(result.sentences)} sentences: the probability that one follows the "
        f"other. A step of the written order has {written} on average, one of the best order "
        f"{best}.",
        table=(
            (a + 1, b + 1, float(result.follows[a, b]), b == a + 1, (a, b) in steps)
            for a, b in permutations(result.true, 2)
        ),
        columns=("sentence", "followed by", "probability", "in the text", "in the best order"),
    )


def orders(result: SentenceOrderResult, shown: Sequence[int]) -> Html:
    """Draw the best order beside the one in which the sentences are shown.

    Args:
        result: the paragraph.
        shown: the order of the rows of the matrix.
    """
    written = tuple(shown) == result.true
    parts = (
        _listed(result, shown, "As written" if written else "Shuffled"),
        _listed(result, result.best, "The model’s best order"),
    )
    said = line(
        f"{result.kept} of {count(len(result.sentences) - 1, 'true step')} kept. ",
        "The best order has the largest product of the probabilities of its steps. "
        "Percentages: the geometric mean of these.",
    )
    cut = line(f"{count(result.cut, 'pair')} too long, cut at the end.") if result.cut else join()
    return join(tag("div", *parts, class_="bx-nsp-orders"), said, cut)


def legend(scale: tuple[float, float]) -> Html:
    """Explain the matrix in one line and a fold.

    Args:
        scale: the probabilities drawn faintest and drawn deepest.
    """
    least, most = (percent(end, 0, counted=True) for end in scale)
    return tag(
        "div",
        hint(
            "Each row is a sentence, each column the sentence after it. The number is the model’s "
            "probability that the column’s sentence follows the row’s, out of its two answers. "
            "Sentences keep the numbers of the written text, even after shuffling: the model reads "
            "each pair alone, so shuffling cannot change its answers."
        ),
        line(
            f"Probability in % that the column follows the row. Palest: {least}, darkest: {most}. "
            "Frame: the true next sentence. Dot: a step of the best order."
        ),
    )


def _listed(result: SentenceOrderResult, order: Sequence[int], title: str) -> Html:
    items = (
        tag("li", tag("b", str(number + 1)), visible(result.sentences[number]),
            data_at=linked([number], text=_OWN))
        for number in order
    )  # fmt: skip
    mean = percent(result.mean_step(order))
    head = tag("h2", title, tag("small", f" {mean} per step"))
    return tag("section", head, tag("ol", *items))


def _grid(
    result: SentenceOrderResult, order: Sequence[int], scale: tuple[float, float], width: int
) -> Html:
    """Draw the matrix `width` wide: names at the left, numbers on top."""
    least, most = scale
    span = most - least or 1.0
    n = len(order)
    names = width * 0.38 if width > 500 else 34.0
    side = min((width - names) / n, 94.0)
    grid = Matrix(names, 26.0, side, min(side, 46.0))
    letters = int((names - 34) / _LETTER)
    keys = [linked([a], text=_OWN) for a in order]
    numbers = [str(a + 1) for a in order]
    texts = [
        f"{a + 1} {shortened(result.sentences[a], letters)}" if letters > 4 else str(a + 1)
        for a in order
    ]
    parts = [
        *grid.rows(zip(texts, keys, strict=True), x=0),
        *grid.columns(zip(numbers, keys, strict=True)),
    ]
    best = set(pairwise(result.best))
    for place in product(range(n), range(n)):
        a, b = (order[at] for at in place)
        frame = grid.place(*place, inset=2)
        if a == b:
            parts.append(tag("rect", **frame, stroke_dasharray="3 4", class_="bx-svg-frame"))
            continue
        share = float(result.follows[a, b])
        printed = percent(share, 0).removesuffix(" %") if side >= 44 else ""
        drawn = grid.cell(*place, _INK * (share - least) / span, printed, inset=2)
        drawn.append(tag("rect", **frame, class_="bx-svg-true" if b == a + 1 else "bx-svg-frame"))
        if (a, b) in best:
            x, y = (float(frame[name]) for name in ("x", "y"))
            drawn.append(tag("circle", cx=f"{x + side - 11:.2f}", cy=f"{y + 8:.2f}", r=4.5,
                             class_="bx-svg-step"))  # fmt: skip
        parts.append(tag("g", *drawn, data_at=linked([a, b], text=_OWN)))
    return svg(width, grid.top + n * grid.height + 4, *parts)

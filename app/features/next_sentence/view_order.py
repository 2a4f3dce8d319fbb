"""Who may follow whom: the sentences of a paragraph as a matrix, and the best order."""

from collections.abc import Sequence
from itertools import pairwise, permutations, product

import numpy as np

from app.features.next_sentence.result import SentenceOrderResult
from app.words.blocks import Html, hint, join, line, tag, visible
from app.words.format import count, percent, shortened
from app.words.matrix import Matrix
from app.words.pictures import Picture, linked, picture, svg
from app.words.screen import Screen

TITLE = "Order of a paragraph"
STEPS = "pairs"
EXAMPLE = {
    "paragraph": "The kettle began to whistle, so Nora got up. She poured the water over the tea "
    "leaves. Then she carried her cup to the window. The bridge across the river was closed that "
    "day. Its steel cables had rusted in the rain."
}

_INK = 0.72  # opacity of the deepest colour: dark letters remain readable on it
_OWN = 1  # number of this text in the keys that link its places
_LETTER = 8.4


def screen(result: SentenceOrderResult) -> Screen:
    """Say what is shown."""
    steps = count(len(result.sentences) - 1, "true step")
    numbers = ", ".join(str(number + 1) for number in result.best)
    least, most = (percent(end, 0, counted=True) for end in _ends(result))
    legend = join(
        hint(
            "Each row is a sentence, each column the sentence after it. The number is the model’s "
            "probability that the column’s sentence follows the row’s, out of its two answers. The "
            "model reads each pair alone, so their order in the text cannot change its answers. "
            "The best order has the largest product of the probabilities of its steps; the "
            "percentages beside both orders are the geometric means of these."
        ),
        line(
            f"Probability in % that the column follows the row. Palest: {least}, darkest: {most}. "
            "Frame: the true next sentence. Dot: a step of the best order."
        ),
    )
    orders = (
        _listed(result, result.true, "As written"),
        _listed(result, result.best, "The model’s best order"),
    )
    cut = line(f"{count(result.cut, 'pair')} too long, cut at the end.") if result.cut else join()
    both = join(tag("div", *orders, class_="bx-nsp-orders"), cut)
    return Screen(
        f"The model’s best order is {numbers}; it keeps {result.kept} of {steps}.",
        (matrix(result), legend, both),
    )


def _ends(result: SentenceOrderResult) -> tuple[float, float]:
    return float(np.nanmin(result.follows)), float(np.nanmax(result.follows))


def matrix(result: SentenceOrderResult) -> Picture:
    """Draw, for every pair of sentences, the probability that one follows the other."""
    written, best = (percent(result.mean_step(each)) for each in (result.true, result.best))
    steps = set(pairwise(result.best))
    return picture(
        "sentence-order",
        lambda width: _grid(result, width),
        alt=f"Matrix of {len(result.sentences)} sentences: the probability that one follows the "
        f"other. A step of the written order has {written} on average, one of the best order "
        f"{best}.",
        table=(
            (a + 1, b + 1, float(result.follows[a, b]), b == a + 1, (a, b) in steps)
            for a, b in permutations(result.true, 2)
        ),
        columns=("sentence", "followed by", "probability", "in the text", "in the best order"),
    )


def _listed(result: SentenceOrderResult, order: Sequence[int], title: str) -> Html:
    items = (
        tag("li", tag("b", str(number + 1)), visible(result.sentences[number]),
            data_at=linked([number], text=_OWN))
        for number in order
    )  # fmt: skip
    head = tag("h2", title, tag("small", f" {percent(result.mean_step(order))} per step"))
    return tag("section", head, tag("ol", *items))


def _grid(result: SentenceOrderResult, width: int) -> Html:
    least, most = _ends(result)
    n = len(result.sentences)
    names = width * 0.38 if width > 500 else 34.0
    side = min((width - names) / n, 94.0)
    grid = Matrix(names, 26.0, side, min(side, 46.0))
    letters = int((names - 34) / _LETTER)
    keys = [linked([a], text=_OWN) for a in result.true]
    texts = [
        f"{a + 1} {shortened(text, letters)}" if letters > 4 else str(a + 1)
        for a, text in enumerate(result.sentences)
    ]
    numbers = [str(a + 1) for a in result.true]
    parts = [
        *grid.rows(zip(texts, keys, strict=True), x=0),
        *grid.columns(zip(numbers, keys, strict=True)),
    ]
    best = set(pairwise(result.best))
    for a, b in product(result.true, result.true):
        frame = grid.place(a, b, inset=2)
        if a == b:
            parts.append(tag("rect", **frame, stroke_dasharray="3 4", class_="bx-svg-frame"))
            continue
        share = float(result.follows[a, b])
        printed = percent(share, 0).removesuffix(" %") if side >= 44 else ""
        depth = _INK * (share - least) / ((most - least) or 1.0)
        drawn = grid.cell(a, b, depth, printed, inset=2)
        drawn.append(tag("rect", **frame, class_="bx-svg-true" if b == a + 1 else "bx-svg-frame"))
        if (a, b) in best:
            x, y = (float(frame[name]) for name in ("x", "y"))
            drawn.append(tag("circle", cx=f"{x + side - 11:.2f}", cy=f"{y + 8:.2f}", r=4.5,
                             class_="bx-svg-step"))  # fmt: skip
        parts.append(tag("g", *drawn, data_at=linked([a, b], text=_OWN)))
    return svg(width, grid.top + n * grid.height + 4, *parts)

"""What the model looks like inside: the attention of one head, the vectors of words."""

import numpy as np

from app.features.lab.result import LabResult, Point
from app.words.html import Html, tag, visible
from app.words.lines import printed_width
from app.words.matrix import Matrix
from app.words.panel import Panel
from app.words.pictures import Picture, picture, svg

_SIDE = 270  # of a drawing
_LETTERS = 14


def attention(run: LabResult, point: Point, layer: int, head: int) -> Picture:
    """Draw where one head looks in one sentence.

    Args:
        run: whose model it is.
        point: at which moment.
        layer: counted from 0.
        head: counted from 0.
    """
    pieces = [visible(each) for each in run.start.attended]
    shares = point.attention[layer, head].astype(float)  # (T, T)
    drawn = _matrix(pieces, shares)
    most = [
        f"{piece} → {pieces[int(row.argmax())]}" for piece, row in zip(pieces, shares, strict=True)
    ]
    numbered = [f"{piece} ({n})" for n, piece in enumerate(pieces)]
    return picture(
        "lab-attention",
        lambda _: drawn,
        alt=f"Attention of layer {layer}, head {head} after step {point.step:,}; each piece and "
        f"what it looks at most: {', '.join(most)}.",
        table=zip(numbered, *shares.round(4).T.tolist(), strict=True),
        columns=("from", *numbered),
    )


def _matrix(pieces: list[str], shares: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> Html:
    left = 1.15 * max(printed_width(each, _LETTERS) for each in pieces) + 8
    size = (_SIDE - left - 2) / len(pieces)
    place = Matrix(left, left, size, size)
    names = [(each, None) for each in pieces]
    cells = [
        each
        for row, values in enumerate(shares)
        for column, share in enumerate(values)
        for each in place.cell(row, column, float(share), "")
    ]
    columns = (
        tag("text", each, transform=f"translate({left + (n + 0.5) * size:.1f} {left - 6:.1f}) "
            "rotate(-90)")
        for n, each in enumerate(pieces)
    )  # fmt: skip
    return svg(_SIDE, _SIDE, *cells, *place.rows(names), *columns)


def vectors(run: LabResult, point: Point) -> Picture:
    """Draw the vectors of words on two axes.

    The scale is that of the largest moment so far, so that words are seen to move apart. A word
    without room for its letters is a point.
    """
    words = run.start.shown
    drawn = _plane(run, point)
    return picture(
        "lab-words",
        lambda _: drawn,
        alt=f"Vectors of {len(words)} words on two axes after step {point.step:,}.",
        table=zip(words, *point.vectors.astype(float).round(4).T, strict=True),
        columns=("word", "axis 1", "axis 2"),
    )


def _plane(run: LabResult, point: Point) -> Html:
    far = max((float(np.abs(each.vectors).max(initial=1e-6)) for each in run.points), default=1.0)
    panel = Panel((14, _SIDE - 14), (14, _SIDE - 14), (-far, far), (far, -far))
    taken: list[tuple[float, float, float]] = []  # left, right, middle of labels
    for word, (a, b) in zip(run.start.shown, point.vectors.astype(float).tolist(), strict=True):
        x, y, wide = panel.x(a), panel.y(b), printed_width(word, _LETTERS)
        left = min(max(2.0, x - wide / 2), _SIDE - wide - 2)
        free = all(
            left > other[1] + 3 or left + wide < other[0] - 3 or abs(y - other[2]) > _LETTERS
            for other in taken
        )
        if free:
            taken.append((left, left + wide, y))
            panel.text(a, b, word, left - x, class_=None)
        else:
            panel.dot(a, b, 2.5, class_="bx-lab-word")
    frame = tag("rect", x=1, y=1, width=_SIDE - 2, height=_SIDE - 2, class_="bx-svg-frame")
    return svg(_SIDE, _SIDE, frame, *panel.drawn)

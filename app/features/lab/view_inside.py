"""What the model looks like inside: the attention of one head, the vectors of words."""

import numpy as np
import pandas as pd

from app.features.lab.result import LabResult, Point
from app.words.html import Html, tag, visible
from app.words.lines import printed_width
from app.words.matrix import Matrix
from app.words.pictures import Picture, svg

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
    table = pd.DataFrame(shares.round(4), columns=numbered)
    table.insert(0, "from", numbered)
    return Picture(
        name="lab-attention",
        wide=drawn,
        narrow=drawn,
        alt=f"Attention of layer {layer}, head {head} after step {point.step:,}; each piece and "
        f"what it looks at most: {', '.join(most)}.",
        table=table,
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
    return Picture(
        name="lab-words",
        wide=drawn,
        narrow=drawn,
        alt=f"Vectors of {len(words)} words on two axes after step {point.step:,}.",
        table=pd.DataFrame(
            {
                "word": words,
                "axis 1": point.vectors[:, 0].astype(float).round(4),
                "axis 2": point.vectors[:, 1].astype(float).round(4),
            }
        ),
    )


def _plane(run: LabResult, point: Point) -> Html:
    far = max((float(np.abs(each.vectors).max(initial=1e-6)) for each in run.points), default=1.0)
    half = _SIDE / 2
    places = half + point.vectors.astype(float) * (half - 14) / far
    taken: list[tuple[float, float, float]] = []  # left, right, middle of labels
    drawn = []
    for word, (x, y) in zip(run.start.shown, places, strict=True):
        wide = printed_width(word, _LETTERS)
        left = min(max(2.0, x - wide / 2), _SIDE - wide - 2)
        free = all(
            left > other[1] + 3 or left + wide < other[0] - 3 or abs(y - other[2]) > _LETTERS
            for other in taken
        )
        if free:
            taken.append((left, left + wide, y))
            drawn.append(tag("text", visible(word), x=f"{left:.1f}", y=f"{y:.1f}"))
        else:
            drawn.append(tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=2.5, class_="bx-lab-word"))
    frame = tag("rect", x=1, y=1, width=_SIDE - 2, height=_SIDE - 2, class_="bx-svg-frame")
    return svg(_SIDE, _SIDE, frame, *drawn)

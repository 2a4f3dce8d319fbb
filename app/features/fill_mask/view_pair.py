"""One word swapped: what changes at every mask."""

from collections.abc import Sequence

import pandas as pd

from app.features.fill_mask.result import Contrast, PairResult
from app.features.fill_mask.view import explained, letters_wide
from app.words.format import shortened, signed
from app.words.html import Html, tag, visible
from app.words.pictures import Picture, picture, svg
from app.words.report import Report

TITLE = "Swap a word"

_BAR, _GAP = 24, 10


def report(result: PairResult) -> Report:
    """Write the result as it would appear on paper."""
    gap, row = max(
        ((gap, row) for gap, rows in enumerate(result.slots, 1) for row in rows),
        key=lambda each: abs(each[1].difference),
    )
    word = visible(result.words[row.difference < 0])
    where = f" in gap {gap}" if len(result.slots) > 1 else ""
    pictures = (pair_picture(result, number) for number in range(len(result.slots)))
    return Report(
        f"With “{word}”, “{visible(row.token)}”{where} is more probable by "
        f"{100 * abs(row.difference):.1f} percentage points; no word changes more.",
        (pair_line(result), pair_note(), *pictures),
    )


def pair_line(result: PairResult) -> Html:
    """Show the two sentences."""
    rows = [
        tag("li", tag("b", tag("bdi", visible(word))), " ", tag("bdi", visible(text)))
        for word, text in zip(result.words, result.texts, strict=True)
    ]
    return tag("ul", *rows, class_="bx-pair")


def pair_picture(result: PairResult, number: int) -> Picture:
    """Draw the differences at one mask, counted from 0."""
    rows = result.slots[number]
    said = ", ".join(f"{row.token} {points(row.difference)}" for row in rows)
    return picture(
        f"fill-mask-pair-{number + 1}",
        lambda width: differences(rows, result.words, width, scale=result.slots),
        alt=f"Gap {number + 1}: probability with {result.words[0]} minus probability with "
        f"{result.words[1]}, in percentage points: {said}.",
        table=pair_table(result, number),
    )


def differences(
    rows: Sequence[Contrast],
    words: tuple[str, str],
    width: int,
    *,
    scale: Sequence[Sequence[Contrast]],
) -> Html:
    """Draw differences as bars from a line in the middle: to the left in favour of the first word.

    Args:
        rows: the candidates.
        words: the two words, for the heading.
        width: of the drawing.
        scale: the candidates of all masks, whose drawings share one scale.
    """
    every = [row for mask in scale for row in mask]
    left = max(letters_wide(_shortened(row.token)) for row in every) + 24
    half = (width - left) / 2
    zero, room = left + half, half - 84
    top = max(abs(row.difference) for row in every) or 1.0
    heads = [_shortened(word) for word in words]
    drawn = [
        tag("text", visible(f"← more with {heads[0]}"), x=zero - 8, y=12, class_="bx-svg-name"),
        tag("text", visible(f"with {heads[1]} →"), x=zero + 8, y=12),
    ]
    for number, row in enumerate(rows, start=1):
        y = number * (_BAR + _GAP)
        length = room * abs(row.difference) / top
        first = row.difference > 0
        end = zero - length - 6 if first else zero + length + 6
        drawn += [
            tag("text", visible(_shortened(row.token)), x=left - 12, y=y + _BAR / 2,
                class_="bx-svg-name"),
            tag("rect", x=f"{zero - length if first else zero:.2f}", y=y, width=f"{length:.2f}",
                height=_BAR, class_="bx-svg-bar" if first else "bx-svg-mark"),
            tag("text", points(abs(row.difference)), x=f"{end:.2f}", y=y + _BAR / 2,
                class_="bx-svg-name" if first else None),
        ]  # fmt: skip
    height = (len(rows) + 1) * (_BAR + _GAP)
    axis = tag("line", x1=zero, y1=26, x2=zero, y2=height, class_="bx-svg-base")
    return svg(width, height, *drawn, axis)


def pair_table(result: PairResult, number: int) -> pd.DataFrame:
    """List both probabilities of each candidate of a mask, and their difference."""
    rows = [(row.token, row.first, row.second, row.difference) for row in result.slots[number]]
    return pd.DataFrame(
        rows, columns=["piece", *(f"with {visible(word)}" for word in result.words), "difference"]
    )


def pair_note() -> Html:
    """Say what the picture shows and what it does not."""
    return explained(
        "Difference of the probabilities, in percentage points.",
        more=(
            "The five best pieces of both sentences are compared: bars to the left are more "
            "probable with the first word, bars to the right with the second. The difference "
            "comes from the texts the model was trained on. It says nothing about people."
        ),
    )


def points(difference: float) -> str:
    """Format a difference of probabilities in percentage points.

    >>> points(0.1234), points(-0.00001)
    ('+12.3', '−0.0')
    """
    return signed(100 * difference, 1)


def _shortened(word: str) -> str:
    return shortened(word, 14)

"""The tabs of fill-mask: every piece hidden in turn, all masks together, one word swapped."""

import math
from collections.abc import Sequence
from unicodedata import east_asian_width

import pandas as pd

from app.features.fill_mask.result import (
    Contrast,
    Expected,
    Joint,
    PairResult,
    SurpriseResult,
    TogetherResult,
)
from app.features.fill_mask.view import axis, chance, explained
from app.words.format import shortened, signed
from app.words.html import Html, tag, visible
from app.words.pictures import Picture, bars, linked, picture, svg
from bert_core.reading.gaps import Order

ORDER_NAMES: dict[Order, str] = {"left": "Left to right", "certain": "Surest first"}

_PIECE, _TALL, _ROW = 44, 84, 150  # least width of a piece, full height of a bar, height of a row
_BAR, _GAP = 24, 10


# --- every piece hidden in turn -------------------------------------------------------------------


def odd_line(result: SurpriseResult) -> Html:
    """Name the word that the model expects least, and what it expects instead."""
    pieces = result.odd
    word = pieces[0].token + "".join(piece.token.removeprefix("##") for piece in pieces[1:])
    least = min(pieces, key=lambda piece: piece.probability)
    share = chance(math.prod(piece.probability for piece in pieces))
    instead = (
        f"; the model would rather write {_quoted(least.best)} ({chance(least.best_probability)})."
        if least.best != least.token
        else "."
    )
    return tag(
        "p",
        "Least expected: ",
        tag("mark", tag("bdi", visible(word)), class_="bx-filled", data_at=_at(pieces)),
        f": {share} in its place",
        instead,
        class_="bx-odd",
    )


def surprise_picture(result: SurpriseResult) -> Picture:
    """Draw each piece below a bar: the less it is expected, the longer."""
    odd = {piece.position for piece in result.odd}
    return picture(
        "fill-mask-surprise",
        lambda width: columns(result.pieces, odd, width),
        alt=describe_surprise(result),
        table=surprise_table(result),
    )


def columns(pieces: Sequence[Expected], odd: set[int], width: int) -> Html:
    """Draw a text in lines, each piece with its bar above and its probability below.

    Args:
        pieces: the pieces, in order.
        odd: positions of the pieces to highlight.
        width: of the drawing.
    """
    top = max(piece.surprise for piece in pieces) or 1.0  # an own scale: texts differ widely
    drawn: list[Html] = []
    x, y = 0, 0
    for piece in pieces:
        name = shortened(piece.token, 20)
        printed = chance(piece.probability)
        wide = max(_PIECE, _letters(name) + 14, _letters(printed) - 2)
        if x and x + wide > width:
            x, y = 0, y + _ROW
        high = _TALL * piece.surprise / top
        middle, base = x + wide / 2, y + 6 + _TALL
        marked = piece.position in odd
        drawn += [
            tag("rect", x=x + 4, y=f"{base - high:.2f}", width=wide - 8, height=f"{high:.2f}",
                class_="bx-svg-mark" if marked else "bx-svg-bar"),
            tag("line", x1=x + 2, y1=base, x2=x + wide - 2, y2=base, class_="bx-svg-base"),
            tag("text", visible(name), x=middle, y=base + 16,
                class_="bx-svg-middle bx-svg-strong" if marked else "bx-svg-middle"),
            tag("text", printed, x=middle, y=base + 37, class_="bx-svg-middle bx-svg-small"),
        ]  # fmt: skip
        x += wide
    return svg(width, y + _ROW - 8, *drawn)


def describe_surprise(result: SurpriseResult) -> str:
    """Describe the picture in one sentence."""
    rows = sorted(result.pieces, key=lambda piece: piece.probability)[:5]
    least = ", ".join(f"{piece.token} {chance(piece.probability)}" for piece in rows)
    return f"A bar over each of {len(result.pieces)} pieces. Least expected: {least}."


def surprise_table(result: SurpriseResult) -> pd.DataFrame:
    """List every piece with its probability, its rank and the model's own choice."""
    rows = [
        (piece.position, piece.token, piece.probability, piece.rank, piece.surprise,
         piece.best, piece.best_probability, linked([piece.position]))
        for piece in result.pieces
    ]  # fmt: skip
    names = ["position", "piece", "probability", "rank", "surprise", "first choice",
             "its probability", "at"]  # fmt: skip
    return pd.DataFrame(rows, columns=names)


def surprise_note(result: SurpriseResult) -> Html:
    """State the score of the whole sentence, and how it comes about."""
    count = len(result.pieces)
    perplexity = math.exp(min(700.0, -result.log_likelihood / count))
    return explained(
        f"Pseudo-log-likelihood {signed(result.log_likelihood, 1)}, "
        f"pseudo-perplexity {perplexity:,.1f}.",
        more=(
            f"The model read {count:,} copies of the text, each with another piece hidden. A "
            "percentage is the probability of the piece in its place; its bar is −log2 of it, in "
            "bits. The sum of the natural logarithms is the pseudo-log-likelihood; e to minus "
            "their mean is the pseudo-perplexity. Of a word of several pieces, the later ones "
            "are hidden with the earlier ones. Masks of your text stay hidden and do not count."
        ),
    )


# --- all masks together ---------------------------------------------------------------------------


def together_line(result: TogetherResult) -> Html:
    """State what the bars are, and how they compare with guessing each mask alone."""
    what = (
        "Probability per piece (geometric mean)"
        if result.most > 1
        else "Probability of all gaps together"
    )
    alone = " … ".join(result.alone)
    rank = next((n for n, each in enumerate(result.fillings, 1) if each.words == result.alone), 0)
    said: Html | str = ""
    if len(result.alone) > 1:
        where = f"number {rank} here" if rank else f"not among these {len(result.fillings)}"
        said = f" The best words of each gap alone, {_quoted(alone)}, are {where}."
    return explained(f"{what}.{said}", more=_together_more(result))


def _together_more(result: TogetherResult) -> str:
    return (
        f"A beam search keeps {result.width} fillings. It fills one mask, lets the model read the "
        "text again, and goes on; the probabilities of the steps are multiplied. The result "
        "depends on the order, so it is called a pseudo-joint probability. A gap of several "
        "pieces takes one word: a beginning and “##” pieces. Fillings of different lengths are "
        "ranked by the geometric mean of their pieces."
    )


def together_picture(result: TogetherResult) -> Picture:
    """Draw the joint fillings as bars; the best words of each mask alone are highlighted."""
    names = [f"{n}. {_name(each)}" for n, each in enumerate(result.fillings, 1)]
    values = [each.per_piece if result.most > 1 else each.probability for each in result.fillings]
    marked = [len(result.alone) > 1 and each.words == result.alone for each in result.fillings]
    printed = [chance(value) for value in values]
    first = ", ".join(f"{name} {value}" for name, value in zip(names[:5], printed[:5], strict=True))
    return picture(
        "fill-mask-together",
        lambda width: bars(names, values, printed, width=width, top=axis(values), marked=marked),
        alt=f"Bar chart of joint fillings, best first: {first}.",
        table=together_table(result),
    )


def together_table(result: TogetherResult) -> pd.DataFrame:
    """List the joint fillings with their pieces and probabilities."""
    rows = [
        (rank, _name(each), " | ".join(" ".join(word) for word in each.pieces),
         sum(map(len, each.pieces)), each.probability, each.per_piece)
        for rank, each in enumerate(result.fillings, 1)
    ]  # fmt: skip
    names = ["rank", "words", "pieces", "number of pieces", "probability", "per piece"]
    return pd.DataFrame(rows, columns=names)


def _name(filling: Joint) -> str:
    return " … ".join(filling.words)


# --- one word swapped -----------------------------------------------------------------------------


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
    left = max(_letters(_shortened(row.token)) for row in every) + 12
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
        rows, columns=["piece", f"with {result.words[0]}", f"with {result.words[1]}", "difference"]
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


def _quoted(word: str) -> str:
    return f"“{visible(word)}”"


def _at(pieces: Sequence[Expected]) -> str:
    return linked([piece.position for piece in pieces])


def _letters(text: str) -> int:
    """Estimate the width of a text in units of a drawing."""
    return sum(18 if east_asian_width(letter) in "WF" else 10 for letter in text)

"""Every piece hidden in turn: the odd word, and how much each piece is expected."""

import math
from collections.abc import Sequence

from app.features.fill_mask.result import Expected, SurpriseResult
from app.features.fill_mask.view import chance, explained, letters_wide, piece_name, quoted
from app.records.pieces import spelled
from app.words.format import shortened, signed
from app.words.html import Html, tag
from app.words.panel import Panel
from app.words.pictures import Picture, linked, picture, svg
from app.words.screen import Screen

TITLE = "Odd word"

_PIECE, _TALL, _ROW = 44, 84, 150  # least width of a piece, full height of a bar, height of a row


def screen(result: SurpriseResult) -> Screen:
    """Say what is shown."""
    return Screen(
        f"The model expects {quoted(odd_word(result))} least.",
        (odd_line(result), surprise_picture(result), surprise_note(result)),
    )


def odd_word(result: SurpriseResult) -> str:
    """Spell the word that the model expects least."""
    return spelled([piece.token for piece in result.odd])


def odd_line(result: SurpriseResult) -> Html:
    """Name the word that the model expects least, and what it expects instead."""
    pieces = result.odd
    least = min(pieces, key=lambda piece: piece.probability)
    at = linked([piece.position for piece in pieces])
    share = chance(math.prod(piece.probability for piece in pieces))
    instead = (
        f"; the model would rather write {quoted(least.best)} ({chance(least.best_probability)})."
        if least.best != least.token
        else "."
    )
    return tag(
        "p",
        "Least expected: ",
        tag("mark", tag("bdi", quoted(odd_word(result))), class_="bx-filled", data_at=at),
        f": {share} in its place",
        instead,
        class_="bx-odd",
    )


def surprise_picture(result: SurpriseResult, text: int = 0) -> Picture:
    """Draw each piece below a bar: the less it is expected, the longer; `text` numbers the text."""
    odd = {piece.position for piece in result.odd}
    rows = sorted(result.pieces, key=lambda piece: piece.probability)[:5]
    least = ", ".join(f"{piece.token} {chance(piece.probability)}" for piece in rows)
    return picture(
        f"fill-mask-surprise-{text}" if text else "fill-mask-surprise",
        lambda width: columns(result.pieces, odd, width),
        alt=f"A bar over each of {len(result.pieces)} pieces. Least expected: {least}.",
        table=[
            (piece.position, piece.token, piece.probability, piece.rank, piece.surprise,
             piece.best, piece.best_probability, linked([piece.position], text=text))
            for piece in result.pieces
        ],
        columns=("position", "piece", "probability", "rank", "surprise", "first choice",
                 "its probability", "at"),
    )  # fmt: skip


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
        name = shortened(piece_name(piece.token), 20)
        printed = chance(piece.probability)
        wide = max(_PIECE, letters_wide(name) + 14, letters_wide(printed) - 2)
        if x and x + wide > width:
            x, y = 0, y + _ROW
        marked = piece.position in odd
        panel = Panel((x + 4, x + wide - 4), (y + 6, y + 6 + _TALL), ys=(0, top))
        panel.span(ys=(0, piece.surprise), class_="bx-svg-mark" if marked else "bx-svg-bar")
        panel.level(0, class_="bx-svg-base")
        strong = " bx-svg-strong" if marked else ""
        panel.ticks([(0.5, name)], class_=f"bx-svg-middle{strong}")
        panel.ticks([(0.5, printed)], 37)
        drawn += panel.drawn
        x += wide
    return svg(width, y + _ROW - 8, *drawn)


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

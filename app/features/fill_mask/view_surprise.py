"""Every piece hidden in turn: the odd word, and how much each piece is expected."""

import math

from app.features.fill_mask.result import SurpriseResult
from app.features.fill_mask.view import chance, explained, piece_name, quoted
from app.records.pieces import spelled
from app.words.format import signed
from app.words.html import Html, join, tag, visible
from app.words.pictures import ROWS, linked, numbers
from app.words.screen import Screen

TITLE = "Odd word"


def screen(result: SurpriseResult) -> Screen:
    """Say what is shown."""
    return Screen(
        f"The model expects {quoted(_odd_word(result))} least.",
        (odd_line(result), columns(result), surprise_note(result)),
    )


def _odd_word(result: SurpriseResult) -> str:
    return spelled([piece.token for piece in result.odd])


def odd_line(result: SurpriseResult) -> Html:
    """Name the word that the model expects least, and what it expects instead."""
    pieces = result.odd
    least = min(pieces, key=lambda piece: piece.probability)
    at = linked([piece.position for piece in pieces])
    share = chance(math.prod(piece.probability for piece in pieces))
    instead = f"; the model would rather write {quoted(least.best)} "
    instead += f"({chance(least.best_probability)})"
    return tag(
        "p",
        "Least expected: ",
        tag("mark", tag("bdi", quoted(_odd_word(result))), class_="bx-filled", data_at=at),
        f": {share} in its place{instead if least.best != least.token else ''}.",
        class_="bx-odd",
    )


def columns(result: SurpriseResult) -> Html:
    """Draw the text, each piece below a bar: the less it is expected, the longer."""
    top = max(piece.surprise for piece in result.pieces) or 1.0  # an own scale: texts differ widely
    odd = {piece.position for piece in result.odd}
    items = []
    for piece in result.pieces:
        bar = tag("span", style=f"height:{100 * piece.surprise / top:.1f}%", aria_hidden="true")
        name = tag("bdi", visible(piece_name(piece.token)))
        at, marked = linked([piece.position]), piece.position in odd
        share = tag("small", chance(piece.probability))
        items.append(tag("li", tag("span", bar, class_="bx-fm-bar"), name, " ", share, data_at=at,
                         class_="bx-fm-odd" if marked else None))  # fmt: skip
    rows = (
        (piece.position, piece.token, piece.probability, piece.rank, piece.surprise,
         piece.best, piece.best_probability, linked([piece.position]))
        for piece in result.pieces[:ROWS]
    )  # fmt: skip
    heads = ("position", "piece", "probability", "rank", "surprise", "first choice",
             "its probability", "at")  # fmt: skip
    label = "The pieces of the text, each with its probability in its place"
    drawn = tag("ol", *items, class_="bx-fm-pieces", aria_label=label)
    return join(drawn, numbers(rows, "fill-mask-surprise", heads))


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

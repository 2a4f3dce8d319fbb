"""Pieces on the screen: coloured over the text as typed, and as the row of tokens they are.

Colours only help to see where one piece ends: every piece also has an edge of its own, an
unknown word a wavy line and a question mark, a lost piece a line through it.
"""

from collections.abc import Sequence

from app.features.tokenizer.result import Piece
from app.words.html import Html, join, tag, visible

COLOURS = 6
"""How many colours the style sheet has, `bx-c0` to `bx-c5`."""


def over_text(text: str, pieces: Sequence[Piece]) -> Html:
    """Colour the pieces of one text where they stand in it.

    Args:
        text: as typed; what no piece covers (blanks, dropped characters) stays uncoloured.
        pieces: the pieces of this text alone, in order.
    """
    parts: list[Html | str] = []
    done = 0
    for piece in pieces:
        if piece.start > done:
            parts.append(_gap(text[done : piece.start]))
        # Characters that two pieces share are drawn once, with the first of them.
        shown = text[max(done, piece.start) : piece.end]
        if shown:
            parts.append(tag("span", visible(shown), class_=classes(piece), title=_title(piece)))
        done = max(done, piece.end)
    if done < len(text):
        parts.append(_gap(text[done:]))
    return tag("div", *parts, class_="bx-text", dir="auto")


def token_row(pieces: Sequence[Piece], *, pair: bool) -> Html:
    """Draw each token as a small card: spelling, id, position, word and segment.

    Args:
        pieces: the tokens to draw, in order.
        pair: show the segment, which says nothing where there is only one text.
    """
    return tag("ol", *(_card(piece, pair=pair) for piece in pieces), class_="bx-tokens")


def classes(piece: Piece) -> str:
    """Return the style classes of a piece; the same in both drawings, so that they match."""
    names = ["bx-piece", "bx-added" if piece.added else f"bx-c{piece.position % COLOURS}"]
    flags = {
        "bx-continues": piece.continues,
        "bx-unknown": piece.unknown,
        "bx-lost": piece.cut,
        "bx-second": piece.segment == 1,
    }
    return " ".join(names + [name for name, on in flags.items() if on])


def _gap(text: str) -> Html:
    """Draw characters that belong to no piece; those without a shape get a quiet sign."""
    return tag("span", visible(text), class_="bx-gap")


def _title(piece: Piece) -> str:
    return f"{piece.token} · id {piece.id} · characters {piece.start} to {piece.end}"


def _card(piece: Piece, *, pair: bool) -> Html:
    """Draw one token with everything the model is told about it."""
    word = "added" if piece.word is None else f"word {piece.word}"
    segment = f" · {'AB'[piece.segment]}" if pair else ""
    return tag(
        "li",
        tag("span", tag("bdi", visible(piece.token)), class_="bx-token-text"),
        tag("span", str(piece.id), class_="bx-token-id"),
        tag("span", join(f"{piece.position} · {word}{segment}"), class_="bx-token-place"),
        class_=f"bx-token {classes(piece)}",
    )

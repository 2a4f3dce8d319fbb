"""The stage of the tokenizer: coloured pieces over the text, counts, ids; the file and the code.

Colour only helps to see where a piece ends: every piece also has its own edge, an unknown word a
wavy line and a question mark, and a lost piece a line through it. What carries the same
`data_at` lights up together, here and in all tabs.
"""

from collections.abc import Sequence

import pandas as pd

from app.features.tokenizer import view_compare, view_vocabulary
from app.features.tokenizer.result import Piece, Replay, TokenizerResult
from app.features.tokenizer.view_input import COLOURS, length_meter, received, too_long
from app.features.tokenizer.view_steps import decoded, unknown_words
from app.settings import settings
from app.words.blocks import hint, line, note
from app.words.format import count, percent
from app.words.html import Html, join, tag, visible
from app.words.notes import no_gaps_note
from app.words.pictures import linked
from app.words.report import Report
from bert_core.reading.gaps import read_signs

HINTS = ("Anything at all, in any script.", "A second text makes it a pair.")
"""What the empty boxes suggest."""

TABS = ("Input", "Steps", "Back", view_compare.TITLE, view_vocabulary.TITLE)
"""What the model receives, how it was made, the way back from the ids, and two more."""


_LONG = 100  # pieces; a longer text is drawn smaller and scrolls, so that the rest stays in sight


def coloured(result: TokenizerResult, *, limit: int, pickable: bool = True) -> Html:
    """Draw every text with its pieces coloured; at most `limit` pieces of each.

    Args:
        result: the result.
        limit: number of pieces.
        pickable: whether a click looks a piece up; not in a file.
    """
    blocks: list[Html] = []
    for side, text in enumerate(result.texts):
        pieces = result.pieces_of(side, limit)
        rest = result.cut.lengths[side] - len(pieces)
        blocks.append(
            over_text(
                text[: pieces[-1].end] if rest else text, pieces, result.sharing, pickable=pickable
            )
        )
        if rest:
            blocks.append(line(f"… and {rest:,} more pieces; the table below lists them all."))
    return join(*blocks)


def over_text(
    text: str,
    pieces: Sequence[Piece],
    sharing: dict[int, tuple[int, ...]],
    *,
    pickable: bool = True,
) -> Html:
    """Colour the pieces of one text in place.

    Args:
        text: as typed; characters that no piece covers (spaces, dropped ones) stay uncoloured.
        pieces: the pieces of this text only, in order.
        sharing: positions of the pieces that are made from the same characters.
        pickable: whether a click looks a piece up.
    """
    parts: list[Html] = []
    done = 0
    for piece in pieces:
        if piece.start > done:
            parts.append(_gap(text[done : piece.start]))
        # Characters shared by two pieces are drawn once, with the first piece.
        shown = text[max(done, piece.start) : piece.end]
        if shown:
            at = sharing.get(piece.position, (piece.position,))
            parts.append(_stretch(piece, shown, at, first=done == 0, pickable=pickable))
        done = max(done, piece.end)
    if done < len(text):
        parts.append(_gap(text[done:]))
    long = " bx-tok-long" if pickable and len(pieces) > _LONG else ""
    return tag("div", *parts, class_=f"bx-text bx-tok-text{long}", dir="auto", data_rove="pieces")


def _stretch(piece: Piece, shown: str, at: Sequence[int], *, first: bool, pickable: bool) -> Html:
    """Draw the characters of one piece; `first` is the tab stop of its text."""
    pick: dict[str, str | int] = {"data_at": linked(at)}
    if pickable:
        pick |= {"role": "button", "tabindex": 0 if first else -1,
                 "data_pick": "piece", "data_value": piece.position}  # fmt: skip
    return tag("span", visible(shown), class_=_classes(piece), title=_piece_title(piece), **pick)


def _classes(piece: Piece) -> str:
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
    """Draw characters that belong to no piece, with a faint symbol for invisible ones."""
    return tag("span", visible(text), class_="bx-gap")


def _piece_title(piece: Piece) -> str:
    return f"{piece.token} · id {piece.id} · characters {piece.start} to {piece.end}"


def summary(result: TokenizerResult) -> Html:
    """State in one line how many pieces, words and characters there are, and what share of room.

    The share counts [CLS] and [SEP], which take room as well.
    """
    pieces = sum(result.cut.lengths)
    characters = sum(map(len, result.texts))
    ratio = pieces / result.words if result.words else 0.0
    unknown = f", {result.unknown} unknown" if result.unknown else ""
    share = percent(result.cut.found / result.max_length, counted=True)
    explained = hint(
        "A word in the vocabulary is one piece; other words are cut into the longest pieces that "
        "the vocabulary has. ## marks a piece that continues a word. [CLS] and [SEP] are added "
        "around every text and take up room too. Point at a piece to see it everywhere on this "
        "page; click it to look it up in the vocabulary. With the keyboard: Tab, arrow keys, Enter."
    )
    counts = line(
        tag("strong", count(pieces, "piece")),
        f", {count(characters, 'character')}, {ratio:.2f} pieces per word{unknown}, "
        f"{share} of the model's {result.max_length:,} tokens",
    )
    return join(explained, counts)


def casing(result: TokenizerResult) -> Html:
    """Warn if the casing in use is not the one that the vocabulary was made for."""
    if result.lower_case == result.model_lower_case:
        return join()
    if result.model_lower_case:
        told = (
            "This vocabulary was made from lower-cased text without accents, so it has no “Paris”. "
            "The model has never seen input like this."
        )
    else:
        told = (
            "This vocabulary was made from text with capitals and accents. It has fewer words in "
            "lower case, and the model has never seen input like this."
        )
    return note(tag("strong", "Not this model's casing. "), told, caution=True)


def table(result: TokenizerResult) -> pd.DataFrame:
    """List every token with all that is known about it."""
    columns = result.columns
    frame = pd.DataFrame(
        {
            "position": range(len(columns)),
            "token": columns.tokens,
            "id": columns.ids,
            "source": [
                "" if side is None else result.texts[side][start:end]
                for side, (start, end) in zip(columns.sides, columns.spans, strict=True)
            ],
            "start": [start for start, _ in columns.spans],
            "end": [end for _, end in columns.spans],
            "word": columns.words,
            "segment": columns.segments,
            "added": [int(side is None) for side in columns.sides],
        }
    )
    return frame.astype({"word": "Int64"})


def typed_signs(result: TokenizerResult) -> Html:
    """State which signs of a gap the tokenizer reads as they were typed."""
    return no_gaps_note(read_signs(" ".join(result.texts))[1])


def report(result: TokenizerResult, replays: Sequence[Replay] = ()) -> Report:
    """Write the result as it would appear on paper.

    Args:
        result: the result.
        replays: the steps of each text, which give the reasons for unknown words.
    """
    pieces = sum(result.cut.lengths)
    return Report(
        f"The model reads {count(result.words, 'word')} as {count(pieces, 'piece')}.",
        (
            coloured(result, limit=settings().shown_pieces, pickable=False),
            summary(result),
            length_meter(result),
            unknown_words(replays),
            tag("h2", "What the model receives"),
            received(result, result.received),
            tag("h2", "Back from the ids"),
            decoded(result),
        ),
        first=(casing(result), typed_signs(result), too_long(result)),
    )


def snippet(result: TokenizerResult) -> str:
    """Write the same computation in Python."""
    texts = ", ".join(map(repr, result.texts))
    casing = "" if result.lower_case == result.model_lower_case else (
        f", do_lower_case={result.lower_case}"
    )  # fmt: skip
    return f"""from bert_core import BertTokenizer

tokenizer = BertTokenizer.from_pretrained({result.model!r}{casing})
encoding = tokenizer.encode({texts})
for token, number, span in zip(encoding.tokens, encoding.input_ids, encoding.offsets):
    print(token, number, span)
"""

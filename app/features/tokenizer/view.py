"""The stage of the tokenizer: coloured pieces over the text, counts, ids; the file and the code.

Colour only helps to see where a piece ends: every piece also has its own edge, an unknown word a
wavy line and a question mark, and a lost piece a line through it. What carries the same
`data_at` lights up together, here and in all tabs.
"""

from collections.abc import Sequence
from functools import partial

from app.features.tokenizer import view_vocabulary
from app.features.tokenizer.result import BPE, UNIGRAM, WORDPIECE, Piece, TokenizerResult
from app.features.tokenizer.view_input import (
    COLOURS,
    DRAWN,
    length_meter,
    received,
    too_long,
)
from app.features.tokenizer.view_steps import (
    most_telling,
    stages,
    story,
    tries_table,
    unknown_words,
    word_choices,
)
from app.settings import settings
from app.words.blocks import Html, hint, join, line, note, pick, tag, visible
from app.words.format import count, percent
from app.words.notes import no_gaps_note, shared_note
from app.words.pictures import linked
from app.words.screen import Choice, Parts, Screen, Table
from bert_core.reading.gaps import read_signs

_MARKS = {
    WORDPIECE: "A word in the vocabulary is one piece; other words are cut into the longest pieces "
    "that the vocabulary has. ## marks a piece that continues a word.",
    BPE: "A frequent word is one piece; others are put together from their letters, as far as the "
    "merges of the vocabulary go. ▁ marks a piece that begins with a space; a sign such as an "
    "emoji can be several pieces, one for each of its bytes.",
    UNIGRAM: "A word is cut into the pieces that are likeliest together, by the model's own "
    "probabilities. ▁ marks a piece that begins with a space.",
}
_LONG = 100  # pieces; a longer text is drawn smaller and scrolls, so that the rest stays in sight


def coloured(result: TokenizerResult, *, limit: int, pickable: bool = True) -> Html:
    """Draw every text with its pieces coloured; at most `limit` pieces of each."""
    blocks: list[Html] = []
    for side, text in enumerate(result.texts):
        pieces = result.pieces_of(side, limit)
        rest = result.cut.lengths[side] - len(pieces)
        blocks.append(
            _over_text(result, text[: pieces[-1].end] if rest else text, pieces, pickable=pickable)
        )
        if rest:
            blocks.append(line(f"… and {rest:,} more pieces; the table below lists them all."))
    return join(*blocks)


def _over_text(
    result: TokenizerResult, text: str, pieces: Sequence[Piece], *, pickable: bool = True
) -> Html:
    parts: list[Html] = []
    sharing = result.sharing
    done = 0
    for piece in pieces:
        if result.only_space(piece.position):
            continue
        if piece.start > done:
            parts.append(tag("span", visible(text[done : piece.start]), class_="bx-gap"))
        # Characters shared by two pieces are drawn once, with the first piece.
        shown = text[max(done, piece.start) : piece.end]
        if shown:
            at = sharing.get(piece.position, (piece.position,))
            title = "; ".join(_piece_title(result, result.piece(each)) for each in at)
            click = pick("piece", piece.position, stop=done == 0) if pickable else {}
            parts.append(
                tag("span", visible(shown), class_=_classes(piece), title=title, data_at=linked(at),
                    **click)
            )  # fmt: skip
        done = max(done, piece.end)
    if done < len(text):
        parts.append(tag("span", visible(text[done:]), class_="bx-gap"))
    long = " bx-tok-long" if pickable and len(pieces) > _LONG else ""
    return tag("div", *parts, class_=f"bx-text bx-tok-text{long}", dir="auto", data_rove="pieces")


def _classes(piece: Piece) -> str:
    """Return the style classes of a piece; the same in both drawings, so that they match."""
    names = ["bx-piece", "bx-added" if piece.added else f"bx-c{piece.position % COLOURS}"]
    flags = {
        "bx-continues": piece.continues,
        "bx-unknown": piece.unknown,
        "bx-lost": piece.cut,
        "bx-second": piece.side == 1,
    }
    return " ".join(names + [name for name, on in flags.items() if on])


def _piece_title(result: TokenizerResult, piece: Piece) -> str:
    name = result.readable(piece.token)
    exact = "" if name == piece.token else f" · in the file {piece.token}"
    return f"{name}{exact} · id {piece.id} · characters {piece.start} to {piece.end}"


def summary(result: TokenizerResult) -> Html:
    """State in one line how many pieces, words and characters there are, and what share of room.

    The share counts added tokens such as [CLS], which take room as well.
    """
    pieces = sum(result.cut.lengths)
    characters = sum(map(len, result.texts))
    ratio = pieces / result.words if result.words else 0.0
    unknown = f", {result.unknown} unknown" if result.unknown else ""
    share = percent(result.cut.found / result.max_length, counted=True)
    own = zip(result.columns.tokens, result.columns.sides, strict=True)
    added = dict.fromkeys(token for token, side in own if side is None)
    explained = hint(
        f"{_MARKS[result.kind]} {' and '.join(added)} are added around every text and take up room "
        "too. Point at a piece to see it everywhere on this page; click it to look it up in the "
        "vocabulary. With the keyboard: Tab, arrow keys, Enter. A punctuation mark is a word of "
        "its own here."
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
        warning = (
            "This vocabulary was made from lower-cased text without accents, so it has no “Paris”. "
            "The model has never seen input like this."
        )
    else:
        warning = (
            "This vocabulary was made from text with capitals and accents. It has fewer words in "
            "lower case, and the model has never seen input like this."
        )
    return note(tag("strong", "Not this model's casing. "), warning, caution=True)


def table(result: TokenizerResult) -> dict[str, Sequence[object]]:
    """List every token with all that is known about it."""
    columns = result.columns
    return {
        "position": range(len(columns)),
        "token": columns.tokens,
        "id": columns.ids,
        "source": [
            "" if side is None else result.texts[side][start:end]
            for side, (start, end) in zip(columns.sides, columns.spans, strict=True)
        ],
        "start": [start for start, _ in columns.spans],
        "end": [end for _, end in columns.spans],
        "word": ["" if word is None else str(word) for word in columns.words],
        "segment": columns.segments,
        "added": [int(side is None) for side in columns.sides],
    }


def screen(result: TokenizerResult, model: str = "") -> Screen:
    """Say what is shown; a page names the model, and its pieces can be looked up."""
    pieces = sum(result.cut.lengths)
    return Screen(
        f"The model reads {count(result.words, 'word')} as {count(pieces, 'piece')}.",
        (
            coloured(result, limit=settings().shown_pieces, pickable=bool(model)),
            summary(result),
            length_meter(result),
            _overlapping(result),
            unknown_words(result.replays, result.unknown_token),
        ),
        tabs={
            "Input": lambda: _input(result),
            "Steps": lambda: _steps(result),
        },
        first=(
            casing(result),
            no_gaps_note(read_signs(" ".join(result.texts), result.mask)[1]),
            too_long(result),
        ),
        answer=join(),
        clicks={"piece": partial(_look_up, result), "watch": partial(_watch, result)},
    )


def _overlapping(result: TokenizerResult) -> Html:
    """Say that pieces share a character, if some do; the mark of a space is none."""
    before = (0, len(result.texts[0]))  # of each text
    return shared_note(
        [end + before[side] for end in result.columns.spans[at]]
        for at, side in enumerate(result.columns.sides)
        if side is not None and not result.only_space(at)
    )


def _input(result: TokenizerResult) -> Parts:
    tokens = len(result.columns)
    drawn = (received(result),)
    if len(result.received.tokens) <= DRAWN and not result.cut.anything:
        return drawn
    words, title = "Every token with its id and place", f"All {tokens:,} tokens"
    return (*drawn, Table(table(result), words, "pieces", title=title))


def _steps(result: TokenizerResult) -> Parts:
    words = word_choices(result.replays)
    drawn = stages(result, result.replays)
    if not words:
        return (drawn,)

    def looked_up(name: str) -> Parts:
        shown = story(words[name], result.kind)
        if result.kind != WORDPIECE:
            return (shown,)
        rows, title = tries_table(words[name]), "Look-ups as a table"
        return shown, Table(rows, "Every look-up", "looks", title=title)

    label = "Word to look up" if result.kind == WORDPIECE else "Word to cut"
    best = most_telling(words)
    return drawn, Choice(label, "watch", tuple(words), best, looked_up)


def _look_up(result: TokenizerResult, clicked: int) -> dict[str, str]:
    if clicked not in range(len(result.columns)):
        return {}
    return {"piece": result.piece(clicked).token, "tab": view_vocabulary.TITLE}


def _watch(result: TokenizerResult, clicked: int) -> dict[str, str]:
    words = list(word_choices(result.replays))
    return {"watch": words[clicked]} if clicked in range(len(words)) else {}


def snippet(result: TokenizerResult, model: str) -> str:
    """Write the same computation in Python."""
    texts = ", ".join(map(repr, result.texts))
    casing = "" if result.lower_case == result.model_lower_case else (
        f", do_lower_case={result.lower_case}"
    )  # fmt: skip
    load = "BertTokenizer" if result.kind == WORDPIECE else "load_tokenizer"
    call = f"{load}.from_pretrained" if result.kind == WORDPIECE else load
    return f"""from bert_core import {load}

tokenizer = {call}({model!r}{casing})
encoding = tokenizer.encode({texts})
for token, number, span in zip(encoding.tokens, encoding.input_ids, encoding.offsets):
    print(token, number, span)
"""

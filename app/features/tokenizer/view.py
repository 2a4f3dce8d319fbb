"""Drawings and tables of the tokenizer inspector.

In order: the pieces, coloured over the text as typed and as a row of tokens; lengths and the
table; and how each word was looked up. Colour only helps to see where a piece ends: every piece
also has its own edge, an unknown word a wavy line and a question mark, and a lost piece a line
through it.
"""

from collections.abc import Sequence

import pandas as pd

from app.features.tokenizer.result import Piece, Replay, TokenizerResult
from app.words.blocks import line, note
from app.words.format import count, shortened
from app.words.html import Html, join, tag, visible
from bert_core.text.trace import Attempt, WordTrace

HINTS = ("Anything at all, in any script.", "A second text makes it a pair.")
"""What the empty boxes suggest."""

COLOURS = 6
"""How many colours the style sheet has, `bx-c0` to `bx-c5`."""

_TRIES = 60  # a long word can have hundreds of failed tries; the table still lists them all


def coloured(result: TokenizerResult, *, limit: int) -> Html:
    """Draw every text with its pieces coloured; at most `limit` pieces of each."""
    blocks = []
    for side, text in enumerate(result.texts):
        pieces = result.pieces_of(side, limit)
        rest = result.cut.lengths[side] - len(pieces)
        blocks.append(over_text(text[: pieces[-1].end] if rest else text, pieces))
        if rest:
            told = f"… and {rest:,} more pieces; the table lists all of them."
            blocks.append(line(told))
    return join(*blocks)


def as_read(result: TokenizerResult, *, limit: int) -> Html:
    """Draw the input as the model receives it, one card per token."""
    row = token_row(result.pieces(limit), pair=len(result.texts) > 1)
    rest = len(result.columns) - limit
    if rest <= 0:
        return row
    return join(row, line(f"… and {rest:,} more tokens."))


def over_text(text: str, pieces: Sequence[Piece]) -> Html:
    """Colour the pieces of one text in place.

    Args:
        text: as typed; characters that no piece covers (spaces, dropped ones) stay uncoloured.
        pieces: the pieces of this text only, in order.
    """
    parts: list[Html | str] = []
    done = 0
    for piece in pieces:
        if piece.start > done:
            parts.append(_gap(text[done : piece.start]))
        # Characters shared by two pieces are drawn once, with the first piece.
        shown = text[max(done, piece.start) : piece.end]
        if shown:
            parts.append(
                tag("span", visible(shown), class_=_classes(piece), title=_piece_title(piece))
            )
        done = max(done, piece.end)
    if done < len(text):
        parts.append(_gap(text[done:]))
    return tag("div", *parts, class_="bx-text", dir="auto")


def token_row(pieces: Sequence[Piece], *, pair: bool) -> Html:
    """Draw each token as a small card: spelling, id, position, word and segment.

    Args:
        pieces: the tokens to draw, in order.
        pair: show the segment, which means nothing for a single text.
    """
    return tag("ol", *(_card(piece, pair=pair) for piece in pieces), class_="bx-tokens")


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


def _card(piece: Piece, *, pair: bool) -> Html:
    """Draw one token with everything that the model receives about it."""
    word = "added" if piece.word is None else f"word {piece.word}"
    segment = f" · {'AB'[piece.segment]}" if pair else ""
    return tag(
        "li",
        tag("span", tag("bdi", visible(piece.token)), class_="bx-token-text"),
        tag("span", str(piece.id), class_="bx-token-id"),
        tag("span", join(f"{piece.position} · {word}{segment}"), class_="bx-token-place"),
        class_=f"bx-token {_classes(piece)}",
    )


def summary(result: TokenizerResult) -> Html:
    """State in one line how many characters, words, pieces and tokens there are."""
    pieces = sum(result.cut.lengths)
    characters = sum(map(len, result.texts))
    ratio = pieces / result.words if result.words else 0.0
    unknown = f" · {result.unknown} unknown" if result.unknown else ""
    return line(
        tag("strong", count(pieces, "piece")),
        f" from {count(result.words, 'word')} and {count(characters, 'character')} · "
        f"{ratio:.2f} pieces a word{unknown}",
    )


def length_meter(result: TokenizerResult) -> Html:
    """Draw how much of the model's maximum length the input uses, and what would be lost."""
    found, limit = result.cut.found, result.max_length
    share = min(1.0, found / limit)
    bar = tag(
        "div",
        tag("div", class_="bx-meter-fill", style=f"width:{share:.1%}"),
        class_=f"bx-meter{' bx-meter-over' if found > limit else ''}",
        role="meter",
        aria_label="Length of the input in tokens",
        aria_valuemin=0,
        aria_valuemax=limit,
        aria_valuenow=min(found, limit),
        aria_valuetext=f"{found} of {limit} tokens",
    )
    words = (
        f"{found:,} of {limit:,} tokens, [CLS] and [SEP] included. "
        "On each card: piece, id, position, word. All of them count from 0."
    )
    return tag("div", bar, line(words), *_lost(result))


def _lost(result: TokenizerResult) -> list[Html]:
    """State what truncation at the model's maximum length removes, and where it starts."""
    lines = []
    for side, text in enumerate(result.texts):
        first = result.first_lost(side)
        if first is None:
            continue
        lost = result.cut.lengths[side] - result.cut.kept[side]
        name = "the text" if len(result.texts) == 1 else f"text {'AB'[side]}"
        lines.append(
            note(
                tag("strong", f"Too long by {lost:,} tokens: "),
                f"a page that cuts would lose {name} from character {first.start:,} on: ",
                tag("bdi", f"“{visible(text[first.start : first.start + 60])}…”"),
                caution=True,
            )
        )
    return lines


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


def stages(replays: Sequence[Replay]) -> Html:
    """Draw what happens to the characters of each text before anything is looked up."""
    blocks = []
    for steps in replays:
        items = []
        before: str | None = None
        for name, text in [
            ("as typed", steps.trace.text),
            ("cleaned", steps.trace.cleaned),
            ("accents dropped", steps.trace.stripped),
            ("lower-cased", steps.trace.normalized),
        ]:
            unchanged = tag("span", "no change", class_="bx-line")
            items.append(_step(name, unchanged if text == before else _quoted(text)))
            before = text
        blocks.append(tag("ol", *items, class_="bx-steps"))
        if not steps.whole:
            first = f"These are the first {len(steps.trace.text):,} characters"
            blocks.append(line(f"{first}; the rest goes the same way."))
    return join(*blocks)


def word_choices(replays: Sequence[Replay]) -> dict[str, WordTrace]:
    """Give every replayed word a distinct name, even if the word repeats."""
    many = len(replays) > 1
    return {
        f"{'AB'[side] + ' ' if many else ''}{number}: {visible(word.text)[:40]}": word
        for side, steps in enumerate(replays)
        for number, word in enumerate(steps.trace.words)
    }


def most_telling(choices: dict[str, WordTrace]) -> int:
    """Return the number of the word with the most instructive lookup."""
    stories = list(choices.values())
    return max(
        range(len(stories)), key=lambda n: (bool(stories[n].unknown_reason), len(stories[n].pieces))
    )


def story(word: WordTrace) -> Html:
    """Draw how one word was looked up and split, and, if it is unknown, why."""
    outcome: list[Html | str] = []
    for piece, id_ in zip(word.pieces, word.ids, strict=True):
        outcome += [tag("code", tag("bdi", visible(piece))), f" = {id_}  "]
    rows = [_step("typed", _quoted(word.text)), _step("to look up", _quoted(word.normalized))]
    if word.special:
        rows.append(_step("rule", "a special token, taken whole before anything else is done"))
    if word.attempts:
        rows.append(_step("looked up", _tries(word.attempts)))
    rows.append(_step("pieces", tag("span", *outcome)))
    if word.unknown_reason:
        rows.append(_step("why unknown", tag("strong", word.unknown_reason)))
    return tag("ol", *rows, class_="bx-steps")


def unknown_words(replays: Sequence[Replay], *, limit: int = 12) -> Html:
    """List the unknown words, each with its reason; empty if all are known."""
    found = list(
        dict.fromkeys(
            (word.text, word.unknown_reason)
            for steps in replays
            for word in steps.trace.words
            if word.unknown_reason
        )
    )
    items = [
        tag("li", tag("b", "[UNK] "), _quoted(shortened(text)), " ", reason)
        for text, reason in found[:limit]
    ]
    if len(found) > limit:
        items.append(tag("li", f"… and {len(found) - limit} more"))
    return tag("ul", *items, class_="bx-unknowns") if items else join()


def _step(name: str, shown: Html | str) -> Html:
    return tag("li", tag("span", name, class_="bx-fact"), " ", shown)


def _tries(attempts: tuple[Attempt, ...]) -> Html:
    """Draw the vocabulary lookups, each labelled as a hit or a miss."""
    shown = attempts[:_TRIES]
    items = [
        tag(
            "span",
            tag("bdi", visible(attempt.piece)),
            " ✓" if attempt.found else " ✗",
            class_=f"bx-try {'bx-hit' if attempt.found else 'bx-miss'}",
        )
        for attempt in shown
    ]
    rest = len(attempts) - len(shown)
    more = [f" … {rest} more"] if rest else []
    return tag("span", *items, *more, class_="bx-tries")


def tries_table(word: WordTrace) -> pd.DataFrame:
    """List every vocabulary lookup for one word."""
    rows = [
        (number, attempt.piece, "found" if attempt.found else "not found")
        for number, attempt in enumerate(word.attempts, 1)
    ]
    return pd.DataFrame(rows, columns=["try", "looked up", "outcome"])


def decoded(result: TokenizerResult) -> Html:
    """Draw the texts as decoded from the ids, and what was lost."""
    texts = [tag("p", tag("bdi", visible(text)), class_="bx-text") for text in result.decoded]
    if result.losses:
        told = f"The ids no longer say: {', '.join(result.losses)}."
    else:
        told = "Nothing was lost: the ids give the text back as typed."
    if not result.decoded_whole:
        told = f"This is the beginning of the text. {told}"
    return join(*texts, line(told))


def _quoted(text: str) -> Html:
    return tag("code", tag("bdi", visible(text) or "nothing"))


def casing(result: TokenizerResult) -> Html:
    """Warn if the casing in use is not the one that the vocabulary was made for."""
    if result.lower_case == result.model_lower_case:
        return join()
    if result.model_lower_case:
        told = (
            "This vocabulary was made from lower-cased text without accents. With capitals and "
            "accents kept, words like “Paris” are not in it. The model never saw its input like "
            "this: look, but do not expect sensible answers."
        )
    else:
        told = (
            "This vocabulary was made from text with its capitals and accents. Lower-cased, many "
            "words are no longer found whole, and the model never saw its input like this."
        )
    return note(tag("strong", "Not this model's casing. "), told, caution=True)

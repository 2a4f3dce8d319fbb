"""Drawings and tables of the tokenizer inspector."""

from collections.abc import Sequence

import pandas as pd

from app.features.tokenizer.result import Attempt, Replay, TokenizerResult, WordStory
from app.features.tokenizer.view_tokens import over_text, token_row
from app.words.blocks import line, note
from app.words.format import count, shortened
from app.words.html import Html, join, tag, visible

HINTS = ("Anything at all, in any script.", "A second text makes it a pair.")
"""What the empty boxes suggest."""

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


def summary(result: TokenizerResult) -> Html:
    """Say in one line how many characters, words, pieces and tokens there are."""
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
    """Draw how much of the model's length the input uses, and what would be lost."""
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
    """Say what a cut at the model's length takes away, and from where on."""
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
            ("as typed", steps.typed),
            ("cleaned", steps.cleaned),
            ("accents dropped", steps.stripped),
            ("lower-cased", steps.lowered),
        ]:
            unchanged = tag("span", "no change", class_="bx-line")
            items.append(_step(name, unchanged if text == before else _quoted(text)))
            before = text
        blocks.append(tag("ol", *items, class_="bx-steps"))
        if not steps.whole:
            told = (
                f"These are the first {len(steps.typed):,} characters; the rest goes the same way."
            )
            blocks.append(line(told))
    return join(*blocks)


def word_choices(replays: Sequence[Replay]) -> dict[str, WordStory]:
    """Name every replayed word, so that the same word at two places has two names."""
    many = len(replays) > 1
    return {
        f"{'AB'[side] + ' ' if many else ''}{number}: {visible(word.text)[:40]}": word
        for side, steps in enumerate(replays)
        for number, word in enumerate(steps.words)
    }


def most_telling(choices: dict[str, WordStory]) -> int:
    """Return the number of the word whose story has the most to tell."""
    stories = list(choices.values())
    return max(range(len(stories)), key=lambda n: (bool(stories[n].reason), len(stories[n].pieces)))


def story(word: WordStory) -> Html:
    """Draw how one word was looked up and cut, and why it is unknown if it is."""
    outcome: list[Html | str] = []
    for piece, id_ in zip(word.pieces, word.ids, strict=True):
        outcome += [tag("code", tag("bdi", visible(piece))), f" = {id_}  "]
    rows = [_step("typed", _quoted(word.text)), _step("to look up", _quoted(word.normalized))]
    if word.special:
        rows.append(_step("rule", "a special token, taken whole before anything else is done"))
    if word.attempts:
        rows.append(_step("looked up", _tries(word.attempts)))
    rows.append(_step("pieces", tag("span", *outcome)))
    if word.reason:
        rows.append(_step("why unknown", tag("strong", word.reason)))
    return tag("ol", *rows, class_="bx-steps")


def unknown_words(replays: Sequence[Replay], *, limit: int = 12) -> Html:
    """List the unknown words, each with its reason; empty where all are known."""
    found = list(
        dict.fromkeys(
            (word.text, word.reason) for steps in replays for word in steps.words if word.reason
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
    """Draw the looks into the vocabulary, each with a word for hit or miss."""
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


def tries_table(word: WordStory) -> pd.DataFrame:
    """List every look into the vocabulary for one word."""
    rows = [
        (number, attempt.piece, "found" if attempt.found else "not found")
        for number, attempt in enumerate(word.attempts, 1)
    ]
    return pd.DataFrame(rows, columns=["try", "looked up", "outcome"])


def decoded(result: TokenizerResult) -> Html:
    """Draw the texts as they come back from the ids, and what got lost on the way."""
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
    """Warn where the casing in use is not the one the vocabulary was made for."""
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

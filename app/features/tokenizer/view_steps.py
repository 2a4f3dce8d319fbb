"""Step by step: what happens to a text and how a word was cut."""

from collections.abc import Sequence

from app.features.tokenizer.result import (
    BPE,
    UNIGRAM,
    WORDPIECE,
    TokenizerResult,
    readable,
)
from app.words.blocks import Html, hint, join, line, pick, tag, visible
from app.words.format import count, shortened
from app.words.pictures import linked
from bert_core.text.trace import Lookup, Trace, WordTrace

_TRIES = 60  # a long word can have hundreds of failed tries; the table still lists them all
_EXPLAINED = {
    WORDPIECE: "First the text is cleaned: control characters are removed, and every kind of white "
    "space becomes a space. An uncased model then drops accents and capitals. The text is split at "
    "spaces and around punctuation; a Chinese character is a word of its own. Only then are words "
    "looked up. Click a word to watch its look-ups.",
    BPE: "Byte-level BPE changes and drops nothing. The text is split at spaces and around "
    "punctuation, and a space belongs to the word after it (▁; the file writes it Ġ). Each word is "
    "then cut for itself.",
    UNIGRAM: "The text is first normalised: signs of the same meaning get one form, and some "
    "models drop capitals and accents. It is split at spaces, each of which becomes a ▁ in front "
    "of its word. Of all ways to cut a word, the likeliest is taken.",
}


def stages(result: TokenizerResult, replays: Sequence[Trace]) -> Html:
    """Draw what happens to the characters of each text, up to the split into words."""
    blocks: list[Html] = []
    number = 0
    for side, trace in enumerate(replays):
        typed = tag("code", *_characters(result, side, trace.text), dir="auto")
        explained = join() if side else hint(_EXPLAINED[result.kind])
        items = [_step("typed", join(explained, typed))]
        before = trace.text
        forms = [("normalised", trace.normalized)] if result.kind != WORDPIECE else [
            ("cleaned", trace.cleaned),
            ("accents dropped", trace.stripped),
            ("lower-cased", trace.normalized),
        ]  # fmt: skip
        for name, text in forms:
            unchanged = tag("span", "no change", class_="bx-line")
            items.append(_step(name, unchanged if text == before else _quoted(text)))
            before = text
        items.append(_step("split", _words(result, side, trace.words, number)))
        number += len(trace.words)
        blocks.append(tag("ol", *items, class_="bx-steps"))
        if len(trace.text) < len(result.texts[side]):
            first = f"These are the first {len(trace.text):,} characters"
            blocks.append(line(f"{first}; the rest is treated in the same way."))
    return join(*blocks)


def _characters(result: TokenizerResult, side: int, text: str) -> list[Html]:
    at: list[list[int]] = [[] for _ in text]
    for piece in result.pieces_of(side):
        if piece.start >= len(text):
            break
        for place in range(piece.start, min(piece.end, len(text))):
            at[place].append(piece.position)
    return [
        tag("span", visible(character), data_at=linked(places) or None)
        for character, places in zip(text, at, strict=True)
    ]


def _words(result: TokenizerResult, side: int, words: Sequence[WordTrace], first: int) -> Html:
    """Draw the words as buttons, each linked to its pieces; marks stay beside their word."""
    groups: list[list[Html]] = []
    position = result.firsts[side]
    end = -1
    for number, word in enumerate(words):
        pieces = range(position, position + len(word.pieces))
        position += len(word.pieces)
        chip = tag(
            "span", visible(result.readable(word.normalized)), class_="bx-word bx-tok-word",
            data_at=linked(pieces), **pick("watch", first + number, stop=number == 0),
        )  # fmt: skip
        mark = not any(map(str.isalnum, word.text))
        if mark and word.start == end:
            groups[-1].append(chip)
        else:
            groups.append([chip])
        end = word.end
    drawn = (tag("span", *group, class_="bx-tok-group") for group in groups)
    spaced = (part for each in drawn for part in (each, " "))  # spaces, for who reads it as text
    return tag("span", *spaced, class_="bx-tries", data_rove="words", dir="auto")


def word_choices(replays: Sequence[Trace]) -> dict[str, WordTrace]:
    """Give every replayed word a distinct name, even if the word repeats."""
    many = len(replays) > 1
    return {
        f"{'AB'[side] + ' ' if many else ''}{number}: {visible(word.text)[:40] or 'space'}": word
        for side, trace in enumerate(replays)
        for number, word in enumerate(trace.words)
    }


def most_telling(choices: dict[str, WordTrace]) -> int:
    """Return the number of the word with the most instructive lookup."""
    stories = list(choices.values())
    return max(
        range(len(stories)), key=lambda n: (bool(stories[n].unknown_reason), len(stories[n].pieces))
    )


def story(word: WordTrace, kind: str = WORDPIECE) -> Html:
    """Draw how one word was looked up and split, and, if it is unknown, why."""
    outcome = (
        tag("span", tag("bdi", visible(readable(piece, kind))), tag("small", f" {id_}"),
            class_="bx-try", title=piece)
        for piece, id_ in zip(word.pieces, word.ids, strict=True)
    )  # fmt: skip
    to = "to look up" if kind == WORDPIECE else "to cut"
    rows = [_step(to, _quoted(readable(word.normalized, kind)))]
    if word.special:
        rows.append(_step("rule", "a special token, taken whole before anything else is done"))
    if word.attempts:
        rows.append(_step("looked up", _tries(word.attempts)))
    rows.append(_step("pieces and ids", tag("span", join(*outcome, by=" "), class_="bx-tries")))
    if word.unknown_reason:
        rows.append(_step("why unknown", tag("strong", word.unknown_reason)))
    return tag("ol", *rows, class_="bx-steps")


def unknown_words(replays: Sequence[Trace], unknown: str, *, limit: int = 3) -> Html:
    """List the unknown words, each with its reason; empty if all are known."""
    found = list(
        dict.fromkeys(
            (word.text, word.unknown_reason)
            for trace in replays
            for word in trace.words
            if word.unknown_reason
        )
    )
    items = [
        tag("li", tag("b", f"{unknown} "), _quoted(shortened(text)), " ", reason)
        for text, reason in found
    ]
    if not items:
        return join()
    shown = tag("ul", *items[:limit], class_="bx-unknowns")
    if len(found) <= limit:
        return shown
    more = tag("summary", count(len(found) - limit, "more unknown word"))
    rest = tag("details", more, tag("ul", *items[limit:], class_="bx-unknowns"))
    return join(shown, rest)


def _step(name: str, shown: Html | str) -> Html:
    return tag("li", tag("span", name, class_="bx-fact"), " ", tag("div", shown))


def _tries(attempts: tuple[Lookup, ...]) -> Html:
    shown = attempts[:_TRIES]
    items = [
        tag(
            "span",
            tag("bdi", visible(attempt.piece)),
            " ✓ " if attempt.found else " ✗ ",
            class_=f"bx-try {'bx-hit' if attempt.found else 'bx-miss'}",
        )
        for attempt in shown
    ]
    rest = len(attempts) - len(shown)
    more = [f" … {rest} more"] if rest else []
    explained = hint(
        "The longest beginning of the word that the vocabulary has is taken first (✓); every ✗ is "
        "a look-up that failed. Then the rest is looked up in the same way, with ## in front."
    )
    return tag("div", explained, tag("span", *items, *more, class_="bx-tries"))


def tries_table(word: WordTrace) -> list[dict[str, str | float]]:
    """List every look-up that cut one word."""
    return [
        {"try": n, "looked up": each.piece, "outcome": "found" if each.found else "not found"}
        for n, each in enumerate(word.attempts, 1)
    ]


def _quoted(text: str) -> Html:
    return tag("code", tag("bdi", visible(text) or "nothing"))

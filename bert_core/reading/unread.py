"""What a vocabulary cannot read of a text: unknown words, unknown scripts, words in small pieces.

An answer about such words is an answer about something else, so it should be told before the
answer. All of it follows from the vocabulary alone; nothing is known about languages.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from bert_core.text.batches import TextTokenizer
from bert_core.text.encoding import Encoding

_LATIN = "Latin"
# The first word of a letter's name in Unicode -> its script. Letters of other scripts, and those
# of no script, count as unknown to no vocabulary.
_SCRIPTS = {
    each.upper(): each
    for each in (
        *("Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Hebrew", "Arabic", "Devanagari"),
        *("Bengali", "Tamil", "Telugu", "Thai", "Hangul", "Hiragana", "Katakana"),
    )
} | {"CJK": "Chinese"}
# In the vocabulary of bert-base-uncased, 27,827 entries contain Latin letters; Chinese characters
# come second with 494, most of which occur in names, and Hiragana third with 92.
_ENTRIES, _PART = 600, 20
_SMALL, _MANY, _SOME = 3, 3, 4  # pieces; one word in three; words of a text


@dataclass(frozen=True, slots=True)
class Unread:
    """What a vocabulary cannot read of one text or of several."""

    words: Annotated[int, "number of words that contain a letter"]
    unknown: Annotated[tuple[str, ...], "words, as typed, that became [UNK]; each once, in order"]
    scripts: Annotated[tuple[tuple[str, int], ...], "unread scripts, with their words"]
    fragments: Annotated[int, "words in other scripts that fall into three or more pieces"]

    @property
    def crumbles(self) -> bool:
        """Whether so many words fall into small pieces that the language may be unknown."""
        return self.words >= _SOME and self.fragments * _MANY >= self.words

    @property
    def anything(self) -> bool:
        """Whether there is something to tell."""
        return bool(self.unknown or self.scripts or self.crumbles)


def unread(tokenizer: TextTokenizer, encodings: Iterable[Encoding]) -> Unread:
    """Find what a tokenizer's vocabulary cannot read of the texts of some inputs.

    A first text that several inputs have counts once.
    """
    unknown: dict[str, None] = {}
    words, fragments = Counter[str](), Counter[str]()  # by script
    unk = tokenizer.unk_token
    for text, pieces in _words(encodings):
        if unk in pieces and text != unk:
            unknown[text] = None
        if letter := next(filter(str.isalpha, text), ""):
            script = script_of(letter)
            words[script] += 1
            fragments[script] += len(pieces) >= _SMALL
    foreign = Counter({each: words[each] for each in words if not _knows(tokenizer, each)})
    crumbs = sum(fragments[each] for each in words if each not in foreign)
    return Unread(words.total(), tuple(unknown), tuple(foreign.most_common()), crumbs)


def _words(encodings: Iterable[Encoding]) -> Iterable[tuple[str, Sequence[str]]]:
    first: set[str] = set()
    for encoding in encodings:
        tokens = encoding.tokens
        for word in encoding.typed_words():
            if word.side or encoding.text not in first:
                yield word.text, [tokens[at] for at in word.positions]
        first.add(encoding.text)


def known_scripts(tokenizer: TextTokenizer) -> list[str]:
    """Return the scripts of which a vocabulary has enough entries to read them."""
    return [each for each in dict.fromkeys(_SCRIPTS.values()) if _knows(tokenizer, each)]


def script_of(letter: str) -> str:
    """Return the script of a letter, "Latin"; "" if it is none of the list."""
    if letter.isascii():
        return _LATIN
    return _SCRIPTS.get(unicodedata.name(letter, "").partition(" ")[0], "")


def _knows(tokenizer: TextTokenizer, script: str) -> bool:
    """Return whether a vocabulary has enough entries in a script to read it; "" counts as read."""
    if script in (_LATIN, ""):
        return True
    entries = sum(
        any(script_of(each) == script for each in entry if each.isalpha())
        for entry in map(tokenizer.readable, tokenizer.vocab)
        if not entry.isascii()
    )
    return entries >= min(_ENTRIES, len(tokenizer.vocab) // _PART)

"""Where characters and words of a text end: one idea of both for every tokenizer and every task.

A character is a grapheme cluster (UAX #29), such as a letter with its marks; nothing that is shown
begins or ends inside one. A word is what UAX #29 keeps together, with two differences:

- Punctuation and symbols are never part of a word: "don't" and "3.14" are several words, as for
  BERT's own tokenizer, so that "Ann" can be found in "Ann's". What is invisible separates nothing.
- In scripts without spaces, and in Korean, the pieces of the tokenizer are the words: a
  dictionary's word that a piece crosses could not be found.

A border counts where it is between two pieces: a piece is never cut. Several pieces may share a
character, such as the bytes of an emoji.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import regex

Span = tuple[int, int]  # (start, end) in characters

_WITHOUT_SPACES = "".join(
    rf"\p{{scx={script}}}"
    for script in (
        *("Han", "Hiragana", "Katakana", "Bopomofo", "Yi", "Hangul", "Thai", "Lao", "Khmer"),
        *("Myanmar", "Tibetan", "Tai_Le", "New_Tai_Lue", "Tai_Tham", "Tai_Viet", "Ahom"),
        *("Javanese", "Balinese"),
    )
)
JOINED = rf"[[\p{{L}}\p{{N}}]--[{_WITHOUT_SPACES}]]"
"""What words are written with: a set of characters in the language of `regex`, version 1."""

_CHARACTER = regex.compile(r"\X")
_JOINED = regex.compile(JOINED, regex.V1)
_ALONE = regex.compile(rf"[[\p{{L}}\p{{N}}]&&[{_WITHOUT_SPACES}]]", regex.V1)
_WORD = regex.compile(rf"(?:(?={JOINED})\X[\p{{Cf}}--\p{{gcb=Prepend}}]*)+|\X", regex.V1)


class Word(NamedTuple):
    """A word of an input."""

    text: Annotated[str, "its characters as typed"]
    side: Annotated[int, "0 if it is in the first text, 1 if in the second"]
    start: Annotated[int, "offset of its first character in that text"]
    end: Annotated[int, "offset after its last character"]
    positions: Annotated[range, "its pieces among the tokens of the input"]


def whole_characters(text: str, spans: Sequence[Span]) -> list[Span]:
    """Widen spans of a text to the borders of its characters.

    >>> whole_characters("Malmo\\u0308.", [(0, 4), (4, 5), (6, 7)])
    [(0, 4), (4, 6), (6, 7)]
    """
    if text.isascii():
        return list(spans)
    borders = [*(match.start() for match in _CHARACTER.finditer(text)), len(text)]
    return [
        (borders[bisect_right(borders, start) - 1], borders[bisect_left(borders, end)])
        for start, end in spans
    ]


def word_numbers(text: str, spans: Sequence[Span]) -> list[int]:
    """Number the words of a text, by the spans of its pieces (as `whole_characters` has them).

    The mark of a space, a piece without characters, is part of the word after it. In scripts
    without spaces it has a number of its own, as all pieces do, also those of one character.

    >>> word_numbers("(Ann's cat)", [(0, 1), (1, 4), (4, 5), (5, 6), (7, 8), (8, 10), (10, 11)])
    [0, 1, 2, 3, 4, 4, 5]
    """
    borders = [match.start() for match in _WORD.finditer(text)]
    numbers: list[int] = []
    number = reached = -1
    mark = False
    for start, end in spans:
        border = bisect_left(borders, reached)
        begins = start >= reached and border < len(borders) and borders[border] <= start
        if mark and start == reached:
            begins = not _JOINED.match(text, start)
        number += begins or _ALONE.match(text, start) is not None
        numbers.append(number)
        reached, mark = max(reached, end), start == end
    return numbers

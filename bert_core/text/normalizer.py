"""Cleaning, case and accents: from the characters a person typed to those WordPiece looks up.

Five rules in BERT's order (google-research/bert, `tokenization.BasicTokenizer`): drop controls
and turn every blank into U+0020; put blanks around Chinese characters; decompose (NFD) and drop
accents; lower-case; put blanks around punctuation. Every rule works on one character, except
canonical ordering, which may move combining marks past each other. So a table from character to
replacement does nearly all the work, and a slow road does the rest (`_reordered`).

The rules' character sets were measured on the Rust package `tokenizers` and are kept in
`bert_core.text.normalizer_tables`: it mixes several Unicode versions, and no `unicodedata` agrees.
What is taken from `unicodedata` (decompositions and combining classes of characters that have been
assigned for years) is fixed by Unicode's stability policy and the same on every Python.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bert_core.errors import InputError
from bert_core.text import normalizer_tables as tables

_WORDS = re.compile("[^ ]+")
_LISTED = 4_096  # sets up to this size are listed, larger ones are searched by their ranges
_TABLE_LIMIT = 65_536  # characters remembered by one table; a text can hold a million different


def _bounds(spec: str) -> list[tuple[int, int]]:
    """Read "1-3 1f" as pairs of first and last code point."""
    pairs = (item.partition("-") for item in spec.split())
    return [(int(first, 16), int(last or first, 16)) for first, _, last in pairs]


class CodePoints:
    """An immutable set of characters, kept as ranges.

    >>> "b" in CodePoints("61-7a")
    True
    """

    __slots__ = ("_firsts", "_lasts", "_listed", "bounds")

    def __init__(self, spec: str) -> None:
        self.bounds = sorted(_bounds(spec))
        self._firsts = [first for first, _ in self.bounds]
        self._lasts = [last for _, last in self.bounds]
        size = sum(last - first + 1 for first, last in self.bounds)
        self._listed = frozenset(self) if size <= _LISTED else None

    def __contains__(self, char: str) -> bool:
        if self._listed is not None:
            return char in self._listed
        point = ord(char)
        index = bisect_right(self._firsts, point) - 1
        return index >= 0 and point <= self._lasts[index]

    def __iter__(self) -> Iterator[str]:
        return (chr(point) for first, last in self.bounds for point in range(first, last + 1))

    def pattern(self) -> str:
        """Write the set as the inside of a regular expression's character class."""
        return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in self.bounds)


def _lower_map(spec: str) -> dict[str, str]:
    """Read runs `first-last/step+distance` as a map of characters."""
    lowered = {"\u0130": "i\u0307"}
    for first, last, step, distance in re.findall(r"(\w+)-(\w+)/(\d)([+-]\w+)", spec):
        for point in range(int(first, 16), int(last, 16) + 1, int(step)):
            lowered[chr(point)] = chr(point + int(distance, 16))
    return lowered


REMOVED = CodePoints(tables.REMOVED)
BLANK = CodePoints(tables.BLANK)
CHINESE = CodePoints(tables.CHINESE)
NONSPACING = CodePoints(tables.NONSPACING)
PUNCTUATION = CodePoints(tables.PUNCTUATION)
DECOMPOSED = CodePoints(tables.DECOMPOSED)
HANGUL = CodePoints("ac00-d7a3")
REORDERED = CodePoints(tables.REORDERED)
LOWERED = _lower_map(tables.LOWERED)

# Marks that canonical ordering moves and that accent stripping leaves in the text. Without one of
# them in a text, ordering cannot be seen in the result.
_MOVING = frozenset(mark for mark in REORDERED if mark not in NONSPACING)


def decompose(char: str) -> str:
    """Give the canonical decomposition of one character."""
    return unicodedata.normalize("NFD", char) if char in DECOMPOSED or char in HANGUL else char


def combining_class(char: str) -> int:
    """Give the canonical combining class of one character, 0 for what stays in place."""
    return unicodedata.combining(char) if char in REORDERED else 0


def refuse_surrogate(char: str) -> None:
    """Raise InputError when a character is half a surrogate pair.

    Raises:
        InputError: `char` is U+D800 to U+DFFF, which no encoded text can hold.
    """
    if "\ud800" <= char <= "\udfff":
        raise InputError(
            f"The text holds U+{ord(char):04X}, one half of a surrogate pair; expected whole "
            "Unicode characters. Decode the bytes again, for instance with errors='replace'."
        )


class Normalized(NamedTuple):
    """A text after the rules.

    Attributes:
        text: the characters that are left; blanks separate words, and stand around each
            punctuation mark, because it is a word.
        origins: for each of them the index of the character typed, never falling; None when it is
            its own index.
    """

    text: str
    origins: list[int] | None

    def words(self) -> Iterator[re.Match[str]]:
        """Find the words."""
        return _WORDS.finditer(self.text)


class Normalizer(dict[str, str]):
    """A table from one typed character to what the rules leave of it, filled on demand.

    Being a dictionary makes the common case one lookup per character. Safe to share between
    threads: two that meet an unknown character compute the same entry.

    Args:
        lowercase: lower-case letters.
        strip_accents: decompose characters and drop accents; None means as `lowercase`.
        chinese_chars: put blanks around Chinese characters.
    """

    def __init__(
        self,
        *,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        chinese_chars: bool = True,
    ) -> None:
        super().__init__()
        self.lowercase = lowercase
        self.strip_accents = lowercase if strip_accents is None else strip_accents
        self.chinese_chars = chinese_chars
        self._moving: set[str] = set()  # characters met that leave a moving mark

    def __missing__(self, char: str) -> str:
        refuse_surrogate(char)
        stripped = self.strip(self.clean(char))
        if self.strip_accents and not _MOVING.isdisjoint(stripped):
            self._moving.add(char)
        replacement = _set_apart(self.recase(stripped))
        if len(self) < _TABLE_LIMIT:
            self[char] = replacement
        return replacement

    def clean(self, char: str) -> str:
        """Apply the first two rules to one character: controls, blanks, Chinese padding."""
        if char in REMOVED:
            return ""
        if char in BLANK:
            return " "
        if self.chinese_chars and char in CHINESE:
            return f" {char} "
        return char

    def strip(self, text: str) -> str:
        """Decompose the characters of `text` one by one and drop accents, if asked for."""
        if not self.strip_accents:
            return text
        marks = "".join(map(decompose, text))
        return "".join(char for char in marks if char not in NONSPACING)

    def recase(self, text: str) -> str:
        """Lower-case the characters of `text` one by one, if asked for.

        Not `str.lower`: that looks at neighbours (a final Greek sigma), the reference does not.
        """
        return "".join(LOWERED.get(char, char) for char in text) if self.lowercase else text

    def normalize(self, text: str) -> Normalized:
        """Apply all rules to a text.

        Raises:
            InputError: the text holds half a surrogate pair.
        """
        replacements = list(map(self.__getitem__, text))
        if self._moving and not self._moving.isdisjoint(text):
            return self._reordered(text)
        normalized = "".join(replacements)
        if len(normalized) == len(text) and "" not in replacements:  # one each
            return Normalized(normalized, None)
        origins = [index for index, chars in enumerate(replacements) for _ in chars]
        return Normalized(normalized, origins)

    def stages(self, text: str) -> tuple[str, str, str]:
        """Give the text after cleaning, after stripping and after lower-casing, for a look."""
        cleaned = "".join(map(self.clean, text))
        if not self.strip_accents:
            return cleaned, cleaned, self.recase(cleaned)
        marks = (char for char, _ in _canonical_order(cleaned))
        stripped = "".join(char for char in marks if char not in NONSPACING)
        return cleaned, stripped, self.recase(stripped)

    def _reordered(self, text: str) -> Normalized:
        """Normalise a text whose marks change places.

        The reference keeps, with every decomposed character, whether it takes the next
        character of the text or shares the last one taken; ordering moves that flag along with
        the mark. A mark that moves forward therefore takes the place of the one it passed.
        """
        cleaned = [(char, index) for index, typed in enumerate(text) for char in self.clean(typed)]
        origins = iter([index for _, index in cleaned])
        chars: list[str] = []
        kept: list[int] = []
        origin = 0
        for char, takes_next in _canonical_order(char for char, _ in cleaned):
            if takes_next:
                origin = next(origins)
            if char not in NONSPACING:
                lowered = _set_apart(self.recase(char))
                chars.append(lowered)
                kept.extend([origin] * len(lowered))
        return Normalized("".join(chars), kept)


def _set_apart(text: str) -> str:
    """Put blanks around punctuation, and keep the rest."""
    return "".join(f" {char} " if char in PUNCTUATION else char for char in text)


def _canonical_order(chars: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Decompose and order characters; True marks the first of each decomposition."""
    pending: list[tuple[int, str, bool]] = []
    for char in chars:
        for index, part in enumerate(decompose(char)):
            rank = combining_class(part)
            if rank == 0:
                yield from _ordered(pending)
                pending.clear()
            pending.append((rank, part, index == 0))
    yield from _ordered(pending)


def _ordered(pending: list[tuple[int, str, bool]]) -> Iterator[tuple[str, bool]]:
    # sorted() is stable, as canonical ordering asks.
    return ((char, first) for _, char, first in sorted(pending, key=lambda item: item[0]))

"""Text normalisation: cleaning, lower-casing and accent stripping before WordPiece.

Five rules in BERT's order (google-research/bert, `tokenization.BasicTokenizer`):

1. drop control characters and turn all whitespace into U+0020;
2. put spaces around Chinese characters;
3. decompose (NFD) and drop accents;
4. lower-case;
5. put spaces around punctuation.

Each rule works on one character at a time, except that NFD may reorder combining marks. So a table
from character to replacement does nearly all the work; `_reordered` handles the texts in which
marks move.

The character sets were measured on the Rust package `tokenizers` and are stored in
`bert_core.text.normalizer_tables`: that package mixes several Unicode versions, and no version of
`unicodedata` agrees with it. Decompositions and combining classes do come from `unicodedata`:
for characters assigned long ago, Unicode's stability policy fixes them on every Python.
"""

import re
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import compress
from typing import NamedTuple

from bert_core.errors import InputError
from bert_core.text import normalizer_tables as tables

_WORDS = re.compile("[^ ]+")
_LISTED = 4_096  # sets up to this size are also kept as a frozenset; larger ones use bisection
_TABLE_LIMIT = 65_536  # entries per table; a text can contain a million different characters


def _bounds(spec: str) -> list[tuple[int, int]]:
    """Parse "1-3 1f" into pairs (first, last) of code points."""
    pairs = (item.partition("-") for item in spec.split())
    return [(int(first, 16), int(last or first, 16)) for first, _, last in pairs]


class CodePoints:
    """An immutable set of characters, stored as ranges.

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

    def pattern(self, largest: int = sys.maxunicode) -> str:
        """Return the ranges that begin by `largest`, as the body of a character class of `re`."""
        return "".join(
            f"\\U{first:08x}-\\U{last:08x}" for first, last in self.bounds if first <= largest
        )


def _lower_map(spec: str) -> dict[str, str]:
    """Parse runs `first-last/step+distance` into a map from upper to lower case."""
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

# Control characters at which words end, where cleaning does not remove them first.
_CONTROL_BLANKS = frozenset("\x0b\x0c\x85")

# Marks that canonical ordering moves and accent stripping keeps. In a text without any of them,
# ordering does not change the result.
_MOVING = frozenset(mark for mark in REORDERED if mark not in NONSPACING)


def decompose(char: str) -> str:
    """Return the canonical decomposition (NFD) of one character."""
    return unicodedata.normalize("NFD", char) if char in DECOMPOSED or char in HANGUL else char


def combining_class(char: str) -> int:
    """Return the canonical combining class of one character; 0 if it is never reordered."""
    return unicodedata.combining(char) if char in REORDERED else 0


def refuse_surrogate(char: str) -> None:
    """Reject a lone surrogate.

    Raises:
        InputError: `char` is U+D800 to U+DFFF, which cannot occur in encoded text.
    """
    if "\ud800" <= char <= "\udfff":
        raise InputError(
            f"The text contains U+{ord(char):04X}, half of a surrogate pair; expected whole "
            "Unicode characters. Decode the bytes again, for instance with errors='replace'."
        )


class Normalized(NamedTuple):
    """A normalised text.

    Attributes:
        text: the normalised characters; words, including each punctuation mark, are separated by
            spaces.
        origins: for each character of `text`, the index of the original character it comes from
            (never decreasing); None if every character kept its index.
    """

    text: str
    origins: list[int] | None

    def words(self) -> Iterator[re.Match[str]]:
        """Find the words."""
        return _WORDS.finditer(self.text)


class Normalizer(dict[str, str]):
    """A table from original character to its normalised replacement, filled on demand.

    A dictionary, so that the common case is one lookup per character. Threads can share it: two
    that meet the same new character compute the same entry.

    `strip_accents=None` follows `lowercase`. `clean_text=False` keeps control characters.
    `set_apart=False` leaves out rule 5.
    """

    def __init__(
        self,
        *,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        chinese_chars: bool = True,
        clean_text: bool = True,
        set_apart: bool = True,
    ) -> None:
        super().__init__()
        self.set_apart = set_apart
        self.lowercase = lowercase
        self.strip_accents = lowercase if strip_accents is None else strip_accents
        self.chinese_chars = chinese_chars
        self.clean_text = clean_text
        self._moving: set[str] = set()  # characters seen so far whose replacement has a moving mark

    def __missing__(self, char: str) -> str:
        refuse_surrogate(char)
        stripped = self.strip(self.clean(char))
        if self.strip_accents and not _MOVING.isdisjoint(stripped):
            self._moving.add(char)
        replacement = self._finish(stripped)
        if len(self) < _TABLE_LIMIT:
            self[char] = replacement
        return replacement

    def clean(self, char: str) -> str:
        """Apply rules 1 and 2 to one character: controls, whitespace, Chinese characters."""
        if char in REMOVED:
            return "" if self.clean_text else " " if char in _CONTROL_BLANKS else char
        if char in BLANK:
            return " "
        if self.chinese_chars and char in CHINESE:
            return f" {char} "
        return char

    def strip(self, text: str) -> str:
        """Apply rule 3, if enabled: decompose each character and drop accents."""
        if not self.strip_accents:
            return text
        marks = "".join(map(decompose, text))
        return "".join(char for char in marks if char not in NONSPACING)

    def recase(self, text: str) -> str:
        """Apply rule 4, if enabled: lower-case each character.

        Unlike `str.lower`, the reference ignores context such as a final Greek sigma.
        """
        return "".join(LOWERED.get(char, char) for char in text) if self.lowercase else text

    def normalize(self, text: str) -> Normalized:
        """Apply all rules to a text.

        Raises:
            InputError: the text contains a lone surrogate.
        """
        replacements = list(map(self.__getitem__, text))
        if self._moving and not self._moving.isdisjoint(text):
            return self._reordered(text)
        normalized = "".join(replacements)
        dropped = replacements.count("")
        if len(normalized) == len(text) - dropped:  # one each for the others
            kept = list(compress(range(len(text)), replacements)) if dropped else None
            return Normalized(normalized, kept)
        origins = [index for index, chars in enumerate(replacements) for _ in chars]
        return Normalized(normalized, origins)

    def stages(self, text: str) -> tuple[str, str, str]:
        """Return the text after cleaning, after accent stripping and after lower-casing."""
        cleaned = "".join(map(self.clean, text))
        if not self.strip_accents:
            return cleaned, cleaned, self.recase(cleaned)
        marks = (char for char, _ in _canonical_order(cleaned))
        stripped = "".join(char for char in marks if char not in NONSPACING)
        return cleaned, stripped, self.recase(stripped)

    def _finish(self, text: str) -> str:
        """Apply rules 4 and 5, as far as they are enabled."""
        lowered = self.recase(text)
        return _set_apart(lowered) if self.set_apart else lowered

    def _reordered(self, text: str) -> Normalized:
        """Normalise a text in which canonical ordering moves marks.

        Offsets follow the reference: it stores a flag with each decomposed character, saying
        whether it consumes the next original character or shares the last one, and moves the flag
        along with the mark. A mark that moves forward therefore gets the offset of the mark it
        passed.
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
                lowered = self._finish(char)
                chars.append(lowered)
                kept.extend([origin] * len(lowered))
        return Normalized("".join(chars), kept)


def _set_apart(text: str) -> str:
    """Apply rule 5: put spaces around punctuation."""
    return "".join(f" {char} " if char in PUNCTUATION else char for char in text)


def _canonical_order(chars: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Decompose and reorder characters; the flag marks the first of each decomposition."""
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
    # Canonical ordering must be stable, and sorted() is.
    return ((char, first) for _, char, first in sorted(pending, key=lambda item: item[0]))

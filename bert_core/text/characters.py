"""What BERT's tokenizer asks about single characters: is it an accent, a space, punctuation?

The reference, the library `tokenizers`, is compiled with tables of several Unicode versions; no
`unicodedata` agrees with all of them. So each character is looked up there, once.
"""

import unicodedata
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from itertools import accumulate
from operator import itemgetter

from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import NFD, BertNormalizer, Lowercase
from tokenizers.pre_tokenizers import BertPreTokenizer

Char = tuple[str, int]  # a character, and the index in the text of the one it comes from

_LIMIT = 65_536  # entries a table: a text can have a million different characters
_IOTA, _TILDE = "\u0345", "\u0334"  # marks of the highest combining class, 240, and the lowest, 1


class Role(Enum):
    """What a character does where a text is split into words."""

    IN_WORD = 1
    BETWEEN = 2
    PUNCTUATION = 3


def _bert(**only: bool) -> BertNormalizer:
    """BERT's normalizer with one of its four rules."""
    rules = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    return BertNormalizer(**{rule: only.get(rule, False) for rule in rules})


_CLEAN, _CHINESE = _bert(clean_text=True), _bert(handle_chinese_chars=True)
_ACCENTS, _NFD, _LOWER, _SPLIT = _bert(strip_accents=True), NFD(), Lowercase(), BertPreTokenizer()
_ALONE = Tokenizer(WordPiece({"[UNK]": 0}))
_ALONE.add_tokens([AddedToken("x", single_word=True)])  # gets the id 1


@lru_cache(_LIMIT)
def cleaned(char: str) -> str:
    """Return nothing for a control character, U+0020 for whitespace, else the character."""
    return _CLEAN.normalize_str(char)


@lru_cache(_LIMIT)
def is_chinese(char: str) -> bool:
    """Return whether a character is a word of its own, as Chinese ones are."""
    return _CHINESE.normalize_str(char) != char


@lru_cache(_LIMIT)
def is_accent(char: str) -> bool:
    """Return whether a character is a mark that is dropped with the accents."""
    return not _ACCENTS.normalize_str(char)


@lru_cache(_LIMIT)
def lowered(char: str) -> str:
    """Return the lower case of one character, whatever its neighbours such as a final sigma."""
    return _LOWER.normalize_str(char)


@lru_cache(_LIMIT)
def role(char: str) -> Role:
    """Return whether a character is inside a word, between words, or a word of its own."""
    return Role(len(_SPLIT.pre_tokenize_str(f"a{char}b")))


@lru_cache(_LIMIT)
def joins_words(char: str) -> bool:
    """Return whether a `single_word` token beside this character is not found."""
    return 1 not in _ALONE.encode(f"x{char}").ids


@lru_cache(_LIMIT)
def decomposed(char: str) -> str:
    """Return the canonical decomposition (NFD) of one character: é is e and an accent."""
    return _NFD.normalize_str(char)


@lru_cache(_LIMIT)
def combining_class(char: str) -> int:
    """Return the class by which NFD orders marks after a letter; 0 for what is never moved."""
    if char.isascii():
        return 0
    probe = f"a{_IOTA}{char}{_TILDE}"  # stays as it is if the reference does not know the mark
    return unicodedata.combining(char) if _NFD.normalize_str(probe) != probe else 0


def in_canonical_order(chars: Sequence[Char]) -> list[Char]:
    """Decompose characters, and order the marks after each letter by their classes (NFD).

    Offsets follow the reference: a mark that overtakes another one gets the other's origin.
    """
    parts = [(part, n == 0) for char, _ in chars for n, part in enumerate(decomposed(char))]
    classes = [combining_class(part) for part, _ in parts]
    letters = accumulate(each == 0 for each in classes)  # marks stay after their letter
    rows = sorted(zip(letters, classes, parts, strict=True), key=itemgetter(0, 1))
    numbers = accumulate(begins for *_, (_, begins) in rows)
    return [(part, chars[n - 1][1]) for (*_, (part, _)), n in zip(rows, numbers, strict=True)]

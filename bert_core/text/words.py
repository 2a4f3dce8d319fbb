"""Tokens of a chunk of text, with bounded caches of chunks and words already seen.

Text is split at U+0020 and each chunk is tokenized on its own, because no rule of the tokenizer
looks across a space. Words repeat, so most chunks ("the", "said,") are found in one dictionary.
Chunks too long to be worth caching (Chinese and Japanese use no spaces) are split further, around
every character that is a word of its own.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from threading import Lock
from typing import Any

from bert_core.text.normalizer import (
    BLANK,
    CHINESE,
    PUNCTUATION,
    CodePoints,
    Normalizer,
    refuse_surrogate,
)
from bert_core.text.packed import ADJACENT, Token, pack, pack_word, tokens_of
from bert_core.text.wordpiece import WordpieceTokenizer, blank_separated

CACHE_SIZE = 65_536  # entries; the caches of chunks and words together take about 25 MB when full
LONGEST = 40  # length in characters up to which a chunk is cached

# Words of a chunk of printable ASCII without spaces; the matches leave no gaps.
_ASCII_WORDS = re.compile(r"[0-9A-Za-z]+|[^0-9A-Za-z ]")


def _parts_pattern(*alone: CodePoints) -> re.Pattern[str]:
    """Compile a pattern that finds each character of these sets, and each run of other ones.

    In a character class, `re` has a table of the characters up to U+FFFF, but tries ranges beyond
    it one by one. So a first class, without these ranges, takes nearly all characters. `++`: a run
    is never tried shorter, and needs no memory for that.
    """
    every = "".join(each.pattern() for each in alone)
    small = "".join(each.pattern(0xFFFF) for each in alone)
    return re.compile(f"(?:[^{small}\\U00010000-\\U0010ffff]+|[^{every}]+)++|.", re.DOTALL)


# Where raw text can be split without changing any token: around whitespace and punctuation, and
# around Chinese characters if these become words. Canonical ordering moves none of them.
_PARTS = _parts_pattern(BLANK, PUNCTUATION)
_PARTS_CHINESE = _parts_pattern(BLANK, PUNCTUATION, CHINESE)


def special_pattern(tokens: Iterable[str]) -> re.Pattern[str] | None:
    """Compile a pattern that finds the next special token, preferring the longest."""
    known = sorted({token for token in tokens if token}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, known))) if known else None


def stretches(specials: re.Pattern[str] | None, text: str) -> Iterator[tuple[int, int, bool]]:
    """Split a text at its special tokens: (start, end, whether this part is one)."""
    end = 0
    for match in specials.finditer(text) if specials else ():
        if match.start() > end:
            yield end, match.start(), False
        yield match.start(), match.end(), True
        end = match.end()
    if end < len(text):
        yield end, len(text), False


def _forget_oldest(cache: dict[str, bytes], lock: Lock) -> None:
    """Halve a full cache; another thread may have to recompute an entry removed meanwhile."""
    with lock:
        try:
            oldest = list(islice(cache, max(0, len(cache) - CACHE_SIZE // 2)))
        except RuntimeError:  # another thread added an entry just now; the next miss tries again
            return
        for key in oldest:
            cache.pop(key, None)


class WordCache(dict[str, bytes]):
    """Normalised word -> its tokens, computed on first access."""

    def __init__(self, wordpiece: WordpieceTokenizer, vocab: Mapping[str, int]) -> None:
        super().__init__()
        self._wordpiece = wordpiece
        self._vocab = vocab
        self._lock = Lock()

    def __missing__(self, word: str) -> bytes:
        size = len(word)
        if size > LONGEST:
            return self._compute(word)
        number = self._vocab.get(word)
        if number is not None and size <= self._wordpiece.max_input_chars_per_word:
            packed = pack_word([(number, size)])
        else:
            packed = self._compute(word)
        self[word] = packed
        if len(self) > CACHE_SIZE:
            _forget_oldest(self, self._lock)
        return packed

    def _compute(self, word: str) -> bytes:
        pieces = self._wordpiece.split(word) or [(self._wordpiece.unk_token, 0, len(word))]
        return pack_word([(self._vocab[token], end - start) for token, start, end in pieces])


class ChunkCache(dict[str, bytes]):
    """Chunk of raw text -> its tokens, computed on first access.

    Without a normalizer, words are separated by whitespace and unchanged. `specials` are found in
    the raw text before anything else; they must not contain spaces.
    """

    def __init__(
        self,
        wordpiece: WordpieceTokenizer,
        vocab: Mapping[str, int],
        normalizer: Normalizer | None,
        specials: Iterable[str] = (),
    ) -> None:
        super().__init__()
        specials = tuple(specials)
        self._arguments = (wordpiece, vocab, normalizer, specials)
        self._words = WordCache(wordpiece, vocab)
        self._vocab = vocab
        self._normalizer = normalizer
        self.specials = special_pattern(specials)
        # If no special token starts with an ASCII letter or digit, a chunk of only such
        # characters is one word, whatever the other options.
        self._plain = not any(re.search("^[0-9A-Za-z]", token) for token in specials)
        chinese = normalizer is not None and normalizer.chinese_chars
        self._parts = _PARTS_CHINESE if chinese else _PARTS
        self._lowercase = normalizer is not None and normalizer.lowercase
        self._lock = Lock()

    def parts_of(self, text: str) -> list[str] | None:
        """Split a text, without gaps, into parts that can be tokenized independently.

        Returns None if the text contains a special token or is not normalised.
        """
        if self._normalizer is None or (self.specials and self.specials.search(text)):
            return None
        return self._parts.findall(text)

    def __reduce__(self) -> tuple[Any, ...]:
        return ChunkCache, self._arguments  # pickled without the cached entries

    def __missing__(self, stretch: str) -> bytes:
        if len(stretch) > LONGEST:
            return self._compute(stretch)
        if self._plain and stretch.isalnum() and stretch.isascii():
            packed = self._words[stretch.lower() if self._lowercase else stretch]
        else:
            packed = self._compute(stretch)
        self[stretch] = packed
        if len(self) > CACHE_SIZE:
            _forget_oldest(self, self._lock)
        return packed

    def _compute(self, stretch: str) -> bytes:
        if self.specials is not None and self.specials.search(stretch):
            # A special token is one token and one word; one that is not in the vocabulary goes
            # through WordPiece unchanged.
            return ADJACENT.join(
                (self._words if special else self)[stretch[start:end]]
                for start, end, special in stretches(self.specials, stretch)
            )
        if self._normalizer is None:
            return self._blank_separated(stretch)
        if stretch.isascii() and stretch.isprintable():
            text = stretch.lower() if self._lowercase else stretch
            packed = ADJACENT.join(map(self._words.__getitem__, _ASCII_WORDS.findall(text)))
            return packed or pack([], len(stretch))
        if len(stretch) > LONGEST:
            parts = self._parts.findall(stretch)
            if len(parts) > 1:
                return ADJACENT.join(map(self.__getitem__, parts))
        return self._normalised(self._normalizer, stretch)

    def _normalised(self, normalizer: Normalizer, stretch: str) -> bytes:
        """Normalise a chunk, split it into words, and these into pieces."""
        normalized = normalizer.normalize(stretch)
        text, origins = normalized
        if origins is None and " " not in text:
            return self._words[text]
        if len(stretch) == 1 and len(text) == 3 and text[0] == text[2] == " ":
            return self._words[text[1]]  # punctuation, or a Chinese character
        parts = self._parts.findall(stretch)
        if len(parts) > 1:
            return ADJACENT.join(map(self.__getitem__, parts))
        return self._together(normalized.words(), len(stretch), origins)

    def _blank_separated(self, stretch: str) -> bytes:
        for char in stretch:
            refuse_surrogate(char)
        return self._together(blank_separated(stretch), len(stretch))

    def _together(
        self, matches: Iterable[re.Match[str]], length: int, origins: list[int] | None = None
    ) -> bytes:
        """Combine the tokens of the words of a chunk; `origins` as in `Normalized`."""
        tokens: list[Token] = []
        for match in matches:
            tokens += tokens_of(self._words[match.group()], match.start())
        if origins is not None:
            tokens = [
                (first, number, (origins[start], origins[end - 1] + 1))
                for first, number, (start, end) in tokens
            ]
        return pack(tokens, length)

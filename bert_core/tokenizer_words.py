"""From a stretch of text to its tokens, with a bounded memory of stretches already seen.

Text is cut at U+0020, and every stretch between two of them goes its way alone: no rule of the
tokenizer looks across a blank. Running text repeats its words, so most stretches ("the", "said,")
are found in one dictionary. A stretch too long to be worth remembering (Chinese, Japanese and
pasted code have no blanks) is cut once more, at every character that is a word of its own, and put
together from the tokens of its parts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from threading import Lock

from bert_core.encoding import Chunk, Span
from bert_core.normalizer import BLANK, CHINESE, PUNCTUATION, Normalizer, refuse_surrogate
from bert_core.wordpiece import WordpieceTokenizer, blank_separated

CACHE_SIZE = 65_536  # stretches; about 30 MB when full
_LONGEST = 40  # characters of a stretch that is worth remembering

_PUNCTUATION = PUNCTUATION.pattern()
# Words of a normalised text; U+0020 is the only blank left in one.
_WORDS = re.compile(f"[{_PUNCTUATION}]|[^ {_PUNCTUATION}]+")
# Where a raw text can be cut without changing any token: around blanks, Chinese characters and
# punctuation. None of them is moved by canonical ordering, and each ends the word before it.
_ALONE = f"{BLANK.pattern()}{CHINESE.pattern()}{_PUNCTUATION}"
_PARTS = re.compile(f"[{_ALONE}]|[^{_ALONE}]+")

Word = tuple[tuple[int, ...], tuple[str, ...], tuple[Span, ...]]


def words_of(normalized: str) -> Iterator[re.Match[str]]:
    """Find the words of a normalised text: punctuation marks, and what stands between them."""
    return _WORDS.finditer(normalized)


class WordCache(dict[str, Word]):
    """Ids, pieces and offsets of normalised words, computed when first asked for."""

    def __init__(self, wordpiece: WordpieceTokenizer, vocab: Mapping[str, int]) -> None:
        super().__init__()
        self._wordpiece = wordpiece
        self._vocab = vocab
        self._lock = Lock()

    def __missing__(self, word: str) -> Word:
        vocab, wordpiece = self._vocab, self._wordpiece
        if pieces := wordpiece.split(word):
            tokens, starts, ends = zip(*pieces, strict=True)
            ids = tuple([vocab[token] for token in tokens])
            found = ids, tokens, tuple(zip(starts, ends, strict=True))
        else:
            unknown = wordpiece.unk_token
            found = (vocab[unknown],), (unknown,), ((0, len(word)),)
        if len(word) <= _LONGEST:
            self[word] = found
            forget_oldest(self, self._lock)
        return found


def forget_oldest(cache: dict[str, Word] | dict[str, Chunk], lock: Lock) -> None:
    """Halve a cache that is full; a thread that looks up meanwhile computes once more."""
    if len(cache) <= CACHE_SIZE:
        return
    with lock:
        for key in list(islice(cache, len(cache) - CACHE_SIZE // 2)):
            cache.pop(key, None)


class ChunkCache(dict[str, Chunk]):
    """The tokens of stretches of raw text, computed when first asked for.

    Args:
        wordpiece: cuts words into pieces.
        vocab: ids of the pieces.
        normalizer: cleans, lower-cases and strips, or None to take blank-separated words as
            they are (`do_basic_tokenize=False`).
        specials: tokens that are found in the raw text before anything else; they hold no blank.
    """

    def __init__(
        self,
        wordpiece: WordpieceTokenizer,
        vocab: Mapping[str, int],
        normalizer: Normalizer | None,
        specials: Iterable[str] = (),
    ) -> None:
        super().__init__()
        self._words = WordCache(wordpiece, vocab)
        self._vocab = vocab
        self._normalizer = normalizer
        self.specials = special_pattern(specials)
        self._lock = Lock()

    def __missing__(self, stretch: str) -> Chunk:
        chunk = self._compute(stretch)
        if len(stretch) <= _LONGEST:
            self[stretch] = chunk
            forget_oldest(self, self._lock)
        return chunk

    def _compute(self, stretch: str) -> Chunk:
        if self.specials is not None and self.specials.search(stretch):
            return self._around_specials(self.specials, stretch)
        if self._normalizer is None:
            return self._blank_separated(stretch)
        if len(stretch) > _LONGEST:
            parts = _PARTS.findall(stretch)
            if len(parts) > 1:
                return joined([self[part] for part in parts], len(stretch))
        return self._normalised(self._normalizer, stretch)

    def _normalised(self, normalizer: Normalizer, stretch: str) -> Chunk:
        """Normalise a stretch, cut it into words and these into pieces."""
        text, origins = normalizer.normalize(stretch)
        words = [(match.start(), self._words[match.group()]) for match in words_of(text)]
        chunk = chunk_of(words, len(stretch))
        if origins is None:
            return chunk
        offsets = tuple((origins[start], origins[end - 1] + 1) for start, end in chunk.offsets)
        return chunk._replace(offsets=offsets)

    def _blank_separated(self, stretch: str) -> Chunk:
        for char in stretch:
            refuse_surrogate(char)
        matches = blank_separated(stretch)
        return chunk_of([(m.start(), self._words[m.group()]) for m in matches], len(stretch))

    def _around_specials(self, specials: re.Pattern[str], stretch: str) -> Chunk:
        """Cut at the special tokens; each is one token and one word."""
        parts: list[Chunk] = []
        end = 0
        for match in specials.finditer(stretch):
            if match.start() > end:
                parts.append(self[stretch[end : match.start()]])
            parts.append(self._special(match.group()))
            end = match.end()
        if end < len(stretch):
            parts.append(self[stretch[end:]])
        return joined(parts, len(stretch))

    def _special(self, token: str) -> Chunk:
        if token in self._vocab:
            return Chunk(
                (self._vocab[token],), (token,), ((0, len(token)),), (0,), 1, len(token) + 1
            )
        return chunk_of([(0, self._words[token])], len(token))


def special_pattern(tokens: Iterable[str]) -> re.Pattern[str] | None:
    """Compile a search for whichever special token comes first, the longest of those there."""
    # A token with a blank inside could not be met: text is cut at blanks first.
    known = sorted({token for token in tokens if token and " " not in token}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, known))) if known else None


def chunk_of(words: list[tuple[int, Word]], length: int) -> Chunk:
    """Put the words of a stretch together; each comes with the place where it starts."""
    if len(words) == 1 and words[0][0] == 0:
        ids, tokens, offsets = words[0][1]
        return Chunk(ids, tokens, offsets, (0,) * len(ids), 1, length + 1)
    return Chunk(
        tuple([id_ for _, word in words for id_ in word[0]]),
        tuple([token for _, word in words for token in word[1]]),
        tuple([(at + start, at + end) for at, word in words for start, end in word[2]]),
        tuple([number for number, (_, word) in enumerate(words) for _ in word[0]]),
        len(words),
        length + 1,
    )


def joined(parts: list[Chunk], length: int) -> Chunk:
    """Put the parts of a stretch together that follow each other without a blank."""
    ids: list[int] = []
    tokens: list[str] = []
    offsets: list[Span] = []
    words: list[int] = []
    at = count = 0
    for part in parts:
        ids += part.ids
        tokens += part.tokens
        offsets += [(at + start, at + end) for start, end in part.offsets]
        words += [count + word for word in part.words]
        at += part.advance - 1
        count += part.word_count
    return Chunk(tuple(ids), tuple(tokens), tuple(offsets), tuple(words), count, length + 1)

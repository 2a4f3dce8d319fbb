"""Building a vocabulary for WordPiece from text, to train BERT from scratch.

Starts with single characters and repeatedly joins the most frequent pair of adjacent pieces until
the vocabulary is full: byte-pair encoding (Sennrich et al. 2016), with "##" marking pieces inside a
word. WordPiece itself joins the pair that makes the text most likely (Schuster and Nakajima 2012;
Wu et al. 2016), by a program that Google has not published. BERT's longest match reads both alike.
"""

import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bert_core.errors import InputError
from bert_core.pretraining.corruption import SPECIAL_TOKENS
from bert_core.text.vocabulary import write_vocabulary

__all__ = ["Join", "build_vocabulary", "write_vocabulary"]

_CONTINUATION = "##"
_LONGEST_WORD = 100  # longer words are [UNK] in WordPiece anyway

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Join:
    """One step of building a vocabulary: two adjacent pieces that become one.

    Attributes:
        pair: the two pieces.
        piece: the piece they become.
        count: number of places in the texts where they are adjacent.
    """

    pair: Pair
    piece: str
    count: int


def build_vocabulary(
    texts: Iterable[str],
    *,
    size: int = 30_522,
    min_frequency: int = 2,
    alphabet_limit: int = 1_000,
    split: Callable[[str], Iterable[str]] | None = None,
    watch: Callable[[Join], object] | None = None,
) -> list[str]:
    """Build a vocabulary: special tokens, characters, then pieces in the order they were joined.

    Args:
        texts: texts of any length; iterated once.
        size: number of entries wanted; a small corpus can give fewer.
        min_frequency: smallest number of occurrences for a pair to be joined.
        alphabet_limit: number of characters to keep, the most frequent ones. Words with any other
            character are ignored (they will be [UNK]).
        split: text -> words; defaults to a lower-casing `BasicTokenizer`.
        watch: called with every join, in order.

    Returns:
        The tokens; a token's id is its index.

    Raises:
        InputError: there is no word in the texts, or `size` is too small for the special tokens
            and the characters.
    """
    counts = _count_words(texts, split)
    if not counts:
        raise InputError("The texts contain no words; a vocabulary needs text to learn from.")
    letters: Counter[str] = Counter()
    for word, count in counts.items():
        for letter in word:
            letters[letter] += count
    common = sorted(letters, key=lambda letter: (-letters[letter], letter))[:alphabet_limit]
    kept = frozenset(common)
    words = {word: count for word, count in counts.items() if kept.issuperset(word)}
    pieces = {word: _characters(word) for word in words}
    alphabet = sorted({piece for split_word in pieces.values() for piece in split_word})
    vocabulary = [*SPECIAL_TOKENS, *alphabet]
    if len(vocabulary) > size:
        raise InputError(
            f"The text needs {len(vocabulary)} entries for special tokens and characters alone, "
            f"and size is {size}. Give a larger size or a smaller alphabet_limit."
        )
    merger = _Merger([pieces[word] for word in words], list(words.values()))
    known = set(vocabulary)
    while len(vocabulary) < size:
        join = merger.join_best(min_frequency)
        if join is None:
            break
        if watch is not None:
            watch(join)
        if join.piece not in known:
            known.add(join.piece)
            vocabulary.append(join.piece)
    return vocabulary


def _count_words(
    texts: Iterable[str], split: Callable[[str], Iterable[str]] | None
) -> dict[str, int]:
    if split is None:
        from bert_core.text.tokenizer import BasicTokenizer

        split = BasicTokenizer(do_lower_case=True).tokenize
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(word for word in split(text) if 0 < len(word) <= _LONGEST_WORD)
    for special in SPECIAL_TOKENS:
        counts.pop(special, None)
    return dict(sorted(counts.items()))  # independent of the order of the texts


def _characters(word: str) -> list[str]:
    """Split a word into single-character pieces.

    >>> _characters("cat")
    ['c', '##a', '##t']
    """
    return [word[0], *(_CONTINUATION + letter for letter in word[1:])]


class _Merger:
    """Words as lists of pieces, with up-to-date counts of adjacent pairs."""

    def __init__(self, words: list[list[str]], counts: list[int]) -> None:
        self.words, self.counts = words, counts
        self.pairs: dict[Pair, int] = defaultdict(int)
        self.where: dict[Pair, set[int]] = defaultdict(set)
        for index, word in enumerate(words):
            for pair in itertools.pairwise(word):
                self.pairs[pair] += counts[index]
                self.where[pair].add(index)
        self.heap = [(-count, pair) for pair, count in self.pairs.items()]
        heapq.heapify(self.heap)

    def join_best(self, min_frequency: int) -> Join | None:
        """Join the most frequent pair everywhere; return None if none is left."""
        while self.heap:
            count, pair = heapq.heappop(self.heap)
            if -count != self.pairs.get(pair, 0):
                continue  # outdated entry; the current count is in the heap too
            if -count < min_frequency:
                return None
            joined = pair[0] + pair[1].removeprefix(_CONTINUATION)
            changed: set[Pair] = set()
            for index in self.where.pop(pair):
                changed |= self._rewrite(index, pair, joined)
            self.pairs.pop(pair, None)
            for other in changed - {pair}:
                if self.pairs.get(other, 0) > 0:
                    heapq.heappush(self.heap, (-self.pairs[other], other))
            return Join(pair, joined, -count)
        return None

    def _rewrite(self, index: int, pair: Pair, joined: str) -> set[Pair]:
        """Join `pair` in one word; return the pairs whose counts changed."""
        word, count = self.words[index], self.counts[index]
        before = list(itertools.pairwise(word))
        rewritten: list[str] = []
        place = 0
        while place < len(word):
            if place + 1 < len(word) and (word[place], word[place + 1]) == pair:
                rewritten.append(joined)
                place += 2
            else:
                rewritten.append(word[place])
                place += 1
        after = list(itertools.pairwise(rewritten))
        for old in before:
            self.pairs[old] -= count
        for old in set(before) - set(after):
            self.where[old].discard(index)
        for new in after:
            self.pairs[new] += count
            self.where[new].add(index)
        self.words[index] = rewritten
        return set(before) ^ set(after) | {p for p in after if before.count(p) != after.count(p)}

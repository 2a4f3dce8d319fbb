"""Build a WordPiece vocabulary from text, for a BERT from scratch.

Starts from single characters and joins the most frequent pair of neighbouring pieces until the
vocabulary is full: Sennrich et al. 2016 (byte-pair encoding), with the "##" of Wu et al. 2016 for
pieces inside a word. The result feeds longest-match WordPiece (Devlin et al. 2019, section 3).
"""

import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from bert_core.errors import InputError
from bert_core.pretraining.corruption import SPECIAL_TOKENS

_CONTINUATION = "##"
_LONGEST_WORD = 100  # WordPiece gives up on longer words anyway

Pair = tuple[str, str]


def build_vocabulary(
    texts: Iterable[str],
    *,
    size: int = 30_522,
    min_frequency: int = 2,
    alphabet_limit: int = 1_000,
    split: Callable[[str], Iterable[str]] | None = None,
) -> list[str]:
    """Build a vocabulary: special tokens, characters, then pieces in the order they were joined.

    Args:
        texts: any pieces of text; read once, one at a time.
        size: entries wanted; a small text may give fewer.
        min_frequency: a pair must occur this often to be joined.
        alphabet_limit: only this many characters, the most frequent, are kept. Words with
            another one become [UNK].
        split: text -> words; by default `BasicTokenizer`, lower-casing.

    Returns:
        Tokens; a token's id is its place in the list.

    Raises:
        InputError: there is no word in the texts, or `size` cannot hold the special tokens and
            the characters.
    """
    counts = _count_words(texts, split)
    if not counts:
        raise InputError("The texts hold no words; a vocabulary needs some text to learn from.")
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
        joined = merger.join_best(min_frequency)
        if joined is None:
            break
        if joined not in known:
            known.add(joined)
            vocabulary.append(joined)
    return vocabulary


def write_vocabulary(tokens: Sequence[str], path: str | Path) -> Path:
    """Write `vocab.txt`, one token a line; a folder gets a file of that name.

    Returns:
        The file's path.
    """
    target = Path(path)
    if target.is_dir():
        target = target / "vocab.txt"
    target.write_text("".join(f"{token}\n" for token in tokens), encoding="utf-8", newline="\n")
    return target


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
    return dict(sorted(counts.items()))  # sorted: the order of the texts decides nothing


def _characters(word: str) -> list[str]:
    """Split a word into single-character pieces.

    >>> _characters("cat")
    ['c', '##a', '##t']
    """
    return [word[0], *(_CONTINUATION + letter for letter in word[1:])]


class _Merger:
    """Words as lists of pieces, with the counts of neighbouring pairs kept up to date."""

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

    def join_best(self, min_frequency: int) -> str | None:
        """Join the most frequent pair everywhere; return the new piece, None at the end."""
        while self.heap:
            count, pair = heapq.heappop(self.heap)
            if -count != self.pairs.get(pair, 0):
                continue  # an old entry; the pair's present count is in the heap too
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
            return joined
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

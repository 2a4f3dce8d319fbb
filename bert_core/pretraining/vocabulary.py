"""Building a vocabulary for WordPiece from text, to train BERT from scratch.

Byte-pair encoding (Sennrich et al. 2016) with "##" for pieces inside a word: single characters,
then the most frequent pair of adjacent pieces, again and again. WordPiece joins the pair that makes
the text most likely (Schuster and Nakajima 2012), by a program that Google has not published.
"""

import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from bert_core.errors import InputError
from bert_core.pretraining.corruption import SPECIAL_TOKENS
from bert_core.text.tokenizer import BasicTokenizer
from bert_core.text.vocabulary import write_vocabulary

__all__ = ["build_vocabulary", "write_vocabulary"]

_CONTINUATION = "##"
_LONGEST_WORD = 100  # longer words are [UNK] in WordPiece anyway

Pair = tuple[str, str]


def build_vocabulary(
    texts: Iterable[str],
    *,
    size: int = 30_522,
    min_frequency: int = 2,
    alphabet_limit: int = 1_000,
    do_lower_case: bool = True,
) -> list[str]:
    """Build a vocabulary: special tokens, characters, then pieces as they were joined, by id.

    Args:
        alphabet_limit: number of characters to keep, the most frequent ones. Words with any other
            character are ignored (they will be [UNK]).

    Raises:
        InputError: there is no word in the texts, or `size` is too small for the special tokens
            and the characters.
    """
    split, found = BasicTokenizer(do_lower_case).tokenize, Counter[str]()
    for text in texts:
        found.update(word for word in split(text) if 0 < len(word) <= _LONGEST_WORD)
    for special in SPECIAL_TOKENS:
        found.pop(special, None)
    counts = dict(sorted(found.items()))  # independent of the order of the texts
    if not counts:
        raise InputError("The texts contain no words; a vocabulary needs text to learn from.")
    letters = Counter[str]()
    for word, count in counts.items():
        for letter in word:
            letters[letter] += count
    common = sorted(letters, key=lambda letter: (-letters[letter], letter))[:alphabet_limit]
    kept = frozenset(common)
    words = {word: count for word, count in counts.items() if kept.issuperset(word)}
    pieces = {word: [word[0], *(_CONTINUATION + each for each in word[1:])] for word in words}
    alphabet = sorted({piece for split_word in pieces.values() for piece in split_word})
    vocabulary = [*SPECIAL_TOKENS, *alphabet]
    if len(vocabulary) > size:
        raise InputError(
            f"The text needs {len(vocabulary)} entries for special tokens and characters alone, "
            f"and size is {size}. Give a larger size or a smaller alphabet_limit."
        )
    known = set(vocabulary)
    for piece, count in _joins([pieces[word] for word in words], list(words.values())):
        if len(vocabulary) == size or count < min_frequency:
            break
        if piece not in known:
            known.add(piece)
            vocabulary.append(piece)
    return vocabulary


def _joins(words: list[list[str]], counts: list[int]) -> Iterator[tuple[str, int]]:
    pairs, where = Counter[Pair](), defaultdict[Pair, set[int]](set)
    for index, word in enumerate(words):
        for pair in itertools.pairwise(word):
            pairs[pair] += counts[index]
            where[pair].add(index)
    heap = [(-count, pair) for pair, count in pairs.items()]
    heapq.heapify(heap)
    while heap:
        negative, pair = heapq.heappop(heap)
        if -negative != pairs[pair]:
            continue  # outdated; the current count is in the heap too
        piece = pair[0] + pair[1].removeprefix(_CONTINUATION)
        yield piece, -negative
        changes = Counter[Pair]()
        for index in where.pop(pair):
            for old in itertools.pairwise(words[index]):
                changes[old] -= counts[index]
            words[index] = _joined(words[index], pair, piece)
            for new in itertools.pairwise(words[index]):
                changes[new] += counts[index]
                where[new].add(index)
        for other, change in changes.items():
            pairs[other] += change
            if change and pairs[other]:
                heapq.heappush(heap, (-pairs[other], other))


def _joined(word: list[str], pair: Pair, piece: str) -> list[str]:
    """Replace a pair of adjacent pieces from left to right.

    >>> _joined(["a", "##a", "##a", "##a"], ("##a", "##a"), "##aa")
    ['a', '##aa', '##a']
    """
    joined: list[str] = []
    rest = iter(zip(word, [*word[1:], ""], strict=True))
    for both in rest:
        joined.append(piece if both == pair else both[0])
        if both == pair:
            next(rest)
    return joined

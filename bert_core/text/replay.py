"""How byte-level BPE and Unigram cut words, step by step, for display.

BPE (Sennrich et al. 2016, section 3.2) merges the pair that was merged first in training, again and
again. Unigram (Kudo 2018, section 3.2) chooses the pieces whose log-probabilities sum to the most.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Annotated, Any, NamedTuple

from tokenizers.normalizers import Normalizer

from bert_core.text.encoding import Span
from bert_core.text.trace import Trace, WordTrace

LONGEST = 400  # symbols; the steps of longer words are not shown, because their number is squared
_UNKNOWN_COST = 10.0  # SentencePiece's: an unknown character scores this less than the worst piece
Ranks = Mapping[tuple[str, str], int]


class Merge(NamedTuple):
    """One step of BPE."""

    at: Annotated[int, "place of the first symbol of the pair, among the symbols before this step"]
    pair: Annotated[tuple[str, str], "the two symbols that become one"]
    rank: Annotated[int, "number of this merge among those learned in training, from 0"]


@dataclass(frozen=True, slots=True)
class BpeWord(WordTrace):
    """One word and the merges that made its tokens."""

    symbols: Annotated[tuple[str, ...], "the symbols it starts from, one for each byte"] = ()
    merges: Annotated[tuple[Merge, ...], "the steps, in order; () if not shown"] = ()


@dataclass(frozen=True, slots=True)
class UnigramWord(WordTrace):
    """One word and how probable its tokens are."""

    score: Annotated[float, "sum of log-probabilities; 0: special"] = 0.0


def merges_of(symbols: Sequence[str], ranks: Ranks) -> tuple[tuple[Merge, ...], tuple[str, ...]]:
    """Return the merges of a word, and the pieces they end in.

    >>> merges_of("hello", {("l", "l"): 0, ("h", "e"): 1})[1]
    ('he', 'll', 'o')
    """
    pieces, merges = list(symbols), []
    while found := [(ranks[p], at) for at, p in enumerate(pairwise(pieces)) if p in ranks]:
        rank, at = min(found)  # of equal pairs the first one
        merges.append(Merge(at, (pieces[at], pieces[at + 1]), rank))
        pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
    return tuple(merges), tuple(pieces)


class Token(NamedTuple):
    """One token of a text, as `tokenizers` gives it."""

    word: Annotated[int, "index of its word"]
    content: Annotated[str, "its characters after normalisation, also of unknown ones"]
    piece: Annotated[str, "the entry of the vocabulary"]
    token_id: Annotated[int, "its id"]
    offsets: Annotated[Span, "(start, end) in the text"]
    special: Annotated[bool, "whether it is an added token that occurs in the text"]


class Replay:
    """Traces texts of one tokenizer; see `FamilyTokenizer.trace`. `scores` is {} for BPE."""

    def __init__(self, ranks: Ranks, scores: Mapping[str, float], unknown: str) -> None:
        self._ranks = ranks
        self._scores = scores
        self._lowest = min(scores.values(), default=0.0) - _UNKNOWN_COST
        self._unknown = unknown

    def trace(self, text: str, tokens: Sequence[Token], normalizer: Normalizer | None) -> Trace:
        """Return the steps that lead from a text to its tokens."""
        normal: Callable[[str], str] = str if normalizer is None else normalizer.normalize_str
        words: list[WordTrace] = []
        normalized, at = "", 0
        for _, group in groupby(tokens, attrgetter("word")):
            word = self._word(text, list(group))
            words.append(word)
            if word.special:  # these are found before anything is normalised
                normalized += normal(text[at : word.start]) + word.text
                at = word.end
        normalized += normal(text[at:])
        return Trace(text, text, text, normalized, tuple(words))

    def _word(self, text: str, tokens: Sequence[Token]) -> WordTrace:
        start = min(token.offsets[0] for token in tokens)
        end = max(token.offsets[1] for token in tokens)
        special = tokens[0].special
        contents = tuple(token.content for token in tokens)
        common: dict[str, Any] = {
            "text": text[start:end],
            "start": start,
            "end": end,
            "normalized": "".join(contents),
            "attempts": (),
            "pieces": tuple(token.piece for token in tokens),
            "ids": tuple(token.token_id for token in tokens),
            "offsets": tuple(token.offsets for token in tokens),
            "unknown_reason": None if special else self._reason(tokens),
            "special": special,
        }
        if self._scores:
            return UnigramWord(**common, score=0.0 if special else self._score(contents))
        symbols = () if special else tuple(common["normalized"])
        shown = len(symbols) <= LONGEST
        merges, pieces = merges_of(symbols if shown else (), self._ranks)
        return BpeWord(**common, symbols=symbols, merges=merges if pieces == contents else ())

    def _score(self, pieces: Sequence[str]) -> float:
        """Return the sum of the log-probabilities of pieces; unknown ones cost by the character."""
        return sum(self._scores.get(piece, self._lowest * len(piece)) for piece in pieces)

    def _reason(self, tokens: Sequence[Token]) -> str | None:
        unknown = "".join(token.content for token in tokens if token.piece == self._unknown)
        if not unknown:
            return None
        named = ", ".join(f"“{char}” (U+{ord(char):04X})" for char in dict.fromkeys(unknown[:3]))
        return f"No piece of the vocabulary is {named}."

"""A trace of the tokenizer: every step from a text to its tokens, for display.

A trace is computed directly from the rules, without the tokenizer's caches and shortcuts, and gives
the same tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from bert_core.text.added import AddedTokens
from bert_core.text.basic import check_surrogates, check_text
from bert_core.text.normalizer import Normalizer
from bert_core.text.wordpiece import CONTINUATION, WordpieceTokenizer
from bert_core.text.wordpiece import Attempt as Try

Span = tuple[int, int]


class Traceable(Protocol):
    """The part of `BertTokenizer` that a trace uses."""

    vocab: dict[str, int]
    unk_token: str
    do_basic_tokenize: bool
    normalizer: Normalizer
    wordpiece_tokenizer: WordpieceTokenizer

    @property
    def characters(self) -> frozenset[str]:
        """Every character that some piece contains."""

    @property
    def added(self) -> AddedTokens:
        """Finds added tokens in a text, and the words between them."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One vocabulary lookup.

    Attributes:
        piece: the piece looked up; continuations start with "##".
        found: whether it is in the vocabulary.
    """

    piece: str
    found: bool


@dataclass(frozen=True, slots=True)
class WordTrace:
    """One word and how it became tokens.

    Attributes:
        text: the original characters, `trace.text[start:end]`.
        start: index of its first character in the text.
        end: index after its last character.
        normalized: the word after normalisation.
        attempts: every vocabulary lookup, in order; empty for an added token or a word that is
            too long.
        pieces: its tokens.
        ids: their ids.
        offsets: their (start, end) in the text.
        unknown_reason: one sentence on why it became [UNK], or None.
        special: whether it is an added token, such as [MASK], that occurs in the text.
    """

    text: str
    start: int
    end: int
    normalized: str
    attempts: tuple[Attempt, ...]
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    offsets: tuple[Span, ...]
    unknown_reason: str | None
    special: bool


@dataclass(frozen=True, slots=True)
class Trace:
    """A text after each step of tokenization.

    Attributes:
        text: the original text.
        cleaned: without control characters, whitespace as U+0020, Chinese characters between
            spaces.
        stripped: `cleaned`, decomposed and without accents (unchanged if the tokenizer keeps
            accents).
        normalized: `stripped`, lower-cased (unchanged if the tokenizer keeps case).
        words: the words in order, each with its lookups.
    """

    text: str
    cleaned: str
    stripped: str
    normalized: str
    words: tuple[WordTrace, ...]

    @property
    def tokens(self) -> list[str]:
        """All tokens, without [CLS] and [SEP]."""
        return [piece for word in self.words for piece in word.pieces]

    @property
    def ids(self) -> list[int]:
        """The ids of all tokens."""
        return [number for word in self.words for number in word.ids]

    @property
    def offsets(self) -> list[Span]:
        """The (start, end) of all tokens in the text."""
        return [span for word in self.words for span in word.offsets]


def trace_text(tokenizer: Traceable, text: str) -> Trace:
    """Trace a text; see `BertTokenizer.trace`.

    Raises:
        InputError: `text` is not a string or contains a lone surrogate.
    """
    check_surrogates(check_text(text))
    tracer = _Tracer(tokenizer, text)
    for start, end, token in tokenizer.added.stretches(text):
        if token is not None:
            tracer.typed(token.content, start, end)
        else:
            tracer.between(start, end)
    cleaned, stripped, normalized = map("".join, tracer.stages)
    return Trace(text, cleaned, stripped, normalized, tuple(tracer.words))


class _Tracer:
    """Collects the stages and words of one text."""

    def __init__(self, tokenizer: Traceable, text: str) -> None:
        self._tokenizer = tokenizer
        self._text = text
        self._known: dict[str, _Lookup] = {}  # results for words that occur again
        self.stages: tuple[list[str], list[str], list[str]] = ([], [], [])
        self.words: list[WordTrace] = []

    def typed(self, token: str, start: int, end: int) -> None:
        """Trace an added token that is found in the text as typed."""
        typed = self._text[start:end]
        self._stage(typed, typed, typed)
        self._word(token, range(start, end), special=True)

    def between(self, start: int, end: int) -> None:
        """Trace a part of the text through normalisation and WordPiece."""
        typed, tokenizer = self._text[start:end], self._tokenizer
        basic = tokenizer.do_basic_tokenize
        self._stage(*(tokenizer.normalizer.stages(typed) if basic else (typed, typed, typed)))
        for word, places, added in tokenizer.added.between(self._text, start, end):
            self._word(word, places, special=added)

    def _stage(self, *forms: str) -> None:
        for stage, form in zip(self.stages, forms, strict=True):
            stage.append(form)

    def _word(self, word: str, places: Sequence[int], *, special: bool = False) -> None:
        """Add one word; `places` has the index in the text of each of its characters."""
        special = special and word in self._tokenizer.vocab
        found = _special(word, len(places)) if special else self._known.get(word)
        if found is None:
            found = self._known[word] = _look_up(self._tokenizer, word)
        start, end = places[0], places[-1] + 1
        vocab = self._tokenizer.vocab
        self.words.append(
            WordTrace(
                text=self._text[start:end],
                start=start,
                end=end,
                normalized=word,
                attempts=found.attempts,
                pieces=tuple([token for token, _, _ in found.pieces]),
                ids=tuple([vocab[token] for token, _, _ in found.pieces]),
                offsets=tuple([(places[a], places[b - 1] + 1) for _, a, b in found.pieces]),
                unknown_reason=found.unknown_reason,
                special=special,
            )
        )


class _Lookup(NamedTuple):
    """The lookups of one word; pieces are (token, start, end) within the word."""

    attempts: tuple[Attempt, ...]
    pieces: tuple[tuple[str, int, int], ...]
    unknown_reason: str | None


def _special(token: str, size: int) -> _Lookup:
    return _Lookup((), ((token, 0, size),), None)


def _look_up(tokenizer: Traceable, word: str) -> _Lookup:
    """Look up one word; the pieces found are its tokens."""
    tried = tokenizer.wordpiece_tokenizer.attempts(word)
    attempts = tuple([Attempt(each.token, each.found) for each in tried])
    if tried and tried[-1].found:
        pieces = tuple([(each.token, each.start, each.end) for each in tried if each.found])
        return _Lookup(attempts, pieces, None)
    return _Lookup(
        attempts, ((tokenizer.unk_token, 0, len(word)),), _reason(tokenizer, word, tried)
    )


def _reason(tokenizer: Traceable, word: str, tried: list[Try]) -> str:
    """Return a sentence on why a word is unknown."""
    if not tried:
        limit = tokenizer.wordpiece_tokenizer.max_input_chars_per_word
        return f"The word has {len(word)} characters; words of more than {limit} are not looked up."
    char = word[tried[-1].start]
    name = f"“{char}” (U+{ord(char):04X})"
    if char not in tokenizer.characters:
        return f"No piece of the vocabulary contains {name}."
    if tried[-1].start == 0:
        return f"The vocabulary has {name} in some pieces, but none of them begins this word."
    rest = word[tried[-1].start :]
    return (
        f"After “{word[: tried[-1].start]}” no continuation (a piece with {CONTINUATION}) fits "
        f"“{rest}”, not even {name} alone."
    )

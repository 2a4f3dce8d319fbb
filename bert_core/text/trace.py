"""What a text becomes step by step, and a trace of all steps for display."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Protocol

from bert_core.text.encoding import Span
from bert_core.text.vocabulary import CONTINUATION, MAX_CHARS


class Word(NamedTuple):
    """A word of a text."""

    text: Annotated[str, "the word after normalisation; the content of an added token"]
    places: Annotated[Sequence[int], "for each character the index in the text it comes from"]
    added: Annotated[bool, "whether it is an added token, such as [MASK]"] = False


class Stages(NamedTuple):
    """A text after each step of normalisation; for the fields see `Trace` and `Word`."""

    cleaned: str
    stripped: str
    normalized: str
    places: Sequence[int]


class Lookup(NamedTuple):
    """One look into the vocabulary: is this a piece? It stands for `word[start:end]`."""

    piece: str
    start: int
    end: int
    found: bool


@dataclass(frozen=True, slots=True)
class WordTrace:
    """One word and how it became tokens."""

    text: Annotated[str, "the original characters, `trace.text[start:end]`"]
    start: Annotated[int, "index of its first character in the text"]
    end: Annotated[int, "index after its last character"]
    normalized: Annotated[str, "the word after normalisation"]
    attempts: Annotated[tuple[Lookup, ...], "every lookup, in order; () if not looked up"]
    pieces: Annotated[tuple[str, ...], "its tokens"]
    ids: Annotated[tuple[int, ...], "their ids"]
    offsets: Annotated[tuple[Span, ...], "their (start, end) in the text"]
    unknown_reason: Annotated[str | None, "one sentence on why it became [UNK], or None"]
    special: Annotated[bool, "whether it is an added token, such as [MASK]"]


@dataclass(frozen=True, slots=True)
class Trace:
    """A text after each step of tokenization."""

    text: Annotated[str, "the original text"]
    cleaned: Annotated[str, "no control characters, plain spaces, Chinese characters apart"]
    stripped: Annotated[str, "`cleaned`, decomposed, without accents unless they are kept"]
    normalized: Annotated[str, "`stripped`, lower-cased (unchanged if the tokenizer keeps case)"]
    words: Annotated[tuple[WordTrace, ...], "the words in order, each with its lookups"]

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


class _Traceable(Protocol):
    """The part of `BertTokenizer` that a trace uses."""

    vocab: dict[str, int]

    @property
    def characters(self) -> frozenset[str]: ...
    def steps(self, text: str) -> Iterator[tuple[Stages, list[Word]]]: ...
    def lookups(self, word: Word) -> list[Lookup]: ...
    def pieces(self, word: Word, tried: Sequence[Lookup]) -> list[tuple[str, Span]]: ...


def trace_text(tokenizer: _Traceable, text: str) -> Trace:
    """Trace a text; see `BertTokenizer.trace`."""
    steps = list(tokenizer.steps(text))
    cleaned, stripped, normalized = (
        "".join(stages[:3][n] for stages, _ in steps) for n in range(3)
    )
    words = (_traced(tokenizer, text, word) for _, found in steps for word in found)
    return Trace(text, cleaned, stripped, normalized, tuple(words))


def _traced(tokenizer: _Traceable, text: str, word: Word) -> WordTrace:
    tried = tokenizer.lookups(word)
    pieces = tokenizer.pieces(word, tried)
    start, end = word.places[0], word.places[-1] + 1
    known = word.added or (tried and tried[-1].found)
    return WordTrace(
        text=text[start:end],
        start=start,
        end=end,
        normalized=word.text,
        attempts=tuple(tried),
        pieces=tuple(piece for piece, _ in pieces),
        ids=tuple(tokenizer.vocab[piece] for piece, _ in pieces),
        offsets=tuple(span for _, span in pieces),
        unknown_reason=None if known else _reason(tokenizer, word.text, tried),
        special=word.added,
    )


def _reason(tokenizer: _Traceable, word: str, tried: Sequence[Lookup]) -> str:
    if not tried:
        return f"The word has {len(word)} characters; none of more than {MAX_CHARS} is looked up."
    at = tried[-1].start
    name = f"“{word[at]}” (U+{ord(word[at]):04X})"
    if word[at] not in tokenizer.characters:
        return f"No piece of the vocabulary contains {name}."
    if at == 0:
        return f"The vocabulary has {name} in some pieces, but none of them begins this word."
    return (
        f"After “{word[:at]}” no continuation (a piece with {CONTINUATION}) fits "
        f"“{word[at:]}”, not even {name} alone."
    )

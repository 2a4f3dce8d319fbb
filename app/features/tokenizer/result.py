"""Results of the tokenizer: pieces, the model's input, look-ups, comparisons, the vocabulary."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, ClassVar

from app.records.results import Cut
from bert_core.text.byte_level import SPACE, as_text
from bert_core.text.trace import Trace

WORDPIECE, BPE, UNIGRAM = "WordPiece", "BPE", "Unigram"


def readable(token: str, kind: str) -> str:
    """Return an entry of a vocabulary as people read it.

    >>> readable("ĠcafÃ©", "BPE"), readable("##ing", "WordPiece")
    ('▁café', '##ing')
    """
    return as_text(token) if kind == BPE else token


@dataclass(frozen=True, slots=True)
class Piece:
    """One token of the input as the model receives it."""

    position: Annotated[int, "its place in the input, counted from 0"]
    token: Annotated[str, "its spelling in the vocabulary"]
    id: Annotated[int, "its number in the vocabulary"]
    start: Annotated[int, "first character in its own text"]
    end: Annotated[int, "character after the last one; an added token has start = end = 0"]
    source: Annotated[str, 'the characters it was made from, as typed; "" for an added token']
    word: Annotated[int | None, "number of its word in its own text, or None for an added token"]
    segment: Annotated[int, "token type, 0 or 1"]
    side: Annotated[
        int | None, "0 for the text, 1 for its pair, None for a token that the tokenizer adds"
    ]
    continues: Annotated[
        bool, "whether it continues the word of the piece before it, which is no mere space"
    ]
    unknown: Annotated[bool, "True where a word, or a part of one, became unknown"]
    cut: Annotated[bool, "True if the piece would not fit in the model's maximum length"]

    @property
    def added(self) -> bool:
        """Whether the tokenizer put it around the texts."""
        return self.side is None


@dataclass(frozen=True, slots=True)
class Columns:
    """Every token of the input, stored by column, since a long text has tens of thousands.

    `Encoding` recomputes some of these at every call; here they are stored for lookup by piece.
    """

    tokens: Annotated[Sequence[str], "spellings in the vocabulary"]
    ids: Annotated[Sequence[int], "numbers in the vocabulary"]
    spans: Annotated[
        Sequence[tuple[int, int]],
        "first character and the one after the last, in the token's own text",
    ]
    words: Annotated[
        Sequence[int | None], "number of the word in its own text, None for an added token"
    ]
    segments: Annotated[Sequence[int], "token types, 0 or 1"]
    sides: Annotated[
        Sequence[int | None], "0 for the text, 1 for its pair, None for an added token"
    ]

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True, slots=True)
class Received:
    """The input as the model receives it, cut and padded; each sequence has T entries."""

    tokens: Annotated[tuple[str, ...], "spellings in the vocabulary, padding included"]
    ids: Annotated[tuple[int, ...], "`input_ids`"]
    segments: Annotated[tuple[int, ...], "`token_type_ids`, 0 or 1"]
    mask: Annotated[tuple[int, ...], "`attention_mask`, 1 for a token to be read and 0 for padding"]
    places: Annotated[
        tuple[int | None, ...], "position of each token in the uncut input; None for padding"
    ]


@dataclass(frozen=True, slots=True)
class TokenizerResult:
    """One text or two, as the model would read them."""

    ANSWER: ClassVar[tuple[str, ...]] = ("model", "columns", "words", "unknown", "lower_case",
                                         "model_lower_case", "max_length", "cut",
                                         "received")  # fmt: skip

    model: Annotated[str, "name of the model"]
    texts: Annotated[tuple[str, ...], "the text, and its pair where there is one, as typed"]
    columns: Annotated[Columns, "every token in order, added ones included"]
    words: Annotated[int, "number of words in the texts, with punctuation marks counted as words"]
    unknown_token: Annotated[str, "the token for what the vocabulary cannot spell"]
    max_length: Annotated[int, "maximum number of tokens that the model reads"]
    cut: Annotated[Cut, "what would be lost of each text beyond the maximum length"]
    lower_case: Annotated[bool, "the casing used"]
    model_lower_case: Annotated[bool, "the casing this vocabulary was made for"]
    received: Annotated[Received, "the input as the model receives it, cut to its length"]
    replays: Annotated[
        tuple[Trace, ...], "for each text, the steps by which its beginning is split"
    ]
    kind: Annotated[str, '"WordPiece", "BPE" or "Unigram"']
    firsts: Annotated[
        tuple[int, int], "position of the first piece of each text, 0 where it has none"
    ]
    padding: Annotated[str, "the token that fills an input"]
    mask: Annotated[str, "the token for a hidden word"]

    def readable(self, token: str) -> str:
        """Return an entry of the vocabulary as people read it."""
        return readable(token, self.kind)

    def pieces(self, limit: int | None = None) -> list[Piece]:
        """Return the first tokens of the input, added ones included."""
        return [self.piece(position) for position in range(len(self.columns))[:limit]]

    def pieces_of(self, side: int, limit: int | None = None) -> list[Piece]:
        """Return the first pieces of one text, without added tokens."""
        first = self.firsts[side]
        return [self.piece(first + n) for n in range(self.cut.lengths[side])[:limit]]

    def first_lost(self, side: int) -> Piece | None:
        """Return the first piece of a text that exceeds the model's length, or None."""
        kept = self.cut.kept[side]
        return None if kept == self.cut.lengths[side] else self.piece(self.firsts[side] + kept)

    def piece(self, position: int) -> Piece:
        """Return all that is known about the token at one position."""
        columns = self.columns
        side, (start, end) = columns.sides[position], columns.spans[position]
        word = columns.words[position]
        before = None  # what is before it in its word
        if position and not self.only_space(position - 1):
            before = columns.sides[position - 1], columns.words[position - 1]
        return Piece(
            position=position,
            token=columns.tokens[position],
            id=columns.ids[position],
            start=start,
            end=end,
            source=self.texts[side][start:end] if side is not None else "",
            word=word,
            segment=columns.segments[position],
            side=side,
            continues=side is not None and before == (side, word),
            unknown=side is not None and columns.tokens[position] == self.unknown_token,
            cut=side is not None and position - self.firsts[side] >= self.cut.kept[side],
        )

    def only_space(self, position: int) -> bool:
        """Whether a piece is the mark of a space alone, put before the characters of the next."""
        columns, after = self.columns, position + 1
        return (
            self.kind != WORDPIECE
            and not self.readable(columns.tokens[position]).strip(SPACE)
            and columns.sides[position] is not None
            and after < len(columns)
            and columns.sides[position] == columns.sides[after]
            and columns.spans[position][0] == columns.spans[after][0]
        )

    @property
    def frame(self) -> str:
        """The added tokens in order, with A and B for the texts."""
        sides = enumerate(self.columns.sides)
        runs = groupby(sides, lambda each: each[0] if each[1] is None else -1 - each[1])
        return " ".join(self.columns.tokens[key] if key >= 0 else "AB"[-1 - key] for key, _ in runs)

    @property
    def sharing(self) -> dict[int, tuple[int, ...]]:
        """Positions of the pieces made from the same characters, by the one that is drawn.

        That is the first of them; the mark of a space is drawn with the piece after it.
        """
        drawn: dict[tuple[int, int, int], int] = {}
        shared: dict[int, list[int]] = {}
        spaces: list[int] = []
        columns = self.columns
        for position, (side, span) in enumerate(zip(columns.sides, columns.spans, strict=True)):
            if side is None:
                continue
            if self.only_space(position):
                spaces.append(position)
                continue
            first = drawn.setdefault((side, *span), position)
            shared.setdefault(first, []).extend((*spaces, position))
            spaces.clear()
        return {first: tuple(positions) for first, positions in shared.items()}

    @property
    def unknown(self) -> int:
        """Number of words that became unknown."""
        return list(self.columns.tokens).count(self.unknown_token)


@dataclass(frozen=True, slots=True)
class Part:
    """One piece in a comparison of two tokenizers."""

    token: Annotated[str, "its spelling"]
    id: Annotated[int, "its number in its own vocabulary"]
    start: Annotated[int, "first character in the text"]
    end: Annotated[int, "character after the last one"]
    stretch: Annotated[int, "number of the stretch of text that it covers, the same on both sides"]
    differs: Annotated[bool, "whether the two tokenizers cut this stretch into different pieces"]


@dataclass(frozen=True, slots=True)
class Reading:
    """How one of two compared tokenizers reads the texts."""

    ANSWER: ClassVar = ("name", "lower_case", "vocabulary", "parts")

    name: Annotated[str, "the model whose vocabulary it has"]
    lower_case: Annotated[bool, "whether it lower-cases and drops accents"]
    vocabulary: Annotated[int, "number of pieces in the vocabulary"]
    parts: Annotated[tuple[tuple[Part, ...], ...], "for each text, its pieces in order"]
    kind: Annotated[str, '"WordPiece", "BPE" or "Unigram"']

    @property
    def pieces(self) -> int:
        """Number of pieces in all texts."""
        return sum(map(len, self.parts))


@dataclass(frozen=True, slots=True)
class Comparison:
    """The same texts read by two tokenizers."""

    texts: Annotated[tuple[str, ...], "the texts as typed"]
    ours: Annotated[Reading, "the reading of the model and casing of the page"]
    theirs: Annotated[Reading, "the other reading"]

    @property
    def stretches(self) -> dict[tuple[int, int], bool]:
        """Whether each stretch of a text, by both their numbers, is read differently."""
        return {
            (number, part.stretch): part.differs
            for reading in (self.ours, self.theirs)
            for number, parts in enumerate(reading.parts)
            for part in parts
        }


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a vocabulary."""

    piece: Annotated[str, "its spelling"]
    id: Annotated[int, "its number"]
    cosine: Annotated[
        float | None,
        "cosine of its word embedding and that of the piece looked up; None if not asked",
    ] = None


@dataclass(frozen=True, slots=True)
class Lookup:
    """A piece looked up in the vocabulary, and its neighbours."""

    ANSWER: ClassVar = ("asked", "found", "pieces", "one_letter", "containing", "containing_all",
                        "near", "vocabulary", "width")  # fmt: skip

    asked: Annotated[str, "what was looked up"]
    found: Annotated[Entry | None, "the entry; None if the vocabulary has no such piece"]
    pieces: Annotated[tuple[Entry, ...], "the pieces it is cut into if it is no entry itself"]
    one_letter: Annotated[tuple[Entry, ...], "entries that differ by one letter"]
    containing: Annotated[tuple[Entry, ...], "the shortest entries that contain it"]
    containing_all: Annotated[int, "number of all entries that contain it"]
    near: Annotated[
        tuple[Entry, ...],
        "entries with the most similar embeddings, best first; () if there is no entry",
    ]
    vocabulary: Annotated[int, "number of entries"]
    width: Annotated[int, "D, the numbers in an embedding"]
    kind: Annotated[str, '"WordPiece", "BPE" or "Unigram"']

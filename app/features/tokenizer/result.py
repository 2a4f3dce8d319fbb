"""Results of the tokenizer inspector: pieces, truncation, and how each word was split."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.results import Cut
from bert_core.text.trace import Trace


@dataclass(frozen=True, slots=True)
class Piece:
    """One token of the input as the model receives it.

    Attributes:
        position: its place in the input, counted from 0.
        token: its spelling in the vocabulary; "##" marks a piece that continues a word.
        id: its number in the vocabulary.
        start: first character in its own text.
        end: character after the last one; an added token has start = end = 0.
        source: the characters it was made from, as typed; "" for an added token.
        word: number of its word in its own text, or None for an added token.
        segment: token type, 0 or 1.
        added: True for the [CLS] and [SEP] that the tokenizer puts around the text.
        unknown: True where a word became [UNK].
        cut: True if the piece would not fit in the model's maximum length.
    """

    position: int
    token: str
    id: int
    start: int
    end: int
    source: str
    word: int | None
    segment: int
    added: bool
    unknown: bool
    cut: bool

    @property
    def continues(self) -> bool:
        """Whether the piece continues the word of the piece before it."""
        return self.token.startswith("##") and not self.unknown


@dataclass(frozen=True, slots=True)
class Replay:
    """The steps by which a text is split into pieces.

    Attributes:
        trace: trace of the replayed beginning of the text.
        whole: whether the whole text was replayed.
    """

    trace: Trace
    whole: bool


@dataclass(frozen=True, slots=True)
class Columns:
    """Every token of the input, stored by column, since a long text has tens of thousands.

    `Encoding` recomputes some of these at every call; here they are stored for lookup by piece.

    Attributes:
        tokens: spellings in the vocabulary.
        ids: numbers in the vocabulary.
        spans: first character and the one after the last, in the token's own text.
        words: number of the word in its own text, None for an added token.
        segments: token types, 0 or 1.
        sides: 0 for the text, 1 for its pair, None for an added token.
    """

    tokens: Sequence[str]
    ids: Sequence[int]
    spans: Sequence[tuple[int, int]]
    words: Sequence[int | None]
    segments: Sequence[int]
    sides: Sequence[int | None]

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True, slots=True)
class TokenizerResult:
    """One text or two, as the model would read them.

    Attributes:
        texts: the text, and its pair where there is one, as typed.
        columns: every token in order, added ones included.
        unknown_token: the token for a word that the vocabulary cannot spell.
        max_length: maximum number of tokens that the model reads.
        cut: what would be lost of each text beyond the maximum length.
        lower_case: the casing used.
        model_lower_case: the casing this vocabulary was made for.
        decoded: the beginning of each text, decoded from the ids alone.
        decoded_whole: whether `decoded` covers every text in full.
        losses: descriptions of what the ids do not preserve; () if the text is unchanged.
    """

    texts: tuple[str, ...]
    columns: Columns
    unknown_token: str
    max_length: int
    cut: Cut
    lower_case: bool
    model_lower_case: bool
    decoded: tuple[str, ...]
    decoded_whole: bool
    losses: tuple[str, ...]

    def pieces(self, limit: int | None = None) -> list[Piece]:
        """Return the first tokens of the input, added ones included."""
        return [self.piece(position) for position in range(len(self.columns))[:limit]]

    def pieces_of(self, side: int, limit: int | None = None) -> list[Piece]:
        """Return the first pieces of one text, without added tokens."""
        first = self._first(side)
        return [self.piece(first + n) for n in range(self.cut.lengths[side])[:limit]]

    def first_lost(self, side: int) -> Piece | None:
        """Return the first piece of a text that exceeds the model's length, or None."""
        kept = self.cut.kept[side]
        return None if kept == self.cut.lengths[side] else self.piece(self._first(side) + kept)

    def piece(self, position: int) -> Piece:
        """Return all that is known about the token at one position."""
        columns = self.columns
        side, (start, end) = columns.sides[position], columns.spans[position]
        own = side is not None
        return Piece(
            position=position,
            token=columns.tokens[position],
            id=columns.ids[position],
            start=start,
            end=end,
            source=self.texts[side][start:end] if side is not None else "",
            word=columns.words[position],
            segment=columns.segments[position],
            added=not own,
            unknown=own and columns.tokens[position] == self.unknown_token,
            cut=side is not None and position - self._first(side) >= self.cut.kept[side],
        )

    def _first(self, side: int) -> int:
        """Return the position of a text's first piece, after the [CLS] or [SEP] before it."""
        return 1 if side == 0 else self.cut.lengths[0] + 2

    @property
    def words(self) -> int:
        """Number of words in the texts, with punctuation marks counted as words."""
        last = [self._first(side) + self.cut.lengths[side] - 1 for side in range(len(self.texts))]
        return sum(
            (self.columns.words[position] or 0) + 1 for position in last if self._own(position)
        )

    def _own(self, position: int) -> bool:
        return self.columns.sides[position] is not None

    @property
    def unknown(self) -> int:
        """Number of words that became unknown."""
        return list(self.columns.tokens).count(self.unknown_token)

"""What the tokenizer inspector found: pieces, what would be cut, and how each word was cut."""

from dataclasses import dataclass

from app.results.cut import Cut


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
        cut: True where the model's length would not leave room for it.
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
class Attempt:
    """One look into the vocabulary: the spelling that was looked up, and whether it is there."""

    piece: str
    found: bool


@dataclass(frozen=True, slots=True)
class WordStory:
    """How one word became pieces.

    Attributes:
        text: as typed.
        start: its first character in the text.
        normalized: after cleaning, lower-casing and stripping of accents.
        attempts: every look into the vocabulary, in order.
        pieces: what came out.
        ids: their numbers.
        reason: why it is unknown, one sentence; "" for a known word.
        special: whether it is a special token written in the text.
    """

    text: str
    start: int
    normalized: str
    attempts: tuple[Attempt, ...]
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    reason: str
    special: bool


@dataclass(frozen=True, slots=True)
class Replay:
    """A text on its way to pieces, step by step.

    Attributes:
        typed: the stretch of text that was replayed, from its beginning.
        cleaned: controls dropped, every blank a plain one, Chinese characters set apart.
        stripped: then without accents (the same again where the casing keeps them).
        lowered: then lower-cased (the same again where the casing keeps capitals).
        words: the words in order.
        whole: whether the stretch is the whole text.
    """

    typed: str
    cleaned: str
    stripped: str
    lowered: str
    words: tuple[WordStory, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class TokenizerResult:
    """A text, or two, as the model would read it.

    Attributes:
        texts: the text, and its pair where there is one, as typed.
        pieces: every token in order, added ones included.
        max_length: tokens the model reads at most.
        cut: what would be lost of each text because the model reads no more.
        lower_case: the casing used.
        model_lower_case: the casing this vocabulary was made for.
        decoded: the texts put together again from the ids alone.
        losses: what the ids no longer say, in words; () where the text comes back unchanged.
    """

    texts: tuple[str, ...]
    pieces: tuple[Piece, ...]
    max_length: int
    cut: Cut
    lower_case: bool
    model_lower_case: bool
    decoded: tuple[str, ...]
    losses: tuple[str, ...]

    @property
    def words(self) -> int:
        """How many words the texts have, punctuation marks counted as words."""
        return len({(p.segment, p.word) for p in self.pieces if not p.added})

    @property
    def unknown(self) -> int:
        """How many words became [UNK]."""
        return sum(piece.unknown for piece in self.pieces)

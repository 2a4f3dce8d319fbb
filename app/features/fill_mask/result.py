"""What fill-mask found: candidates for each [MASK], joint fillings, surprise, differences."""

import math
from dataclasses import dataclass
from typing import ClassVar

from app.records.results import Calibration
from bert_core.reading.gaps import read_signs
from bert_core.reading.unread import Unread

_LEAST = 1e-300  # keeps the logarithm finite

MASK = "[MASK]"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One entry of the vocabulary at one mask.

    Attributes:
        token: its spelling; "##" marks a piece that continues the word before it.
        id: its number in the vocabulary.
        probability: 0 to 1, over the whole vocabulary; see `FillMaskResult.calibration`.
        rank: 1 for the most probable.
    """

    token: str
    id: int
    probability: float
    rank: int


@dataclass(frozen=True, slots=True)
class Spelled:
    """A word of several pieces at one mask, when the gap has one mask for each of them.

    Attributes:
        pieces: its pieces.
        probabilities: of each piece, given the pieces before it.
    """

    ANSWER: ClassVar = ("pieces", "probabilities", "probability")

    pieces: tuple[str, ...]
    probabilities: tuple[float, ...]

    @property
    def probability(self) -> float:
        """The product: the probability of the word in a gap of so many pieces."""
        return math.prod(self.probabilities)


@dataclass(frozen=True, slots=True)
class Slot:
    """One [MASK] and what the model would write there.

    Attributes:
        number: number of the mask in the text, counted from 1.
        position: its place among the tokens of the whole text, counted from 0.
        start: first character of the mask in the text.
        end: character after its last one.
        before: some text before the mask, for orientation.
        after: some text after it.
        candidates: the most probable entries, best first.
        named: the entry of the word that the user asked for, or None.
        spelled: the same for a word of several pieces.
        entropy: uncertainty in bits over the whole vocabulary.
    """

    number: int
    position: int
    start: int
    end: int
    before: str
    after: str
    candidates: tuple[Candidate, ...]
    named: Candidate | None
    spelled: Spelled | None
    entropy: float

    @property
    def choices(self) -> float:
        """The number of equally likely words that would give the same uncertainty."""
        return float(2.0**self.entropy)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the text that a click can mask.

    Attributes:
        text: as typed.
        start: its first character.
        end: the character after its last one.
        masked: True if the word already is a [MASK].
        pieces: positions of its pieces among the tokens of the whole text.
    """

    text: str
    start: int
    end: int
    masked: bool
    pieces: tuple[int, ...] = ()


def mask_word(text: str, word: Word) -> str:
    """Write [MASK] for one word of a text, and for every mask; equal words elsewhere stay.

    >>> mask_word("the cat saw the dog", Word("the", 12, 15, False, (4,)))
    'the cat saw [MASK] dog'
    """
    return read_signs(text[: word.start] + MASK + text[word.end :])[0]


@dataclass(frozen=True, slots=True)
class FillMaskResult:
    """What the model would write at every [MASK] of a text.

    Attributes:
        model: the model's name.
        text: as read; what was typed, but with [MASK] for other signs of a gap, and with its words
            in another order if that was asked for.
        read_as: the signs that were read as [MASK], such as "___", without repetition.
        slots: one per mask, in order; () if the text has none.
        words: every word of the text, masks included, in order.
        filled: the text with the best candidate at every mask: pairs of a stretch of text and
            the number of the slot it fills, 0 for text that was there.
        vocabulary: number of entries that share the probability.
        tokens: length of the whole text in tokens, the two added ones included.
        read: the most tokens that the model read at once; less than `tokens` for a long text,
            where it sees only a window around each mask.
        note: a remark about the word that the user named, or "".
        unread: what the vocabulary cannot read of it.
        calibration: how scores became probabilities.
        shuffle: the number of the order of its words; 0 as written.
    """

    ANSWER: ClassVar = (
        "model",
        "text",
        "read_as",
        "slots",
        "vocabulary",
        "tokens",
        "read",
        "note",
        "unread",
        "calibration",
        "shuffle",
    )

    model: str
    text: str
    read_as: tuple[str, ...]
    slots: tuple[Slot, ...]
    words: tuple[Word, ...]
    filled: tuple[tuple[str, int], ...]
    vocabulary: int
    tokens: int
    read: int
    note: str
    unread: Unread
    calibration: Calibration
    shuffle: int = 0

    def nearby(self, limit: int) -> range:
        """Return the numbers of at most `limit` words around the first mask."""
        first = next((n for n, word in enumerate(self.words) if word.masked), 0)
        start = max(0, min(first - limit // 2, len(self.words) - limit))
        return range(start, min(len(self.words), start + limit))


@dataclass(frozen=True, slots=True)
class Joint:
    """One way to fill all masks of a text together.

    Attributes:
        words: the word in each gap.
        pieces: the pieces of each word.
        probability: of this filling, in a text with exactly so many masks.
        per_piece: the geometric mean of its pieces' probabilities.
    """

    words: tuple[str, ...]
    pieces: tuple[tuple[str, ...], ...]
    probability: float
    per_piece: float


@dataclass(frozen=True, slots=True)
class TogetherResult:
    """The best joint fillings that a beam search found.

    Attributes:
        fillings: best first: by `per_piece` if a gap may take several pieces, which is the order
            of `probability` where all have the same number.
        alone: the best word of each mask when each is guessed alone.
        positions: of the masks, among the tokens of the whole text.
        most: the most pieces in one gap.
        width: the fillings that were kept at each step.
        read: the number of tokens of the text that the model read.
    """

    fillings: tuple[Joint, ...]
    alone: tuple[str, ...]
    positions: tuple[int, ...]
    most: int
    width: int
    read: int


@dataclass(frozen=True, slots=True)
class Expected:
    """One piece of a text, hidden and guessed.

    Attributes:
        position: among the tokens of the text.
        token: its spelling.
        probability: of this piece in its place.
        rank: 1 if the model expects no piece more.
        best: the piece that the model expects most.
        best_probability: of that piece.
    """

    position: int
    token: str
    probability: float
    rank: int
    best: str
    best_probability: float

    @property
    def surprise(self) -> float:
        """In bits: 1 for a probability of a half, 10 for one in a thousand."""
        return -math.log2(max(self.probability, _LEAST))


@dataclass(frozen=True, slots=True)
class SurpriseResult:
    """Every piece of a text, hidden one after the other.

    Attributes:
        pieces: all but the masks.
        odd: the pieces of the word that the model expects least.
        log_likelihood: the pseudo-log-likelihood, a sum of natural logarithms.
    """

    pieces: tuple[Expected, ...]
    odd: tuple[Expected, ...]
    log_likelihood: float


@dataclass(frozen=True, slots=True)
class Contrast:
    """One entry of the vocabulary at the same mask of two sentences.

    Attributes:
        token: its spelling.
        first: its probability in the first sentence.
        second: its probability in the second.
    """

    token: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        """The first probability minus the second."""
        return self.first - self.second


@dataclass(frozen=True, slots=True)
class PairResult:
    """Two sentences that differ in one word, compared at each mask.

    Attributes:
        words: the two words.
        texts: the two sentences.
        slots: for each mask the contrasts, the largest in favour of the first word first.
        scores: the pseudo-log-likelihood of each sentence; () if they are too long to be scored.
    """

    words: tuple[str, str]
    texts: tuple[str, str]
    slots: tuple[tuple[Contrast, ...], ...]
    scores: tuple[float, ...] = ()

"""What fill-mask found: candidates for each [MASK], and the words that could be masked."""

from dataclasses import dataclass

from app.results import Calibration


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
    """

    text: str
    start: int
    end: int
    masked: bool


@dataclass(frozen=True, slots=True)
class FillMaskResult:
    """What the model would write at every [MASK] of a text.

    Attributes:
        text: as typed.
        slots: one per mask, in order; () if the text has none.
        words: every word of the text, masks included, in order.
        filled: the text with the best candidate at every mask: pairs of a stretch of text and
            the number of the slot it fills, 0 for text that was there.
        vocabulary: number of entries that share the probability.
        tokens: length of the whole text in tokens, the two added ones included.
        read: the most tokens that the model read at once; less than `tokens` for a long text,
            where it sees only a window around each mask.
        note: a remark about the word that the user named, or "".
        calibration: how scores became probabilities.
    """

    text: str
    slots: tuple[Slot, ...]
    words: tuple[Word, ...]
    filled: tuple[tuple[str, int], ...]
    vocabulary: int
    tokens: int
    read: int
    note: str
    calibration: Calibration

    def nearby(self, limit: int) -> range:
        """Return the numbers of at most `limit` words around the first mask."""
        first = next((n for n, word in enumerate(self.words) if word.masked), 0)
        start = max(0, min(first - limit // 2, len(self.words) - limit))
        return range(start, min(len(self.words), start + limit))

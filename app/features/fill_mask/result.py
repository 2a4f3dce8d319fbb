"""What fill-mask found: candidates for each [MASK], joint fillings, surprise, differences."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from app.records.results import Calibration
from bert_core.reading.gaps import read_signs
from bert_core.reading.unread import Unread

_LEAST = 1e-300  # keeps the logarithm finite

MASK = "[MASK]"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One entry of the vocabulary at one mask."""

    token: Annotated[str, 'its spelling; "##" marks a piece that continues the word before it']
    id: Annotated[int, "its number in the vocabulary"]
    probability: Annotated[
        float, "0 to 1, over the whole vocabulary; see `FillMaskResult.calibration`"
    ]
    rank: Annotated[int, "1 for the most probable"]


@dataclass(frozen=True, slots=True)
class Spelled:
    """A word of several pieces at one mask, when the gap has one mask for each of them."""

    ANSWER: ClassVar = ("pieces", "probabilities", "probability")

    pieces: Annotated[tuple[str, ...], "its pieces"]
    probabilities: Annotated[tuple[float, ...], "of each piece, given the pieces before it"]

    @property
    def probability(self) -> float:
        """The product: the probability of the word in a gap of so many pieces."""
        return math.prod(self.probabilities)


@dataclass(frozen=True, slots=True)
class Slot:
    """One [MASK] and what the model would write there."""

    number: Annotated[int, "number of the mask in the text, counted from 1"]
    position: Annotated[int, "its place among the tokens of the whole text, counted from 0"]
    start: Annotated[int, "first character of the mask in the text"]
    end: Annotated[int, "character after its last one"]
    before: Annotated[str, "some text before the mask, for orientation"]
    after: Annotated[str, "some text after it"]
    candidates: Annotated[tuple[Candidate, ...], "the most probable entries, best first"]
    named: Annotated[Candidate | None, "the entry of the word that the user asked for, or None"]
    spelled: Annotated[Spelled | None, "the same for a word of several pieces"]
    entropy: Annotated[float, "uncertainty in bits over the whole vocabulary"]

    @property
    def choices(self) -> float:
        """The number of equally likely words that would give the same uncertainty."""
        return float(2.0**self.entropy)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the text that a click can mask."""

    text: Annotated[str, "as typed"]
    start: Annotated[int, "its first character"]
    end: Annotated[int, "the character after its last one"]
    masked: Annotated[bool, "True if the word already is a [MASK]"]
    pieces: Annotated[
        tuple[int, ...], "positions of its pieces among the tokens of the whole text"
    ] = ()


def mask_word(text: str, word: Word) -> str:
    """Write [MASK] for one word of a text, and for every mask; equal words elsewhere stay.

    >>> mask_word("the cat saw the dog", Word("the", 12, 15, False, (4,)))
    'the cat saw [MASK] dog'
    """
    return read_signs(text[: word.start] + MASK + text[word.end :])[0]


@dataclass(frozen=True, slots=True)
class FillMaskResult:
    """What the model would write at every [MASK] of a text."""

    ANSWER: ClassVar = ("model", "text", "read_as", "slots", "vocabulary", "tokens", "read",
                        "note", "unread", "calibration", "shuffle")  # fmt: skip

    model: Annotated[str, "the model's name"]
    text: Annotated[
        str,
        "as read; what was typed, but with [MASK] for other signs of a gap, and with its words in "
        "another order if that was asked for",
    ]
    read_as: Annotated[
        tuple[str, ...], 'the signs that were read as [MASK], such as "___", without repetition'
    ]
    slots: Annotated[tuple[Slot, ...], "one per mask, in order; () if the text has none"]
    words: Annotated[tuple[Word, ...], "every word of the text, masks included, in order"]
    filled: Annotated[
        tuple[tuple[str, int], ...],
        "the text with the best candidate at every mask: pairs of a stretch of text and the number"
        " of the slot it fills, 0 for text that was there",
    ]
    vocabulary: Annotated[int, "number of entries that share the probability"]
    tokens: Annotated[int, "length of the whole text in tokens, the two added ones included"]
    read: Annotated[
        int,
        "the most tokens that the model read at once; less than `tokens` for a long text, where it"
        " sees only a window around each mask",
    ]
    note: Annotated[str, 'a remark about the word that the user named, or ""']
    unread: Annotated[Unread, "what the vocabulary cannot read of it"]
    calibration: Annotated[Calibration, "how scores became probabilities"]
    shuffle: Annotated[int, "the number of the order of its words; 0 as written"] = 0

    def nearby(self, limit: int) -> range:
        """Return the numbers of at most `limit` words around the first mask."""
        first = next((n for n, word in enumerate(self.words) if word.masked), 0)
        start = max(0, min(first - limit // 2, len(self.words) - limit))
        return range(start, min(len(self.words), start + limit))


@dataclass(frozen=True, slots=True)
class Joint:
    """One way to fill all masks of a text together."""

    words: Annotated[tuple[str, ...], "the word in each gap"]
    pieces: Annotated[tuple[tuple[str, ...], ...], "the pieces of each word"]
    probability: Annotated[float, "of this filling, in a text with exactly so many masks"]
    per_piece: Annotated[float, "the geometric mean of its pieces' probabilities"]


@dataclass(frozen=True, slots=True)
class TogetherResult:
    """The best joint fillings that a beam search found."""

    fillings: Annotated[
        tuple[Joint, ...],
        "best first: by `per_piece` if a gap may take several pieces, which is the order of "
        "`probability` where all have the same number",
    ]
    alone: Annotated[tuple[str, ...], "the best word of each mask when each is guessed alone"]
    positions: Annotated[tuple[int, ...], "of the masks, among the tokens of the whole text"]
    most: Annotated[int, "the most pieces in one gap"]
    width: Annotated[int, "the fillings that were kept at each step"]
    read: Annotated[int, "the number of tokens of the text that the model read"]


@dataclass(frozen=True, slots=True)
class Expected:
    """One piece of a text, hidden and guessed."""

    position: Annotated[int, "among the tokens of the text"]
    token: Annotated[str, "its spelling"]
    probability: Annotated[float, "of this piece in its place"]
    rank: Annotated[int, "1 if the model expects no piece more"]
    best: Annotated[str, "the piece that the model expects most"]
    best_probability: Annotated[float, "of that piece"]

    @property
    def surprise(self) -> float:
        """In bits: 1 for a probability of a half, 10 for one in a thousand."""
        return -math.log2(max(self.probability, _LEAST))


@dataclass(frozen=True, slots=True)
class SurpriseResult:
    """Every piece of a text, hidden one after the other."""

    pieces: Annotated[tuple[Expected, ...], "all but the masks"]
    odd: Annotated[tuple[Expected, ...], "the pieces of the word that the model expects least"]
    log_likelihood: Annotated[float, "the pseudo-log-likelihood, a sum of natural logarithms"]


@dataclass(frozen=True, slots=True)
class Contrast:
    """One entry of the vocabulary at the same mask of two sentences."""

    token: Annotated[str, "its spelling"]
    first: Annotated[float, "its probability in the first sentence"]
    second: Annotated[float, "its probability in the second"]

    @property
    def difference(self) -> float:
        """The first probability minus the second."""
        return self.first - self.second


@dataclass(frozen=True, slots=True)
class PairResult:
    """Two sentences that differ in one word, compared at each mask."""

    words: Annotated[tuple[str, str], "the two words"]
    texts: Annotated[tuple[str, str], "the two sentences"]
    slots: Annotated[
        tuple[tuple[Contrast, ...], ...],
        "for each mask the contrasts, the largest in favour of the first word first",
    ]
    scores: Annotated[
        tuple[float, ...],
        "the pseudo-log-likelihood of each sentence; () if they are too long to be scored",
    ] = ()

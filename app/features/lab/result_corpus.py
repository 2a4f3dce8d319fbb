"""What the lab can train on: texts, and gaps in sentences that are never trained on."""

from dataclasses import dataclass
from typing import ClassVar

MASK = "[MASK]"


@dataclass(frozen=True, slots=True)
class Probe:
    """A held-out sentence with one gap.

    Attributes:
        text: with [MASK] at the gap.
        answer: the word there.
    """

    text: str
    answer: str

    @property
    def sentence(self) -> str:
        """The sentence with its word."""
        return self.text.replace(MASK, self.answer)


@dataclass(frozen=True, slots=True)
class Phenomenon:
    """Something to be learned, with the sentences that measure it.

    Attributes:
        name: as shown.
        probes: held-out sentences.
        floor: the share right if one always says the most frequent word of this gap.
        ceiling: the largest share that anyone can get right; None if unknown.
    """

    ANSWER: ClassVar = ("name", "floor", "ceiling")

    name: str
    probes: tuple[Probe, ...]
    floor: float
    ceiling: float | None = None

    def way(self, accuracy: float) -> float | None:
        """Return how far an accuracy is from guessing to the best possible, 0 to 1.

        A phenomenon without a known ceiling counts up to 1; None if nothing can be learned.
        """
        best = 1.0 if self.ceiling is None else self.ceiling
        return None if best <= self.floor else (accuracy - self.floor) / (best - self.floor)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts to train on, and what is measured meanwhile.

    Attributes:
        name: "grammar", "facts" or "own".
        documents: sentences in reading order, text by text.
        held_out: sentences that are never trained on.
        phenomena: gaps in held-out sentences.
        watched: gaps whose answers are shown while the model trains.
        words: words whose vectors are shown.
        vocabulary: most pieces of the vocabulary.
    """

    name: str
    documents: tuple[tuple[str, ...], ...]
    held_out: tuple[str, ...]
    phenomena: tuple[Phenomenon, ...]
    watched: tuple[Probe, ...]
    words: tuple[str, ...]
    vocabulary: int

    @property
    def sentences(self) -> tuple[str, ...]:
        """All sentences to train on."""
        return tuple(sentence for document in self.documents for sentence in document)

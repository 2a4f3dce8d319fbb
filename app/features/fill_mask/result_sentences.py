"""Two sentences beside each other: their gaps, and how much the model expects each."""

from dataclasses import dataclass

from app.features.fill_mask.result import Slot, SurpriseResult
from app.records.results import Calibration


@dataclass(frozen=True, slots=True)
class Sentence:
    """One of the sentences.

    Attributes:
        text: as read; what was typed, but with [MASK] for other signs of a gap.
        slots: one for each mask, in order; () if it has none.
        surprise: every other piece, hidden in turn.
        score: the pseudo-log-likelihood in nats, the sum over these pieces; higher for a sentence
            that the model expects more.
        per_piece: the mean over these pieces, in nats.
    """

    text: str
    slots: tuple[Slot, ...]
    surprise: SurpriseResult
    score: float
    per_piece: float


@dataclass(frozen=True, slots=True)
class SentencesResult:
    """Two sentences and their scores.

    Attributes:
        sentences: the first and the second.
        calibration: how scores became probabilities.
    """

    sentences: tuple[Sentence, Sentence]
    calibration: Calibration

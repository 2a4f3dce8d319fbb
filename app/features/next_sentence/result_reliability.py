"""How sure the model was and how often it was right, as measured."""

from dataclasses import dataclass

from app.records.counted import Reliability


@dataclass(frozen=True, slots=True)
class ReliabilityResult:
    """What was measured of a model's answers about pairs of sentences.

    Attributes:
        rows: one measurement for each kind of pairs, then that of all; () if none are stored with
            the weights.
    """

    rows: tuple[Reliability, ...]

"""How sure the model was and how often it was right, as measured."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reliability:
    """One measurement of the stated probability against the share of right answers.

    Attributes:
        pairs: which pairs were measured.
        cases: how many.
        stated: mean probability of the model's answers, 0.5 to 1.
        right: share of right answers.
        interval: 95 % interval of `right`; None if it is not stored.
        error: expected calibration error, 15 bins.
    """

    pairs: str
    cases: int
    stated: float
    right: float
    interval: tuple[float, float] | None
    error: float


@dataclass(frozen=True, slots=True)
class ReliabilityResult:
    """What was measured of a model's answers about pairs of sentences.

    Attributes:
        rows: the measurements; () if none are stored with the weights.
    """

    rows: tuple[Reliability, ...]

"""How sure the model was and how often it was right, as measured."""

from dataclasses import dataclass

from bert_core.bundled.figures import Bin


@dataclass(frozen=True, slots=True)
class Reliability:
    """One measurement of the stated probability against the share of right answers.

    Attributes:
        pairs: which pairs were measured.
        cases: how many.
        stated: mean probability of the model's answers, 0.5 to 1.
        right: share of right answers.
        error: expected calibration error, 15 bins.
        bins: the cases by stated probability, ascending.
    """

    pairs: str
    cases: int
    stated: float
    right: float
    error: float
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class ReliabilityResult:
    """What was measured of a model's answers about pairs of sentences.

    Attributes:
        rows: one measurement for each kind of pairs, then that of all; () if none are stored with
            the weights.
    """

    rows: tuple[Reliability, ...]

"""Counted answers: a share with its interval, and how sure the model was beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, fsum
from typing import Annotated, Self

from bert_core.bundled.figures import Bin

_SURE = 1.96  # standard deviations that 95 % of a normal distribution lie within
_EQUAL = 1 + 1e-9  # two probabilities that differ by rounding alone
_BINS = 5  # of equal width: thirty answers leave six in each


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the counted answers are right."""

    right: Annotated[int, "how many are right"]
    cases: Annotated[int, "how many are counted"]
    low: Annotated[float, "lower end of the 95 % interval of their share (Wilson 1927)"]
    high: Annotated[float, "upper end of it"]

    @classmethod
    def of(cls, answers: Sequence[bool]) -> Self:
        """Count whether answers are right."""
        return cls(sum(answers), len(answers), *wilson(sum(answers), len(answers)))


@dataclass(frozen=True, slots=True)
class Reliability:
    """The stated probabilities of answers against the share of right ones."""

    pairs: Annotated[str, "which answers were measured"]
    cases: Annotated[int, "how many"]
    stated: Annotated[float, "mean probability of the model's answers, 0 to 1"]
    right: Annotated[float, "share of right answers"]
    error: Annotated[float, "expected calibration error"]
    bins: Annotated[tuple[Bin, ...], "the cases by stated probability, ascending"]


def reliability(name: str, answers: Sequence[tuple[float, bool]], bins: int = _BINS) -> Reliability:
    """Compare the stated probability of each answer with whether it is right.

    >>> found = reliability("ours", [(0.9, True), (0.9, False), (0.1, False)])
    >>> found.bins[1], round(found.error, 2)
    (Bin(cases=2, stated=0.9, right=0.5), 0.3)
    """
    groups: dict[int, list[tuple[float, bool]]] = {}
    for stated, right in sorted(answers):
        groups.setdefault(min(int(stated * bins), bins - 1), []).append((stated, right))
    made = tuple(Bin(len(group), *_means(group)) for group in groups.values())
    error = sum(each.cases * abs(each.stated - each.right) for each in made) / len(answers)
    return Reliability(name, len(answers), *_means(answers), error, made)


def _means(answers: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    stated, right = (sum(column) / len(answers) for column in zip(*answers, strict=True))
    return stated, right


def wilson(right: int, cases: int) -> tuple[float, float]:
    """Return the 95 % interval of a counted share (Wilson 1927); 0 to 1 if nothing was counted.

    >>> [round(end, 2) for end in wilson(29, 31)], [round(end, 2) for end in wilson(10, 10)]
    ([0.79, 0.98], [0.72, 1.0])
    """
    if not cases:
        return 0.0, 1.0
    share, square = right / cases, _SURE**2
    middle = (share + square / (2 * cases)) / (1 + square / cases)
    half = _SURE * (share * (1 - share) / cases + square / (4 * cases**2)) ** 0.5
    half /= 1 + square / cases
    return max(0.0, middle - half), min(1.0, middle + half)


def binomial(right: int, cases: int, chance: float) -> float:
    """Return the exact p-value, both tails, that each case counts with this probability.

    >>> [round(binomial(k, n, 0.5), 4) for k, n in ((13, 16), (10, 10), (0, 0))]
    [0.0213, 0.002, 1.0]
    """
    odds = [comb(cases, k) * chance**k * (1 - chance) ** (cases - k) for k in range(cases + 1)]
    return min(1.0, 2 * min(fsum(odds[: right + 1]), fsum(odds[right:])))


def fisher(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the exact p-value that two counts, each k of n, have one share (Fisher 1935).

    >>> round(fisher((3, 4), (1, 4)), 4), round(fisher((9, 20), (7, 20)), 2)
    (0.4857, 0.75)
    """
    (k, n), (other, m) = first, second
    together = k + other
    rows = range(max(0, together - m), min(n, together) + 1)
    odds = {row: comb(n, row) * comb(m, together - row) for row in rows}
    return sum(each for each in odds.values() if each <= odds[k] * _EQUAL) / sum(odds.values())

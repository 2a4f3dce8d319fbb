"""Counting right answers: the figures that are reported of classifiers, taggers and readers.

Held against scikit-learn, scipy and seqeval in the tests. A figure that is not defined, such as the
precision of a label that was never answered, is 0, as it is there.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from app.records.counted import binomial
from bert_core.reading.wordings import normalized, token_f1

Name = tuple[str, int, int]
"""Kind, first character or word, and the one after the last."""

Floats = NDArray[np.float64]
_DRAWS = 1_000  # resamplings


@dataclass(frozen=True, slots=True)
class Counts:
    """How often a label was wanted, answered, and answered rightly."""

    ANSWER = ("name", "wanted", "answered", "right", "precision", "recall", "f1")

    name: Annotated[str, "the label, or the kind of name"]
    wanted: Annotated[int, "rows, or names, that have it"]
    answered: Annotated[int, "those for which the model answers it"]
    right: Annotated[int, "those for which both are the case"]

    @property
    def precision(self) -> float:
        """The share of the model's answers that are right."""
        return self.right / self.answered if self.answered else 0.0

    @property
    def recall(self) -> float:
        """The share of what was wanted that the model answers."""
        return self.right / self.wanted if self.wanted else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.wanted + self.answered
        return 2 * self.right / both if both else 0.0


def counts(
    gold: Iterable[Set[tuple[object, ...]]],
    found: Iterable[Set[tuple[object, ...]]],
    order: Sequence[str] = (),
) -> tuple[Counts, ...]:
    """Count what is wanted and answered in each row, by its kind, which comes first.

    A name is right if its kind and both ends are; a label is a kind alone.

    >>> [round(each.f1, 2) for each in counts([{("a",)}, {("b",)}], [{("a",)}, {("a",)}])]
    [0.67, 0.0]
    """
    pairs = list(zip(gold, found, strict=True))
    wanted, answered, right = (
        Counter(str(kind) for each in sets for kind, *_ in each)
        for sets in ([a for a, _ in pairs], [b for _, b in pairs], [a & b for a, b in pairs])
    )
    names = dict.fromkeys((*order, *sorted({*wanted, *answered})))
    return tuple(
        Counts(name, wanted[name], answered[name], right[name])
        for name in names
        if wanted[name] or answered[name]
    )


def together(parts: Sequence[Counts]) -> Counts:
    """Add counts up: their F1 is the micro average."""
    sums = (sum(getattr(each, key) for each in parts) for key in ("wanted", "answered", "right"))
    return Counts("", *sums)


def confusion(
    gold: Sequence[str], answers: Sequence[str], names: Sequence[str]
) -> tuple[tuple[int, ...], ...]:
    """Count pairs of labels: a row for each wanted one, a column for each answered one.

    >>> confusion("aab", "abb", "ab")
    ((1, 1), (0, 1))
    """
    pairs = Counter(zip(gold, answers, strict=True))
    return tuple(tuple(pairs[one, other] for other in names) for one in names)


def interval(
    rows: Sequence[Sequence[float]], figure: Callable[[Floats], Floats]
) -> tuple[float, float]:
    """Return the 95 % interval of a figure by the percentile bootstrap (Efron 1979).

    Args:
        rows: (N, K) what each row adds to the sums that the figure is made of.
        figure: makes it of sums (D, K), one for each of D resamplings.
    """
    kinds, numbers = np.unique(np.asarray(rows, float), axis=0, return_counts=True)
    chance = np.random.default_rng(0)
    drawn = chance.multinomial(len(rows), numbers / len(rows), size=_DRAWS)  # (D, different rows)
    low, high = np.percentile(figure(drawn @ kinds), (2.5, 97.5)).tolist()
    return low, high


def f1_of(sums: Floats) -> Floats:
    """Return the mean F1 of C labels from sums (D, 3 C): wanted, answered, right of each."""
    wanted, answered, right = np.moveaxis(sums.reshape(len(sums), -1, 3), -1, 0)
    made: Floats = (2 * right / np.maximum(1, wanted + answered)).mean(axis=1)
    return made


def exact_and_f1(answer: str, wanted: Sequence[str]) -> tuple[bool, float]:
    """Compare an answer with the wordings that count as right, as the evaluation of SQuAD does.

    Args:
        answer: "" for no answer.
        wanted: the best one counts; () for a question without an answer.

    >>> exact_and_f1("the Nile", ["Nile river", "Nile"])
    (True, 1.0)
    """
    good = wanted or ("",)
    exact = any(normalized(answer) == normalized(each) for each in good)
    return exact, max(token_f1(answer, each) for each in good)


def mcnemar(first_only: int, second_only: int) -> float:
    """Return the exact two-sided p-value that two models are equally often right (McNemar 1947).

    >>> mcnemar(1, 9), mcnemar(0, 0)
    (0.021484375, 1.0)
    """
    return binomial(first_only, first_only + second_only, 0.5)


def kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Return how far two sequences of labels agree beyond chance (Cohen 1960); None if all equal.

    >>> kappa("aabb", "abbb")
    0.5
    """
    rows = len(first)
    same = sum(one == other for one, other in zip(first, second, strict=True)) / rows
    shares, others = Counter(first), Counter(second)
    chance = sum(shares[each] * others[each] for each in shares) / rows**2
    return None if chance == 1 else (same - chance) / (1 - chance)

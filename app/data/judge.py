"""Counting right answers: the figures that are reported of classifiers, taggers and readers.

Held against scikit-learn, scipy and seqeval in the tests. A figure that is not defined, such as the
precision of a label that was never answered, is 0, as it is there.
"""

from collections import Counter
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass
from math import comb
from typing import Annotated

from bert_core.reading.wordings import normalized, token_f1


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
        return _share(self.right, self.answered)

    @property
    def recall(self) -> float:
        """The share of what was wanted that the model answers."""
        return _share(self.right, self.wanted)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return _share(2 * self.right, self.wanted + self.answered)


def by_label(
    gold: Sequence[str], answers: Sequence[str], labels: Sequence[str] = ()
) -> tuple[Counts, ...]:
    """Count each label that is wanted or answered.

    Args:
        gold: the wanted label of each row.
        answers: the answered one.
        labels: their order; others follow.

    >>> [round(each.f1, 2) for each in by_label("aab", "abb")]
    [0.67, 0.67]
    """
    wanted, answered = Counter(gold), Counter(answers)
    right = Counter(one for one, other in zip(gold, answers, strict=True) if one == other)
    names = dict.fromkeys((*labels, *sorted({*gold, *answers})))
    return tuple(
        Counts(name, wanted[name], answered[name], right[name])
        for name in names
        if wanted[name] or answered[name]
    )


def macro_f1(counts: Sequence[Counts]) -> float:
    """Return the mean F1 of labels, each of equal weight."""
    return sum(each.f1 for each in counts) / len(counts) if counts else 0.0


def confusion(
    gold: Sequence[str], answers: Sequence[str], names: Sequence[str]
) -> tuple[tuple[int, ...], ...]:
    """Count pairs of labels: a row for each wanted one, a column for each answered one.

    >>> confusion("aab", "abb", "ab")
    ((1, 1), (0, 1))
    """
    pairs = Counter(zip(gold, answers, strict=True))
    return tuple(tuple(pairs[one, other] for other in names) for one in names)


Name = tuple[str, int, int]
"""Kind, first character or word, and the one after the last."""


def by_kind(gold: Sequence[Set[Name]], found: Sequence[Set[Name]]) -> tuple[Counts, ...]:
    """Count the names of each kind; one is right if its kind and both ends are.

    >>> by_kind([{("PER", 0, 2)}], [{("PER", 0, 2), ("LOC", 3, 4)}])[1]
    Counts(name='PER', wanted=1, answered=1, right=1)
    """
    wanted, answered, right = Counter[str](), Counter[str](), Counter[str]()
    for one, other in zip(gold, found, strict=True):
        wanted.update(kind for kind, *_ in one)
        answered.update(kind for kind, *_ in other)
        right.update(kind for kind, *_ in one & other)
    names = sorted({*wanted, *answered})
    return tuple(Counts(name, wanted[name], answered[name], right[name]) for name in names)


def together(counts: Sequence[Counts], name: str = "") -> Counts:
    """Add counts up: their F1 is the micro average."""
    sums = (sum(getattr(each, key) for each in counts) for key in ("wanted", "answered", "right"))
    return Counts(name, *sums)


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

    Args:
        first_only: rows that only the first one has right.
        second_only: rows that only the second one has right.

    >>> mcnemar(1, 9), mcnemar(0, 0)
    (0.021484375, 1.0)
    """
    rows, fewer = first_only + second_only, min(first_only, second_only)
    return float(min(1.0, 2 * sum(comb(rows, k) for k in range(fewer + 1)) / 2**rows))


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


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0

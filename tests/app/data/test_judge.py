"""The judge's counts against scikit-learn, scipy and seqeval, on many random answers."""

import random
from collections.abc import Sequence
from statistics import fmean

import pytest
from scipy.stats import binomtest
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support as of_names
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    precision_recall_fscore_support,
)

from app.data.gold import stretches
from app.data.judge import (
    confusion,
    counts,
    exact_and_f1,
    mcnemar,
    together,
)
from app.records.counted import Share

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def drawn(seed: int, labels: Sequence[str], rows: int) -> tuple[list[str], list[str]]:
    """Answers that are right about half of the time."""
    chance = random.Random(seed)
    gold = chance.choices(labels, [1 + 2 * n for n in range(len(labels))], k=rows)
    return gold, [each if chance.random() < 0.5 else chance.choice(labels) for each in gold]


@pytest.mark.parametrize("seed", range(0, 12, 3))
@pytest.mark.parametrize("labels", ["ab", "abcde"])
def test_labels_are_counted_as_scikit_learn_counts_them(seed: int, labels: str) -> None:
    gold, answers = drawn(seed, labels, 8 + 7 * seed)
    found = counts([{(e,)} for e in gold], [{(e,)} for e in answers], labels)
    names = [each.name for each in found]
    ours = [[each.precision, each.recall, each.f1, each.wanted] for each in found]
    theirs = precision_recall_fscore_support(gold, answers, labels=names, zero_division=0)
    assert ours == [pytest.approx(list(row)) for row in zip(*theirs, strict=True)]
    assert fmean(each.f1 for each in found) == pytest.approx(
        f1_score(gold, answers, average="macro", zero_division=0)
    )
    matrix = confusion_matrix(gold, answers, labels=names)
    assert [list(row) for row in confusion(gold, answers, names)] == matrix.tolist()
    right = Share.of([one == other for one, other in zip(gold, answers, strict=True)])
    assert right.right / right.cases == pytest.approx(accuracy_score(gold, answers))
    interval = binomtest(right.right, right.cases).proportion_ci(0.95, "wilson")
    assert (right.low, right.high) == pytest.approx((interval.low, interval.high), abs=1e-4)


@pytest.mark.parametrize("seed", range(0, 12, 3))
def test_names_are_counted_as_seqeval_counts_them(seed: int) -> None:
    tags = [drawn(31 * seed + line, TAGS, 1 + line) for line in range(9)]
    gold, found = [[one for one, _ in tags], [other for _, other in tags]]
    spans = [[(n, n + 1) for n in range(len(line))] for line in gold]
    sets = [
        [frozenset(stretches(line, TAGS, places)) for line, places in zip(each, spans, strict=True)]
        for each in (gold, found)
    ]
    total = together(counts(*sets))
    theirs = of_names(gold, found, average="micro", zero_division=0)
    assert (total.precision, total.recall, total.f1) == pytest.approx(theirs[:3])
    kinds = counts(*sets)
    each = of_names(gold, found, average=None, zero_division=0)
    assert [kind.f1 for kind in kinds] == pytest.approx(list(each[2]))
    assert [kind.wanted for kind in kinds] == list(each[3])


@pytest.mark.parametrize("first_only", [0, 3, 7])
@pytest.mark.parametrize("second_only", [0, 1, 5, 40])
def test_mcnemars_test_is_that_of_a_fair_coin(first_only: int, second_only: int) -> None:
    rows = first_only + second_only
    theirs = binomtest(first_only, rows, 0.5).pvalue if rows else 1.0
    assert mcnemar(first_only, second_only) == pytest.approx(theirs)


@pytest.mark.parametrize(
    ("answer", "wanted", "exact", "f1"),
    [
        ("The Nile.", ["nile"], True, 1.0),
        ("the old bridge", ["an old stone bridge"], False, 0.8),
        ("Rome", ["Paris", "in Rome"], False, 2 / 3),
        ("", [], True, 1.0),  # rightly no answer
        ("Rome", [], False, 0.0),
        ("", ["Rome"], False, 0.0),
        ("a", ["the"], True, 1.0),  # both have nothing left
    ],
)
def test_answers_are_compared_as_squad_does(
    answer: str, wanted: list[str], exact: bool, f1: float
) -> None:
    assert exact_and_f1(answer, wanted) == (exact, pytest.approx(f1))

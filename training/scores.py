"""Compute figures and their confidence intervals from single cases.

Every figure comes with its number of cases and a 95 % interval, to show how precise it is.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bert_core.bundled.figures import Figure
from bert_core.compat import times_written
from bert_core.errors import InputError
from bert_core.model.pretrained import BertPreTrainedModel
from training.aims import Aim

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Row = TypeVar("Row", bound=Hashable)
Found = TypeVar("Found")

RESAMPLED = 1000
_SEED = 7


def wilson(right: int, cases: int, z: float = 1.96) -> tuple[float, float]:
    """Return the Wilson score interval of a share (Wilson 1927).

    >>> [round(end, 3) for end in wilson(90, 100)]
    [0.826, 0.945]
    """
    if cases < 1:
        raise InputError("There are no cases to measure; check the evaluation file.")
    share, square = right / cases, z * z
    centre = (share + square / (2 * cases)) / (1 + square / cases)
    spread = math.sqrt(share * (1 - share) / cases + square / (4 * cases**2))
    half = z * spread / (1 + square / cases)
    return max(0.0, centre - half), min(1.0, centre + half)


def counted(aim: Aim, right: int, cases: int) -> Figure:
    """Return the share of right cases with Wilson's interval."""
    interval = wilson(right, cases)
    return aim.found(right / cases, interval, cases)


def resampled(
    aim: Aim, rows: Floats, statistic: Callable[[Floats], float], cases: int | None = None
) -> Figure:
    """Return a statistic of rows (N, ...) and its interval (percentile bootstrap, Efron 1979).

    Args:
        aim: what is measured.
        rows: the result of each of the N cases.
        statistic: computes the figure from rows.
        cases: number of cases to report, if not N.

    Raises:
        InputError: there are no rows.
    """
    if not len(rows):
        raise InputError("There are no cases to measure; check the evaluation file.")
    source = np.random.default_rng(_SEED)
    values = [statistic(rows[source.integers(len(rows), size=len(rows))]) for _ in range(RESAMPLED)]
    low, high = np.percentile(values, [2.5, 97.5])
    return aim.found(statistic(rows), (float(low), float(high)), cases or len(rows))


def by_group(right: Sequence[float] | Floats, groups: Sequence[Hashable]) -> Floats:
    """Return (G, 2) the sum of the cases of each group and their number; see `share`.

    Cases of one text are alike, so an interval must resample texts and not cases.

    >>> by_group([1, 0, 1], ["a", "b", "a"]).tolist()
    [[2.0, 2.0], [0.0, 1.0]]
    """
    places = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    at = np.array([places[group] for group in groups], dtype=np.int64)
    sums, cases = np.bincount(at, weights=np.asarray(right)), np.bincount(at)
    return np.column_stack([sums, cases]).astype(np.float64)


def share(rows: Floats) -> float:
    """Return the mean of all cases of groups (G, 2): their sums, and their numbers of cases."""
    total, cases = rows.sum(0)
    return float(total / cases)


def mean(rows: Floats) -> float:
    """Return the mean of all cases."""
    return float(rows.mean())


class Remembered(Generic[Row, Found]):
    """A cache of what models answered about rows, shared by all measurements.

    Answers are kept as long as the model exists, and dropped when one of its parameters changes.
    """

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[BertPreTrainedModel, tuple[int, dict[Row, Found]]] = (
            WeakKeyDictionary()
        )

    def answers(
        self,
        model: BertPreTrainedModel,
        rows: Sequence[Row],
        ask: Callable[[list[Row]], Sequence[Found]],
    ) -> list[Found]:
        """Return one answer per row, in the order of the rows; `ask` computes the new ones."""
        version = sum(times_written(parameter) for parameter in model.parameters())
        known, found = self._kept.get(model, (version, {}))
        if known != version:
            found = {}
        new = [row for row in dict.fromkeys(rows) if row not in found]
        if new:
            found.update(zip(new, ask(new), strict=True))
        self._kept[model] = (version, found)
        return [found[row] for row in rows]

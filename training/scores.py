"""Compute figures and their confidence intervals from single cases.

Every figure comes with its number of cases and a 95 % interval, to show how precise it is.
"""

import math
import tomllib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bert_core.bundled.figures import Figure
from bert_core.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

RESAMPLED = 1000
_SEED = 7
_ERROR = (
    "expected calibration error, 15 bins, at the stored temperature: how far the shown probability "
    "lies from the share of right answers"
)


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure without its measured value; see `Figure` for the attributes."""

    task: str
    measured_on: str
    meaning: str
    floor: float | None = None
    goal: float | None = None
    chance: float | None = None
    lower_is_better: bool = False

    def found(self, share: float, interval: tuple[float, float], cases: int) -> Figure:
        """Return the figure with its measured value."""
        low, high = interval
        return Figure(share=share, low=low, high=high, cases=cases, **asdict(self))


@cache
def _table() -> list[dict[str, Any]]:
    path = Path(__file__).with_name("aims.toml")
    rows: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["figure"]
    return rows


def aim(task: str, on: str = "") -> Aim:
    """Return what `aims.toml` says of a task, and of the data if it is measured on several."""
    row = next(row for row in _table() if row["task"] == task and on in ("", row["on"]))
    return Aim(
        task,
        row["on"],
        row["meaning"],
        row.get("floor"),
        row.get("goal"),
        lower_is_better=row.get("fewer", False),
    )


def error_aim(answers: str, on: str, *, aimed: bool = True) -> Aim:
    """Return the aim for the calibration error of one kind of answers."""
    floor, goal = (0.04, 0.02) if aimed else (None, None)
    return Aim(f"calibration error, {answers}", on, _ERROR, floor, goal, lower_is_better=True)


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


def counted(aim: Aim, right: Sequence[bool] | Bools) -> Figure:
    """Return the share of right cases with Wilson's interval."""
    count, cases = int(sum(right)), len(right)
    interval = wilson(count, cases)
    return aim.found(count / cases, interval, cases)


def resampled(
    aim: Aim, rows: Floats, statistic: Callable[[Floats], float], cases: int | None = None
) -> Figure:
    """Return a statistic of rows (N, ...) and its interval (percentile bootstrap, Efron 1979)."""
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

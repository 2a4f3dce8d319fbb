"""A measured figure with its interval, and what all measurements share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bert_core.encoding import Encoding

BATCH = 16
RESAMPLED = 1000


@dataclass(frozen=True, slots=True)
class Score:
    """A measured figure that is a mean or an F1 over cases.

    Attributes:
        task: what was asked.
        measured_on: which data.
        share: the figure, 0 to 1.
        cases: number of cases.
        interval: its 95 % interval from resampling the cases.
    """

    task: str
    measured_on: str
    share: float
    cases: int
    interval: tuple[float, float]


def score(
    task: str,
    measured_on: str,
    rows: NDArray[np.float64],
    statistic: Callable[[NDArray[np.float64]], float],
    cases: int | None = None,
) -> Score:
    """Compute a statistic of rows (N, ...) and its interval (percentile bootstrap, Efron 1979)."""
    source = np.random.default_rng(7)
    values = [statistic(rows[source.integers(len(rows), size=len(rows))]) for _ in range(RESAMPLED)]
    low, high = np.percentile(values, [2.5, 97.5])
    count = len(rows) if cases is None else cases
    return Score(task, measured_on, statistic(rows), count, (float(low), float(high)))


def mean(rows: NDArray[np.float64]) -> float:
    """Return the mean of all cases."""
    return float(rows.mean())


def rectangle(rows: Sequence[Encoding], device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Pad to one rectangle: ids, token types, mask."""
    width = max(len(row.input_ids) for row in rows)

    def padded(values: Sequence[Sequence[int]]) -> Tensor:
        return torch.tensor([[*v, *[0] * (width - len(v))] for v in values], device=device)

    return (
        padded([row.input_ids for row in rows]),
        padded([row.token_type_ids for row in rows]),
        padded([row.attention_mask for row in rows]),
    )

"""Compare vectors: cosines, nearest rows, the plane that shows most of a cloud, maps of distances.

Cosine is 1 for the same direction, 0 for a right angle, -1 for opposite directions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor
from torch.nn import functional as F

_TINY = torch.finfo(torch.float64).tiny
_SETTLED = 1e-7  # of stress, less than which a step no longer counts


@dataclass(frozen=True, slots=True)
class Projection:
    """Points on their principal axes."""

    coordinates: Annotated[Tensor, "(N, C), on each of C axes; the mean of the points is at 0"]
    shares: Annotated[Tensor, "(C,), of the variance, along each axis"]


def cosines(vectors: Tensor, table: Tensor) -> Tensor:
    """Return the cosine of each vector (..., D) with each row of a table (V, D): (..., V).

    A vector of zeros has cosine 0 with everything.
    """
    return F.normalize(vectors.float(), dim=-1) @ F.normalize(table.float(), dim=-1).T


def nearest(
    vector: Tensor, table: Tensor, count: int, *, without: Sequence[int] = ()
) -> tuple[list[int], list[float]]:
    """Find the `count` rows of a table (V, D) with the highest cosines to a vector (D,).

    Rows in `without` are left out. Returns numbers of rows, and their cosines.
    """
    found = cosines(vector, table)
    if without:
        found[torch.tensor(list(without), device=found.device)] = -torch.inf
    values, rows = found.topk(min(count, len(found) - len(set(without))))
    return rows.tolist(), values.tolist()


def principal_axes(points: Tensor, count: int = 2) -> Projection:
    """Project points (N, D) on their first `count` principal axes, in double precision.

    The largest component of an axis is positive by convention, so that equal points always give
    equal pictures. Axes beyond the dimensions in which the points vary have coordinates of 0.
    """
    centred = points.double() - points.double().mean(dim=0)
    squares, axes = torch.linalg.eigh(centred.T @ centred)  # smallest first
    axes = axes.T.flip(0)[:count]  # (C, D)
    largest = axes.gather(1, axes.abs().argmax(dim=1, keepdim=True))
    axes = axes * torch.where(largest < 0, -1.0, 1.0)
    shares = squares.flip(0)[:count].clamp_min(0) / squares.sum().clamp_min(_TINY)
    return Projection(centred @ axes.T, shares)


@dataclass(frozen=True, slots=True)
class Layout:
    """Points in a plane whose distances are as close as possible to given ones."""

    coordinates: Annotated[Tensor, "(N, C); their mean is at 0"]
    stress: Annotated[float, "error of the distances as a share of them (Kruskal 1964); 0: exact"]


def multidimensional_scaling(distances: Tensor, count: int = 2, *, rounds: int = 500) -> Layout:
    """Place points so that their distances are close to given ones (Borg and Groenen 2005, ch. 8).

    It starts from classical scaling of `distances` (N, N) and lowers the stress by Guttman's
    transform (SMACOF), so the same distances always give the same layout.
    """
    wanted = distances.double()
    number = len(wanted)
    centring = torch.eye(number, dtype=torch.float64) - 1 / number
    values, vectors = torch.linalg.eigh(-centring @ wanted.square() @ centring / 2)
    points = vectors.flip(1)[:, :count] * values.flip(0)[:count].clamp_min(0).sqrt()
    points = F.pad(points, (0, count - points.shape[1]))
    total = wanted.square().sum().clamp_min(_TINY)
    stress = torch.inf
    for _ in range(rounds):
        found = torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist")
        before, stress = stress, float(((found - wanted).square().sum() / total).sqrt())
        if before - stress < _SETTLED:
            break
        ratio = -wanted / torch.where(found > 0, found, torch.inf)
        points = (ratio - torch.diag(ratio.sum(dim=1))) @ points / number
    return Layout(principal_axes(points, count).coordinates, stress)

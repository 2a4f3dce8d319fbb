"""Attention that no model has computed, for tests of what is done with it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app.features.attention.result import AttentionResult, Units
from app.records.results import Cut
from bert_core.analysis.head_statistics import MEASURES, HeadStatistics

Sides = Sequence[int | None]


def sides_of(length: int, *, pair: bool = False) -> Sides:
    """Return the sides of the pieces of one text, or of two of about the same length."""
    sides: list[int | None] = [None, *[0] * (length - 2), None]
    if pair:
        middle = length // 2
        sides[middle] = None
        sides[middle + 1 : -1] = [1] * (length - middle - 2)
    return sides


def made(weights: np.ndarray, sides: Sides, shares: np.ndarray | None = None) -> AttentionResult:
    """Build a result from (L, H, T, T), and what the measures say, which is 0 if left out."""
    length = len(sides)
    pieces, every = tuple(f"t{at}" for at in range(length)), tuple((at,) for at in range(length))
    units = Units(pieces, tuple(sides), every)
    if shares is None:
        shares = np.zeros((len(MEASURES), *weights.shape[:2]))
    return AttentionResult(
        units=units,
        words=replace(units),
        attentions=tuple(weights.astype(np.float32)),
        statistics=HeadStatistics(*shares, 1.0, 1, int(1 in sides), length, 0, 0),
        cut=Cut(512, length, (length, 0), (length, 0), ((), ())),
    )

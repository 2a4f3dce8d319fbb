"""Where heads usually look, from statistics stored with the weights, compared with one text."""

import numpy as np

from app.engine.models import Engine
from app.features.attention.result import AttentionResult, Heads
from app.features.attention.result_habits import (
    HeadComparison,
    HeadHabits,
    Means,
    RankedHead,
)
from app.features.attention.result_views import rank
from app.records.results import PLACES
from bert_core.analysis.head_statistics import name_heads


def head_habits(engine: Engine) -> HeadHabits | None:
    """Return where every head usually looks, or None if it was not measured.

    Raises:
        CheckpointError: the statistics stored with the weights are damaged.
    """
    found = engine.head_statistics()
    if found is None:
        return None
    statistics = found.statistics
    return HeadHabits(
        places=PLACES,
        means=np.stack([getattr(statistics, place.key) for place in PLACES]),  # (S, L, H)
        widest=statistics.entropy_limit,
        texts=statistics.texts,
        tokens=statistics.tokens,
        stale=found.stale,
    )


def compare_head(engine: Engine, result: AttentionResult, heads: Heads) -> HeadComparison | None:
    """Compare heads' usual behaviour with their behaviour in one text, by the same measures.

    Args:
        engine: the model.
        result: the attention for the text.
        heads: one head, or several whose numbers are averaged.

    Returns:
        The comparison, or None if the usual behaviour was not measured.

    Raises:
        CheckpointError: the statistics stored with the weights are damaged.
    """
    habits = head_habits(engine)
    if habits is None:
        return None
    layer, head = np.array(heads.places).T
    usual = habits.means[:, layer, head]  # (S, heads)
    here = [getattr(result.statistics, place.key)[layer, head] for place in habits.places]
    return HeadComparison(
        habits=habits,
        rows=tuple(
            (place, _mean(before), None if np.isnan(_mean(now)) else _mean(now))
            for place, before, now in zip(habits.places, usual, here, strict=True)
        ),
    )


def ranked_heads(
    engine: Engine, result: AttentionResult, by: str = "pattern"
) -> tuple[RankedHead, ...]:
    """Rank all heads by what they do in one text, and name what they do here and usually.

    Args:
        engine: the model.
        result: the attention for the text.
        by: see `bert_core.analysis.head_statistics.rank_heads`.

    Raises:
        CheckpointError: the statistics stored with the weights are damaged.
        InputError: there is no such ranking.
    """
    found = engine.head_statistics()
    usual = None if found is None or found.stale else name_heads(found.statistics)
    return rank(result, by, usual)


def _mean(numbers: Means) -> float:
    """Return the mean over the heads that were not pruned; NaN if all were pruned."""
    there = numbers[~np.isnan(numbers)]
    return float(there.mean()) if there.size else float("nan")

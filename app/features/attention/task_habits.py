"""Where heads usually look, from statistics stored with the weights, compared with one text."""

import numpy as np

from app.features.attention.result import AttentionResult
from app.features.attention.result_habits import HeadComparison, HeadHabits, Means, Place
from app.models import Engine

PLACES = (
    Place("to_previous", "Previous token", "Share of attention that goes to the token before."),
    Place("to_next", "Next token", "Share of attention that goes to the token after."),
    Place("to_itself", "Same token", "Share of attention that a token gives to itself."),
    Place(
        "to_repeats",
        "Same piece elsewhere",
        "Share of attention to the other places where the same piece stands, of tokens that have "
        "such a place.",
    ),
    Place("to_cls", "[CLS]", "Share of attention that goes to [CLS]."),
    Place("to_sep", "[SEP]", "Share of attention that goes to [SEP], both of them in a pair."),
    Place("to_punctuation", "Punctuation", "Share of attention that goes to punctuation."),
    Place(
        "entropy",
        "Spread",
        "Entropy in bits: 0 is one token alone, each bit more is twice as many tokens looked at.",
        is_share=False,
    ),
)
"""What is measured, by the names of `bert_core.analysis.head_statistics`."""


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


def compare_head(
    engine: Engine, result: AttentionResult, layer: int, head: int | None
) -> HeadComparison | None:
    """Compare a head's usual behaviour with its behaviour in one text, by the same measures.

    Args:
        engine: the model.
        result: the attention for the text.
        layer: counted from 0.
        head: counted from 0; None is the mean over the layer's heads.

    Returns:
        The comparison, or None if the usual behaviour was not measured.

    Raises:
        CheckpointError: the statistics stored with the weights are damaged.
    """
    habits = head_habits(engine)
    if habits is None:
        return None
    heads = slice(None) if head is None else slice(head, head + 1)
    usual = habits.means[:, layer, heads]  # (S, heads)
    here = [getattr(result.statistics, place.key)[layer, heads] for place in habits.places]
    return HeadComparison(
        habits=habits,
        layer=layer,
        head=head,
        rows=tuple(
            (place, _mean(before), None if np.isnan(_mean(now)) else _mean(now))
            for place, before, now in zip(habits.places, usual, here, strict=True)
        ),
    )


def _mean(numbers: Means) -> float:
    """Return the mean over the heads that were not pruned; NaN if all were pruned."""
    there = numbers[~np.isnan(numbers)]
    return float(there.mean()) if there.size else float("nan")

"""Where heads usually look, as it lies beside the weights, and beside that what one does here."""

import numpy as np
from numpy.typing import NDArray

from app.features.attention.result import AttentionResult
from app.features.attention.result_habits import HeadComparison, HeadHabits, Place
from app.models import Engine
from bert_core.analysis.head_statistics.patterns import Attention
from bert_core.text.normalizer import PUNCTUATION

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
    """Return where every head usually looks; None where nobody has measured it.

    Raises:
        CheckpointError: what lies beside the weights is damaged.
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
    """Put what a head usually does beside what it does in one text, by the same measures.

    Args:
        engine: the model.
        result: the text.
        layer: counted from 0.
        head: counted from 0; None is the mean over the layer's heads.

    Returns:
        The comparison, or None where nobody has measured what the heads usually do.

    Raises:
        CheckpointError: what lies beside the weights is damaged.
    """
    habits = head_habits(engine)
    if habits is None:
        return None
    heads = slice(None) if head is None else slice(head, head + 1)
    here = _measure(result, layer, heads)
    usual = habits.means[:, layer, heads]
    return HeadComparison(
        habits=habits,
        layer=layer,
        head=head,
        rows=tuple(
            (place, _mean(numbers), here[place.key])
            for place, numbers in zip(habits.places, usual, strict=True)
        ),
    )


def _mean(numbers: Attention) -> float:
    """Return the mean over heads, those that were pruned left out; NaN where all were."""
    there = numbers[~np.isnan(numbers)]
    return float(there.mean()) if there.size else float("nan")


def _measure(result: AttentionResult, layer: int, heads: slice) -> dict[str, float | None]:
    """Measure some heads of a layer in one text; None where the text has no such place.

    All but the entropy are sums of attention, so the mean over heads may come first.
    """
    inside = np.array([side is not None for side in result.sides])
    first = np.arange(len(inside)) == 0
    marks = np.array([all(char in PUNCTUATION for char in token) for token in result.tokens])
    marks &= inside
    matrix = result.attentions[layer][heads].mean(axis=0)  # (T, T)
    looked_at = matrix.mean(axis=0)  # (T,)
    patterns = result.patterns
    return {
        "to_previous": float(patterns.to_previous[layer, heads].mean()),
        "to_next": float(patterns.to_next[layer, heads].mean()),
        "to_itself": float(patterns.to_itself[layer, heads].mean()),
        "to_repeats": _to_repeats(matrix, result.tokens, inside),
        "to_cls": float(looked_at[~inside & first].sum()),
        "to_sep": float(looked_at[~inside & ~first].sum()),
        "to_punctuation": float(looked_at[marks].sum()) if marks.any() else None,
        "entropy": float(patterns.entropy[layer, heads].mean()),
    }


def _to_repeats(
    matrix: Attention, tokens: tuple[str, ...], inside: NDArray[np.bool_]
) -> float | None:
    """Measure the attention to other places of the same piece, of tokens that have one."""
    numbers = np.unique(np.array(tokens), return_inverse=True)[1]
    same = (numbers[:, None] == numbers) & inside[:, None] & inside
    np.fill_diagonal(same, False)
    looking = same.any(axis=1)
    if not looking.any():
        return None
    return float((matrix * same).sum(axis=1)[looking].mean())

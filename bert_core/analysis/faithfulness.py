"""Whether an order of importance is true to the model: hide tokens in that order and watch.

Comprehensiveness and sufficiency are those of DeYoung et al. 2020, "ERASER", section 4; the curves
those of Petsiuk et al. 2018, "RISE", section 3.3. The explained number is a log-probability, but
here probabilities are compared, because they are bounded. No curve means anything alone: the same
is computed for random orders. One text proves nothing; average over many.

Whether hiding tokens is fair to the model depends on the operator (see `masked_values`), so results
should be shown for both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from bert_core.analysis.attribution import METHODS, Attribution, attribute, random_ranks
from bert_core.analysis.forward import Progress
from bert_core.analysis.masking import Floats, Selection, free_tokens, masked_values
from bert_core.analysis.targets import Target
from bert_core.errors import InputError
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.encoding import Encoding

_BINS = slice(1, 6)  # 10 % to 50 %
_STEPS = 11
_RANDOM = 20
_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """Where random orders lie: arrays like the value they are compared with.

    Attributes:
        mean: the mean.
        low: 5 % lie below.
        high: 5 % lie above.
    """

    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True, eq=False)
class RandomOrders:
    """The same four values as in `Faithfulness`, of 20 random orders."""

    deletion: Band
    insertion: Band
    comprehensiveness: Band
    sufficiency: Band


@dataclass(frozen=True, slots=True, eq=False)
class Faithfulness:
    """What happens to the probability when tokens are hidden in some order.

    Attributes:
        deletion: (11,), the probability when the most important 0, 10, ..., 100 % of the free
            tokens are hidden.
        insertion: (11,), when all but the most important 0, 10, ..., 100 % are hidden.
        comprehensiveness: fall of the probability without the most important 10 to 50 %, averaged
            over five steps; higher is better.
        sufficiency: fall when only these are left; lower is better.
        random: the same for random orders.
    """

    deletion: Floats
    insertion: Floats
    comprehensiveness: float
    sufficiency: float
    random: RandomOrders


@dataclass(frozen=True, slots=True, eq=False)
class Contender:
    """One method in a comparison: its scores, and how faithful their order is."""

    attribution: Attribution
    faithfulness: Faithfulness


def faithfulness(
    model: BertPreTrainedModel,
    encoding: Encoding,
    target: Target,
    order: Sequence[int],
    *,
    operator: str = "mask",
    progress: Progress | None = None,
) -> Faithfulness:
    """Measure one order of importance beside 20 random orders.

    Args:
        model: a class whose head the target asks.
        encoding: the text.
        target: what was explained.
        order: the free tokens, most important first, such as `Attribution.order`.
        operator: how tokens are hidden, see `masked_values`.
        progress: called with the passes done and their number.

    Raises:
        InputError: `order` does not contain each free token once.
    """
    return measure_orders(model, encoding, target, [order], operator, progress)[0]


def compare_methods(
    model: BertPreTrainedModel,
    encoding: Encoding,
    target: Target,
    *,
    methods: Sequence[str] = tuple(METHODS),
    operator: str = "mask",
    progress: Progress | None = None,
) -> dict[str, Contender]:
    """Attribute with several methods and measure each of them, with the same random orders.

    Args:
        model: a class whose head the target asks.
        encoding: the text.
        target: what to explain.
        methods: names of methods, see `attribute`.
        operator: how tokens are hidden, see `masked_values`; also for occlusion and Shapley values.
        progress: called after each batch with the methods done and their number plus one, for the
            curves; an exception it raises cancels.

    Returns:
        Method -> its scores and measures.
    """
    total = len(methods) + 1
    found = []
    for number, method in enumerate(methods):
        step = None if progress is None else _fixed(progress, number, total)
        one = attribute(model, encoding, target, method=method, operator=operator, progress=step)
        found.append(one)
    step = None if progress is None else _fixed(progress, len(methods), total)
    orders = [each.order for each in found]
    curves = measure_orders(model, encoding, target, orders, operator, step)
    if progress is not None:
        progress(total, total)
    return {each.method: Contender(each, curve) for each, curve in zip(found, curves, strict=True)}


def _fixed(progress: Progress, done: int, total: int) -> Progress:
    """Return a function that reports this progress whatever it is called with."""
    return lambda *_: progress(done, total)


def measure_orders(
    model: BertPreTrainedModel,
    encoding: Encoding,
    target: Target,
    orders: Sequence[Sequence[int]],
    operator: str,
    progress: Progress | None,
) -> list[Faithfulness]:
    """Measure several orders; all share the random ones and are computed together."""
    free = free_tokens(encoding, target)
    for order in orders:
        if sorted(order) != free:
            raise InputError(f"The order is {list(order)}; expected each free token once: {free}.")
    place = {token: number for number, token in enumerate(free)}
    ranks = np.empty((len(orders), len(free)), dtype=np.intp)
    for row, order in enumerate(orders):
        ranks[row, [place[token] for token in order]] = np.arange(len(free))
    ranks = np.concatenate([ranks, random_ranks(len(free), _RANDOM, _SEED)])  # (R, n)
    hidden = np.zeros((len(ranks), 2, _STEPS, len(encoding)), dtype=np.bool_)
    hidden[..., free] = _hidden(ranks)
    values = masked_values(
        model,
        encoding,
        target,
        hidden.reshape(-1, len(encoding)),
        operator=operator,
        progress=progress,
    )
    curves = target.probability(torch.from_numpy(values)).numpy().reshape(hidden.shape[:3])
    given, random = curves[: len(orders)], curves[len(orders) :]
    falls = _falls(curves)  # (R, 2)
    chance = RandomOrders(
        *(_band(each) for each in (random[:, 0], random[:, 1])),
        *(_band(each) for each in falls[len(orders) :].T),
    )
    return [
        Faithfulness(one[0], one[1], float(fall[0]), float(fall[1]), chance)
        for one, fall in zip(given, falls, strict=False)
    ]


def _hidden(ranks: NDArray[np.intp]) -> Selection:
    """Return which tokens each step hides: ranks (R, n) -> deletion and insertion, (R, 2, 11, n).

    Numbers of tokens are rounded to the nearest. Deleting along an order leaves what inserting
    along its reverse shows; random orders come with their reverses, so both curves share passes.

    >>> _hidden(np.array([[1, 0, 2, 3]]))[0, :, 5].tolist()
    [[True, True, False, False], [False, False, True, True]]
    """
    steps = np.array([(tenth * ranks.shape[1] + 5) // 10 for tenth in range(_STEPS)])
    deleted = ranks[:, None, :] < steps[:, None]
    return np.stack([deleted, ~deleted], axis=1)


def _falls(curves: Floats) -> Floats:
    """Return comprehensiveness and sufficiency of curves (R, 2, 11), (R, 2)."""
    falls: Floats = (curves[:, :1, :1] - curves[:, :, _BINS]).mean(axis=-1)
    return falls


def _band(values: Floats) -> Band:
    """Summarise random orders (R, ...)."""
    low, high = np.quantile(values, (0.05, 0.95), axis=0)
    return Band(values.mean(axis=0), low, high)

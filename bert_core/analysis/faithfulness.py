"""Whether an order of importance is true to the model: hide tokens in that order and watch.

Comprehensiveness and sufficiency are those of DeYoung et al. 2020, "ERASER", section 4; the curves
those of Petsiuk et al. 2018, "RISE", section 3.3. Probabilities are compared, because they are
bounded, and always with those of random orders. Whether hiding tokens is fair to the model depends
on the operator (see `masked_values`), so results should be shown for both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from bert_core.analysis.attribution import METHODS, Attribution, attribute, random_ranks
from bert_core.analysis.forward import Floats, Progress
from bert_core.analysis.masking import Selection, free_tokens, masked_values
from bert_core.analysis.targets import Target
from bert_core.errors import InputError
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.encoding import Encoding

_BINS = slice(1, 6)  # 10 % to 50 %
_STEPS = 11
_RANDOM = 20


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """Where random orders lie: arrays like the value they are compared with."""

    mean: Floats
    low: Annotated[Floats, "5 % lie below"]
    high: Annotated[Floats, "5 % lie above"]


@dataclass(frozen=True, slots=True, eq=False)
class RandomOrders:
    """The same four values as in `Faithfulness`, of 20 random orders."""

    deletion: Band
    insertion: Band
    comprehensiveness: Band
    sufficiency: Band


@dataclass(frozen=True, slots=True, eq=False)
class Faithfulness:
    """What happens to the probability when tokens are hidden in some order."""

    deletion: Annotated[Floats, "(11,), probability without the most important 0, 10, ... %"]
    insertion: Annotated[Floats, "(11,), when all but the most important 0, 10, ... % are hidden"]
    comprehensiveness: Annotated[float, "mean fall without the top 10 to 50 %; higher: better"]
    sufficiency: Annotated[float, "fall when only these are left; lower is better"]
    random: Annotated[RandomOrders, "the same for random orders"]


class Contender(NamedTuple):
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
) -> Faithfulness:
    """Measure one order (free tokens, most important first) beside 20 random orders.

    Raises:
        InputError: `order` does not contain each free token once.
    """
    return measure_orders(model, encoding, target, [order], operator)[0]


def compare_methods(
    model: BertPreTrainedModel,
    encoding: Encoding,
    target: Target,
    *,
    methods: Sequence[str] = tuple(METHODS),
    operator: str = "mask",
) -> dict[str, Contender]:
    """Attribute with several methods, and measure each with the same random orders."""
    found = [
        attribute(model, encoding, target, method=method, operator=operator) for method in methods
    ]
    orders = [each.order for each in found]
    curves = measure_orders(model, encoding, target, orders, operator)
    return {each.method: Contender(each, curve) for each, curve in zip(found, curves, strict=True)}


def measure_orders(
    model: BertPreTrainedModel,
    encoding: Encoding,
    target: Target,
    orders: Sequence[Sequence[int]],
    operator: str,
    progress: Progress | None = None,
) -> list[Faithfulness]:
    """Measure several orders; all share the random ones and are computed together."""
    free = free_tokens(encoding, target)
    for order in orders:
        if sorted(order) != free:
            raise InputError(f"The order is {list(order)}; expected each free token once: {free}.")
    ranks = [np.argsort([free.index(token) for token in order]) for order in orders]
    every = np.vstack([*ranks, random_ranks(len(free), _RANDOM)])  # (R, n)
    hidden = np.zeros((len(every), 2, _STEPS, len(encoding)), dtype=np.bool_)
    hidden[..., free] = _hidden(every)
    rows = hidden.reshape(-1, len(encoding))
    values = masked_values(model, encoding, target, rows, operator=operator, progress=progress)
    curves = target.probability(torch.from_numpy(values)).numpy().reshape(hidden.shape[:3])
    falls = (curves[:, :1, :1] - curves[:, :, _BINS]).mean(axis=-1)  # (R, 2)
    chance = RandomOrders(
        *(_band(curves[len(orders) :, side]) for side in (0, 1)),
        *(_band(falls[len(orders) :, side]) for side in (0, 1)),
    )
    return [
        Faithfulness(deletion, insertion, float(comprehensiveness), float(sufficiency), chance)
        for (deletion, insertion), (comprehensiveness, sufficiency) in zip(
            curves[: len(orders)], falls, strict=False
        )
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


def _band(values: Floats) -> Band:
    low, high = np.quantile(values, (0.05, 0.95), axis=0)
    return Band(values.mean(axis=0), low, high)

"""`differences`: where two runs differ, of two texts or of two models."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from bert_core.analysis.forward import Floats, as_array
from bert_core.analysis.mixing import distances
from bert_core.errors import InputError
from bert_core.model.outputs import ModelOutputs

Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """How two runs differ; equal runs give exactly 0."""

    attention: Annotated[
        Floats,
        "(L, H), the Jensen-Shannon distance of the attention of two heads, the square root of the "
        "divergence in bits, averaged over tokens: 0 to 1 (Clark et al. 2019, section 6, measures "
        "the divergence)",
    ]
    hidden_states: Annotated[Floats, "(L + 1, T), 1 - cosine of each token, or each aligned pair"]
    align: Annotated[tuple[tuple[int, int], ...], "the pairs of positions compared"]


def differences(
    run_a: ModelOutputs, run_b: ModelOutputs, *, align: Pairs | None = None
) -> Differences:
    """Compare two runs of one text each.

    Args:
        run_a: with attentions and hidden states, as returned by `model.run`.
        run_b: the same, of a model with as many layers, heads and dimensions.
        align: pairs (token of a, token of b); None pairs equal positions. Attention to tokens
            without a partner is added up and compared as one more token.

    Raises:
        InputError: the runs lack attentions or hidden states, have different numbers of layers,
            heads, dimensions, or (without `align`) tokens, or a pair is outside the texts.
    """
    (states_a, maps_a), (states_b, maps_b) = _stacked(run_a), _stacked(run_b)
    sizes_a, sizes_b = (
        (len(maps), maps.shape[1], states.shape[2])
        for states, maps in ((states_a, maps_a), (states_b, maps_b))
    )
    if sizes_a != sizes_b:
        raise InputError(
            f"The runs have {sizes_a} and {sizes_b} layers, heads, sizes; expected equal numbers."
        )
    pairs = _checked(align, states_a.shape[1], states_b.shape[1])
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    attention = jensen_shannon(_selected(maps_a, left), _selected(maps_b, right)).mean(dim=-1)
    apart = distances(states_a[:, left], states_b[:, right])
    return Differences(as_array(attention), as_array(apart), pairs)


def _checked(align: Pairs | None, first: int, second: int) -> tuple[tuple[int, int], ...]:
    if align is None and first != second:
        raise InputError(
            f"The texts have {first} and {second} tokens; expected equal numbers, or `align`."
        )
    pairs = tuple((at, at) for at in range(first)) if align is None else tuple(align)
    inside = all(0 <= a < first and 0 <= b < second for a, b in pairs)
    unique = len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
    if not pairs or not inside or not unique:
        raise InputError(
            f"Found align={pairs!r}; expected at least one pair, positions 0 to {first - 1} and "
            f"0 to {second - 1}, and each position at most once."
        )
    return pairs


def _stacked(run: ModelOutputs) -> tuple[Tensor, Tensor]:
    """Return the hidden states (L + 1, T, D) and attentions (L, H, T, T), in double precision."""
    states, maps = run.hidden_states, run.attentions
    if states is None or maps is None or len(states[0]) != 1:
        found = f"{len(states[0])} texts" if states and maps else "no hidden states or attentions"
        raise InputError(f"Found a run with {found}; expected both, of one text.")
    return torch.cat(states).detach().double(), torch.cat(maps).detach().double()


def _selected(maps: Tensor, places: list[int]) -> Tensor:
    """Return rows and columns of attentions (L, H, T, T); a last column sums all other columns."""
    others = [at for at in range(maps.shape[-1]) if at not in places]
    rows = maps[:, :, places]
    return torch.cat([rows[..., places], rows[..., others].sum(dim=-1, keepdim=True)], dim=-1)


def jensen_shannon(one: Tensor, other: Tensor) -> Tensor:
    """Return the Jensen-Shannon distance of distributions (..., N): 0 if equal, 1 if disjoint.

    >>> jensen_shannon(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])).item()
    1.0
    """
    mean = ((one + other) / 2).clamp_min(torch.finfo(one.dtype).tiny)
    terms = torch.xlogy(one, one / mean) + torch.xlogy(other, other / mean)
    return (terms.sum(dim=-1) / (2 * math.log(2))).clamp_min(0).sqrt()

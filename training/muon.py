"""Muon for the matrices of the encoder layers, in float32 where the processor has no bfloat16.

Muon replaces a matrix's momentum by the nearest matrix with orthogonal rows, so that a step moves
equally in all directions (Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural
networks"). Its steps are scaled to the usual size of AdamW's (Liu et al. 2025, "Muon is scalable
for LLM training", section 2.2), so both use the same learning rate. The steps are those of
`torch.optim.Muon` with "match_rms_adamw", which computes in bfloat16 alone: for the 6 x 384 model a
step of it took 44 s on one core without bfloat16 instructions, and 1.5 s like this.
"""

from collections import defaultdict
from collections.abc import Iterable
from math import sqrt
from typing import Any

import torch
from torch import Tensor

MOMENTUM = 0.95
# Of the first, third and fifth power in the polynomial of the Newton-Schulz iteration, and how
# often it is applied (Jordan et al. 2024).
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
STEPS = 5
_SMALLEST = 1e-7  # norm to divide by


class Muon(torch.optim.Optimizer):
    """Muon with Nesterov momentum; matrices of equal shape are computed together.

    Args:
        groups: groups of matrices, each with its weight decay.
        lr: learning rate.
        narrow: orthogonalize in bfloat16, not in float32.
    """

    def __init__(self, groups: Iterable[dict[str, Any]], lr: float, *, narrow: bool) -> None:
        super().__init__(groups, {"lr": lr})
        self.narrow = narrow

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update the parameters using their gradients."""
        for group in self.param_groups:
            alike: dict[tuple[int, ...], list[Tensor]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    alike[tuple(parameter.shape)].append(parameter)
            for parameters in alike.values():
                self._step_alike(group, parameters)

    def _step_alike(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        updates = []
        for parameter in parameters:
            assert parameter.grad is not None
            state = self.state[parameter]
            momentum = state.setdefault("momentum_buffer", torch.zeros_like(parameter))
            momentum.lerp_(parameter.grad, 1 - MOMENTUM)
            updates.append(parameter.grad.lerp(momentum, MOMENTUM))
        stacked = torch.stack(updates)
        turned = orthogonal(stacked.bfloat16() if self.narrow else stacked).to(stacked.dtype)
        rate = group["lr"] * 0.2 * sqrt(max(parameters[0].shape))
        for parameter, update in zip(parameters, turned.unbind(), strict=True):
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
            parameter.add_(update, alpha=-rate)


def orthogonal(matrices: Tensor) -> Tensor:
    """Move matrices (N, R, C) towards the nearest orthogonal ones by Newton-Schulz iteration.

    Returns:
        (N, R, C).
    """
    tall = matrices.shape[1] > matrices.shape[2]
    wide = matrices.mT if tall else matrices
    first, third, fifth = COEFFICIENTS
    found = wide / wide.norm(dim=(1, 2), keepdim=True).clamp(min=_SMALLEST)
    for _ in range(STEPS):
        gram = found @ found.mT  # (N, R, R)
        odd = torch.baddbmm(gram, gram, gram, beta=third, alpha=fifth)
        found = torch.baddbmm(found, odd, found, beta=first)
    turned: Tensor = found.mT if tall else found
    return turned

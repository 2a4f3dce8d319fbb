"""Muon for the matrices of a model, with matrices of equal shape in one product.

`torch.optim.Muon` exists since PyTorch 2.9. It treats each matrix separately and in bfloat16; a CPU
that emulates bfloat16 takes five times as long for that as this one in float32 (measured: 3.5 s per
step of a 6 x 384 model on one core).
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
    """Muon with Nesterov momentum, its steps scaled to the usual size of AdamW's.

    The steps are those of `torch.optim.Muon` with "match_rms_adamw", whose state it can continue.

    Args:
        params: matrices, or groups of them with settings of their own.
        lr: learning rate.
        weight_decay: share of a weight that a step at rate 1 takes away.
        narrow: orthogonalize in bfloat16, not in float32.
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float,
        weight_decay: float = 0.1,
        *,
        narrow: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay})
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
        """Update parameters of equal shape."""
        updates = []
        for parameter in parameters:
            assert parameter.grad is not None
            state = self.state[parameter]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = torch.zeros_like(parameter)
            momentum = state["momentum_buffer"].lerp_(parameter.grad, 1 - MOMENTUM)
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

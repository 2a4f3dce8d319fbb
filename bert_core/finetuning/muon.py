"""Muon for CPUs without bfloat16: the same steps, computed in float32 and in batches.

`torch.optim.Muon` orthogonalises each matrix separately, in bfloat16. A CPU that emulates bfloat16
takes five times as long for that (measured: 3.5 s per step of a 6 x 384 model on one core).
"""

from collections import defaultdict
from collections.abc import Callable
from math import sqrt
from typing import Any

import torch
from torch import Tensor


class Float32Muon(torch.optim.Muon):
    """`torch.optim.Muon` with "match_rms_adamw", in float32 and for equal shapes at once.

    The state is the same as in `torch.optim.Muon`, so either can continue from the other's.
    """

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters using their gradients."""
        loss = None if closure is None else closure()
        for group in self.param_groups:
            alike: dict[tuple[int, ...], list[Tensor]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    alike[tuple(parameter.shape)].append(parameter)
            for parameters in alike.values():
                self._step_alike(group, parameters)
        return loss

    def _step_alike(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        """Update parameters of equal shape."""
        updates = []
        for parameter in parameters:
            assert parameter.grad is not None
            state = self.state[parameter]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = torch.zeros_like(parameter)
            momentum = state["momentum_buffer"].lerp_(parameter.grad, 1 - group["momentum"])
            updates.append(parameter.grad.lerp(momentum, group["momentum"]))
        turned = orthogonal(
            torch.stack(updates), group["ns_coefficients"], group["ns_steps"], group["eps"]
        )
        rate = group["lr"] * 0.2 * sqrt(max(parameters[0].shape))
        for parameter, update in zip(parameters, turned.unbind(), strict=True):
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
            parameter.add_(update, alpha=-rate)


def orthogonal(
    matrices: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float
) -> Tensor:
    """Move matrices towards the nearest orthogonal matrices by Newton-Schulz iteration.

    `matrices` is (N, R, C), like the result. `coefficients` are those of the first, third and fifth
    power in the polynomial; `eps` is the smallest norm to divide by.

    Returns:
        (N, R, C).
    """
    tall = matrices.shape[1] > matrices.shape[2]
    wide = matrices.mT if tall else matrices
    first, third, fifth = coefficients
    found = wide / wide.norm(dim=(1, 2), keepdim=True).clamp(min=eps)
    for _ in range(steps):
        gram = found @ found.mT  # (N, R, R)
        odd = torch.baddbmm(gram, gram, gram, beta=third, alpha=fifth)
        found = torch.baddbmm(found, odd, found, beta=first)
    turned: Tensor = found.mT if tall else found
    return turned

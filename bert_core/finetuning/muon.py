"""Muon for processors without bfloat16: the same steps, orthogonalised in float32 and together.

`torch.optim.Muon` turns each matrix by itself, in bfloat16. A processor that has to imitate
bfloat16 takes five times as long for that (measured: 3.5 s a step of a 6 x 384 model on one core).
"""

from collections import defaultdict
from collections.abc import Callable
from math import sqrt
from typing import Any

import torch
from torch import Tensor


class Float32Muon(torch.optim.Muon):
    """`torch.optim.Muon` with "match_rms_adamw", computed in float32; matrices of a shape at once.

    Its state is that of `torch.optim.Muon`, so either goes on where the other stopped.
    """

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients."""
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
        """Do the step for matrices of one shape."""
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
    """Bring matrices near to the orthogonal ones next to them, by Newton and Schulz's iteration.

    Args:
        matrices: (N, R, C).
        coefficients: of the polynomial, first, third and fifth power.
        steps: how often it is applied.
        eps: least norm.
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

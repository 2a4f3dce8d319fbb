"""The optimizer: AdamW or Muon, weight decay, and the learning rate of each layer.

AdamW for all parameters, or Muon for the matrices of the encoder layers and AdamW for the rest.
Muon replaces a matrix's momentum by the nearest matrix with orthogonal rows, so that a step moves
equally in all directions (Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural
networks"). Its steps are scaled to the usual size of AdamW's steps (Liu et al. 2025, "Muon is
scalable for LLM training", section 2.2), so both use the same learning rate. `torch.optim.Muon`
exists since PyTorch 2.9. It treats each matrix separately and in bfloat16; a CPU that emulates
bfloat16 takes five times as long for that as this one, which puts matrices of equal shape into one
product, in float32 (measured: 3.5 s per step of a 6 x 384 model on one core).

Layers closer to the input learn features that all tasks share, so fine-tuning should change them
less: each layer learns `layer_decay` times as fast as the one above it (discriminative fine-tuning,
Howard and Ruder 2018, section 3.2).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import sqrt
from typing import Any, Literal

import torch
from torch import Tensor, nn

from bert_core.model.pretrained import BertPreTrainedModel

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


_EMBEDDINGS = re.compile(r"(bert\.)?embeddings\.")
_LAYER = re.compile(r"(?:bert\.)?encoder\.layer\.(\d+)\.")
Method = Literal["adamw", "muon"]


class MuonAndAdamW:
    """Muon and AdamW behind the interface of one optimizer.

    Muon takes the matrices inside the layers, AdamW all other parameters. `threads` is the number
    of threads for Muon's steps; the previous number is restored after each.
    """

    def __init__(self, muon: Muon, adamw: torch.optim.AdamW, threads: int = 1) -> None:
        self.muon, self.adamw, self.threads = muon, adamw, threads

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The groups of Muon, then those of AdamW."""
        return [*self.muon.param_groups, *self.adamw.param_groups]

    def step(self) -> None:
        """Update the parameters using their gradients."""
        before = torch.get_num_threads()
        torch.set_num_threads(max(before, self.threads))
        try:
            self.muon.step()
        finally:
            torch.set_num_threads(before)
        self.adamw.step()

    def state_dict(self) -> dict[str, Any]:
        """Return the state for `load_state_dict`."""
        return {"muon": self.muon.state_dict(), "adamw": self.adamw.state_dict()}

    def load_state_dict(self, state_dict: Mapping[str, Any], /) -> None:
        """Continue from a state returned by `state_dict`.

        Raises:
            ValueError: the state belongs to a different optimizer.
        """
        if set(state_dict) != {"muon", "adamw"}:
            raise ValueError("it was saved by another optimizer")
        self.muon.load_state_dict(state_dict["muon"])
        self.adamw.load_state_dict(state_dict["adamw"])


Optimizer = torch.optim.AdamW | MuonAndAdamW


def make_optimizer(
    model: BertPreTrainedModel,
    *,
    learning_rate: float,
    weight_decay: float,
    layer_decay: float,
    method: Method = "adamw",
    threads: int = 1,
    narrow: bool = True,
) -> tuple[Optimizer, list[float]]:
    """Build the optimizer of a training.

    Args:
        model: its parameters that require gradients are optimized.
        learning_rate: initial rate; the trainer sets it before every step.
        weight_decay: of matrices; biases and normalisations have none.
        layer_decay: see `rate_share`; 1.0 gives all parameters the same rate.
        method: "muon" for the matrices of the layers, or "adamw" for everything.
        threads: number of threads for Muon's steps on the CPU.
        narrow: compute Muon's steps in bfloat16; on CPUs that emulate it, float32 is faster.

    Returns:
        The optimizer, and for each of its groups the share of the learning rate it gets.
    """
    layers = model.config.num_hidden_layers
    found: dict[tuple[bool, float, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            share, matrix = rate_share(name, layers, layer_decay), parameter.dim() > 1
            rest = method == "adamw" or not matrix or not _LAYER.match(name)
            found.setdefault((rest, share, matrix), []).append(parameter)
    order = sorted(found, key=lambda key: (key[0], -key[1], not key[2]))  # Muon, heads, matrices
    groups = [
        {"params": found[key], "weight_decay": weight_decay if key[2] else 0.0} for key in order
    ]
    shares = [share for _, share, _ in order]
    fused, inner = model.device.type in ("cpu", "cuda"), [key for key in order if not key[0]]
    adamw = torch.optim.AdamW(groups[len(inner) :], lr=learning_rate, fused=fused)
    if not inner:
        return adamw, shares
    muon = Muon(groups[: len(inner)], lr=learning_rate, narrow=narrow)  # groups name their decay
    return MuonAndAdamW(muon, adamw, threads), shares


def rate_share(name: str, layers: int, layer_decay: float) -> float:
    """Return the share of the learning rate that a parameter gets.

    Heads and pooler get 1.0, the last layer `layer_decay`, the one below it `layer_decay**2`, and
    so on; the embeddings get `layer_decay**(layers + 1)`.

    >>> rate_share("bert.encoder.layer.5.output.dense.weight", 6, 0.5)
    0.5
    >>> rate_share("embeddings.LayerNorm.bias", 2, 0.5), rate_share("qa_outputs.bias", 2, 0.5)
    (0.125, 1.0)
    """
    below = 0
    if _EMBEDDINGS.match(name):
        below = layers + 1
    elif found := _LAYER.match(name):
        below = layers - int(found[1])
    return float(layer_decay**below)

"""The optimizer: AdamW or Muon, weight decay, and the learning rate of each layer.

AdamW for all parameters, or Muon for the matrices of the encoder layers and AdamW for the rest.
Muon replaces a matrix's momentum by the nearest matrix with orthogonal rows, so that a step moves
equally in all directions (Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural
networks"). Its steps are scaled to the usual size of AdamW's steps (Liu et al. 2025, "Muon is
scalable for LLM training", section 2.2), so both use the same learning rate.

Layers closer to the input learn features that all tasks share, so fine-tuning should change them
less: each layer learns `layer_decay` times as fast as the one above it (discriminative fine-tuning,
Howard and Ruder 2018, section 3.2).
"""

import re
from collections.abc import Mapping
from typing import Any, Literal, Protocol

import torch
from torch import nn

from bert_core.finetuning.muon import Muon
from bert_core.model.bert import BertPreTrainedModel

_EMBEDDINGS = re.compile(r"(bert\.)?embeddings\.")
_LAYER = re.compile(r"(?:bert\.)?encoder\.layer\.(\d+)\.")


Method = Literal["adamw", "muon"]


class Optimizer(Protocol):
    """The interface that the trainer needs from an optimizer."""

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """Groups of parameters with common settings; "lr" can be changed before every step."""

    def step(self) -> object:
        """Update the parameters using their gradients."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state for `load_state_dict`."""

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        """Continue from a state returned by `state_dict`."""


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

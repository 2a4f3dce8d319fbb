"""The optimizer of a training: which parameters are decayed, and how fast each layer learns.

AdamW for all parameters, or Muon for the matrices of the encoder's layers and AdamW for the rest:
Muon turns the momentum of a matrix into the nearest one with orthogonal rows, so that a step moves
all directions alike (Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural
networks"). Its steps are scaled to the size that steps of AdamW usually have (Liu et al. 2025,
"Muon is scalable for LLM training", section 2.2), so one learning rate serves both.

Layers nearer to the input hold what every task shares, so fine-tuning may move them less: each
layer learns `layer_decay` times as fast as the one above it (Howard and Ruder 2018, section 3.2,
who call it discriminative fine-tuning).
"""

import re
from collections.abc import Mapping
from typing import Any, Literal, Protocol

import torch
from torch import nn

from bert_core.finetuning.muon import Float32Muon
from bert_core.model.bert import BertPreTrainedModel

_EMBEDDINGS = re.compile(r"(bert\.)?embeddings\.")
_LAYER = re.compile(r"(?:bert\.)?encoder\.layer\.(\d+)\.")


Method = Literal["adamw", "muon"]


class Optimizer(Protocol):
    """What the trainer needs of an optimizer."""

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """Parameters that share their settings; "lr" may be set anew before every step."""

    def step(self) -> object:
        """Change the parameters by their gradients."""

    def zero_grad(self) -> None:
        """Forget all gradients."""

    def state_dict(self) -> dict[str, Any]:
        """Return what `load_state_dict` takes."""

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        """Go on where `state_dict` was called."""


class MuonAndAdamW:
    """Two optimizers, used as one.

    Args:
        muon: of the matrices inside the layers.
        adamw: of everything else.
        threads: that compute Muon's steps; the number set before is set again afterwards.
    """

    def __init__(self, muon: torch.optim.Muon, adamw: torch.optim.AdamW, threads: int = 1) -> None:
        self.muon, self.adamw, self.threads = muon, adamw, threads

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """Groups of Muon, then those of AdamW."""
        return [*self.muon.param_groups, *self.adamw.param_groups]

    def step(self) -> None:
        """Change the parameters by their gradients."""
        before = torch.get_num_threads()
        torch.set_num_threads(max(before, self.threads))
        try:
            self.muon.step()  # type: ignore[no-untyped-call]
        finally:
            torch.set_num_threads(before)
        self.adamw.step()

    def zero_grad(self) -> None:
        """Forget all gradients."""
        self.muon.zero_grad()
        self.adamw.zero_grad()

    def state_dict(self) -> dict[str, Any]:
        """Return what `load_state_dict` takes."""
        return {"muon": self.muon.state_dict(), "adamw": self.adamw.state_dict()}

    def load_state_dict(self, state_dict: Mapping[str, Any], /) -> None:
        """Go on where `state_dict` was called.

        Raises:
            ValueError: the state is not one of these two optimizers.
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
        model: parameters that need no gradient are left out.
        learning_rate: where the optimizer starts; the trainer sets it anew in every step.
        weight_decay: of matrices; biases and normalisations have none.
        layer_decay: see `rate_share`; 1.0 gives all parameters one rate.
        method: "muon" for the matrices of the layers, or "adamw" for everything.
        threads: that compute Muon's steps on a processor.
        narrow: compute them in bfloat16; float32 is faster where that has to be imitated.

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
    muon_class = torch.optim.Muon if narrow else Float32Muon
    muon = muon_class(
        groups[: len(inner)], lr=learning_rate, adjust_lr_fn="match_rms_adamw"
    )  # the decay is that of the groups
    return MuonAndAdamW(muon, adamw, threads), shares


def rate_share(name: str, layers: int, layer_decay: float) -> float:
    """Return the share of the learning rate that a parameter gets.

    Heads and pooler get all of it, the last layer `layer_decay` of it, and so on down to the
    embeddings, `layer_decay` to the power of the number of layers plus one.

    Args:
        name: of the parameter in its model.
        layers: of the model.
        layer_decay: factor from one layer to the one below it.

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

"""AdamW over a model's parameters: which are decayed, and how fast each layer learns.

Layers nearer to the input hold what every task shares, so fine-tuning may move them less: each
layer learns `layer_decay` times as fast as the one above it (Howard and Ruder 2018, section 3.2,
who call it discriminative fine-tuning).
"""

import re

import torch
from torch import nn

from bert_core.model import BertPreTrainedModel

_EMBEDDINGS = re.compile(r"(bert\.)?embeddings\.")
_LAYER = re.compile(r"(?:bert\.)?encoder\.layer\.(\d+)\.")


def make_optimizer(
    model: BertPreTrainedModel, *, learning_rate: float, weight_decay: float, layer_decay: float
) -> tuple[torch.optim.AdamW, list[float]]:
    """Build the optimizer of a training.

    Args:
        model: parameters that need no gradient are left out.
        learning_rate: where the optimizer starts; the trainer sets it anew in every step.
        weight_decay: of matrices; biases and normalisations have none.
        layer_decay: see `rate_share`; 1.0 gives all parameters one rate.

    Returns:
        The optimizer, and for each of its groups the share of the learning rate it gets.
    """
    found: dict[tuple[float, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            share = rate_share(name, model.config.num_hidden_layers, layer_decay)
            found.setdefault((share, parameter.dim() > 1), []).append(parameter)
    order = sorted(found, key=lambda key: (-key[0], not key[1]))  # heads first, matrices first
    groups = [
        {"params": found[share, matrix], "weight_decay": weight_decay if matrix else 0.0}
        for share, matrix in order
    ]
    fused = model.device.type in ("cpu", "cuda")
    optimizer = torch.optim.AdamW(groups, lr=learning_rate, fused=fused)
    return optimizer, [share for share, _ in order]


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

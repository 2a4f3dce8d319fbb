"""The parameters of an optimizer in groups: which of them decay, and how fast each layer learns.

Layers closer to the input learn features that all tasks share, so fine-tuning should change them
less: each layer learns `layer_decay` times as fast as the one above it (discriminative fine-tuning,
Howard and Ruder 2018, section 3.2).
"""

import re
from typing import Any

from torch import nn

from bert_core.model.pretrained import BertPreTrainedModel

_EMBEDDINGS = re.compile(r"(bert\.)?embeddings\.")
LAYER = re.compile(r"(?:bert\.)?encoder\.layer\.(\d+)\.")


def parameter_groups(
    model: BertPreTrainedModel, weight_decay: float, layer_decay: float = 1.0
) -> list[dict[str, Any]]:
    """Return the parameters that require gradients, in groups for an optimizer.

    Each group has its "share" of the learning rate (see `rate_share`) and its "weight_decay": that
    of matrices, while biases and normalisations have none.
    """
    groups: dict[tuple[float, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            share = rate_share(name, model.config.num_hidden_layers, layer_decay)
            groups.setdefault((-share, parameter.dim() < 2), []).append(parameter)
    return [
        {"params": parameters, "share": -share, "weight_decay": 0.0 if is_vector else weight_decay}
        for (share, is_vector), parameters in sorted(groups.items(), key=lambda each: each[0])
    ]


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
    elif layer := LAYER.match(name):
        below = layers - int(layer[1])
    return float(layer_decay**below)

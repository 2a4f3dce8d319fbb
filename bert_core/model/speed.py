"""`linear`: faster than `layer(x)` on some processors, with the same result up to rounding.

PyTorch multiplies with MKL, which uses half of the AVX-512 unit of processors not made by Intel;
oneDNN uses all of it. A short text gains as much again from the order of the factors, because the
right one is copied: W Xᵀ has the same numbers as X Wᵀ, and the weights are the larger one.
"""

from functools import cache

import torch
from torch import Tensor, nn

from bert_core.compat import HAS_ONEDNN, does_more_than_forward, onednn_product, recording_graph

_SHORT = 64
"""The largest number of tokens for which the weights are the left factor."""


def linear(layer: nn.Module, x: Tensor) -> Tensor:
    """Apply a linear layer: x (..., I) -> (..., O), to about 1e-6 of the largest number."""
    if not (isinstance(layer, nn.Linear) and _can_use_onednn(layer, x)):
        return layer(x)  # type: ignore[no-any-return]
    weight, bias = layer.weight, layer.bias
    if x.dim() == 3 and len(x) == 1 and x.shape[1] <= _SHORT and bias is not None:
        product = onednn_product(weight, x[0])  # (O, T)
        return product.add_(bias[:, None]).t()[None]
    return onednn_product(x, weight, bias)


def _can_use_onednn(layer: nn.Linear, x: Tensor) -> bool:
    """Return whether oneDNN can multiply these numbers, and is the faster one.

    Its operator has no gradients and cannot be recorded in a graph. A layer must be called if it
    has hooks or its own `forward`, is a subclass, or replaces the plain one (LoRA, quantised).
    """
    return (
        not torch.is_grad_enabled()
        and not recording_graph()
        and _onednn_is_faster()
        and type(layer) is nn.Linear
        and "forward" not in layer.__dict__
        and not does_more_than_forward(layer)
        and x.dtype == layer.weight.dtype == torch.float32
        and x.device.type == layer.weight.device.type == "cpu"
        and x.numel() > 0  # empty if all heads are pruned or no positions are requested
        and layer.weight.numel() > 0
        and not torch.is_autocast_enabled("cpu")
    )


@cache
def _onednn_is_faster() -> bool:
    return HAS_ONEDNN and torch.backends.cpu.get_cpu_capability() == "AVX512"

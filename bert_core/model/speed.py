"""`linear`: the one place where speed matters more than plainness; `layer(x)` gives the same.

`F.linear` multiplies float32 with MKL, which uses half of the AVX-512 unit of processors not made by
Intel. PyTorch also contains oneDNN, which uses all of it: on an AMD EPYC a linear layer of BERT base
takes 0.5 to 0.9 of the time. With AVX2, MKL is as fast, and is left to do it.

A short text gains as much again from the order of the factors: W Xᵀ has the same numbers as X Wᵀ, but
the library copies its right factor before it multiplies, and the weights are the larger one.
"""

from functools import cache

import torch
from torch import Tensor, nn

from bert_core.compat import HAS_ONEDNN, does_more_than_forward, onednn_product, recording_graph

_SHORT = 64
"""Most tokens of a text for which the weights are the left factor."""


@cache
def _onednn_is_faster() -> bool:
    """Return whether this processor has AVX-512 and PyTorch has oneDNN."""
    return HAS_ONEDNN and torch.backends.cpu.get_cpu_capability() == "AVX512"


def _is_plain(layer: nn.Module) -> bool:
    """Return whether calling a layer would do nothing but multiply by its weights.

    One with hooks, a replacement (LoRA, quantised), a subclass (parametrised) or a `forward` of its
    own has to be called.
    """
    return (
        type(layer) is nn.Linear
        and "forward" not in layer.__dict__
        and not does_more_than_forward(layer)
    )


def linear(layer: nn.Module, x: Tensor) -> Tensor:
    """Apply a linear layer: x (B, T, I) -> (B, T, O), the numbers of `layer(x)` to 1e-6.

    oneDNN's product has no gradients and no place in a recorded graph, so it is used for inference
    in float32 on the CPU only.
    """
    if torch.is_grad_enabled() or not _onednn_is_faster() or recording_graph():
        return layer(x)  # type: ignore[no-any-return]
    if not _is_plain(layer) or not x.numel() or torch.is_autocast_enabled("cpu"):
        return layer(x)  # type: ignore[no-any-return]
    weight, bias = layer.weight, layer.bias
    if not (weight.numel() and x.device.type == weight.device.type == "cpu"):
        return layer(x)  # type: ignore[no-any-return]
    if not x.dtype == weight.dtype == torch.float32:
        return layer(x)  # type: ignore[no-any-return]
    if x.dim() == 3 and len(x) == 1 and x.shape[1] <= _SHORT and bias is not None:
        product = onednn_product(weight, x[0])  # (O, T)
        return product.add_(bias[:, None]).t()[None]
    return onednn_product(x, weight, bias)

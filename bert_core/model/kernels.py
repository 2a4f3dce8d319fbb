"""Linear layers, activations, normalisation and attention as functions, on the fastest kernel.

`F.linear` multiplies float32 with MKL, which on processors that are not its maker's leaves half
of the vector unit unused. PyTorch brings oneDNN along as well, which does not, and which can
apply the activation while the result is still in the processor: on an AMD EPYC with AVX-512 a
linear layer took half the time, with GELU 0.4 of it. It knows no gradients, so it serves
inference only, in float32 on the CPU; everything else goes the usual way. Both give the same to
1e-6 of the largest value.
"""

from collections.abc import Callable
from itertools import product

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bert_core.config import BertConfig
from bert_core.errors import ConfigError
from bert_core.model.memory import BLOCKS
from bert_core.small_files import shown

Activation = Callable[[Tensor], Tensor]


def gelu_tanh(x: Tensor) -> Tensor:
    """Approximate GELU with tanh, as later checkpoints do ("gelu_new")."""
    return F.gelu(x, approximate="tanh")


ACTIVATIONS: dict[str, Activation] = {
    "gelu": F.gelu,  # the erf form, as in the paper's code
    "gelu_new": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh,
    "relu": F.relu,
    "silu": F.silu,
    "swish": F.silu,
    "tanh": torch.tanh,
}
# Inductor's own operator; absent from builds of PyTorch without oneDNN.
_HAS_ONEDNN = hasattr(torch.ops.mkldnn, "_linear_pointwise")
_HEAD_BY_HEAD = 320
"""Tokens from which on this is faster; the scores of shorter inputs fit the cache together."""


def activation(config: BertConfig) -> Activation:
    """Return the configured activation function.

    Raises:
        ConfigError: the name is not one of ACTIVATIONS.
    """
    if callable(config.hidden_act):
        return config.hidden_act
    try:
        return ACTIVATIONS[config.hidden_act]
    except KeyError:
        raise ConfigError(
            f"hidden_act is {shown(config.hidden_act)}; known are {', '.join(ACTIVATIONS)}, "
            "or pass a callable."
        ) from None


def affine(x: Tensor, weight: Tensor, bias: Tensor, then: Activation | None = None) -> Tensor:
    """Return x (..., I) times weight (O, I) plus bias (O), activated: (..., O)."""
    if not _can_use_onednn(x, weight):
        result = F.linear(x, weight, bias)
        return result if then is None else then(result)
    name, variant = "none", ""
    if then is F.gelu or then is gelu_tanh:
        name, variant = "gelu", "none" if then is F.gelu else "tanh"
    result = torch.ops.mkldnn._linear_pointwise(x, weight, bias, name, [], variant)
    return result if then is None or name == "gelu" else then(result)


def linear(x: Tensor, layer: nn.Linear, then: Activation | None = None) -> Tensor:
    """Apply a linear layer, and an activation, without the cost of a module call."""
    return affine(x, layer.weight, layer.bias, then)


def layer_norm(x: Tensor, layer: nn.LayerNorm) -> Tensor:
    """Apply a layer normalisation without the cost of a module call."""
    return F.layer_norm(x, layer.normalized_shape, layer.weight, layer.bias, layer.eps)


def attend(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, *, dropout: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Attend, and keep what every token gave to every other.

    Args:
        query: (B, H, T, K), already divided by the square root of K.
        key: (B, H, T, K).
        value: (B, H, T, K).
        bias: what is added to the scores, (B or 1, 1, 1 or T, T), or None.
        dropout: share of what is attended to that is dropped in training; the probabilities
            that are returned stay whole.

    Returns:
        The mean of the values that each token attends to (B, H, T, K), and the probabilities
        (B, H, T, T), whose rows sum to 1.
    """
    if query.shape[2] >= _HEAD_BY_HEAD and not dropout and _can_use_onednn(query, key):
        return _attend_head_by_head(query, key, value, bias)
    scores = torch.matmul(query, key.transpose(-1, -2))
    if bias is not None:
        scores += bias
    # In place where no gradient needs the scores.
    kept = torch.is_grad_enabled() or scores.device.type != "cpu"
    probabilities = torch.softmax(scores, dim=-1, out=None if kept else scores)
    seen = F.dropout(probabilities, dropout) if dropout else probabilities
    return torch.matmul(seen, value), probabilities


def _attend_head_by_head(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Do the same with one head at a time in the processor's cache.

    The scores of a head of 512 tokens take 1 MiB, those of a layer do not fit; and oneDNN
    multiplies where `torch.matmul` would take MKL. Together they take 0.6 of the time.
    """
    batch, heads, tokens, size = query.shape
    probabilities = BLOCKS.empty((batch, heads, tokens, tokens))
    context = query.new_empty(batch, tokens, heads, size)  # so that joining the heads is free
    query, key = query.contiguous(), key.contiguous()
    value = value.transpose(-1, -2).contiguous()  # (B, H, K, T), the layout of a weight
    times = torch.ops.mkldnn._linear_pointwise
    for row, head in product(range(batch), range(heads)):
        scores = times(query[row, head], key[row, head], None, "none", [], "")  # (T, T)
        if bias is not None:
            scores += bias[row if bias.shape[0] > 1 else 0, 0]
        one = torch.softmax(scores, dim=-1, out=probabilities[row, head])
        context[row, :, head] = times(one, value[row, head], None, "none", [], "")
    return context.transpose(1, 2), probabilities


def _can_use_onednn(x: Tensor, weight: Tensor) -> bool:
    """Tell whether the kernel without gradients serves these tensors."""
    return (
        _HAS_ONEDNN
        and not torch.is_grad_enabled()
        and x.dtype == weight.dtype == torch.float32
        and x.device.type == weight.device.type == "cpu"
        and x.numel() > 0  # pruned to nothing, or no positions asked for
        and weight.numel() > 0
        and not torch.is_autocast_enabled("cpu")
    )

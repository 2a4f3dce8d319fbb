"""Linear layers, activations, normalisation and attention as functions, on the fastest kernel.

Every speed trick of the forward pass is here, so that `bert_core.model.layers` can be read without
them. The plain way and the tricks agree to 1e-6 of the largest value. The tricks:

- oneDNN instead of MKL (`affine`). `F.linear` multiplies float32 with MKL, which uses only half of
  the vector unit on processors of other makers. PyTorch contains oneDNN as well, which uses all of
  it and can apply the activation while the result is still in the processor: on an AMD EPYC with
  AVX-512 a linear layer took half the time, with GELU 0.4 of it. It has no gradients, so it is
  for inference only, in float32 on the CPU.
- One product instead of three (`linear_together`) for query, key and value, whose weights are
  stored one after another (`store_together`) while each keeps its published name.
- Attention head by head, in the processor's cache (`_attend_head_by_head`); softmax in place
  (`attend`).
- Large blocks of memory that are used again (`Blocks`). The attention probabilities of six layers
  of 512 tokens take 75 MB. The system provides fresh memory of that size in pages of 4 kB and
  clears each of them, which took a quarter of the pass, and several times the pass where a virtual
  machine had to ask its host for it. These blocks come in large pages and return to the store when
  the last view of them is gone.
- No mask where nothing is masked (`masks_nothing`), so that no kernel adds zeros.

They look at addresses or values, or call kernels without a gradient. Graph tools
(`torch.compile`, `torch.export`, `torch.jit.trace`, ONNX export) have to see the same operations
for all inputs, so all tricks, and all checks of sizes and values, step aside while a graph is
recorded; `recording_graph` alone decides that. The environment variable BERT_CORE_KERNELS=plain
switches the tricks off for good (`special_kernels`).
"""

import math
import os
import weakref
from collections import deque
from collections.abc import Callable
from functools import cache
from itertools import product

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from bert_core.config import BertConfig
from bert_core.errors import ConfigError
from bert_core.small_files import shown

Activation = Callable[[Tensor], Tensor]


def gelu_tanh(x: Tensor) -> Tensor:
    """Approximate GELU with tanh, as later checkpoints do ("gelu_new")."""
    return F.gelu(x, approximate="tanh")


def gelu_10(x: Tensor) -> Tensor:
    """GELU held between -10 and 10, so that 8-bit numbers can hold it ("gelu_10")."""
    return F.gelu(x).clamp(-10, 10)


def quick_gelu(x: Tensor) -> Tensor:
    """Approximate GELU with a logistic curve (Hendrycks and Gimpel 2016, section 2)."""
    return x * torch.sigmoid(1.702 * x)


def identity(x: Tensor) -> Tensor:
    """Return what came in ("linear")."""
    return x


ACTIVATIONS: dict[str, Activation] = {
    "gelu": F.gelu,  # the erf form, as in the paper's code
    "gelu_10": gelu_10,
    "gelu_fast": gelu_tanh,
    "gelu_new": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh,
    "leaky_relu": F.leaky_relu,
    "linear": identity,
    "mish": F.mish,
    "quick_gelu": quick_gelu,
    "relu": F.relu,
    "sigmoid": torch.sigmoid,
    "silu": F.silu,
    "swish": F.silu,
    "tanh": torch.tanh,
}
# Inductor's own operator; absent from builds of PyTorch without oneDNN.
_HAS_ONEDNN = hasattr(torch.ops.mkldnn, "_linear_pointwise")
_HEAD_BY_HEAD = 320
"""Tokens from which on this is faster; the scores of shorter inputs fit the cache together."""
_SETTING = "BERT_CORE_KERNELS"


# -- when the tricks may be used ------------------------------------------------------------------


def recording_graph() -> bool:
    """Tell whether PyTorch records the operations for later instead of only computing them.

    True inside `torch.compile`, `torch.export`, `torch.jit.trace` and the ONNX exporters. A
    branch on a value or a size would then be recorded as it went for the example input.
    """
    if torch.compiler.is_compiling():
        return True
    tracing: bool = torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    return tracing


@cache
def special_kernels() -> bool:
    """Tell what the environment variable BERT_CORE_KERNELS says; read once in a process.

    "fast" (the default) allows the tricks of this module, "plain" computes everything with the
    ordinary operations of PyTorch.

    Raises:
        ConfigError: it is neither.
    """
    choice = os.environ.get(_SETTING, "fast")
    if choice not in ("fast", "plain"):
        raise ConfigError(f'{_SETTING} is {shown(choice)}; expected "fast" or "plain".')
    return choice == "fast"


def _for_inference() -> bool:
    """Tell whether the tricks that know no gradients may be used."""
    return not torch.is_grad_enabled() and not recording_graph() and special_kernels()


# -- activations ----------------------------------------------------------------------------------


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


# -- linear layers --------------------------------------------------------------------------------


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


def store_together(parts: tuple[nn.Linear, nn.Linear, nn.Linear]) -> None:
    """Store three layers of one size one after another; the parameters stay the same objects."""
    if parts[0].weight.is_meta or not special_kernels() or _joint(parts) is not None:
        return
    with torch.no_grad():
        weight = torch.cat([part.weight for part in parts])  # (3 * O, I)
        bias = torch.cat([part.bias for part in parts])
        for index, part in enumerate(parts):
            rows = slice(index * part.out_features, (index + 1) * part.out_features)
            part.weight.data, part.bias.data = weight[rows], bias[rows]


def linear_together(
    x: Tensor, parts: tuple[nn.Linear, nn.Linear, nn.Linear], split: tuple[int, ...]
) -> tuple[Tensor, ...]:
    """Apply three layers of one size to x (..., I); three results (..., *split)."""
    joint = _joint(parts) if _for_inference() else None
    if joint is None:
        return tuple(linear(x, part).view(*x.shape[:-1], *split) for part in parts)
    together = affine(x, *joint).view(*x.shape[:-1], 3, *split)  # from (..., 3 * O)
    return together.unbind(x.dim() - 1)


def _joint(parts: tuple[nn.Linear, nn.Linear, nn.Linear]) -> tuple[Tensor, Tensor] | None:
    """Return the joint weight (3 * O, I) and bias, or None if they are not stored together."""
    found = []
    for name in ("weight", "bias"):
        first, second, third = (getattr(part, name) for part in parts)
        step = first.nbytes
        start = first.data_ptr()
        if (
            second.data_ptr() != start + step
            or third.data_ptr() != start + 2 * step
            or first.untyped_storage().data_ptr() != third.untyped_storage().data_ptr()
            or not first.is_contiguous()
        ):
            return None
        shape = (3 * first.shape[0], *first.shape[1:])
        found.append(first.as_strided(shape, first.stride(), first.storage_offset()))
    return found[0], found[1]


def layer_norm(x: Tensor, layer: nn.LayerNorm) -> Tensor:
    """Apply a layer normalisation without the cost of a module call."""
    return F.layer_norm(x, layer.normalized_shape, layer.weight, layer.bias, layer.eps)


# -- attention ------------------------------------------------------------------------------------


def masks_nothing(keep: Tensor) -> bool:
    """Tell whether a mask of what to keep can be left out (on a GPU one would have to wait)."""
    may_look = keep.device.type == "cpu" and not recording_graph() and special_kernels()
    return may_look and bool(keep.all())


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
    if not dropout and _can_use_onednn(query, key) and query.shape[2] >= _HEAD_BY_HEAD:
        return _attend_head_by_head(query, key, value, bias)
    scores = torch.matmul(query, key.transpose(-1, -2))  # (B, H, T, T)
    if bias is not None:
        scores += bias
    in_place = scores.device.type == "cpu" and _for_inference()
    probabilities = torch.softmax(scores, dim=-1, out=scores if in_place else None)
    seen = F.dropout(probabilities, dropout) if dropout else probabilities
    return torch.matmul(seen, value), probabilities  # (B, H, T, K), (B, H, T, T)


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
        and _for_inference()
        and x.dtype == weight.dtype == torch.float32
        and x.device.type == weight.device.type == "cpu"
        and x.numel() > 0  # pruned to nothing, or no positions asked for
        and weight.numel() > 0
        and not torch.is_autocast_enabled("cpu")
    )


# -- memory ---------------------------------------------------------------------------------------

_SMALL = 2**18  # numbers; for less the ordinary allocator is quicker
_STEP = 2**19
"""Blocks hold a multiple of this many numbers, 2 MiB, so that texts of about the same length
serve each other; on Linux that is also one large page."""


class Blocks:
    """A bounded store of blocks that nobody uses at the moment, safe in any number of threads.

    Args:
        keep: unused blocks kept at most; the one unused for longest goes back to the system.
    """

    def __init__(self, keep: int) -> None:
        # No lock: a block may return while the garbage collector interrupts any line of ours,
        # and a deque takes and gives its ends in one step.
        self._free: deque[NDArray[np.float32]] = deque(maxlen=keep)

    def empty(self, shape: tuple[int, ...]) -> Tensor:
        """Return float32 memory on the CPU whose values are whatever was there before."""
        size = math.prod(shape)
        if size < _SMALL:
            return torch.empty(shape)
        block = self._fitting(size)
        if block is None:
            # numpy asks the system for large pages, PyTorch would not.
            block = np.empty(-(-size // _STEP) * _STEP, dtype=np.float32)
        # Every view of the memory, a tensor's or an array's, holds this one array. (Views of
        # the block itself would hold the block.)
        root = np.frombuffer(block.data, dtype=np.float32, count=size)
        weakref.finalize(root, self._free.append, block).atexit = False
        return torch.from_numpy(root.reshape(shape))

    def _fitting(self, size: int) -> NDArray[np.float32] | None:
        """Take an unused block that is large enough and not much too large."""
        for _ in range(len(self._free)):
            try:
                block = self._free.popleft()
            except IndexError:  # another thread took the last one
                return None
            if size <= block.size < 2 * size + _STEP:
                return block
            self._free.append(block)
        return None

    def __len__(self) -> int:
        """Unused blocks at the moment."""
        return len(self._free)


BLOCKS = Blocks(keep=24)
"""Two passes of BERT's base size: 24 layers, 302 MB at 512 tokens."""

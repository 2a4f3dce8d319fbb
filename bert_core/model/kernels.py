"""Linear layers, activations, normalisation and attention as functions, using the fastest kernel.

All optimizations of the forward pass are in this module, so that `bert_core.model.layers` can be
read without them. Their results agree with the plain computation to 1e-6 of the largest value:

- oneDNN instead of MKL (`affine`), on CPUs with AVX-512. `F.linear` multiplies float32 with MKL,
  which uses only half of that vector unit on CPUs not made by Intel. PyTorch also contains oneDNN,
  which uses all of it and can apply the activation while the result is still in the CPU: on an AMD
  EPYC with AVX-512, a linear layer took half the time, with GELU 0.4 of it. With AVX2, MKL is
  faster (`_mkl_is_faster`): there BERT took 1.03 to 1.07 of the time of `transformers` with oneDNN,
  and takes 0.77 to 0.98 with MKL. oneDNN has no gradients, so it is used only for inference, in
  float32 and bfloat16 on the CPU. In bfloat16, `F.linear` is oneDNN too, but writes the bias to
  memory first, and rounds once more before the activation.
- Weights as the left factor (`_by_feature`). W X^T gives the same numbers as X W^T, with the values
  of one feature next to each other instead of those of one token. oneDNN and MKL copy a right
  factor into another order before they multiply; oneDNN reads a left factor in place. For a
  short text, copying the weights matters: without it, BERT base with 32 tokens takes 0.8 of the
  time with oneDNN, 0.9 with MKL.
- One product instead of three (`project_together`) for query, key and value, whose weights are
  stored one after another (`store_together`); each keeps its published name.
- Attention that reads query, key and value and writes its results in place, without copies
  (`_attend_row_by_row`); for long texts on CPUs not made by Intel, one head at a time with oneDNN
  (`_attend_head_by_head`).
- Reusing large blocks of memory (`Blocks`). The attention probabilities of six layers of 512 tokens
  take 75 MB. The operating system provides new memory of that size in 4 kB pages and clears each of
  them, which took a quarter of the forward pass, and several times the forward pass in a virtual
  machine that had to request it from its host. These blocks use large pages, begin at a cache line
  and return to the store when their last view is deleted.
- No mask if nothing is masked (`masks_nothing`), so that no kernel adds zeros.
- Linear layers, normalisations and embeddings computed from their weights, without calling the
  modules (`is_plain`). Only a module that does what its class does is passed over: one with hooks,
  a replacement (LoRA, a quantized layer), a subclass (parametrizations make one), or a `forward`
  of its own is called, and what it returns is not written over, because a hook may have kept it.

These optimizations depend on addresses or values, or use kernels without gradients. Graph tools
(`torch.compile`, `torch.export`, `torch.jit.trace`, ONNX export) must see the same operations for
all inputs, so all optimizations, and all checks of sizes and values, are disabled while a graph is
recorded (see `recording_graph`). Setting the environment variable BERT_CORE_KERNELS=plain disables
the optimizations entirely (see `special_kernels`).
"""

import math
import os
import platform
import weakref
from collections import deque
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from bert_core.compat import HAS_BFLOAT16, HAS_ONEDNN, does_more_than_forward, onednn_product
from bert_core.config import BertConfig
from bert_core.errors import ConfigError
from bert_core.small_files import shown

Activation = Callable[[Tensor], Tensor]


def gelu_tanh(x: Tensor) -> Tensor:
    """GELU, approximated with tanh ("gelu_new"), as used by later checkpoints."""
    return F.gelu(x, approximate="tanh")


def gelu_10(x: Tensor) -> Tensor:
    """GELU, clipped to -10..10 so that it fits 8-bit quantization ("gelu_10")."""
    return F.gelu(x).clamp(-10, 10)


def quick_gelu(x: Tensor) -> Tensor:
    """GELU, approximated with a sigmoid (Hendrycks and Gimpel 2016, section 2)."""
    return x * torch.sigmoid(1.702 * x)


def identity(x: Tensor) -> Tensor:
    """Return the input unchanged ("linear")."""
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
_FEATURES_A_TOKEN = 6
"""Weights are the left factor (`_by_feature`) for one text with at least this many features for
each token: up to 64 tokens with 384 features, 128 with 768; half as many tokens with MKL."""
_HEAD_BY_HEAD = 320
"""Shortest input, in tokens, for which this is faster; below, all heads fit into the cache."""
_ROW_BY_ROW = 64
"""Shortest texts, in tokens, of which several are attended to one by one."""
_SETTING = "BERT_CORE_KERNELS"


# -- when the optimizations are enabled -----------------------------------------------------------


def recording_graph() -> bool:
    """Return whether PyTorch is recording a graph of the operations.

    True inside `torch.compile`, `torch.export`, `torch.jit.trace` and the ONNX exporters. The
    recorded graph would contain only the branch that the example input takes, so code must not
    branch on values or sizes then.
    """
    if torch.compiler.is_compiling():
        return True
    tracing: bool = torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    return tracing


@cache
def special_kernels() -> bool:
    """Return whether the environment variable BERT_CORE_KERNELS enables the optimizations.

    "fast" (the default) enables the optimizations of this module; "plain" computes everything with
    ordinary PyTorch operations. The variable is read once per process.

    Raises:
        ConfigError: it has any other value.
    """
    choice = os.environ.get(_SETTING, "fast")
    if choice not in ("fast", "plain"):
        raise ConfigError(f'{_SETTING} is {shown(choice)}; expected "fast" or "plain".')
    if choice == "fast":
        _keep_freed_memory()
    return choice == "fast"


def _for_inference() -> bool:
    """Return whether kernels without gradients may be used."""
    return not torch.is_grad_enabled() and not recording_graph() and special_kernels()


@cache
def _mkl_uses_whole_unit() -> bool:
    """Return whether MKL uses all of the vector unit: on CPUs made by Intel."""
    try:
        maker = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:  # not Linux
        maker = platform.processor()
    has_mkl: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    return has_mkl and "GenuineIntel" in maker


@cache
def _mkl_is_faster() -> bool:
    """Return whether MKL multiplies float32 faster than oneDNN: on x86 CPUs up to AVX2."""
    has_mkl: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    return has_mkl and torch.backends.cpu.get_cpu_capability() == "AVX2"


def _times(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, then: str = "none", variant: str = ""
) -> Tensor:
    """Multiply with oneDNN: x (..., I), weight (O, I), bias (O) -> (..., O)."""
    return onednn_product(x, weight, bias, then, variant)


# -- modules --------------------------------------------------------------------------------------


def is_plain(module: nn.Module, kind: type[nn.Module]) -> bool:
    """Return whether calling a module would only do what `kind.forward` does with its weights."""
    return (
        type(module) is kind
        and "forward" not in module.__dict__
        and not does_more_than_forward(module)
    )


def own_parameters(module: nn.Module) -> dict[str, nn.Parameter]:
    """Return the parameters of a module itself; a weight that is computed is none of them."""
    return dict(module.named_parameters(recurse=False))


def first_rows(table: nn.Embedding, count: int, like: Tensor) -> Tensor:
    """Embed the ids 0 to count - 1, on the device of `like`: (T, D), or (1, T, D) by a call."""
    if is_plain(table, nn.Embedding):
        return table.weight[:count]
    rows: Tensor = table(torch.arange(count, device=like.device)[None])
    return rows


def zeroth_row(table: nn.Embedding, like: Tensor) -> Tensor:
    """Embed id 0 for every token of `like` (B, T): (D), or (B, T, D) by a call."""
    if is_plain(table, nn.Embedding):
        return table.weight[0]
    rows: Tensor = table(torch.zeros_like(like, dtype=torch.int64))
    return rows


# -- activations ----------------------------------------------------------------------------------


def activation(config: BertConfig) -> Activation:
    """Return the configured activation function.

    Raises:
        ConfigError: the name is not one of ACTIVATIONS.
    """
    return activation_called(config.hidden_act)


def activation_called(name: str | Activation, key: str = "hidden_act") -> Activation:
    """Return the activation function of a name, which is the value of a key in the config.

    Raises:
        ConfigError: the name is not one of ACTIVATIONS.
    """
    if callable(name):
        return name
    try:
        return ACTIVATIONS[name]
    except KeyError:
        raise ConfigError(
            f"{key} is {shown(name)}; expected one of {', '.join(ACTIVATIONS)}, or a callable."
        ) from None


# -- linear layers --------------------------------------------------------------------------------


def affine(x: Tensor, weight: Tensor, bias: Tensor, then: Activation | None = None) -> Tensor:
    """Return then(x @ weight.T + bias): x (..., I), weight (O, I), bias (O) -> (..., O)."""
    if not _can_use_onednn(x, weight):
        result = F.linear(x, weight, bias)
        if _can_use_kernels(x, weight):
            return _activated(result, then)
        return result if then is None else then(result)
    name, variant = "none", ""
    if then is F.gelu or then is gelu_tanh:
        name, variant = "gelu", "none" if then is F.gelu else "tanh"
    result = _times(x, weight, bias, name, variant)
    return result if then is None or name == "gelu" else then(result)


def linear(x: Tensor, layer: nn.Linear, then: Activation | None = None) -> Tensor:
    """Apply a linear layer and an activation, without the overhead of a module call."""
    if not is_plain(layer, nn.Linear):
        return _called(x, layer, then)
    return affine(x, layer.weight, layer.bias, then)


def project(x: Tensor, layer: nn.Linear, then: Activation | None = None) -> Tensor:
    """Apply `linear`; if x is one short text, the result is stored feature by feature."""
    if not is_plain(layer, nn.Linear):
        return _called(x, layer, then)
    return _project(x, layer.weight, layer.bias, then)


def _called(x: Tensor, layer: nn.Module, then: Activation | None) -> Tensor:
    """Apply a layer by calling it."""
    result: Tensor = layer(x)
    return result if then is None else then(result)


def _project(x: Tensor, weight: Tensor, bias: Tensor, then: Activation | None = None) -> Tensor:
    if bias is None or not (_can_use_kernels(x, weight) and _is_short(x, weight)):
        return affine(x, weight, bias, then)
    return _by_feature(x.squeeze(0), weight, bias, then).t().unsqueeze(0)


def _is_short(x: Tensor, weight: Tensor) -> bool:
    """Return whether x (B, T, I) is one text with few tokens, compared with weight (O, I)."""
    features = _FEATURES_A_TOKEN * (2 if _mkl_is_faster() else 1)
    return x.dim() == 3 and len(x) == 1 and features * x.shape[1] <= min(weight.shape)


def _by_feature(x: Tensor, weight: Tensor, bias: Tensor, then: Activation | None = None) -> Tensor:
    """Compute then(weight @ x.T + bias): x (T, I), weight (O, I), bias (O) -> (O, T)."""
    result = torch.mm(weight, x.t()) if _mkl_is_faster() else _times(weight, x)
    result += bias.unsqueeze(1)
    return _activated(result, then)


def _activated(x: Tensor, then: Activation | None) -> Tensor:
    """Apply an activation to x, in place if it is GELU."""
    if then is F.gelu or then is gelu_tanh:
        variant = "none" if then is F.gelu else "tanh"
        return torch.ops.aten.gelu_.default(x, approximate=variant)  # type: ignore[no-any-return]
    return x if then is None else then(x)


def store_together(parts: tuple[nn.Linear, nn.Linear, nn.Linear]) -> None:
    """Store three layers of equal size contiguously; the parameters remain the same objects."""
    if not all(type(part) is nn.Linear and "bias" in own_parameters(part) for part in parts):
        return  # a replacement may have no weights, or other ones
    if parts[0].weight.is_meta or not special_kernels() or _joint(parts) is not None:
        return
    with torch.no_grad():
        weight = torch.cat([part.weight for part in parts])  # (3 * O, I)
        bias = torch.cat([part.bias for part in parts])
        for index, part in enumerate(parts):
            rows = slice(index * part.out_features, (index + 1) * part.out_features)
            part.weight.data, part.bias.data = weight[rows], bias[rows]


def project_together(
    x: Tensor, parts: tuple[nn.Linear, nn.Linear, nn.Linear], split: tuple[int, ...]
) -> tuple[Tensor, ...]:
    """`project` x (..., I) by three layers of equal size; return three tensors (..., *split)."""
    plain = _for_inference() and all(is_plain(part, nn.Linear) for part in parts)
    joint = _joint(parts) if plain else None
    if joint is None:
        return tuple(project(x, part).reshape(*x.shape[:-1], *split) for part in parts)
    together = _project(x, *joint).view(*x.shape[:-1], 3, *split)  # from (..., 3 * O)
    return together.unbind(x.dim() - 1)


def _joint(parts: tuple[nn.Linear, nn.Linear, nn.Linear]) -> tuple[Tensor, Tensor] | None:
    """Return views of the joint weight (3 * O, I) and bias (3 * O), None if not contiguous."""
    found = []
    for name in ("weight", "bias"):
        first, second, third = (getattr(part, name) for part in parts)
        if first is None or second is None or third is None:
            return None
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


def add(hidden: Tensor, residual: Tensor, *, over: bool) -> Tensor:
    """Return hidden + residual, both (..., D), stored token by token as the residual is.

    `over` allows to write the sum over `hidden`.
    """
    if over and hidden.dtype == residual.dtype and hidden.is_contiguous():
        hidden += residual
        return hidden
    return residual + hidden  # under autocast in the wider type


def layer_norm(x: Tensor, layer: nn.LayerNorm) -> Tensor:
    """Apply a layer normalisation without the overhead of a module call."""
    if not is_plain(layer, nn.LayerNorm):
        normalised: Tensor = layer(x)
        return normalised
    return F.layer_norm(x, layer.normalized_shape, layer.weight, layer.bias, layer.eps)


# -- attention ------------------------------------------------------------------------------------


def masks_nothing(keep: Tensor) -> bool:
    """Return whether a mask keeps every token and can be left out; always False on a GPU."""
    # Reading a value from a GPU would wait for all work queued there.
    may_look = keep.device.type == "cpu" and not recording_graph() and special_kernels()
    return may_look and bool(keep.all())


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    *,
    scale: float = 1.0,
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Compute attention and return the probabilities as well.

    Args:
        query: (B, H, T, K).
        key: (B, H, T, K).
        value: (B, H, T, K).
        bias: added to the scores; (B or 1, 1, 1 or T, T), or None.
        scale: factor of the products of query and key.
        dropout: dropout rate of the probabilities; those returned are without dropout.

    Returns:
        The attention-weighted means of the values (B, H, T, K), and the probabilities
        (B, H, T, T), whose rows sum to 1.
    """
    batch, _, tokens, _ = query.shape
    if not dropout and _can_use_kernels(query, key):
        if tokens >= _HEAD_BY_HEAD and not (_mkl_uses_whole_unit() or _mkl_is_faster()):
            return _attend_head_by_head(query * scale, key, value, bias)
        if batch == 1 or tokens >= _ROW_BY_ROW:
            return _attend_row_by_row(query, key, value, bias, scale)
    scores = torch.matmul(query * scale, key.transpose(-1, -2))  # (B, H, T, T)
    if bias is not None:
        scores += bias
    in_place = scores.device.type == "cpu" and _for_inference()
    probabilities = torch.softmax(scores, dim=-1, out=scores if in_place else None)
    seen = F.dropout(probabilities, dropout) if dropout else probabilities
    return torch.matmul(seen, value), probabilities  # (B, H, T, K), (B, H, T, T)


def attend_only(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, *, dropout: float = 0.0
) -> Tensor:
    """Compute attention (B, H, T, K), scores divided by the square root of K; see `attend`."""
    if query.stride(-1) != 1 and _can_use_kernels(query, key):
        # PyTorch's kernel would reorder these few numbers.
        return attend(query, key, value, bias, scale=1 / math.sqrt(query.shape[-1]))[0]
    return F.scaled_dot_product_attention(query, key, value, attn_mask=bias, dropout_p=dropout)


def _attend_row_by_row(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, scale: float
) -> tuple[Tensor, Tensor]:
    """Compute `attend` for one text after another, reading and writing everything in place.

    Heads of several texts cannot be read as one batch of matrices without copying them.
    """
    batch, heads, tokens, size = query.shape
    probabilities = BLOCKS.empty((batch, heads, tokens, tokens))
    by_feature = query.stride(-1) != 1
    if by_feature:
        context = query.new_empty(heads, size, batch, tokens).permute(2, 0, 3, 1)
    else:
        context = query.new_empty(batch, tokens, heads, size).transpose(1, 2)  # (B, H, T, K)
    biases = None if bias is None else bias.expand(batch, *bias.shape[1:]).unbind(0)
    parts = (query, key, value, probabilities, context)
    rows = zip(*(part.unbind(0) for part in parts), strict=True)
    for row, (queries, keys, values, scores, means) in enumerate(rows):
        torch.baddbmm(scores, queries, keys.transpose(1, 2), beta=0, alpha=scale, out=scores)
        if biases is not None:
            scores += biases[row]
        torch.softmax(scores, dim=-1, out=scores)  # (H, T, T)
        if by_feature:  # the transposed product, so that the result is written in order
            transposed = means.transpose(1, 2)  # (H, K, T)
            torch.bmm(values.transpose(1, 2), scores.transpose(1, 2), out=transposed)
        else:
            torch.bmm(scores, values, out=means)  # (H, T, K)
    return context, probabilities


def _attend_head_by_head(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Compute `attend` one head at a time, in the CPU cache, with oneDNN.

    The scores of one head with 512 tokens take 1 MiB; those of a whole layer do not fit. Where
    `torch.matmul` with MKL is slow, this takes 0.6 of the time.
    """
    batch, heads, tokens, size = query.shape
    probabilities = BLOCKS.empty((batch, heads, tokens, tokens))
    # (B, T, H, K), so that joining the heads later needs no copy
    context = query.new_empty(batch, tokens, heads, size)
    query, key = query.contiguous(), key.contiguous()
    value = value.transpose(-1, -2).contiguous()  # (B, H, K, T), the layout of a weight
    for row, head in product(range(batch), range(heads)):
        scores = _times(query[row, head], key[row, head])  # (T, T)
        if bias is not None:
            scores += bias[row if bias.shape[0] > 1 else 0, 0]
        one = torch.softmax(scores, dim=-1, out=probabilities[row, head])
        context[row, :, head] = _times(one, value[row, head])
    return context.transpose(1, 2), probabilities


def _can_use_onednn(x: Tensor, weight: Tensor) -> bool:
    """Return whether oneDNN can multiply these tensors for inference, and is the faster one."""
    if x.dtype == torch.float32:
        return _can_use_kernels(x, weight) and not _mkl_is_faster()
    return HAS_BFLOAT16 and _can_use_kernels(x, weight, torch.bfloat16)


def _can_use_kernels(x: Tensor, weight: Tensor, kind: torch.dtype = torch.float32) -> bool:
    """Return whether kernels for inference can be used for these tensors."""
    return (
        HAS_ONEDNN
        and _for_inference()
        and x.dtype == weight.dtype == kind
        and x.device.type == weight.device.type == "cpu"
        and x.numel() > 0  # empty if all heads are pruned or no positions are requested
        and weight.numel() > 0
        and not torch.is_autocast_enabled("cpu")
    )


# -- memory ---------------------------------------------------------------------------------------

_SMALL = 2**16
"""Numbers (256 KiB) below which the ordinary allocator is faster."""
_LARGE_PAGE = 2**19
"""Numbers in one large page of Linux (2 MiB)."""
_LINE = 16
"""Numbers in a cache line, at which blocks begin."""


def _step(size: int) -> int:
    """Return of what block sizes are multiples, so that similar texts can reuse blocks."""
    return _LARGE_PAGE if size >= _LARGE_PAGE else _SMALL


def _keep_freed_memory() -> None:
    """Make glibc keep up to 64 MB of freed memory; other allocators take no notice.

    It otherwise returns what a batch's inner states took to the system and requests it again, in
    4 kB pages that the system clears: a tenth of the time of MiniLM with (8, 128) tokens. Freeing
    one piece of almost 32 MiB, which is never touched, raises its limits (mallopt(3),
    M_MMAP_THRESHOLD).
    """
    torch.empty(2**23 - 2**12)


class Blocks:
    """A bounded, thread-safe store of unused memory blocks.

    Args:
        keep: largest number of unused blocks; beyond it, the block unused for longest is freed.
    """

    def __init__(self, keep: int) -> None:
        # No lock: the garbage collector can return a block at any line of this class, and
        # appending to or popping from a deque is atomic.
        self._free: deque[NDArray[np.float32]] = deque(maxlen=keep)

    def empty(self, shape: tuple[int, ...]) -> Tensor:
        """Return an uninitialised float32 tensor on the CPU."""
        size = math.prod(shape)
        if size < _SMALL:
            return torch.empty(shape)
        block = self._fitting(size)
        if block is None:
            # NumPy requests large pages from the system; PyTorch does not.
            step = _step(size)
            block = np.empty(-(-size // step) * step + _LINE, dtype=np.float32)
        # Every tensor or array that views this memory keeps `root` alive (a view of `block`
        # would keep only `block` alive). When `root` is collected, the block returns.
        start = -block.ctypes.data % (4 * _LINE)
        root = np.frombuffer(block.data, dtype=np.float32, count=size, offset=start)
        weakref.finalize(root, self._free.append, block).atexit = False
        return torch.from_numpy(root.reshape(shape))

    def _fitting(self, size: int) -> NDArray[np.float32] | None:
        """Take an unused block that is large enough but not much larger than needed."""
        for _ in range(len(self._free)):
            try:
                block = self._free.popleft()
            except IndexError:  # another thread took the last one
                return None
            if size <= block.size - _LINE < 2 * size + _step(size):
                return block
            self._free.append(block)
        return None

    def __len__(self) -> int:
        """Return the current number of unused blocks."""
        return len(self._free)


BLOCKS = Blocks(keep=24)
"""The blocks of two forward passes of BERT base: 24 layers, 302 MB at 512 tokens."""

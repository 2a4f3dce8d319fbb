"""Giving the parameters of a model without memory their memory and their values."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from bert_core.checkpoints.formats.file_tensors import map_run
from bert_core.checkpoints.formats.weights import StoredTensor
from bert_core.checkpoints.keys import Found
from bert_core.checkpoints.matching import Match
from bert_core.errors import CheckpointError

if TYPE_CHECKING:
    from bert_core.model.bert import BertPreTrainedModel

_QUERY = ".attention.self.query."
_LINE = 64  # bytes; tensors begin where a line of the processor's cache does
_PIECE = 64 * 1024 * 1024
_PROJECTIONS = (_QUERY, ".attention.self.key.", ".attention.self.value.")


def fill(
    model: "BertPreTrainedModel", plan: Match, dtype: torch.dtype, *, allow_nonfinite: bool = False
) -> None:
    """Give every parameter its values: mapped ones, converted ones, or fresh ones.

    Args:
        model: a model built without memory.
        plan: which stored tensor fills which parameter.
        dtype: the number type to fill with.
        allow_nonfinite: whether weights may be NaN or infinite.

    Raises:
        CheckpointError: a parameter would hold NaN or infinite values.
    """
    from bert_core.model.bert import init_weights  # that module imports this package

    modules = dict(model.named_modules())
    # In one order in every process, so that a seed gives the same fresh values everywhere.
    for owner in dict.fromkeys(name.rpartition(".")[0] for name in plan.missing):
        module = modules[owner]
        for leaf, parameter in list(module.named_parameters(recurse=False)):
            _set(module, leaf, torch.zeros(parameter.shape, dtype=dtype, device="cpu"))
        init_weights(module, model.config.initializer_range)
    mapped = _map_stored(plan, dtype)
    reserved = _reserve(plan, mapped, dtype)
    for name, found in plan.stored.items():
        if name in reserved:
            found.tensor.copy_to(reserved[name])
    values = mapped | reserved
    if not allow_nonfinite:
        check_finite([(found, values[name]) for name, found in plan.stored.items()])
    for name in plan.stored:
        owner, _, leaf = name.rpartition(".")
        _set(modules[owner], leaf, values[name])
    model.tie_weights()


def check_finite(filled: Sequence[tuple[Found, Tensor]]) -> None:
    """Refuse weights that are NaN or infinite; every result of such a model would be NaN.

    The length of a vector is finite only where all of its values are, and takes one pass over
    the memory. Only where it is not finite are the values counted: the squares of large finite
    values can overflow as well. Each thread takes whole tensors; functions that PyTorch shares
    out among threads wait for the slowest at every tensor, for half a second on a busy machine.

    Args:
        filled: tensors of a checkpoint, each with the values that a parameter gets from it.

    Raises:
        CheckpointError: names the first such tensors, and how many of their values it is.
    """
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        lengths = list(pool.map(lambda entry: torch.linalg.vector_norm(entry[1]).item(), filled))
    complaints = []
    for (found, values), length in zip(filled, lengths, strict=True):
        if math.isfinite(length):
            continue
        if count := int((~torch.isfinite(values)).sum()):
            kind = "" if values.dtype == found.tensor.dtype else f" as {values.dtype}"
            complaints.append(f"{found.file_name} ({count:,} of {values.numel():,} values{kind})")
    if complaints:
        shown = ", ".join(complaints[:3])
        more = f" and {len(complaints) - 3:,} more tensors" if len(complaints) > 3 else ""
        raise CheckpointError(
            f"Weights are NaN or infinite: {shown}{more}. Expected finite numbers; every result of "
            "this model would be NaN. The training that wrote it diverged or the file is damaged: "
            "get another one, or load it all the same with allow_nonfinite=True."
        )


def _set(module: nn.Module, leaf: str, values: Tensor) -> None:
    setattr(module, leaf, nn.Parameter(values))


def _reserve(plan: Match, mapped: dict[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    """Reserve memory for what is not mapped; query, key and value side by side.

    The model would lay these three together itself, which costs another copy of them.
    """
    shapes = {name: found.tensor.shape for name, found in plan.stored.items() if name not in mapped}
    memory = _Memory(sum(math.prod(shape) for shape in shapes.values()), dtype)
    reserved: dict[str, Tensor] = {}
    for name, shape in shapes.items():
        names = [name.replace(_QUERY, projection) for projection in _PROJECTIONS]
        if _QUERY in name and all(part in shapes for part in names):
            joint = memory.empty((len(names), *shape))
            reserved.update(zip(names, joint, strict=True))
        elif name not in reserved:
            reserved[name] = memory.empty(shape)
    return reserved


class _Memory:
    """Fresh memory for many tensors, cut from a few large pieces.

    The system gives memory in pages of 4 kB, each cleared first; numpy asks for large pages where
    a piece is large, PyTorch does not. For the 113 MB of a small model in float32 that was 50 of
    70 ms on a quiet machine and most of 0.4 s on a busy one.

    Args:
        total: numbers that will be asked for.
        dtype: number type of all of them.
    """

    def __init__(self, total: int, dtype: torch.dtype) -> None:
        self._left, self._dtype = total * dtype.itemsize, dtype
        self._piece = np.empty(0, dtype=np.uint8)
        self._used = 0

    def empty(self, shape: tuple[int, ...]) -> Tensor:
        """Return a tensor whose values are whatever was there before."""
        count = math.prod(shape)
        size = -(-count * self._dtype.itemsize // _LINE) * _LINE
        if not size:
            return torch.empty(shape, dtype=self._dtype, device="cpu")
        if self._used + size > self._piece.size:
            self._piece = np.empty(max(size, min(self._left, _PIECE)), dtype=np.uint8)
            self._used = 0
        part = torch.frombuffer(self._piece.data, dtype=self._dtype, count=count, offset=self._used)
        self._used += size
        self._left -= size
        return part.view(shape)


def _map_stored(plan: Match, dtype: torch.dtype) -> dict[str, Tensor]:
    """Map what needs no conversion; query, key and value as one storage where they adjoin."""
    stored: dict[str, StoredTensor] = {
        name: found.tensor for name, found in plan.stored.items() if found.tensor.dtype == dtype
    }
    mapped: dict[str, Tensor] = {}
    for name in stored:
        if _QUERY in name:
            names = [name.replace(_QUERY, projection) for projection in _PROJECTIONS]
            run = map_run([stored[part] for part in names]) if set(names) <= set(stored) else None
            mapped.update(zip(names, run or (), strict=False))
    for name, tensor in stored.items():
        if name not in mapped and (alone := map_run([tensor])) is not None:
            mapped[name] = alone[0]
    return mapped

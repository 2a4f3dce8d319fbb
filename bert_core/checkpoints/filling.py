"""Allocate and fill the parameters of a model that was built without memory."""

import itertools
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor, nn

from bert_core.checkpoints.fillable import Fillable, M
from bert_core.checkpoints.keys import Found, bare_name
from bert_core.checkpoints.plan import Plan
from bert_core.errors import CheckpointError

_QUERY = ".attention.self.query."
_LINE = 64  # bytes; tensors are aligned to cache lines
_PROJECTIONS = (_QUERY, ".attention.self.key.", ".attention.self.value.")


def fill(
    plan: Plan[M],
    dtype: torch.dtype,
    *,
    shared: Mapping[str, nn.Parameter] | None = None,
    allow_nonfinite: bool = False,
) -> M:
    """Fill every parameter of a planned model with stored, shared or fresh values.

    The files of the plan must still be open. `shared` holds parameters of another model to use
    instead of the stored ones.

    Raises:
        CheckpointError: a parameter would be NaN or infinite, tied copies differ, or the class
            cannot be filled (`Plan.refusal`).
    """
    if plan.refusal:
        raise CheckpointError(plan.refusal)
    model, shared = plan.model, dict(shared or {})
    fill_fresh(model, plan.report.missing, dtype, torch.device("cpu"))
    stored = {name: found for name, found in plan.stored.items() if name not in shared}
    values = _reserve(stored, dtype)
    for name, memory in values.items():
        stored[name].tensor.copy_to(memory)
    if not allow_nonfinite:
        check_finite([(found, values[name]) for name, found in stored.items()])
    set_parameters(model, {name: nn.Parameter(value) for name, value in values.items()} | shared)
    _check_repeats(plan, set(stored))
    model.load_report = plan.report
    return model.eval()


def set_parameters(model: Fillable, parameters: Mapping[str, nn.Parameter]) -> None:
    """Replace parameters of a model by name, and tie the tied ones to them."""
    modules = dict(model.named_modules())
    for name, parameter in parameters.items():
        owner, _, leaf = name.rpartition(".")
        setattr(modules[owner], leaf, parameter)
    model.tie_weights()


def fill_fresh(
    model: Fillable, missing: Sequence[str], dtype: torch.dtype, device: torch.device
) -> None:
    """Initialize every module that lacks a parameter with fresh values of its own."""
    modules = dict(model.named_modules())
    # The order is the same in every process, so a seed gives the same fresh values everywhere.
    for owner in dict.fromkeys(name.rpartition(".")[0] for name in missing):
        module = modules[owner]
        for leaf, parameter in list(module.named_parameters(recurse=False)):
            fresh = torch.zeros(parameter.shape, dtype=dtype, device=device)
            setattr(module, leaf, nn.Parameter(fresh))
        model.init_bert_weights(module)


def check_finite(filled: Sequence[tuple[Found, Tensor]]) -> None:
    """Reject weights that are NaN or infinite; every result of such a model would be NaN.

    The norm of a vector is finite only if all of its values are, and takes one pass over the
    memory, as fast as one core can read it. Only if it is not finite are the values counted, since
    the squares of large finite values can overflow too. Each thread takes the next whole tensor
    from one iterator, without waiting for the others: at base size that takes 33 ms of one thread,
    22 of two, 16 of four (a future per tensor: 26 and 26). Sums, which PyTorch splits among
    threads, take 18 and 12, but then all wait for the slowest at every tensor: 0.6 s if the
    machine is busy.

    Args:
        filled: tensors of a checkpoint, each with the parameter values taken from it.

    Raises:
        CheckpointError: lists the first such tensors and how many of their values are affected.
    """
    threads, remaining = torch.get_num_threads(), enumerate(filled)

    def suspects(_: int) -> list[int]:
        norm = torch.linalg.vector_norm
        return [i for i, (_, values) in remaining if not math.isfinite(norm(values).item())]

    with ThreadPoolExecutor(threads) as pool:
        found_by = pool.map(suspects, range(threads))
        places = sorted(itertools.chain.from_iterable(found_by))
    complaints = []
    for found, values in (filled[place] for place in places):
        if count := int((~torch.isfinite(values)).sum()):
            kind = "" if values.dtype == found.tensor.dtype else f" as {values.dtype}"
            complaints.append(f"{found.file_name} ({count:,} of {values.numel():,} values{kind})")
    if complaints:
        shown = ", ".join(complaints[:3])
        more = f" and {len(complaints) - 3:,} more tensors" if len(complaints) > 3 else ""
        raise CheckpointError(
            f"Weights are NaN or infinite: {shown}{more}. Expected finite numbers; every result of "
            "this model would be NaN. The training that wrote it diverged or the file is damaged: "
            "get another one, or load it anyway with allow_nonfinite=True."
        )


def _check_repeats(plan: Plan[M], filled: set[str]) -> None:
    """Reject a checkpoint whose tied copies differ from the originals that were read.

    Models of this package store both once, so they would compute with the wrong numbers.
    """
    tied = {bare_name(name) for name in plan.model.tied_keys()}
    places = {bare_name(name): name for name in filled}
    for repeat in plan.repeats:
        if repeat.original not in places or repeat.name not in tied:
            continue
        original = plan.model.get_parameter(places[repeat.original]).detach()
        same = repeat.copy.tensor.shape == tuple(original.shape)
        if same:
            copy = torch.empty_like(original)
            repeat.copy.tensor.copy_to(copy)
            same = torch.equal(copy, original) or torch.allclose(
                copy, original, rtol=0, atol=0, equal_nan=True
            )
        if not same:
            raise CheckpointError(
                f"{repeat.copy.file_name} differs from {repeat.original}. These are one parameter "
                "in this model (a decoder is tied to the word embeddings, an ALBERT repeats its "
                "layers); a checkpoint where they are two cannot be loaded."
            )


def _reserve(stored: Mapping[str, Found], dtype: torch.dtype) -> dict[str, Tensor]:
    """Reserve memory for the tensors in one piece, with query, key and value adjacent.

    Otherwise the model would join these three itself, at the cost of another copy. The system
    provides memory in pages of 4 kB and clears each first; numpy requests large pages for a large
    piece, PyTorch does not. For the 113 MB of a small model in float32 that was 50 of 70 ms on a
    quiet machine and most of 0.4 s on a busy one.
    """
    shapes = {name: found.tensor.shape for name, found in stored.items()}
    groups = {name: [name] for name in shapes}
    for name in shapes:
        names = [name.replace(_QUERY, projection) for projection in _PROJECTIONS]
        if _QUERY in name and all(part in shapes for part in names):
            groups[name] = names
            del groups[names[1]], groups[names[2]]
    counts = {name: len(group) * math.prod(shapes[name]) for name, group in groups.items()}
    sizes = [-(-count * dtype.itemsize // _LINE) * _LINE for count in counts.values()]
    starts = itertools.accumulate(sizes, initial=0)
    memory = np.empty(sum(sizes), dtype=np.uint8).data
    reserved: dict[str, Tensor] = {}
    for (name, group), start in zip(groups.items(), starts, strict=False):
        flat = torch.empty(0, dtype=dtype, device="cpu")
        if count := counts[name]:  # a storage of its own, so that torch.save stores only these
            flat = torch.frombuffer(memory, dtype=dtype, count=count, offset=start)
        reserved.update(zip(group, flat.view(len(group), *shapes[name]), strict=True))
    return reserved

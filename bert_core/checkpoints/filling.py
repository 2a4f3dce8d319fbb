"""Fill the parameters of a model that was built without memory, and check them."""

import math
from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn

from bert_core.checkpoints.fillable import Fillable, M
from bert_core.checkpoints.keys import bare_name
from bert_core.checkpoints.plan import Plan
from bert_core.checkpoints.unused import some
from bert_core.errors import CheckpointError


def fill(
    plan: Plan[M],
    dtype: torch.dtype,
    *,
    shared: Mapping[str, nn.Parameter] | None = None,
) -> M:
    """Fill every parameter of a planned model with stored, shared or fresh values.

    Stored values are copied, so that the files may change afterwards; parameters of a model in
    memory (`weights.HELD`) are shared. `shared` holds parameters of another model to use instead of
    the stored ones.

    Raises:
        CheckpointError: a parameter would be NaN or infinite, tied copies differ, or the class
            cannot be filled (`Plan.refusal`).
    """
    if plan.refusal:
        raise CheckpointError(plan.refusal)
    model, shared = plan.model, dict(shared or {})
    fill_fresh(model, plan.report.missing, dtype, torch.device("cpu"))
    stored = {name: found for name, found in plan.stored.items() if name not in shared}
    held = {
        name: found.tensor for name, found in stored.items()
        if isinstance(found.tensor, nn.Parameter) and found.tensor.dtype == dtype
    }  # fmt: skip
    copied = {name: each.tensor.detach() for name, each in stored.items() if name not in held}
    # In row-major order, each with a storage of its own, as `torch.save` needs it.
    fresh = {name: each.to("cpu", dtype, copy=True).contiguous() for name, each in copied.items()}
    values = {name: nn.Parameter(value) for name, value in fresh.items()} | held
    check_finite((stored[name].file_name, stored[name].tensor, values[name]) for name in stored)
    set_parameters(model, values | shared)
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


def check_finite(filled: Iterable[tuple[str, Tensor, Tensor]]) -> None:
    """Reject weights that are NaN or infinite; every result of such a model would be NaN.

    `filled` has name, tensor of the checkpoint, and the values taken from it. Only if their norm is
    not finite are they counted, since squares of large values can overflow, too.
    """
    complaints = []
    for name, tensor, values in filled:
        if math.isfinite(torch.linalg.vector_norm(values).item()):
            continue
        if count := int((~torch.isfinite(values)).sum()):
            kind = "" if values.dtype == tensor.dtype else f" as {values.dtype}"
            complaints.append(f"{name} ({count:,} of {values.numel():,} values{kind})")
    if complaints:
        raise CheckpointError(
            f"Weights are NaN or infinite: {some(complaints)}. Expected finite numbers. Get "
            "another file."
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
        copy = repeat.copy.tensor
        if copy.shape != original.shape or not torch.allclose(
            copy.to(original.dtype), original, rtol=0, atol=0, equal_nan=True
        ):
            raise CheckpointError(
                f"{repeat.copy.file_name} differs from {repeat.original}; expected equal values: "
                "tied, these are one parameter in this model. It cannot be loaded."
            )

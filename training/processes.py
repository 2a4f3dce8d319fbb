"""One stage in several processes, on one machine or many: each computes its share of every step.

`torchrun` starts the processes and tells each its number. All build the whole step and do the same
update, so weights stay equal, and any number of processes may resume. DDP would need the loss to be
one call of the model's `forward`; the recipe's losses are not.
On a processor, a process for each core is faster than threads, which wait for the slowest of them
hundreds of times per step: 4 seconds in place of 11 to 15 on two cores that did other work, too.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

COUNT = int(os.environ.get("WORLD_SIZE", "1"))
NUMBER = int(os.environ.get("RANK", "0")) if COUNT > 1 else 0
CARD = int(os.environ.get("LOCAL_RANK", "0"))
FIRST = NUMBER == 0  # the one that writes, measures and speaks
_PATIENCE = timedelta(hours=1)  # while one process measures, the others wait for it


def join() -> None:
    """Meet the others; numbers travel in the processor's memory, gradients where the model is."""
    if COUNT > 1 and not dist.is_initialized():
        both = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        dist.init_process_group(both, timeout=_PATIENCE)


def leave() -> None:
    """Leave the others; call it when all are done."""
    if COUNT > 1:
        dist.destroy_process_group()


def anywhere(here: bool) -> bool:
    """Return whether something is so in any process; all wait for each other."""
    found = torch.tensor([int(here)])
    if COUNT > 1:
        dist.all_reduce(found, dist.ReduceOp.MAX)
    return bool(found)


@contextmanager
def first_before_others() -> Iterator[None]:
    """Let the first process do the block alone, such as writing a file that the others read."""
    if not FIRST:
        anywhere(True)
    yield
    if FIRST:
        anywhere(True)


def agreed(value: float) -> float:
    """Return the first process's value, such as a time, in all of them."""
    found = torch.tensor([value], dtype=torch.float64)
    if COUNT > 1:
        dist.broadcast(found, src=0)
    return float(found)


def add_gradients(model: nn.Module) -> None:
    """Add up the gradients of all processes; a parameter that no part used keeps none."""
    if COUNT == 1:
        return
    parameters = list(model.parameters())
    used = torch.tensor([int(parameter.grad is not None) for parameter in parameters])
    dist.all_reduce(used, dist.ReduceOp.MAX)
    for parameter, is_used in zip(parameters, used.tolist(), strict=True):
        if is_used:
            own = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            dist.all_reduce(own)
            parameter.grad = own


def add_figures(figures: Mapping[str, float]) -> dict[str, float]:
    """Add up named values of all processes; each may have names of its own."""
    found: list[Mapping[str, float]] = [figures] * COUNT
    if COUNT > 1:
        dist.all_gather_object(found, dict(figures))
    names = dict.fromkeys(name for each in found for name in each)
    return {name: sum(each.get(name, 0.0) for each in found) for name in names}

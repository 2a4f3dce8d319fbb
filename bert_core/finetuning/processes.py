"""Computing the parts of one step in several processes, on one machine or many (data parallel).

`torchrun` starts the processes and tells each its number. Every process builds the whole step and
computes every n-th part of it; the gradients are added up over all of them, and each then does the
same update. So the weights stay equal everywhere, the step is the one that a single process would
do, and the number of processes may change whenever a training is resumed.

A process holds the whole state of the optimizer. Sharing it out (ZeRO, Rajbhandari et al. 2020)
pays when it does not fit: for AdamW it has 8 bytes per parameter, 0.2 GB for the bundled model and
0.9 GB for BERT-base.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

_PATIENCE = timedelta(hours=1)  # while one process measures, the others wait for it


class Processes:
    """The processes of a training; without `torchrun`, this one alone.

    Attributes:
        number: of this process, from 0; the first one writes.
        count: how many there are.
    """

    def __init__(self) -> None:
        self.count = int(os.environ.get("WORLD_SIZE", "1"))
        self.number = int(os.environ.get("RANK", "0")) if self.count > 1 else 0
        if self.count > 1 and not dist.is_initialized():
            # Numbers about the step are in the memory of the processor, gradients where the model
            # is: each kind of memory has its own way of sending.
            both = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
            dist.init_process_group(both, timeout=_PATIENCE)

    @property
    def first(self) -> bool:
        """Whether this process is the one that writes, measures and speaks."""
        return self.number == 0

    @property
    def device(self) -> int:
        """Number of the card of this process, on its machine."""
        return int(os.environ.get("LOCAL_RANK", "0"))

    def meet(self) -> None:
        """Wait for all the others."""
        self.any(True)

    @contextmanager
    def first_before_others(self) -> Iterator[None]:
        """Let the first process do the block alone, such as writing a file that the others read."""
        if not self.first:
            self.meet()
        yield
        if self.first:
            self.meet()

    def share(self, parts: Sequence[Any]) -> Sequence[Any]:
        """Return the parts of a step that this process computes."""
        return parts[self.number :: self.count]

    def agreed(self, value: float) -> float:
        """Return the first process's value, such as a time, in all of them."""
        if self.count == 1:
            return value
        told = torch.tensor([value], dtype=torch.float64)
        dist.broadcast(told, src=0)
        return float(told)

    def any(self, here: bool) -> bool:
        """Return whether something is so in any process."""
        if self.count == 1:
            return here
        told = torch.tensor([int(here)])
        dist.all_reduce(told, dist.ReduceOp.MAX)
        return bool(told)

    def add_figures(self, figures: Mapping[str, float]) -> dict[str, float]:
        """Add up named values of all processes; each may have names of its own."""
        if self.count == 1:
            return dict(figures)
        found: list[Mapping[str, float]] = [{}] * self.count
        dist.all_gather_object(found, dict(figures))
        names = dict.fromkeys(name for each in found for name in each)
        return {name: sum(each.get(name, 0.0) for each in found) for name in names}

    def add_gradients(self, model: nn.Module) -> None:
        """Add up the gradients of all processes; what no part used keeps none."""
        if self.count == 1:
            return
        parameters = list(model.parameters())
        used = torch.tensor([parameter.grad is not None for parameter in parameters]).int()
        dist.all_reduce(used, dist.ReduceOp.MAX)
        shared = [each for each, is_used in zip(parameters, used.tolist(), strict=True) if is_used]
        if not shared:
            return
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in shared]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        sizes = [parameter.numel() for parameter in shared]
        for parameter, total in zip(shared, torch.split(flat, sizes), strict=True):
            parameter.grad = _like(total, parameter)

    def close(self) -> None:
        """Leave the others; call it when all are done."""
        if self.count > 1 and dist.is_initialized():
            dist.destroy_process_group()


def _like(total: Tensor, parameter: Tensor) -> Tensor:
    return total.view_as(parameter).clone()  # memory of its own: the flat one is freed

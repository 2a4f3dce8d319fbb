"""What tests use of PyTorch beyond its documentation; `bert_core/compat.py` has the rest."""

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

__all__ = [
    "CONVERT",
    "READ",
    "TorchDispatchMode",
    "compiled_graphs",
    "hooks_of",
    "tree_leaves",
    "watch_compiled",
]

CONVERT = torch.ops.aten._to_copy
"""The operation behind every conversion of a tensor, as a `TorchDispatchMode` sees it."""

READ = torch.ops.aten._local_scalar_dense.default
"""The operation behind reading one number of a tensor."""


def compiled_graphs() -> int:
    """Return how many graphs `torch.compile` has made since it was reset."""
    return int(torch._dynamo.utils.counters["stats"]["unique_graphs"])


def hooks_of(module: torch.nn.Module) -> list[object]:
    """Return the hooks of a module."""
    return [*module._forward_hooks.values()]


def watch_compiled(module: torch.nn.Module, called: Callable[[], object]) -> None:
    """Call a function whenever the compiled form of a module is called."""
    compiled = module._compiled_call_impl

    def call(*given: Any, **named: Any) -> Any:
        called()
        return compiled(*given, **named)

    module._compiled_call_impl = call

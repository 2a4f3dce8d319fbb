"""What PyTorch does not document: oneDNN's product, which halves the time of a linear layer on some
processors; whether calling a module does more than its `forward`; how often a tensor was written
to.
"""

import torch
from torch import Tensor, nn
from torch.nn.modules import module as every_module

HAS_ONEDNN = hasattr(torch.ops.mkldnn, "_linear_pointwise")
"""Whether there is the operator; an operator of PyTorch's Inductor, missing without oneDNN."""


def onednn_product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply with oneDNN: x (..., I), weight (O, I), bias (O) -> (..., O).

    float32 on the CPU, without gradients.
    """
    product: Tensor = torch.ops.mkldnn._linear_pointwise.default(x, weight, bias, "none", [], "")
    return product


def does_more_than_forward(module: nn.Module) -> bool:
    """Return whether calling a module does more than its `forward`: hooks, or `Module.compile`."""
    return bool(
        module._forward_hooks
        or module._forward_pre_hooks
        or module._backward_hooks
        or module._backward_pre_hooks
        or every_module._global_forward_hooks
        or every_module._global_forward_pre_hooks
        or every_module._global_backward_hooks
        or every_module._global_backward_pre_hooks
        or module._compiled_call_impl is not None
    )


def times_written(tensor: Tensor) -> int:
    """Return how often a tensor was written to in place; 0 for one made in inference mode."""
    return 0 if tensor.is_inference() else tensor._version


def recording_graph() -> bool:
    """Return whether PyTorch records a graph: `torch.compile`, `export`, `jit.trace`, ONNX.

    The graph would contain only the branch that the example input takes, so code must not branch on
    values or sizes then.
    """
    if torch.compiler.is_compiling():
        return True
    tracing: bool = torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    return tracing

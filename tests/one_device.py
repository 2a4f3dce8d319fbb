"""Detect operations that mix tensors of two devices, on a machine with only one device."""

from typing import Any

import torch
from torch import Tensor

from tests.compat.torch import CONVERT, READ, TorchDispatchMode, tree_leaves


class OneDevice(TorchDispatchMode):
    """Rejects any operation except a copy that mixes tensors of two devices.

    Intended for the device "meta", whose tensors have shapes but no values. Where values are
    needed, they are made up: a scalar is 0.5, a mask selects every position, and tensors copied
    back to the processor are uniform along the last axis.
    """

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        places = {tensor.device.type for tensor in tensors}
        if len(places) > 1 and func.overloadpacket not in _COPIES:
            raise AssertionError(f"{func} sees tensors on {sorted(places)}")
        if places == {"meta"} and func is READ:
            return 0.5
        if places == {"meta"} and func is torch.ops.aten.index.Tensor:
            args = (args[0], [_every_place(index) for index in args[1]])
            args = (args[0], [part for parts in args[1] for part in parts])
        if places == {"meta"} and func.overloadpacket in _COPIES and _to_processor(kwargs):
            shape, dtype = args[0].shape, kwargs.get("dtype") or args[0].dtype
            return torch.full(shape, 1 / shape[-1], dtype=dtype)
        return func(*args, **kwargs)


_COPIES = {torch.ops.aten.to, CONVERT, torch.ops.aten.copy_}


def _to_processor(kwargs: dict[str, Any]) -> bool:
    return kwargs.get("device") == torch.device("cpu")


def _every_place(index: Tensor | None) -> list[Tensor | None]:
    """Turn a mask into the positions of all its elements."""
    if index is None or index.dtype != torch.bool:
        return [index]
    places = torch.zeros(index.numel(), dtype=torch.long, device="meta")
    return [places] * index.dim()

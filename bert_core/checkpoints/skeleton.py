"""Build a model without allocating memory: names and shapes first, values later."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

_RANDOM_FILLS = frozenset(
    {
        nn.init.normal_,
        nn.init.uniform_,
        nn.init.kaiming_uniform_,
        Tensor.normal_,
        Tensor.uniform_,
    }
)


class _NoRandomFills(TorchFunctionMode):
    """Skip random fills, for which PyTorch would import its compiler (seconds) in vain."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if func in _RANDOM_FILLS:
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))


@contextmanager
def without_memory() -> Iterator[None]:
    """Build modules with shapes but no values inside this context, in this thread only.

    >>> with without_memory():
    ...     layer = nn.Linear(1_000_000, 1_000_000)
    >>> layer.weight.is_meta
    True
    """
    with torch.device("meta"), _NoRandomFills():
        yield

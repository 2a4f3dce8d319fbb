"""What the checkpoints need to know of a model, and tell of it, and how it is built without memory.

`Fillable` is a model that can be filled, `LoadReport` says which of its parameters were;
`without_memory` gives names and shapes first, values later.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from bert_core.config import BertConfig


@dataclass(frozen=True, slots=True)
class LoadReport:
    """Which parameters of a model come from a checkpoint."""

    missing: Annotated[
        tuple[str, ...],
        "parameters of a pooler or head that no checkpoint filled; they have fresh random values, "
        "so results that depend on them are meaningless until they are trained. Weights without "
        "part of the embeddings or layers are not loaded at all",
    ] = ()
    unexpected: Annotated[
        tuple[str, ...],
        "tensors of the checkpoint that this class does not use, such as heads of other classes",
    ] = ()
    mismatched: Annotated[tuple[str, ...], "of `missing`, those stored in another shape"] = ()
    source: Annotated[str, "the name or folder the weights were read from"] = ""


class Fillable(nn.Module):
    """A module that can be filled: a config, tied parameters, and BERT's fresh values."""

    def __init__(self, config: BertConfig, *inputs: Any, **arguments: Any) -> None:
        super().__init__()
        self.config = config
        self.load_report: LoadReport | None = None

    def tied_keys(self) -> tuple[str, ...]:
        """Return the state-dict names that are aliases of another parameter."""
        return ()

    def tie_weights(self) -> None:
        """Make tied parameters refer to their originals again."""

    def init_bert_weights(self, module: nn.Module) -> None:
        """Initialise one module in place, as in `self.apply(self.init_bert_weights)`."""
        raise NotImplementedError


M = TypeVar("M", bound=Fillable)

_RANDOM_FILLS = {
    *(nn.init.normal_, nn.init.uniform_, nn.init.kaiming_uniform_),
    *(Tensor.normal_, Tensor.uniform_),
}


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

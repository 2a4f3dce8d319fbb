"""`Fillable`: what the checkpoints need to know of a model."""

from typing import Any, TypeVar

from torch import nn

from bert_core.checkpoints.report import LoadReport
from bert_core.config import BertConfig


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

"""Pad batches to a few fixed lengths, which suits compiled steps on a graphics card."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor
from torch.nn import functional as F

from bert_core.finetuning import BatchSource
from training.mixture import Part

_IGNORED = -100


class Padded:
    """A `BatchSource` that pads row lengths to a multiple of some number of tokens.

    The padding is hidden by the attention mask and has no labels, so the loss does not change.
    Packed blocks have no mask and are left as they are.

    Args:
        source: supplies the parts of each step.
        multiple: row lengths become a multiple of this; 64 suits the matrix units of graphics
            cards.
        pad_id: id of [PAD].
    """

    def __init__(self, source: BatchSource, multiple: int, pad_id: int) -> None:
        self.source, self.multiple, self.pad_id = source, multiple, pad_id

    def __call__(self, step: int, progress: float) -> list[Any]:
        """Return the parts of a step, padded."""
        return [self._padded(part) for part in self.source(step, progress)]

    def _padded(self, part: Any) -> Any:
        if not isinstance(part, Part):
            return replace(part, batch=self._tensors(part.batch))
        if part.batch.attention_mask is None:
            return part
        names = ("input_ids", "token_type_ids", "attention_mask")
        inputs = {name: getattr(part.batch, name) for name in names}
        return replace(part, batch=replace(part.batch, **self._tensors(inputs)))

    def _tensors(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Pad every tensor with one entry per token; (..., T) -> (..., T + added)."""
        shape = tensors["input_ids"].shape
        added = -shape[-1] % self.multiple
        fills = {"input_ids": self.pad_id, "labels": _IGNORED}
        return {
            name: F.pad(value, (0, added), value=fills.get(name, 0))
            if value.shape == shape
            else value
            for name, value in tensors.items()
        }

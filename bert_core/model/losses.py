"""The losses of all heads: which labels are ignored, and which are rejected."""

import torch
from torch import Tensor
from torch.nn import functional as F

from bert_core.compat import recording_graph
from bert_core.errors import InputError

IGNORED = (-1, -100)


def cross_entropy(logits: Tensor, labels: Tensor, *, name: str = "labels") -> Tensor:
    """Return the mean cross-entropy over the labels that are not ignored; 0 if there are none.

    Args:
        logits: (..., C).
        labels: (...), integers; -1 and -100 are ignored.

    Raises:
        InputError: labels have the wrong shape, are not integers, or (checked on CPU only) are
            outside 0..C-1.
    """
    labels = whole_numbers(labels, name)
    _check_labels(logits, labels, name)
    labels = labels.to(logits.device).flatten()
    counted = ~is_ignored(labels)
    targets = labels.masked_fill(~counted, IGNORED[1])
    flat = widened(logits).reshape(-1, logits.shape[-1])
    total = F.cross_entropy(flat, targets, ignore_index=IGNORED[1], reduction="sum")
    return total / counted.sum().clamp(min=1)


def widened(scores: Tensor) -> Tensor:
    """Return scores in float16 or bfloat16 as float32: sums of many losses need its digits."""
    return scores.float() if scores.dtype in (torch.float16, torch.bfloat16) else scores


def whole_numbers(labels: Tensor, name: str) -> Tensor:
    """Return labels as int64; narrower types may not fit all classes or -100."""
    if not isinstance(labels, Tensor) or labels.is_floating_point() or labels.is_complex():
        found = labels.dtype if isinstance(labels, Tensor) else type(labels).__name__
        raise InputError(f"{name} is {found}; expected a tensor of whole numbers.")
    return labels.long()


def _check_labels(logits: Tensor, labels: Tensor, name: str) -> None:
    if recording_graph():
        return
    classes, shape = logits.shape[-1], logits.shape[:-1]
    if labels.shape not in (shape, (*shape, 1)):  # older scripts often add a last axis of size 1
        raise InputError(f"{name} has the shape {tuple(labels.shape)}; expected {tuple(shape)}.")
    if labels.device.type == "cpu" and labels.numel():
        low, high = (int(value) for value in labels.aminmax())
        if high >= classes or (low < 0 and bool(((labels < 0) & ~is_ignored(labels)).any())):
            found = high if high >= classes else low
            raise InputError(
                f"{name} contains {found}; expected 0 to {classes - 1}, or -1 or -100 to ignore."
            )


def is_ignored(labels: Tensor) -> Tensor:
    """Return a mask of the labels to ignore."""
    return (labels == IGNORED[0]) | (labels == IGNORED[1])


def position_loss(logits: Tensor, positions: Tensor, name: str) -> Tensor:
    """Return the loss of an answer's start or end; positions (B,) outside 0..T-1 are ignored."""
    positions = whole_numbers(positions, name)
    outside = (positions < 0) | (positions >= logits.shape[-1])
    return cross_entropy(logits, positions.masked_fill(outside, IGNORED[1]), name=name)


def without_padding(labels: Tensor, attention_mask: Tensor | None, logits: Tensor) -> Tensor:
    """Return labels (B, T) that ignore the tokens whose attention mask is 0."""
    labels = whole_numbers(labels, "labels")
    if attention_mask is None or attention_mask.shape != labels.shape:
        return labels
    return labels.to(logits.device).masked_fill(attention_mask == 0, IGNORED[1])

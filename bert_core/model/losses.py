"""The losses of every head: what counts, what is ignored, what is refused."""

from torch import Tensor
from torch.nn import functional as F

from bert_core.errors import InputError
from bert_core.model.kernels import recording_graph

IGNORED = (-1, -100)


def cross_entropy(logits: Tensor, labels: Tensor, *, name: str = "labels") -> Tensor:
    """Return the mean cross-entropy over the labels that count; 0 where none does.

    Args:
        logits: (..., C).
        labels: (...), whole numbers; -1 and -100 are ignored.
        name: what to call the labels in an error.

    Raises:
        InputError: labels of another shape, not whole numbers, or (seen on CPU) outside 0..C-1.
    """
    labels = whole_numbers(labels, name)
    _check_labels(logits, labels, name)
    labels = labels.to(logits.device).flatten()
    counted = (labels != IGNORED[0]) & (labels != IGNORED[1])
    targets = labels.masked_fill(~counted, IGNORED[1])
    flat = logits.reshape(-1, logits.shape[-1])
    total = F.cross_entropy(flat, targets, ignore_index=IGNORED[1], reduction="sum")
    return total / counted.sum().clamp(min=1)


def whole_numbers(labels: Tensor, name: str) -> Tensor:
    """Return labels as int64, which alone holds every label and -100.

    Raises:
        InputError: they are no tensor of whole numbers.
    """
    if not isinstance(labels, Tensor) or labels.is_floating_point() or labels.is_complex():
        found = labels.dtype if isinstance(labels, Tensor) else type(labels).__name__
        raise InputError(f"{name} must be a tensor of whole numbers; got {found}.")
    return labels.long()


def _check_labels(logits: Tensor, labels: Tensor, name: str) -> None:
    if recording_graph():
        return
    classes, shape = logits.shape[-1], logits.shape[:-1]
    if labels.shape not in (shape, (*shape, 1)):  # a last axis of one is common in old scripts
        raise InputError(f"{name} has the shape {tuple(labels.shape)}; expected {tuple(shape)}.")
    if labels.device.type == "cpu" and labels.numel():
        low, high = (int(value) for value in labels.aminmax())
        if high >= classes or (low < 0 and bool(((labels < 0) & ~is_ignored(labels)).any())):
            found = high if high >= classes else low
            raise InputError(
                f"{name} holds {found}; expected 0 to {classes - 1}, or -1 or -100 to ignore."
            )


def is_ignored(labels: Tensor) -> Tensor:
    """Return where a label is one of IGNORED."""
    return (labels == IGNORED[0]) | (labels == IGNORED[1])


def position_loss(logits: Tensor, positions: Tensor, name: str) -> Tensor:
    """Return the loss of one end of an answer; positions (B,) outside 0..T-1 do not count."""
    positions = whole_numbers(positions, name)
    outside = (positions < 0) | (positions >= logits.shape[-1])
    return cross_entropy(logits, positions.masked_fill(outside, IGNORED[1]), name=name)

"""What a model was filled with, and what it was not."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoadReport:
    """Which parameters of a model come from a checkpoint.

    Attributes:
        missing: parameters that no checkpoint filled; they hold fresh random values, so what
            is computed with them means nothing until they are trained.
        unexpected: tensors of the checkpoint that this class of model has no place for.
        mismatched: those of `missing` that the checkpoint did have, in another shape (only
            where `ignore_mismatched_sizes=True` asked for it; otherwise that is an error).
        source: the name or folder the weights were read from.
    """

    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    mismatched: tuple[str, ...] = ()
    source: str = ""

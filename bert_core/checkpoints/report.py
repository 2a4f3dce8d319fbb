"""Report which parameters of a model were filled from a checkpoint."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoadReport:
    """Which parameters of a model come from a checkpoint.

    Attributes:
        missing: parameters of a pooler or head that no checkpoint filled; they have fresh random
            values, so results that depend on them are meaningless until they are trained. Weights
            without part of the embeddings or layers are not loaded at all.
        unexpected: tensors of the checkpoint that this model class does not use.
        mismatched: those of `missing` that the checkpoint has in another shape (only with
            `ignore_mismatched_sizes=True`; otherwise this is an error).
        source: the name or folder the weights were read from.
    """

    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    mismatched: tuple[str, ...] = ()
    source: str = ""

"""What the X-ray of one text shows."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class XrayResult:
    """One text on its way through the model.

    Attributes:
        tokens: the pieces that the model reads.
    """

    tokens: tuple[str, ...]

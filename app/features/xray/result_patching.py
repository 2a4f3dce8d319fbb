"""Two sentences, and which activations carry the difference between their answers."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

Grid = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Patching:
    """What happens when single activations of one sentence are put into the run of another.

    Grids have 0 for no change and 1 for the whole difference between the two answers; they may
    exceed both. Heads are patched at all pieces at once; NaN for a pruned head.
    """

    ANSWER: ClassVar = (
        "tokens", "other_tokens", "answers", "target", "values", "restored", "lost",
        "heads_restored", "heads_lost",
    )  # fmt: skip

    tokens: Annotated[
        tuple[str, ...], "of the first sentence, whose answer is to be restored or lost"
    ]
    other_tokens: Annotated[tuple[str, ...], "of the second sentence"]
    answers: Annotated[tuple[str, str], "the answer of each sentence"]
    target: Annotated[str, "what is measured, in the words of the library"]
    is_contrast: Annotated[bool, "whether that is the difference of the logits of two words"]
    values: Annotated[tuple[float, float], "the target for the first and for the second sentence"]
    restored: Annotated[
        Grid,
        "(L, T): how much of the first answer comes back if the run of the second sentence gets "
        "this activation of the first",
    ]
    lost: Annotated[
        Grid,
        "(L, T): how much of it is lost if the run of the first sentence gets this activation of "
        "the second",
    ]
    heads_restored: Annotated[Grid, "(L, H), the same for heads"]
    heads_lost: Annotated[Grid, "(L, H)"]

    @property
    def changed(self) -> tuple[int, ...]:
        """The pieces in which the sentences differ."""
        pairs = zip(self.tokens, self.other_tokens, strict=True)
        return tuple(at for at, (one, other) in enumerate(pairs) if one != other)

"""Two sentences, and which activations carry the difference between their answers."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

Grid = NDArray[np.float64]
Site = Literal["layer", "attention", "feed_forward"]


@dataclass(frozen=True, slots=True, eq=False)
class Patching:
    """What happens when single activations of one sentence are put into the run of another.

    Grids have 0 for no change and 1 for the whole difference between the two answers; they may
    exceed both. Heads are patched at all pieces at once; NaN for a pruned head.

    Attributes:
        tokens: of the first sentence, whose answer is to be restored or lost.
        other_tokens: of the second sentence.
        answers: the answer of each sentence.
        target: what is measured, in the words of the library.
        is_contrast: whether that is the difference of the logits of two words.
        values: the target for the first and for the second sentence.
        site: what is patched at each piece: the output of the layer, or what its attention or its
            feed-forward block adds.
        restored: (L, T): how much of the first answer comes back if the run of the second sentence
            gets this activation of the first.
        lost: (L, T): how much of it is lost if the run of the first sentence gets this activation
            of the second.
        heads_restored: (L, H), the same for heads.
        heads_lost: (L, H).
    """

    ANSWER: ClassVar = (
        "tokens", "other_tokens", "answers", "target", "values", "site", "restored", "lost",
        "heads_restored", "heads_lost",
    )  # fmt: skip

    tokens: tuple[str, ...]
    other_tokens: tuple[str, ...]
    answers: tuple[str, str]
    target: str
    is_contrast: bool
    values: tuple[float, float]
    site: Site
    restored: Grid
    lost: Grid
    heads_restored: Grid
    heads_lost: Grid

    @property
    def changed(self) -> tuple[int, ...]:
        """The pieces in which the sentences differ."""
        pairs = zip(self.tokens, self.other_tokens, strict=True)
        return tuple(at for at, (one, other) in enumerate(pairs) if one != other)

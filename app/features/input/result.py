"""The input of the first layer, taken apart."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Parts:
    """A number for each of several pieces, or the numbers of one vector, by the step.

    Attributes:
        word: of the word vector.
        position: of the position vector.
        segment: of the segment vector.
        sum: of the three added.
        normalised: after LayerNorm.
    """

    word: tuple[float, ...]
    position: tuple[float, ...]
    segment: tuple[float, ...]
    sum: tuple[float, ...]
    normalised: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class InputResult:
    """What the first layer is given for a text or a pair: T pieces, each a vector of D numbers.

    Attributes:
        text: as typed.
        text_pair: the second text, or "".
        tokens: T pieces, [CLS], [SEP] and [PAD] included.
        input_ids: T rows of the word table.
        token_type_ids: T segments.
        attention_mask: T times 1, or 0 for padding, which no layer may look at.
        word: (T, D), the word vectors.
        position: (T, D), the position vectors.
        segment: (T, D), the segment vectors.
        sum: (T, D), the three added.
        normalised: (T, D), after LayerNorm.
        mean: (T,), of each sum.
        variance: (T,), of each sum.
        scale: (D,), gamma of LayerNorm.
        shift: (D,), beta of LayerNorm.
        epsilon: added to the variance.
        rows: sizes of the three tables: pieces, positions, segments.
        piece: the piece whose vectors were asked for; None for none.
    """

    ANSWER: ClassVar = (
        "tokens",
        "input_ids",
        "token_type_ids",
        "attention_mask",
        "width",
        "lengths",
        "vectors",
    )

    text: str
    text_pair: str
    tokens: tuple[str, ...]
    input_ids: tuple[int, ...]
    token_type_ids: tuple[int, ...]
    attention_mask: tuple[int, ...]
    word: Vectors
    position: Vectors
    segment: Vectors
    sum: Vectors
    normalised: Vectors
    mean: Vectors
    variance: Vectors
    scale: Vectors
    shift: Vectors
    epsilon: float
    rows: tuple[int, int, int]
    piece: int | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def last_position(self) -> int:
        """The last position of which the model has a vector."""
        return self.rows[1] - 1

    @property
    def last_number(self) -> int:
        """The number of the last number of a vector, counted from 0."""
        return self.width - 1

    @property
    def width(self) -> int:
        """The number of numbers in every vector."""
        return int(self.word.shape[1])

    @property
    def real(self) -> int:
        """The number of pieces that are not padding."""
        return sum(self.attention_mask)

    @property
    def lengths(self) -> Parts:
        """The lengths of the vectors, a number for each piece."""
        return self._parts(lambda vectors: np.linalg.norm(vectors, axis=1))

    @property
    def vectors(self) -> Parts | None:
        """The vectors of the piece that was asked for; null if none was."""
        at = self.piece
        return None if at is None else self._parts(lambda vectors: vectors[at])

    def _parts(self, of: Callable[[Vectors], Vectors]) -> Parts:
        found = (self.word, self.position, self.segment, self.sum, self.normalised)
        return Parts(*(tuple(of(each).tolist()) for each in found))

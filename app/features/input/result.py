"""The input of the first layer, taken apart, and what is near its vectors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


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
    def width(self) -> int:
        """D, the length of every vector."""
        return int(self.word.shape[1])

    @property
    def real(self) -> int:
        """The number of pieces that are not padding."""
        return sum(self.attention_mask)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entry of the vocabulary that is near a piece.

    Attributes:
        token: its spelling.
        id: its row in the word table.
        cosine: 1 for the same direction.
    """

    token: str
    id: int
    cosine: float


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest entries of the vocabulary, before and after LayerNorm.

    Attributes:
        word: by word vector.
        normalised: by what each entry would become at the same position and segment.
    """

    word: tuple[Neighbour, ...]
    normalised: tuple[Neighbour, ...]

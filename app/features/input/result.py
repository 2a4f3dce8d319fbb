"""The input of the first layer, taken apart."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Parts:
    """A number for each of several pieces, or the numbers of one vector, by the step."""

    word: Annotated[tuple[float, ...], "of the word vector"]
    position: Annotated[tuple[float, ...], "of the position vector"]
    segment: Annotated[tuple[float, ...], "of the segment vector"]
    sum: Annotated[tuple[float, ...], "of the three added"]
    normalised: Annotated[tuple[float, ...], "after LayerNorm"]


@dataclass(frozen=True, slots=True)
class InputResult:
    """What the first layer is given for a text or a pair: T pieces, each a vector of D numbers."""

    ANSWER: ClassVar = ("tokens", "input_ids", "token_type_ids", "attention_mask", "width",
                        "lengths", "vectors")  # fmt: skip

    text: Annotated[str, "as typed"]
    text_pair: Annotated[str, 'the second text, or ""']
    tokens: Annotated[tuple[str, ...], "T pieces, [CLS], [SEP] and [PAD] included"]
    input_ids: Annotated[tuple[int, ...], "T rows of the word table"]
    token_type_ids: Annotated[tuple[int, ...], "T segments"]
    attention_mask: Annotated[
        tuple[int, ...], "T times 1, or 0 for padding, which no layer may look at"
    ]
    word: Annotated[Vectors, "(T, D), the word vectors"]
    position: Annotated[Vectors, "(T, D), the position vectors"]
    segment: Annotated[Vectors, "(T, D), the segment vectors"]
    sum: Annotated[Vectors, "(T, D), the three added"]
    normalised: Annotated[Vectors, "(T, D), after LayerNorm"]
    mean: Annotated[Vectors, "(T,), of each sum"]
    variance: Annotated[Vectors, "(T,), of each sum"]
    scale: Annotated[Vectors, "(D,), gamma of LayerNorm"]
    shift: Annotated[Vectors, "(D,), beta of LayerNorm"]
    epsilon: Annotated[float, "added to the variance"]
    rows: Annotated[tuple[int, int, int], "sizes of the three tables: pieces, positions, segments"]
    piece: Annotated[int | None, "the piece whose vectors were asked for; None for none"] = None

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

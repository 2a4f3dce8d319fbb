"""One word in many sentences: its vectors at every layer, compared."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One line of the text."""

    number: Annotated[int, "counted from 1"]
    text: Annotated[str, "as typed, without spaces at its ends"]
    group: Annotated[int, "counted from 0; a blank line begins a new one"]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """The word at one place."""

    label: Annotated[
        str, "the sentence's number, with a letter if the word is in it more than once"
    ]
    sentence: Annotated[int, "number of the sentence"]
    group: Annotated[int, "of the sentence"]
    start: Annotated[int, "its first character in the sentence"]
    end: Annotated[int, "the character after its last one"]
    pieces: Annotated[tuple[int, ...], "its positions among the tokens of the sentence"]


@dataclass(frozen=True)
class SensesResult:
    """What a model makes of one word in many sentences: N occurrences, L layers."""

    ANSWER: ClassVar = ("word", "layer", "sentences", "occurrences", "nearest",
                        "at_home", "within", "between", "coordinates", "shares")  # fmt: skip

    word: Annotated[str, "the word that was looked for"]
    sentences: Annotated[tuple[Sentence, ...], "every line of the text"]
    occurrences: Annotated[tuple[Occurrence, ...], "N places of the word, in order"]
    layer: Annotated[
        int, "the layer after which the word is shown, counted from 0; -1 for the input"
    ]
    similarity: Annotated[
        Floats, "(L + 1, N, N), cosines between the occurrences in the input and after every layer"
    ]
    space: Annotated[Floats, "(N, 3), the occurrences on their three principal axes"]
    shares: Annotated[tuple[float, ...], "of the variance, along each of the three axes"]

    @property
    def place(self) -> int:
        """The number of layers that the vectors shown have passed, 0 for the input."""
        return self.layer + 1

    @property
    def coordinates(self) -> Floats:
        """For each occurrence, its place in the plane of the two principal axes."""
        return self.space[:, :2]

    @cached_property
    def groups(self) -> tuple[int, ...]:
        """The groups in which the word occurs, in order."""
        return tuple(sorted({each.group for each in self.occurrences}))

    @cached_property
    def nearest(self) -> tuple[int, ...]:
        """For each occurrence, the index of the most similar other one at this layer.

        At the input, those at one place are equal but for rounding: the first of them is named.
        """
        found = self.similarity[self.place].copy()
        np.fill_diagonal(found, -np.inf)
        alike = found >= found.max(axis=1, keepdims=True) - 1e-5
        return tuple(int(index) for index in alike.argmax(axis=1))

    @cached_property
    def at_home(self) -> int:
        """The number of occurrences whose nearest neighbour is in their own group."""
        return sum(
            each.group == self.occurrences[near].group
            for each, near in zip(self.occurrences, self.nearest, strict=True)
        )

    @property
    def within(self) -> tuple[float, ...]:
        """Mean cosine of two places of the same group, in the input and after every layer."""
        return self.means(within=True)

    @property
    def between(self) -> tuple[float, ...]:
        """Mean cosine of two places of two groups, in the input and after every layer."""
        return self.means(within=False)

    def means(self, *, within: bool) -> tuple[float, ...]:
        """Return the mean cosine of pairs at every layer; () if there are no such pairs.

        Args:
            within: pairs in the same group if true, else pairs in two groups.
        """
        group = np.array([each.group for each in self.occurrences])
        pairs = np.triu((group[:, None] == group) == within, k=1)
        return tuple(float(layer[pairs].mean()) for layer in self.similarity) if pairs.any() else ()

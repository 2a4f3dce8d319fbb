"""Agreement between the entities a model found and those a person annotated."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["missed", "invented", "other kind", "other ends"]
"""A difference: annotated and nothing found there; found and nothing annotated there; the same
words as another kind; an overlap that is not the same words."""


@dataclass(frozen=True, slots=True)
class Named:
    """An entity by its place in the text.

    Attributes:
        kind: kind of entity, such as "PER".
        start: its first character in the text.
        end: the character after its last one.
    """

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Counts:
    """Entities of one kind, or of all.

    Attributes:
        kind: kind of entity; "" for all kinds.
        annotated: how many a person marked.
        found: how many the model marked.
        right: how many the model marked with the same words and the same kind.
    """

    kind: str
    annotated: int
    found: int
    right: int

    @property
    def precision(self) -> float | None:
        """Share of the found entities that are right; None if none was found."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """Share of the annotated entities that were found; None if none is annotated."""
        return self.right / self.annotated if self.annotated else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; None if there is nothing to count."""
        both = self.annotated + self.found
        return 2 * self.right / both if both else None


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where the model and the annotations differ.

    Attributes:
        verdict: the kind of difference.
        sentence: number of the sentence, counted from 1.
        annotated: what a person marked, if anything.
        found: what the model marked, if anything.
    """

    verdict: Verdict
    sentence: int
    annotated: Named | None
    found: Named | None

    @property
    def start(self) -> int:
        """The first character of either entity."""
        return min(named.start for named in (self.annotated, self.found) if named)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The model's entities compared with annotated ones.

    Attributes:
        text: the annotated words, separated by spaces, one sentence per line.
        words: number of words.
        sentences: number of sentences.
        annotated: the entities a person marked, in text order.
        found: the entities the model marked, in text order.
        total: counts for all kinds together (the micro average).
        kinds: counts for each kind that either side uses, sorted.
        differences: all differences, in text order.
        unknown: annotated kinds that the model has no label for.
    """

    text: str
    words: int
    sentences: int
    annotated: tuple[Named, ...]
    found: tuple[Named, ...]
    total: Counts
    kinds: tuple[Counts, ...]
    differences: tuple[Difference, ...]
    unknown: tuple[str, ...]

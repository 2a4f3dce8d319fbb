"""How far entities that a model found agree with those that a person annotated."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["missed", "invented", "other kind", "other ends"]
"""A difference: annotated and nothing found there; found and nothing annotated there; the same
words as another kind; an overlap that is not the same words."""


@dataclass(frozen=True, slots=True)
class Named:
    """An entity by its words.

    Attributes:
        kind: what it is, such as "PER".
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
        kind: what they are; "" for all kinds.
        annotated: how many a person marked.
        found: how many the model marked.
        right: how many it marked with the same words and the same kind.
    """

    kind: str
    annotated: int
    found: int
    right: int

    @property
    def precision(self) -> float | None:
        """The share of the found ones that are right; None where none was found."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """The share of the annotated ones that were found; None where none is annotated."""
        return self.right / self.annotated if self.annotated else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both; None where there is nothing at all to count."""
        both = self.annotated + self.found
        return 2 * self.right / both if both else None


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where the model and the annotations differ.

    Attributes:
        verdict: in which way.
        sentence: where, counted from 1.
        annotated: what a person marked, if anything.
        found: what the model marked, if anything.
    """

    verdict: Verdict
    sentence: int
    annotated: Named | None
    found: Named | None

    @property
    def start(self) -> int:
        """The first character of either."""
        return min(named.start for named in (self.annotated, self.found) if named)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The model's entities against annotated ones.

    Attributes:
        text: the annotated words, with blanks between them and a line a sentence.
        words: how many words.
        sentences: how many sentences.
        total: all kinds together (the micro average).
        kinds: each kind that either side uses, sorted.
        differences: in the order of the text.
        unknown: kinds that were annotated and that the model has no label for.
    """

    text: str
    words: int
    sentences: int
    total: Counts
    kinds: tuple[Counts, ...]
    differences: tuple[Difference, ...]
    unknown: tuple[str, ...]

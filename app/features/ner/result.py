"""What the entity tagger found: labels of every piece, and entities read from them in five ways."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.results import Calibration

Aggregation = Literal["none", "simple", "first", "average", "max"]
AGGREGATIONS: tuple[Aggregation, ...] = ("none", "simple", "first", "average", "max")


@dataclass(frozen=True, slots=True)
class Entity:
    """A stretch of the text that the model labelled.

    Attributes:
        label: what stands beside it: its kind, or for single pieces the label itself.
        kind: what it is, such as "PER".
        start: its first character in the text as typed.
        end: the character after its last one.
        score: probability of the label, the mean over its words (or pieces), 0 to 1.
        pieces: its first piece, and the one after its last.
    """

    label: str
    kind: str
    start: int
    end: int
    score: float
    pieces: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Fault:
    """A label that breaks the rules of its scheme, in one way of reading.

    Attributes:
        piece: the first piece that the label stands on.
        label: its name.
        before: the name of the label before it, "" at the beginning.
        opened: False where it continues what is not there; True where it promises what does not
            follow.
    """

    piece: int
    label: str
    before: str
    opened: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """The entities of a text by one aggregation.

    Attributes:
        entities: in the order of the text; they never overlap.
        faults: labels out of rule, at the pieces or words that this aggregation looks at.
        asked: for each piece whether its own prediction counts; (N,) of bool.
    """

    entities: tuple[Entity, ...]
    faults: tuple[Fault, ...]
    asked: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels that the model may give.

    Attributes:
        names: as its configuration spells them, in the order of its logits.
        of: the kind of each, "" for the one outside all entities.
        kinds: every kind, sorted: their order decides on colours and lines.
        scheme: "BIO", "IOB1", "IO", "BIOES" or "plain".
        nameless: whether the model never named them.
    """

    names: tuple[str, ...]
    of: tuple[str, ...]
    kinds: tuple[str, ...]
    scheme: str
    nameless: bool


@dataclass(frozen=True, slots=True)
class Coverage:
    """How the text was read.

    Attributes:
        windows: inputs that the model read one by one.
        room: pieces that one of them holds at most.
        shared: pieces that neighbours share.
        context: the fewest pieces that any piece had before or behind it in the window that
            decided on it; the ends of the text do not count as a lack.
    """

    windows: int
    room: int
    shared: int
    context: int


@dataclass(frozen=True, slots=True)
class Pieces:
    """Every piece of the text, column by column: a long text has tens of thousands.

    Attributes:
        tokens: N spellings in the vocabulary.
        spans: first character of each and the one after its last, in the text as typed.
        words: number of the word that each belongs to, (N,).
        probabilities: of every label at every piece, (N, C); each row adds up to 1.
    """

    tokens: Sequence[str]
    spans: Sequence[tuple[int, int]]
    words: NDArray[np.int64]
    probabilities: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.tokens)

    def least_sure(self, part: range) -> int:
        """Return the piece of a part whose best label has the lowest probability."""
        best = self.probabilities[part.start : part.stop].max(axis=1)
        return part.start + int(best.argmin())

    def parts(self, size: int) -> list[range]:
        """Divide the pieces into parts of at most `size`."""
        return [range(n, min(n + size, len(self))) for n in range(0, len(self), size)]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which entities are shown, and why others are not.

    Attributes:
        least: the score below which entities are hidden.
        only: the kinds that are shown; () for all.
        shown: what is left, in the order of the text.
        below: what only its score hides.
        other: what its label hides.
    """

    least: float
    only: tuple[str, ...]
    shown: tuple[Entity, ...]
    below: tuple[Entity, ...]
    other: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class NerResult:
    """The entities of a text, and everything they were read from.

    Attributes:
        text: as typed.
        labels: what the model may answer.
        pieces: what it answered, piece by piece.
        aggregation: the way of reading that was asked for.
        readings: the entities in every way of reading.
        coverage: how the text was read.
        calibration: how logits became probabilities.
    """

    text: str
    labels: Labels
    pieces: Pieces
    aggregation: Aggregation
    readings: Mapping[Aggregation, Reading]
    coverage: Coverage
    calibration: Calibration

    @property
    def reading(self) -> Reading:
        """The way of reading that was asked for."""
        return self.readings[self.aggregation]

    def select(self, *, least: float = 0.0, only: Sequence[str] = ()) -> Selection:
        """Choose the entities to show.

        Args:
            least: entities with a lower score are hidden.
            only: kinds to show; () for all.
        """
        wanted = [entity for entity in self.reading.entities if not only or entity.kind in only]
        return Selection(
            least=least,
            only=tuple(only),
            shown=tuple(entity for entity in wanted if entity.score >= least),
            below=tuple(entity for entity in wanted if entity.score < least),
            other=tuple(e for e in self.reading.entities if only and e.kind not in only),
        )

    def strongest(self) -> tuple[int, int] | None:
        """Return the piece and the label of the most probable label that is no "outside".

        Pieces that have no say in this way of reading are passed over.

        Returns:
            None where the model has no other label.
        """
        inside = np.array([n for n, kind in enumerate(self.labels.of) if kind], dtype=np.intp)
        if not inside.size:
            return None
        asked = np.flatnonzero(self.reading.asked)
        scores = self.pieces.probabilities[np.ix_(asked, inside)]
        row, column = np.unravel_index(int(scores.argmax()), scores.shape)
        return int(asked[row]), int(inside[column])

"""What the entity tagger found: labels of every piece, and entities read from them in five ways."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.results import Calibration
from bert_core.reading.entities import Aggregation, Entities, Entity, LabelledText
from bert_core.reading.tagging import TagScheme


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
        labels: what the model may answer.
        pieces: the text, and what the model answered, piece by piece.
        aggregation: the way of reading that was asked for.
        readings: the entities in every way of reading.
        calibration: how logits became probabilities.
    """

    labels: TagScheme
    pieces: LabelledText
    aggregation: Aggregation
    readings: Mapping[Aggregation, Entities]
    calibration: Calibration

    @property
    def text(self) -> str:
        """The text as typed."""
        return self.pieces.text

    @property
    def reading(self) -> Entities:
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
        inside = np.array([n for n, tag in enumerate(self.labels.tags) if tag.kind], dtype=np.intp)
        if not inside.size:
            return None
        asked = np.flatnonzero(self.reading.asked)
        scores = self.pieces.probabilities[np.ix_(asked, inside)]
        row, column = np.unravel_index(int(scores.argmax()), scores.shape)
        return int(asked[row]), int(inside[column])

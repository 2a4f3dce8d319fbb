"""All heads of a model on one map, and one of them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from app.records.results import Measure

Floats = NDArray[np.float64]
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MappedHead:
    """One head on the map.

    Attributes:
        layer: counted from 0.
        head: counted from 0.
        name: the pattern it follows, such as "previous", or "none".
        score: the share of attention that gave the name; for "broad", the spread as a share of the
            largest possible.
        x: place on the map; distances on the map are close to the distances of the heads.
        y: likewise.
        effect: how much the loss of hidden words grows without the head, in nats; null if the
            model was not trained for hidden words.
        error: half of the 95 % interval of the effect.
    """

    layer: int
    head: int
    name: str
    score: float
    x: float
    y: float
    effect: float | None
    error: float | None

    @property
    def place(self) -> Place:
        """Layer and head."""
        return self.layer, self.head

    @property
    def certain(self) -> bool:
        """Whether the interval of the effect does not contain 0."""
        return self.effect is not None and self.error is not None and abs(self.effect) > self.error


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of Clark et al. 2019, and what this model shows.

    Attributes:
        says: the finding.
        paper: its figure, for BERT base; layers count from 0.
        here: the figure of this model.
        agrees: whether this model shows the same.
    """

    says: str
    paper: str
    here: str
    agrees: bool


@dataclass(frozen=True, slots=True, eq=False)
class TypicalText:
    """A text in which a head does what it is named after.

    Attributes:
        text: the text.
        text_pair: the second text of a pair; null if there is none.
        value: of the head's measure in this text; of "entropy", the spread as a share of the
            largest possible.
        tokens: as the model reads it.
        weights: (T, T), the head's attention; rows look at columns.
    """

    text: str
    text_pair: str | None
    value: float
    tokens: tuple[str, ...]
    weights: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A head whose attention is close to that of another one.

    Attributes:
        layer: counted from 0.
        head: counted from 0.
        distance: Jensen-Shannon distance, 0 to 1.
    """

    layer: int
    head: int
    distance: float


@dataclass(frozen=True, slots=True)
class OneHead:
    """One head, looked at closely.

    Attributes:
        layer: counted from 0.
        head: counted from 0.
        measure: key of the measure that gave the head its name.
        measures: what the head looks at: key of the measure -> share of attention, or bits.
        nearest: the heads most like it, nearest first.
        texts: the texts in which it does most what it is named after, clearest first.
    """

    layer: int
    head: int
    measure: str
    measures: dict[str, float]
    nearest: tuple[Neighbour, ...]
    texts: tuple[TypicalText, ...]

    @property
    def place(self) -> Place:
        """Layer and head."""
        return self.layer, self.head


@dataclass(frozen=True, eq=False)
class AtlasResult:
    """All heads of a model.

    Attributes:
        heads: every head that was not pruned, in the order of the model.
        asked: the head that is shown closely.
        findings: of Clark et al. 2019, with the figures of this model.
        stress: how far distances on the map are off, as a share of the distances.
        distances: (N, N), Jensen-Shannon distances of the heads, in their order.
        loss: mean loss of the hidden words with all heads, in nats; null if not measured.
        words: number of hidden words.
        texts: number of texts.
        tokens: number of tokens of all texts.
        widest: entropy in bits if every token looked at all tokens equally.
        size: number of layers, and of heads in each.
        places: the measures of what a head looks at.
    """

    ANSWER: ClassVar = (
        "heads", "asked", "findings", "stress", "loss", "words", "texts", "tokens",
    )  # fmt: skip

    heads: tuple[MappedHead, ...]
    asked: OneHead
    findings: tuple[Finding, ...]
    stress: float
    distances: Floats
    loss: float | None
    words: int
    texts: int
    tokens: int
    widest: float
    size: tuple[int, int]
    places: tuple[Measure, ...]

    @property
    def shown(self) -> MappedHead:
        """The head that is shown closely, as it is on the map."""
        return next(each for each in self.heads if each.place == self.asked.place)

"""All heads of a model on one map, and one of them."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.records.results import Measure

Floats = NDArray[np.float64]
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MappedHead:
    """One head on the map."""

    layer: Annotated[int, "counted from 0"]
    head: Annotated[int, "counted from 0"]
    name: Annotated[str, 'the pattern it follows, such as "previous", or "none"']
    score: Annotated[
        float,
        'the share of attention that gave the name; for "broad", the spread as a share of the '
        "largest possible",
    ]
    x: Annotated[
        float, "place on the map; distances on the map are close to the distances of the heads"
    ]
    y: Annotated[float, "likewise"]
    effect: Annotated[
        float | None,
        "how much the loss of hidden words grows without the head, in nats; null if the model was "
        "not trained for hidden words",
    ]
    error: Annotated[float | None, "half of the 95 % interval of the effect"]

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
    """A finding of Clark et al. 2019, and what this model shows."""

    says: Annotated[str, "the finding"]
    paper: Annotated[str, "its figure, for BERT base; layers count from 0"]
    here: Annotated[str, "the figure of this model"]
    agrees: Annotated[bool, "whether this model shows the same"]


@dataclass(frozen=True, slots=True, eq=False)
class TypicalText:
    """A text in which a head does what it is named after."""

    text: Annotated[str, "the text"]
    text_pair: Annotated[str | None, "the second text of a pair; null if there is none"]
    value: Annotated[
        float,
        'of the head\'s measure in this text; of "entropy", the spread as a share of the largest '
        "possible",
    ]
    tokens: Annotated[tuple[str, ...], "as the model reads it"]
    weights: Annotated[NDArray[np.float32], "(T, T), the head's attention; rows look at columns"]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A head whose attention is close to that of another one."""

    layer: Annotated[int, "counted from 0"]
    head: Annotated[int, "counted from 0"]
    distance: Annotated[float, "Jensen-Shannon distance, 0 to 1"]


@dataclass(frozen=True, slots=True)
class OneHead:
    """One head, looked at closely."""

    layer: Annotated[int, "counted from 0"]
    head: Annotated[int, "counted from 0"]
    measure: Annotated[str, "key of the measure that gave the head its name"]
    measures: Annotated[
        dict[str, float],
        "what the head looks at: key of the measure -> share of attention, or bits",
    ]
    nearest: Annotated[tuple[Neighbour, ...], "the heads most like it, nearest first"]
    texts: Annotated[
        tuple[TypicalText, ...],
        "the texts in which it does most what it is named after, clearest first",
    ]

    @property
    def place(self) -> Place:
        """Layer and head."""
        return self.layer, self.head


@dataclass(frozen=True, eq=False)
class AtlasResult:
    """All heads of a model."""

    ANSWER: ClassVar = (
        "heads", "asked", "findings", "stress", "loss", "words", "texts", "tokens",
    )  # fmt: skip

    heads: Annotated[
        tuple[MappedHead, ...], "every head that was not pruned, in the order of the model"
    ]
    asked: Annotated[OneHead, "the head that is shown closely"]
    findings: Annotated[tuple[Finding, ...], "of Clark et al. 2019, with the figures of this model"]
    stress: Annotated[float, "how far distances on the map are off, as a share of the distances"]
    loss: Annotated[
        float | None, "mean loss of the hidden words with all heads, in nats; null if not measured"
    ]
    words: Annotated[int, "number of hidden words"]
    texts: Annotated[int, "number of texts"]
    tokens: Annotated[int, "number of tokens of all texts"]
    size: Annotated[tuple[int, int], "number of layers, and of heads in each"]
    places: Annotated[tuple[Measure, ...], "the measures of what a head looks at"]

    @property
    def shown(self) -> MappedHead:
        """The head that is shown closely, as it is on the map."""
        return next(each for each in self.heads if each.place == self.asked.place)

"""Results of the entity tagger: a label per piece, and the entities read from them."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from app.records.results import Calibration
from bert_core.reading.entities import Aggregation, Coverage, Entities, TaggedText
from bert_core.reading.tagging import TagScheme
from bert_core.reading.unread import Unread

# Ways of reading, by what decides; the default is first.
AGGREGATION_NAMES: dict[Aggregation, str] = {
    "first": "First piece",
    "average": "Average",
    "max": "Surest piece",
    "simple": "Join pieces",
    "none": "Every piece",
}


@dataclass(frozen=True, slots=True)
class Name:
    """An entity with its words."""

    text: Annotated[str, "as typed"]
    label: Annotated[str, 'its kind, such as "PER"; the full label where every piece is by itself']
    start: Annotated[int, "its first character in the text, counted from 0"]
    end: Annotated[int, "the character after its last one"]
    score: Annotated[float, "how sure the model is, 0 to 1"]


@dataclass(frozen=True, slots=True)
class NerResult:
    """The entities of a text, and everything they were read from."""

    ANSWER: ClassVar = ("aggregation", "names", "entities", "coverage", "unread", "calibration")

    labels: Annotated[TagScheme, "the labels that the model can assign"]
    pieces: Annotated[TaggedText, "the text and the model's output for each piece"]
    aggregation: Annotated[Aggregation, "the requested way of reading"]
    reading: Annotated[Entities, "the entities for the requested way of reading"]
    unread: Annotated[Unread, "what the vocabulary cannot read of it"]
    calibration: Annotated[Calibration, "how logits became probabilities"]

    @property
    def text(self) -> str:
        """The text as typed."""
        return self.pieces.text

    @property
    def names(self) -> tuple[str, ...]:
        """The labels that this model can give a piece."""
        return self.labels.names

    @property
    def entities(self) -> tuple[Name, ...]:
        """What was found, in the order of the text."""
        return tuple(
            Name(self.text[each.start : each.end], each.label, each.start, each.end, each.score)
            for each in self.reading.entities
        )

    @property
    def coverage(self) -> Coverage:
        """How the text was read, in windows if it is long."""
        return self.pieces.coverage

"""The names in many sentences, beside those that a person put in brackets."""

from dataclasses import dataclass

from app.features.ner.result import Name
from app.features.ner.result_agreement import Agreement, Named
from app.records.results import Calibration


@dataclass(frozen=True, slots=True)
class Tagged:
    """One sentence and its names.

    Attributes:
        text: without brackets.
        found: the names that the model finds, in the order of the text.
        wanted: those that were in brackets.
    """

    text: str
    found: tuple[Name, ...]
    wanted: tuple[Named, ...]

    @property
    def right(self) -> bool:
        """Whether the model finds the wanted names, all of them and no other."""
        return {(each.label, each.start, each.end) for each in self.found} == {
            (each.kind, each.start, each.end) for each in self.wanted
        }


@dataclass(frozen=True, slots=True)
class NamesResult:
    """The names in many sentences.

    Attributes:
        rows: one for each sentence, in order; at least one.
        agreement: the names found compared with those in brackets; null if no line has brackets.
        calibration: how logits became probabilities.
    """

    rows: tuple[Tagged, ...]
    agreement: Agreement | None
    calibration: Calibration

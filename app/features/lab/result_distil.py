"""What distillation shows: two students of one teacher, and what other seeds came to."""

from dataclasses import dataclass, fields
from typing import ClassVar

from app.features.lab.result import LabResult
from bert_core.errors import InputError

LAYERS, RANDOM = "layers", "random"
STARTS = {LAYERS: "every second layer of the teacher", RANDOM: "random weights"}
"""What both students start from."""
SENTENCES = (200, 20_000)
TEMPERATURES = (1, 2, 4)
CHANCE = 0.1
"""Nats. The losses of students that differ in nothing but the seed lie within 0.1 of their mean
(`recorded/distil/ended.json`), so a smaller difference between two students may be chance."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How students learn.

    Attributes:
        start: "layers" (every second one of the teacher, as DistilBERT) or "random".
        sentences: most sentences that they read.
        temperature: of the teacher's answers.

    Raises:
        InputError: a value is none of its choices.
    """

    start: str = LAYERS
    sentences: int = 200
    temperature: int = 1

    def __post_init__(self) -> None:
        choices = zip(fields(self), (STARTS, SENTENCES, TEMPERATURES), strict=True)
        for name, allowed in ((each.name, allowed) for each, allowed in choices):
            if getattr(self, name) not in allowed:
                raise InputError(
                    f"{name} is {str(getattr(self, name))[:40]!r}; expected one of "
                    f"{', '.join(map(str, allowed))}."
                )


@dataclass(frozen=True, slots=True)
class Ended:
    """What a distillation of the usual model came to.

    Attributes:
        seed: of teacher and students.
        teacher: its loss of new sentences.
        alone: that of the student without a teacher.
        taught: that of the student with a teacher.
    """

    seed: int
    teacher: float
    alone: float
    taught: float

    @property
    def gain(self) -> float:
        """How much smaller the loss is with the teacher."""
        return self.alone - self.taught


@dataclass(frozen=True, slots=True)
class DistilResult:
    """Two students of half the layers: same start, same batches, one of them with a teacher.

    Attributes:
        recipe: how they learned.
        alone: the student without the teacher.
        taught: the student with the teacher.
        measured: what other seeds came to with this recipe, if the teacher is the usual model.
    """

    ANSWER: ClassVar = ("recipe", "ended", "measured")

    recipe: Recipe
    alone: LabResult
    taught: LabResult
    measured: tuple[Ended, ...]

    @property
    def ended(self) -> Ended:
        """What this distillation came to."""
        assert self.taught.teacher is not None
        return Ended(
            self.taught.start.settings.seed,
            self.taught.teacher,
            self.alone.points[-1].held_out,
            self.taught.points[-1].held_out,
        )

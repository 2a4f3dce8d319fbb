"""Distillation from beginning to end, for interfaces that wait for it; what of it is recorded.

`python -m tools.lab` records the curves of the usual recipe, and where every recipe ends with three
seeds.
"""

import json
from functools import cache
from typing import Annotated, Literal

from app.engine.models import Engine
from app.features.lab.result import LabResult
from app.features.lab.result_distil import DistilResult, Ended, Recipe
from app.features.lab.result_settings import LabSettings
from app.features.lab.task import LONGEST, alone, completed
from app.features.lab.task_distil_run import Student, student_settings, students
from app.features.lab.task_recorded import FOLDER, recorded
from app.features.lab.task_run import Run
from app.records.fields import Field
from bert_core.errors import InputError

PLACES = FOLDER / "distil" / "alone", FOLDER / "distil" / "taught"
ENDED = FOLDER / "distil" / "ended.json"


def lab_distil(
    engine: Engine,
    *,
    start: Annotated[Literal["layers", "random"], Field("Students start from")] = "layers",
    read: Annotated[int, Field("Sentences they read", low=200, high=20_000)] = 200,
    temperature: Annotated[int, Field("Temperature", low=1, high=4)] = 1,
    seed: Annotated[int, Field("Seed", low=0, high=9)] = 0,
) -> DistilResult:
    """Train two students with half the layers, one with a teacher, and compare them.

    The recorded distillation is answered at once; otherwise the teacher is trained first, as `lab`
    does without a change. That takes up to two minutes.

    Args:
        engine: not used; the lab makes its own models.
        start: "layers" for every second layer of the teacher, or "random" for random weights.
        read: number of sentences that the students read: 200 or 20,000, which is all that the
            teacher has read.
        temperature: of the teacher's answers: 1, 2 or 4.
        seed: of teacher and students, 0 to 9.

    Raises:
        InputError: a value is not one of its choices, the server trains nothing, or it is busy.
    """
    recipe, settings = Recipe(start, read, temperature), LabSettings(seed=seed)
    found = recorded_distil(settings, recipe)
    if found is not None:
        return found
    with alone("a recorded distillation: leave all settings as they are"):
        origin = Run(settings)
        train_teacher(origin)
        return distilled(students(origin, recipe))


def train_teacher(origin: Run, longest: float = LONGEST) -> None:
    """Train a teacher to its end.

    Raises:
        InputError: it takes longer than a caller would wait, or its loss is no longer a number.
    """
    if says := completed(origin, longest).diverged:
        raise InputError(f"The teacher’s training did not finish. {says} Try again later.")


def distilled(pair: tuple[Student, Student], longest: float = LONGEST / 2) -> DistilResult:
    """Train two students to their end, or each for as long as a caller would wait."""
    one, other = (completed(student, longest) for student in pair)
    return compared(one, other, pair[1].origin.settings, pair[1].recipe)


def compared(
    one: LabResult, other: LabResult, teacher: LabSettings, recipe: Recipe
) -> DistilResult:
    """Put two students beside each other, and beside those of other seeds.

    Args:
        one: the student alone.
        other: the student with its teacher.
        teacher: settings of the teacher.
        recipe: of both.
    """
    usual = teacher == LabSettings(seed=teacher.seed)
    return DistilResult(recipe, one, other, ended(recipe) if usual else ())


def recorded_distil(settings: LabSettings, recipe: Recipe) -> DistilResult | None:
    """Return the recorded distillation of a teacher with these settings; None if there is none."""
    if recipe != Recipe():
        return None
    wanted = student_settings(settings, recipe)
    one, other = (recorded(wanted, place) for place in PLACES)
    return None if one is None or other is None else compared(one, other, settings, recipe)


def ended(recipe: Recipe) -> tuple[Ended, ...]:
    """Return what a recipe came to with the usual teacher, for each of three seeds."""
    return _read().get(recipe, ())


@cache
def _read() -> dict[Recipe, tuple[Ended, ...]]:
    if not ENDED.is_file():
        return {}
    rows = json.loads(ENDED.read_text(encoding="utf-8"))
    return {Recipe(**row["recipe"]): tuple(Ended(**each) for each in row["ended"]) for row in rows}

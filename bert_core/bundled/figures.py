"""What was measured on a model, as the file `figures.json` beside its weights tells it.

One figure is a share between 0 and 1 with its 95 % interval and its number of cases; where the
recipe set itself a floor and a goal, they stand beside it. The model card's table and every page
that shows figures are made from this file.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from bert_core.errors import CheckpointError, InputError
from bert_core.small_files import parse_json, read_small, shown

FIGURES = "figures.json"
_LIMIT = 1_000_000  # bytes; the bundled model's file has a few thousand
_SHARES = ("share", "low", "high")
_AIMS = ("floor", "goal", "chance")


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured share.

    Attributes:
        task: what was asked.
        measured_on: which data.
        share: the figure, 0 to 1.
        low: lower end of its 95 % interval.
        high: upper end.
        cases: number of cases.
        meaning: what the share is a share of, in a sentence.
        floor: what has to be reached at least; None where nothing was set.
        goal: what was hoped for; None where nothing was set.
        chance: the share of a blind guess, where that says something. A floor equal to it is
            reached only if the whole interval lies above.
        lower_is_better: whether the figure counts errors.

    Raises:
        InputError: shares or interval that cannot be.
    """

    task: str
    measured_on: str
    share: float
    low: float
    high: float
    cases: int
    meaning: str
    floor: float | None = None
    goal: float | None = None
    chance: float | None = None
    lower_is_better: bool = False

    def __post_init__(self) -> None:
        given = [getattr(self, name) for name in (*_SHARES, *_AIMS)]
        outside = [value for value in given if value is not None and not 0 <= value <= 1]
        if outside or self.low > self.high or self.cases < 1:
            raise InputError(
                f"The figure for {shown(self.task)} has share {self.share}, interval {self.low} to "
                f"{self.high} and {self.cases} cases; expected shares from 0 to 1 and a case."
            )

    @property
    def reaches_floor(self) -> bool | None:
        """Whether the floor is reached; None where there is none."""
        if self.floor is not None and self.floor == self.chance:
            return self.high < self.floor if self.lower_is_better else self.low > self.floor
        return self._reaches(self.floor)

    @property
    def reaches_goal(self) -> bool | None:
        """Whether the goal is reached; None where there is none."""
        return self._reaches(self.goal)

    def _reaches(self, aim: float | None) -> bool | None:
        """Compare at the precision that is shown: a tenth of a percent."""
        if aim is None:
            return None
        share, bound = round(self.share, 3), round(aim, 3)
        return share <= bound if self.lower_is_better else share >= bound


def read_figures(folder: str | Path) -> tuple[Figure, ...]:
    """Read the figures of a model's folder, in the order in which they were written.

    Raises:
        MissingFileError: nothing was measured, or it was not written down.
        CheckpointError: the file is damaged.
    """
    path = Path(folder) / FIGURES
    rows = parse_json(read_small(path, _LIMIT), FIGURES)
    if not isinstance(rows, list):
        raise CheckpointError(f"{FIGURES} holds {shown(rows)}; expected a list of figures.")
    return tuple(_figure(row) for row in rows)


def write_figures(folder: str | Path, figures: Iterable[Figure]) -> None:
    """Write figures into a model's folder."""
    rows = [asdict(figure) for figure in figures]
    text = json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False)
    (Path(folder) / FIGURES).write_text(text + "\n", encoding="utf-8")


def _figure(row: object) -> Figure:
    """Build a figure from what the file says, whoever wrote it."""
    if not isinstance(row, dict):
        raise CheckpointError(f"{FIGURES} holds {shown(row)} where a figure should stand.")
    wanted = {field.name for field in fields(Figure)}
    if set(row) != wanted:
        names = ", ".join(sorted(map(str, wanted ^ set(row))))
        raise CheckpointError(f"A figure in {FIGURES} lacks or has too much: {shown(names)}.")
    wrong = [name for name, value in row.items() if not _fits(name, value)]
    if wrong:
        raise CheckpointError(f"A figure in {FIGURES} has {wrong[0]} = {shown(row[wrong[0]])}.")
    try:
        return Figure(**row)
    except InputError as error:
        raise CheckpointError(f"{FIGURES}: {error}") from None


def _fits(name: str, value: Any) -> bool:
    """Tell whether a value may stand under this name."""
    if name in ("task", "measured_on", "meaning"):
        return isinstance(value, str)
    if name == "lower_is_better":
        return isinstance(value, bool)
    if name in _AIMS and value is None:
        return True
    kinds = int if name == "cases" else (int, float)
    return isinstance(value, kinds) and not isinstance(value, bool) and math.isfinite(value)

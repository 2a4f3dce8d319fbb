"""Measured figures of a model: reading and writing `figures.json` in its folder.

A figure is a share between 0 and 1 with its 95 % interval and its number of cases, and the floor
and goal that the recipe set for it, if any. The model card's table and all pages that show figures
are made from this file.
"""

import re
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Annotated

from bert_core.bundled.records import as_json, built, read_json, write_json
from bert_core.errors import CheckpointError, InputError
from bert_core.small_files import shown

FIGURES = "figures.json"
_IN_LINES = re.compile(r"\[\s+(?:[\d.e+-]+,?\s+){3}\]")
_SHARES = ("share", "low", "high")
_AIMS = ("floor", "goal", "chance")


@dataclass(frozen=True, slots=True)
class Bin:
    """Cases with similar stated probabilities."""

    cases: Annotated[int, "how many; at least one"]
    stated: Annotated[float, "their mean stated probability"]
    right: Annotated[float, "the share of them that were right"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured share (InputError: impossible shares, interval or number of cases)."""

    task: Annotated[str, "the task"]
    measured_on: Annotated[str, "the data"]
    share: Annotated[float, "the figure, 0 to 1"]
    low: Annotated[float, "lower end of its 95 % interval"]
    high: Annotated[float, "upper end of its 95 % interval"]
    cases: Annotated[int, "number of cases"]
    meaning: Annotated[str, "what the share measures, in one sentence"]
    floor: Annotated[float | None, "the required value; of chance, by the whole interval"] = None
    goal: Annotated[float | None, "the desired value"] = None
    chance: Annotated[float | None, "the value of random guessing, if meaningful"] = None
    lower_is_better: Annotated[bool, "whether the figure counts errors"] = False
    bins: Annotated[tuple[Bin, ...], "of a calibration error, ascending by stated"] = ()

    def __post_init__(self) -> None:
        shares = [getattr(self, name) for name in (*_SHARES, *_AIMS)]
        shares += [share for each in self.bins for share in (each.stated, each.right)]
        outside = [value for value in shares if value is not None and not 0 <= value <= 1]
        in_bins = sum(each.cases for each in self.bins)
        counts = [self.cases, *(each.cases for each in self.bins)]
        if outside or self.low > self.high or min(counts) < 1 or in_bins not in (0, self.cases):
            raise InputError(
                f"The figure for {shown(self.task)} has share {self.share}, interval {self.low} to "
                f"{self.high} and {self.cases} cases; expected shares from 0 to 1 and at least 1 "
                "case, and as many in its bins if it has any."
            )

    @property
    def stated(self) -> float | None:
        """Mean stated probability of all cases; None without bins."""
        return self._mean([each.stated for each in self.bins])

    @property
    def right(self) -> float | None:
        """Share of all cases that were right; None without bins."""
        return self._mean([each.right for each in self.bins])

    def _mean(self, values: list[float]) -> float | None:
        pairs = zip(values, self.bins, strict=True)
        return sum(each * of.cases for each, of in pairs) / self.cases if self.bins else None

    @property
    def reaches_floor(self) -> bool | None:
        """Whether the floor is reached; None if there is none."""
        if self.floor is not None and self.floor == self.chance:
            return self.high < self.floor if self.lower_is_better else self.low > self.floor
        return self._reaches(self.floor)

    @property
    def reaches_goal(self) -> bool | None:
        """Whether the goal is reached; None if there is none."""
        return self._reaches(self.goal)

    def _reaches(self, aim: float | None) -> bool | None:
        """Compare with the precision in which figures are shown: a tenth of a percent."""
        if aim is None:
            return None
        share, bound = round(self.share, 3), round(aim, 3)
        return share <= bound if self.lower_is_better else share >= bound


def read_figures(folder: str | Path) -> tuple[Figure, ...]:
    """Read the figures in a model's folder, in stored order.

    Raises:
        MissingFileError: the folder has no `figures.json`.
        CheckpointError: the file is damaged.
    """
    rows = read_json(folder, FIGURES)
    if not isinstance(rows, list):
        raise CheckpointError(f"{FIGURES} contains {shown(rows)}; expected a list of figures.")
    try:
        # Earlier files have no bins.
        records = ({"bins": [], **row} if isinstance(row, dict) else row for row in rows)
        return tuple(built(Figure, row, FIGURES) for row in records)
    except InputError as error:
        raise CheckpointError(f"{FIGURES}: {error}") from None


def write_figures(folder: str | Path, figures: Iterable[Figure]) -> None:
    """Write figures to a model's folder."""
    rows = [
        asdict(figure) | {"bins": [astuple(each) for each in figure.bins]} for figure in figures
    ]
    # A bin in a line.
    text = _IN_LINES.sub(lambda match: " ".join(match[0].split()), as_json(rows))
    write_json(folder, FIGURES, text)

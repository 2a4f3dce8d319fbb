"""Exercises of the lab: questions whose answers follow from runs with several seeds.

A choice counts as right only if its worst seed is better than the best seed of every other choice;
what is measured in one and the same run is compared seed by seed. If no choice is, they cannot be
told apart, and that is the answer.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from app.engine.compute.processor import PROCESSOR
from app.features.lab.result import LabResult
from app.features.lab.result_exercises import Exercise, Option
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_run import Run
from bert_core.errors import InputError

SEEDS = (0, 1, 2)
STEPS = 500
"""Enough for the usual run to learn what there is; a run takes seconds."""

SOURCE = Path(__file__).with_name("exercises.toml")
MEASURED = Path(__file__).with_name("exercises.json")
"""What was measured of each setting and seed, by `python -m tools.lab`."""


def settings_of(change: Mapping[str, Any], steps: int = STEPS) -> LabSettings:
    """Return the settings of an option."""
    return LabSettings(steps=steps, **change)


def wanted() -> list[LabSettings]:
    """Return all settings that the exercises need, each with its first seed."""
    found: dict[LabSettings, None] = {}
    for each in _source():
        changes = [row["change"] for row in each.get("options", ())]
        changes += [{}, each["phenomena"]] if "phenomena" in each else []
        found |= dict.fromkeys(settings_of(one, each.get("steps", STEPS)) for one in changes)
    return list(found)


def ended(run: Run) -> LabResult:
    """Train a run to its end; it is measured at the start of its last tenth, and at the end."""
    PROCESSOR.run(run.prepare, tokens=0, training=True)
    for step in (run.settings.steps * 9 // 10, run.settings.steps):
        while run.step < step and not run.done:
            PROCESSOR.run(lambda: run.advance(0), tokens=0, training=True)
        PROCESSOR.run(run.look, tokens=0)
    return run.result()


def measured(run: LabResult) -> dict[str, Any]:
    """Return what the exercises need of a run at its end."""
    last = run.points[-1]
    return {
        "settings": asdict(run.start.settings),
        "parameters": run.start.parameters,
        "way": round(last.way(run.start.phenomena), 4),
        "gap": round(last.held_out - last.loss, 4),
        "accuracy": {
            each.name: round(got, 4)
            for each, got in zip(run.start.phenomena, last.accuracy, strict=True)
        },
    }


@cache
def exercises() -> tuple[Exercise, ...]:
    """Return the exercises, with what was measured for them.

    Raises:
        InputError: a setting has not been measured.
    """
    return tuple(_exercise(each) for each in _source())


def _source() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tomllib.loads(SOURCE.read_text(encoding="utf-8"))["exercise"]
    return rows


@cache
def _rows() -> dict[LabSettings, dict[str, Any]]:
    read = json.loads(MEASURED.read_text(encoding="utf-8"))
    return {LabSettings(**row["settings"]): row for row in read}


def _seeds(settings: LabSettings) -> list[dict[str, Any]]:
    """Return what was measured of settings, for each seed."""
    every = [replace(settings, seed=seed) for seed in SEEDS]
    missing = [each.link() for each in every if each not in _rows()]
    if missing:
        raise InputError(f"{missing[0]} has not been measured. Run `python -m tools.lab`.")
    return [_rows()[each] for each in every]


def _exercise(row: Mapping[str, Any]) -> Exercise:
    of, steps = row["of"], row.get("steps", STEPS)
    if "phenomena" in row:
        usual, changed = settings_of({}, steps), settings_of(row["phenomena"], steps)
        pairs = list(zip(_seeds(usual), _seeds(changed), strict=True))
        options = [
            Option(
                name, changed, tuple(a["accuracy"][name] - b["accuracy"][name] for a, b in pairs)
            )
            for name in pairs[0][0]["accuracy"]
        ]
    else:
        options = [
            _option(each["say"], settings_of(each["change"], steps), of, row.get("reaches"))
            for each in row["options"]
        ]
    bands = [each.values if each.allowed else () for each in options]
    if "phenomena" in row:  # measured in one run, so compared seed by seed
        seeds = zip(*bands, strict=True)
        each_seed = {told_apart([(one,) for one in seed], row["best"]) for seed in seeds}
        right = each_seed.pop() if len(each_seed) == 1 else None
    else:
        right = told_apart(bands, row["best"])
    return Exercise(row["title"], row["ask"], of, tuple(options), right, row["why"])


def _option(say: str, settings: LabSettings, of: str, reaches: float | None) -> Option:
    seeds = _seeds(settings)
    allowed = reaches is None or min(each["way"] for each in seeds) >= reaches
    return Option(say, settings, tuple(float(each[of]) for each in seeds), allowed)


def told_apart(bands: Sequence[Sequence[float]], best: str) -> int | None:
    """Return which band is wholly better than all others; None if none is.

    Args:
        bands: the values of all seeds, for each choice; () for a choice that does not count.
        best: "most" or "least".

    >>> told_apart([(1, 2), (3, 4), ()], "most"), told_apart([(1, 3), (2, 4)], "most")
    (1, None)
    """
    sign = 1 if best == "most" else -1
    signed = [[sign * value for value in band] for band in bands]
    for number, band in enumerate(signed):
        others = [max(each) for n, each in enumerate(signed) if each and n != number]
        if band and all(min(band) > other for other in others):
            return number
    return None

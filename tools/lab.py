"""Make the recorded runs of the lab: `python -m tools.lab`.

Each example of the lab is trained to its end, and so are the students of the usual run, with every
recipe and three seeds, and the settings of the exercises. What is recorded already is left alone.
Remove a file to have it made again, after a change of the corpus, of the model or of the training.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any

from app.catalog import examples

SEEDS = (0, 1, 2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record what is missing; return the exit status."""
    argparse.ArgumentParser(prog="python -m tools.lab", description=__doc__).parse_args(arguments)
    from app.features.lab.result_settings import LabSettings
    from app.features.lab.task import completed
    from app.features.lab.task_recorded import FOLDER, recorded, write
    from app.features.lab.task_run import Run

    FOLDER.mkdir(exist_ok=True)
    for example in examples("lab"):
        values: Mapping[str, Any] = example.values
        settings = LabSettings(**values)
        if recorded(settings) is None:
            _say(write(completed(Run(settings), longest=3600)))
    for text in measure_exercises():
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    from app.features.lab.task_distil import ENDED

    if not ENDED.is_file():
        for path in record_students():
            _say(path)
    return 0


def measure_exercises() -> Iterator[str]:
    """Run what the exercises need with each seed; keep what is compared, yield what was run."""
    from app.features.lab.result_settings import LabSettings
    from app.features.lab.task_exercises import MEASURED, SEEDS, ended, measured, wanted
    from app.features.lab.task_run import Run

    read = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.is_file() else []
    found = {LabSettings(**row["settings"]): row for row in read}
    every = [replace(each, seed=seed) for each in wanted() for seed in SEEDS]
    for each in every:
        if each not in found:
            found[each] = measured(ended(Run(each)))
            lines = ",\n".join(json.dumps(found[one]) for one in every if one in found)
            MEASURED.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
            yield f"{each.link()}: {found[each]['way']}"


def record_students() -> Iterator[Path]:
    """Distil the usual run with every recipe and three seeds; keep where all of them end.

    Of the usual recipe, the curves of the first seed are kept too.
    """
    from app.features.lab.result_distil import SENTENCES, STARTS, TEMPERATURES, Ended, Recipe
    from app.features.lab.result_settings import LabSettings
    from app.features.lab.task import completed
    from app.features.lab.task_distil import ENDED, PLACES, distilled
    from app.features.lab.task_distil_run import students
    from app.features.lab.task_recorded import write
    from app.features.lab.task_run import Run

    found: dict[Recipe, list[Ended]] = {}
    for seed in SEEDS:
        origin = Run(LabSettings(seed=seed))
        completed(origin, longest=3600)
        for recipe in (Recipe(*each) for each in product(STARTS, SENTENCES, TEMPERATURES)):
            result = distilled(students(origin, recipe), longest=3600)
            found.setdefault(recipe, []).append(result.ended)
            if seed == SEEDS[0] and recipe == Recipe():
                for run, place in zip((result.alone, result.taught), PLACES, strict=True):
                    place.mkdir(parents=True, exist_ok=True)
                    yield write(run, place)
    rows = [
        {"recipe": asdict(recipe), "ended": [asdict(each) for each in ended]}
        for recipe, ended in found.items()
    ]
    lines = ",\n".join(map(json.dumps, rows))
    ENDED.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    yield ENDED


def _say(path: Path) -> None:
    sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())

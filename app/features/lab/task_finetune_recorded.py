"""Recorded fine-tunings of the ready-made rows, for servers where nobody trains.

Equal rows give equal trainings, so a recording shows what one would. `python -m tools.finetune`
makes the files.
"""

import json
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

from app.compute.processor import PROCESSOR
from app.features.lab.result_finetune import FinetuneResult, Mistake, TuningPoint
from app.features.lab.task_finetune import Tuning, wilson
from app.features.lab.task_finetune_rows import read_rows, ready
from app.models import Engine

EVERY = 4  # steps between two points of a recording


@cache
def recorded(kind: str) -> FinetuneResult:
    """Return the recorded fine-tuning of the bundled model on the ready-made rows of a kind."""
    read = json.loads(place_of(kind).read_text(encoding="utf-8"))
    rows = read_rows(ready(kind), kind)
    by_line = {row.line: row for row in rows.held_out}
    points = tuple(TuningPoint(**point) for point in read["points"])
    low, high = wilson(points[-1].right, points[-1].cases)
    return FinetuneResult(
        rows=rows,
        points=points,
        steps=read["steps"],
        parameters=read["parameters"],
        low=low,
        high=high,
        mistakes=tuple(Mistake(by_line[line], *rest) for line, *rest in read["mistakes"]),
        cut=0,
        diverged="",
    )


def completed(engine: Engine, kind: str, steps: int) -> FinetuneResult:
    """Fine-tune to the end, with a point every few steps.

    Args:
        engine: the model to begin with.
        kind: of the ready-made rows.
        steps: of the training.
    """
    run = Tuning(engine, ready(kind), kind, steps)
    PROCESSOR.run(run.prepare, tokens=0, training=True)
    PROCESSOR.run(run.look, tokens=0)
    while not run.done:
        for _ in range(EVERY):
            PROCESSOR.run(lambda: run.advance(0.0), tokens=0, training=True)
        PROCESSOR.run(run.look, tokens=0)
    return run.result()


def write(result: FinetuneResult) -> Path:
    """Write a recording; return its file."""
    path = place_of(result.rows.kind)
    plain = {
        "steps": result.steps,
        "parameters": result.parameters,
        "points": [asdict(replace(each, left=0.0)) for each in result.points],
        "mistakes": [
            [each.row.line, each.place, each.wanted, each.said, each.share]
            for each in result.mistakes
        ],
    }
    path.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    return path


def place_of(kind: str) -> Path:
    """Return the file of a recording."""
    return Path(__file__).with_name(f"finetune_{kind}.json")

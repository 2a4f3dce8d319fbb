"""Recorded fine-tunings of the ready-made rows, for servers where training is off.

Equal rows give equal trainings, so a recording shows what one would. `python -m tools.derive
finetune` makes the files.
"""

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from app.features.lab.result_finetune import FinetuneResult, Mistake, TuningPoint
from app.features.lab.task_finetune_rows import read_rows, ready
from app.records.counted import wilson


def recorded(kind: str) -> FinetuneResult:
    """Return the recorded fine-tuning of the bundled model on the ready-made rows of a kind."""
    read = _read(kind)
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


def weights_of(kind: str) -> str:
    """Return the fingerprint of the weights that a recording began with."""
    return str(_read(kind)["weights"])


def write(result: FinetuneResult, weights: str) -> Path:
    """Write a recording; return its file."""
    path = _place(result.rows.kind)
    plain = {
        "weights": weights,
        "steps": result.steps,
        "parameters": result.parameters,
        "points": [asdict(each) for each in result.points],
        "mistakes": [
            [each.row.line, each.place, each.wanted, each.said, each.share]
            for each in result.mistakes
        ],
    }
    path.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    return path


@cache
def _read(kind: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(_place(kind).read_text(encoding="utf-8"))
    return read


def _place(kind: str) -> Path:
    return Path(__file__).with_name(f"finetune_{kind}.json")

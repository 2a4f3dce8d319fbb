"""Recorded runs: complete ones that are part of the site, for when training is off or impossible.

Equal settings give equal runs, so a recording answers as a run would. `python -m tools.lab` makes
the files.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from app.features.lab.result import LabResult, MaskedRow, Start
from app.features.lab.result_corpus import Phenomenon, Probe
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_run import plain_points, read_points
from bert_core.pretraining import Join

FOLDER = Path(__file__).with_name("recorded")


def recorded(settings: LabSettings, folder: Path = FOLDER) -> LabResult | None:
    """Return the recorded run with exactly these settings; None if there is none."""
    path = folder / file_name(settings)
    return _read(path) if path.is_file() else None


def file_name(settings: LabSettings) -> str:
    """Return the name of a recording; settings are few choices, so it is never a path.

    >>> file_name(LabSettings(mask_rate=80)), file_name(LabSettings())
    ('mask_rate-80.npz', 'usual.npz')
    """
    return ("_".join("-".join(pair) for pair in settings.link().items()) or "usual") + ".npz"


def write(result: LabResult, folder: Path = FOLDER) -> Path:
    """Write a recording; return its file. Attention is kept in steps of 1 / 255."""
    path = folder / file_name(result.start.settings)
    taught = {} if result.teacher is None else {"teacher": result.teacher}
    about = np.array(json.dumps({"start": asdict(result.start), "python": result.python, **taught}))
    points = plain_points(result.points, result.diverged)
    points["attention"] = (points["attention"].astype(np.float32) * 255).round().astype(np.uint8)
    np.savez_compressed(path, about=about, **points)  # type: ignore[arg-type]
    return path


@lru_cache(16)
def _read(path: Path) -> LabResult:
    with np.load(path, allow_pickle=False) as found:
        about = json.loads(str(found["about"]))
    points, diverged = read_points(path)
    whole = [replace(each, attention=(each.attention / 255).astype(np.float16)) for each in points]
    start, teacher = _start(about["start"]), about.get("teacher")
    return LabResult(start, tuple(whole), diverged, about["python"], teacher=teacher)


def _start(read: Mapping[str, Any]) -> Start:
    """Read what a run starts from."""
    made: dict[str, Any] = _tuples(read)
    return Start(
        **made
        | {
            "settings": LabSettings(**read["settings"]),
            "joins": tuple(Join(**_tuples(each)) for each in read["joins"]),
            "rows": tuple(MaskedRow(**_tuples(each)) for each in read["rows"]),
            "phenomena": tuple(Phenomenon(**_tuples(each)) for each in read["phenomena"]),
            "watched": tuple(Probe(**each) for each in read["watched"]),
        }
    )


def _tuples(read: Mapping[str, Any]) -> dict[str, Any]:
    """Turn lists, which JSON has instead of tuples, back."""
    return {name: tuple(each) if isinstance(each, list) else each for name, each in read.items()}

"""How a bundle was trained: one entry per stage, stored next to the weights in `training.json`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from bert_core.bundled import bundled_folder, bundled_names
from bert_core.errors import CheckpointError
from training.stage import LOG, SETTINGS

RECORD = "training.json"


@dataclass(frozen=True, slots=True)
class StageRecord:
    """The record of one stage."""

    settings: Annotated[dict[str, Any], "as written by the stage: device, tokens of text, phases"]
    steps: Annotated[int, "total number of steps"]
    seconds: Annotated[float, "computing time"]
    note: Annotated[str, "remarks written by hand, in Markdown"] = ""
    clock: Annotated[float | None, "elapsed seconds, pauses included; None if unknown"] = None

    @property
    def last(self) -> dict[str, Any]:
        """The settings that the stage ended with: "mixture" and "trainer"."""
        found: dict[str, Any] = self.settings["phases"][-1]
        return found


def phases(stages: Sequence[StageRecord]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the steps of every phase of every stage, and its mixture."""
    for stage in stages:
        each = stage.settings["phases"]
        ends = [*(phase["after_step"] for phase in each[1:]), stage.steps]
        for phase, end in zip(each, ends, strict=True):
            yield end - phase["after_step"], phase["mixture"]


def stage_record(work: Path) -> StageRecord:
    """Return the record of the stage in a work folder."""
    settings = json.loads((work / SETTINGS).read_text(encoding="utf-8"))
    last = json.loads((work / LOG).read_text(encoding="utf-8").splitlines()[-1])
    if Path(settings["init"]).is_dir():  # keep local paths out of the record
        settings["init"] = Path(settings["init"]).name
    started = settings.pop("started", None)
    clock = None if started is None else (work / LOG).stat().st_mtime - started
    return StageRecord(settings, int(last["step"]), float(last["seconds"]), clock=clock)


def model_folder(init: str) -> Path:
    """Return the folder of a model, given by name or folder."""
    return bundled_folder(init) if init in bundled_names() else Path(init)


def read_record(path: Path) -> list[StageRecord]:
    """Read a record."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return [StageRecord(**row) for row in rows]
    except (ValueError, TypeError) as error:
        raise CheckpointError(f"The training record {path} cannot be read ({error}).") from error


def write_record(path: Path, stages: Sequence[StageRecord]) -> None:
    """Write a record."""
    rows = [asdict(stage) for stage in stages]
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")

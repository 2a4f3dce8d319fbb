"""The lab: how fast a BERT learns the generated grammar, through the process's own line."""

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.features.lab.result import Point, State
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_lab import Labs, warm_up

TITLE = "Lab"
NOTES = (
    "The default run (2 layers of width 64, 15 % masked, 2,000 steps) on the generated grammar, "
    "one training thread, measured twice a second as on the page. The way is the share of the "
    "distance from always saying the most frequent word (0) to the best possible accuracy, "
    "computed from the rules (1), over all phenomena together; because it is counted on 120 "
    "sentences of each, it can exceed 1.",
    "To reach: first point within 2 s, 85 % of the way in 15 s, 95 % in 60 s, from Start on a page "
    "that has been open for some seconds.",
    "Processor: CPU seconds of this process in the first 15 s. Load: runnable processes on the "
    "machine at the end.",
)
COLUMNS = (
    *("seed", "first point", "way after 15 s", "way after 60 s or at the end", "steps a second"),
    *("processor", "load", "reached"),
)


@dataclass(frozen=True, slots=True)
class LabRow:
    """One run: seconds to the first point, and the way after 15 and 60 seconds."""

    seed: int
    first: float
    early: float
    late: float
    pace: float
    processor: float
    load: float

    def cells(self) -> tuple[str, ...]:
        """Return the cells in the order of COLUMNS."""
        reached = self.first <= 2.0 and self.early >= 0.85 and self.late >= 0.95
        return (
            str(self.seed),
            f"{self.first:.1f} s",
            f"{self.early:.0%}",
            f"{self.late:.0%}",
            f"{self.pace:.0f}",
            f"{self.processor:.1f} s",
            f"{self.load:.0f}",
            "yes" if reached else "**no**",
        )


def rows(quick: bool) -> Iterator[LabRow]:
    """Train with several seeds."""
    warm_up().join()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1 if quick else 3):
            yield _row(Labs(Path(folder) / str(seed)), seed)


def _row(labs: Labs, seed: int) -> LabRow:
    begin, before = time.monotonic(), time.process_time()
    lab = labs.start(LabSettings(seed=seed))
    run = lab.runs[0]
    first = processor = 0.0
    seen: list[tuple[float, Point]] = []
    while labs.ask(lab).state in {State.WAITING, State.RUNNING}:
        now = time.monotonic() - begin
        if run.points and (not seen or seen[-1][1] is not run.points[-1]):
            first = first or now
            seen.append((now, run.points[-1]))
        if now <= 15:
            processor = time.process_time() - before
        time.sleep(0.05)
    way = [(now, point.way(run.start.phenomena)) for now, point in seen]
    last = run.points[-1]
    return LabRow(
        seed,
        first,
        _last(way, 15.0),
        _last(way, 60.0),
        last.step / last.seconds,
        processor,
        os.getloadavg()[0],
    )


def _last(way: list[tuple[float, float]], seconds: float) -> float:
    """Return the last way measured within some seconds.

    >>> _last([(1.0, 0.2), (9.0, 0.9), (16.0, 1.0)], 15.0)
    0.9
    """
    return next((share for now, share in reversed(way) if now <= seconds), 0.0)

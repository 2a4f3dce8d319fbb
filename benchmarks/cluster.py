"""What nodes of Ray cost and give on this machine: one answer, a long text, a file of rows.

Needs Ray: `build/cluster/bin/python -m benchmarks --only cluster` after `make cluster-test`.
"""

import gc
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.classroom import COLUMNS as COLUMNS
from benchmarks.classroom import Row
from benchmarks.ray_nodes import ROOT, TOKEN, nodes

TITLE = "Nodes of Ray"
NOTES = (
    "Two cores, which the nodes share with the process that asks; a real cluster has them beside "
    "it. One answer: fill-mask on a new sentence, median of 60, through Ray and here in turns. A "
    "long text: names in 90,000 characters, median of three.",
    "Rows: fill-mask with `python -m app batch` on 12,000 short rows, between its first report and "
    "its last, so that starting does not count; on the nodes, over two processes here.",
)
_PATIENCE = 120.0  # seconds
_ROWS = 12_000


def rows(quick: bool) -> Iterator[Row]:
    """Measure with one node of two cores, then with two nodes of one; `quick`: fewer rounds."""
    os.environ.update(TOKEN)  # read once, when Ray is imported
    with TemporaryDirectory() as folder:
        here = _rate(Path(folder))
        yield Row("rows a second, here", here, "")
        for cores, goal in (((2,), True), ((1, 1), False)):
            what = "one node of two cores" if goal else "two nodes of one core"
            with nodes(*cores) as (address, _):
                yield from _answers(address, what, goal, quick)
                there = _rate(Path(folder), "--on", address)
                # How many times as long: 0.9 of the rate is 1.11 times the time.
                yield Row(
                    f"rows, {what}: time over here", here / there, "×", 1.11 if goal else None
                )


def _answers(address: str, what: str, goal: bool, quick: bool) -> Iterator[Row]:
    """Compare single answers in this process."""
    from app.cluster import asking
    from app.cluster.nodes import Nodes
    from app.declared import declared
    from app.declared.answers import engine_named

    cluster, engine = Nodes(address), engine_named("")
    cluster.begin()
    end = time.monotonic() + _PATIENCE
    while cluster.cores < 2 and time.monotonic() < end:
        time.sleep(0.2)
    asking.CLUSTER[:] = [cluster]
    gc.collect()
    gc.freeze()  # as the site does

    def seconds(task: str, there: bool, text: str) -> float:
        found, begun = declared(task), time.perf_counter()
        if there:
            values = {"text": text}
            assert asking.asked(task, found.result, engine, values, {}) is not None
        else:
            found.task(engine, text=text)
        return time.perf_counter() - begun

    try:
        gap = f"Room {{}} had {what[:3]} [MASK]."
        over = _in_turns(lambda there, n: seconds("fill_mask", there, gap.format(n)),
                         8 if quick else 60)  # fmt: skip
        yield Row(f"one answer here, beside {what}", over[0] * 1_000, "ms")
        limit = 15.0 if goal else None
        yield Row(f"one answer, {what}: longer by", (over[1] - over[0]) * 1_000, "ms", limit)
        names = f"The river bank was quiet when {what[:3]} {{}} came home to Paris. "
        long = _in_turns(lambda there, n: seconds("ner", there, (names.format(n) * 1_600)[:90_000]),
                         1 if quick else 3)  # fmt: skip
        limit = 1.1 if goal else None
        yield Row(f"names in 90,000 characters, {what}", long[1] / long[0], "×", limit)
    finally:
        asking.CLUSTER.clear()
        cluster.end()


def _in_turns(seconds: Callable[[bool, int], float], rounds: int) -> tuple[float, float]:
    """Return the medians here and on the nodes; no text is asked twice."""
    for there in (False, True):
        seconds(there, 9_000 + there)  # warm
    pairs = [(seconds(False, 2 * n), seconds(True, 2 * n + 1)) for n in range(rounds)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def _rate(folder: Path, *more: str) -> float:
    """Return the rows that the command answers in a second, between its first and last report."""
    (folder / "in.txt").write_text(
        "\n".join(f"The number {n} is a [MASK] number." for n in range(_ROWS))
    )
    command: list[Any] = [sys.executable, "-m", "app", "batch", "fill_mask", folder / "in.txt",
                          "--out", folder / "out.jsonl", "--overwrite", *more]  # fmt: skip
    reports: list[tuple[float, int]] = []
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr or ():
            if found := re.match(r"([\d,]+) of ", line):
                reports.append((time.perf_counter(), int(found[1].replace(",", ""))))
    (begun, first), (ended, last) = reports[0], reports[-1]
    return (last - first) / (ended - begun)

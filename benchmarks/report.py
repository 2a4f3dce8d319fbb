"""`RESULTS.md`: one section per benchmark, each with the machine and versions it was run on."""

import datetime
import os
import platform
import re
import statistics
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.measure import Row

_HEAD = """# Benchmarks

Written by `python -m benchmarks`. Both sides run alternately in one process; a ratio is the
median over the rounds, lowest and highest round beside it. Outputs are compared before anything
is timed. Times are medians per item, in the unit shown.
"""
_PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "regex")


def section(title: str, rows: Sequence[Row], notes: Sequence[str] = ()) -> str:
    """Return one section of the report as Markdown."""
    lines = [
        f"## {title}",
        "",
        f"{datetime.date.today().isoformat()}; {machine()}; {versions()}.",
        "",
        "| work | peer | to reach | ratio | lowest to highest | ours | peer's | reached |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [_line(row) for row in rows]
    lines += ["", *(f"- {note}" for note in notes)] if notes else []
    return "\n".join(lines) + "\n"


def write_section(path: Path, title: str, text: str) -> None:
    """Replace one section of the report and leave the others as they are."""
    old = path.read_text(encoding="utf-8") if path.exists() else _HEAD
    sections = re.split(r"(?m)^(?=## )", old)[1:]
    kept = [part for part in sections if not part.startswith(f"## {title}\n")]
    parts = sorted([*kept, text])
    path.write_text(_HEAD + "\n" + "\n".join(part.strip() + "\n" for part in parts), "utf-8")


def machine() -> str:
    """Describe the processor; no names of hosts."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        match = re.search(r"(?m)^model name\s*:\s*(.+)$", info.read_text(encoding="utf-8"))
        name = match[1].strip() if match else name
    return f"{name}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def versions() -> str:
    """List the versions that matter."""
    found = [f"Python {platform.python_version()}"]
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def _line(row: Row) -> str:
    ratios = row.ratios()
    reached = "yes" if row.goal.is_reached(row.ratio()) else "**no**"
    ours = statistics.median(row.comparison.ours) / row.items
    peer = statistics.median(row.comparison.peer) / row.items
    cells = (
        row.work,
        row.peer,
        str(row.goal),
        f"{row.ratio():.2f}",
        f"{min(ratios):.2f} to {max(ratios):.2f}",
        _seconds(ours),
        _seconds(peer),
        reached,
    )
    return f"| {' | '.join(cells)} |"


def _seconds(value: float) -> str:
    """Write a time with three digits.

    >>> [_seconds(value) for value in (1.5, 0.0123, 0.0000042)]
    ['1.50 s', '12.3 ms', '4.20 µs']
    """
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 1 or unit == "µs":
            return f"{value * factor:#.3g} {unit}".replace(". ", " ")
    raise AssertionError("the loop always returns")

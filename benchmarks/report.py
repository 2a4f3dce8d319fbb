"""Writing `RESULTS.md`: one section per benchmark, with the machine and versions it ran on."""

import datetime
import os
import platform
import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Protocol

from benchmarks.measure import COLUMNS

_HEAD = """# Benchmarks

`python -m benchmarks` measures; `--only NAME` one table. Both sides of a comparison take turns, and
their outputs are compared first. A ratio is the median over the rounds (lowest–highest): ours over
the peer's, of time or of throughput. Times are medians per item.
"""
_PACKAGES = ("torch", "transformers", "tokenizers")


class Line(Protocol):
    """One line of a table."""

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the line."""


def section(
    title: str,
    rows: Sequence[Line],
    notes: Sequence[str] = (),
    columns: Sequence[str] = COLUMNS,
) -> str:
    """Return one section of the report as Markdown."""
    lines = [
        f"## {title}",
        "",
        f"{datetime.date.today().isoformat()}; {machine()}; {versions()}.",
        "",
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
    ]
    lines += [f"| {' | '.join(row.cells())} |" for row in rows]
    lines += ["", *(f"- {note}" for note in notes)] if notes else []
    return "\n".join(lines) + "\n"


def write_section(path: Path, title: str, text: str) -> None:
    """Replace one section of the report and keep the others."""
    old = path.read_text(encoding="utf-8") if path.exists() else _HEAD
    sections = re.split(r"(?m)^(?=## )", old)[1:]
    kept = [part for part in sections if not part.startswith(f"## {title}\n")]
    parts = sorted([*kept, text])
    path.write_text(_HEAD + "\n" + "\n".join(part.strip() + "\n" for part in parts), "utf-8")


def machine() -> str:
    """Describe the CPU and system, without the host name."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        match = re.search(r"(?m)^model name\s*:\s*(.+)$", info.read_text(encoding="utf-8"))
        name = match[1].strip() if match else name
    return f"{name}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def versions() -> str:
    """List the versions of Python and of the packages that affect the results."""
    found = [f"Python {platform.python_version()}"]
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)

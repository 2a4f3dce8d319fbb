"""What a benchmark prints: a section for `RESULTS.md`, with the machine and the versions."""

import datetime
import os
import platform
import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Protocol

from benchmarks.measure import COLUMNS

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

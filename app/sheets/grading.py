"""Grading a sheet: what a student wrote is executed, in a process of its own with limits.

The limits keep a mistake from stopping the machine: an endless loop, an endless list. They are no
sandbox: the code may read and write what the user may.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

from app.settings import ROOT
from app.sheets.sheets import Cell, Sheet

SECONDS = 60
"""Longest time for all of a file."""

STEP_SECONDS = 20
"""Longest time for one cell, or for one check."""

MEMORY = 8 * 2**30
"""Bytes of addresses that the process may use; PyTorch alone reserves about 3 GiB of them."""


@dataclass(frozen=True, slots=True)
class Grade:
    """What one blank is worth."""

    name: Annotated[str, "the function"]
    points: Annotated[int, "reached"]
    of: Annotated[int, "the most that can be reached"]
    says: Annotated[str, 'why it is less; "" if it is all'] = ""


def graded(sheet: Sheet, given: Sequence[Cell], *, seconds: float = SECONDS) -> list[Grade]:
    """Execute what a student wrote, and check every blank with the checks of the sheet.

    Checks in the student's file are not used. The process writes one line for each check, so that
    what was checked before a limit is reached counts.
    """
    told = _run(sheet, given, seconds)
    late = f"Not reached: the file was stopped (at most {seconds:g} seconds and "
    late += f"{MEMORY / 2**30:.0f} GiB)."
    return [
        Grade(each.name, each.points * (told.get(each.name, late) == ""), each.points,
              told.get(each.name, late))
        for each in sheet.blanks
    ]  # fmt: skip


def job_of(sheet: Sheet, given: Sequence[Cell]) -> dict[str, Any]:
    """Return what the child is told: the student's cells, and the sheet's own setup and checks."""
    return {
        "given": [each.source for each in given if each.kind in ("code", "blank")],
        "setup": [each.source for each in sheet.cells if each.kind == "code"],
        "checks": [(each.name, each.source) for each in sheet.cells if each.kind == "check"],
        "seconds": STEP_SECONDS,
        "memory": MEMORY,
    }


def _run(sheet: Sheet, given: Sequence[Cell], seconds: float) -> dict[str, str]:
    """Run the child; return what it says of each blank, "" for right."""
    job = job_of(sheet, given)
    around = {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "PYTHONIOENCODING": "utf-8"}
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "app.sheets.child"], cwd=folder, env=os.environ | around,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, encoding="utf-8", errors="replace", start_new_session=True,
        )  # fmt: skip
        try:
            lines, _ = process.communicate(json.dumps(job), timeout=seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            lines, _ = process.communicate()
        finally:
            _end(process)
    return dict(_read(lines))


def _end(process: subprocess.Popen[str]) -> None:
    """End the process and what it has started."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        elif process.poll() is None:
            process.kill()


def _read(lines: str) -> list[tuple[str, str]]:
    """Read the lines of the child; one that was cut off is left out."""
    found = []
    for line in lines.splitlines():
        with suppress(ValueError, TypeError):
            name, says = json.loads(line)
            found.append((str(name), str(says)))
    return found

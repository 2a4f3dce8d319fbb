"""The lab: steps a second in Chromium, and what the server has to do while tabs train."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.pages import FLAGS, browser_path
from benchmarks.server import served

TITLE = "Lab"
NOTES = (
    "The usual run in tabs of one Chromium beside the server on the same two cores, all pressed "
    "before the clock starts. Steps a second: of a tab alone. Server: its processor time as a "
    "share of the clock, with the tabs training, and idle before. An earlier engine had 147 steps "
    "a second on another machine; side by side in Node, both have 48 to 60.",
)
COLUMNS = ("tabs", "steps a second", "server", "server idle")
_WARM = 60.0  # seconds in which a new server still loads what it needs
_CLOCK = 8.0  # seconds, before a run is over


@dataclass(frozen=True, slots=True)
class LabRow:
    """One number of tabs."""

    tabs: int
    pace: int | None
    busy: float
    idle: float

    def cells(self) -> tuple[str, ...]:
        """Return the cells in the order of COLUMNS."""
        return str(self.tabs), str(self.pace or ""), f"{self.busy:.1%}", f"{self.idle:.1%}"


def rows(quick: bool) -> Iterator[LabRow]:
    """Train in one tab, and in as many as a class has."""
    with served() as server, sync_playwright() as playwright:
        time.sleep(_WARM)
        idle = _share(server.process)
        browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        for tabs in (1, 4) if quick else (1, 60):
            with browser.new_context(base_url=server.address) as context:
                pages = [context.new_page() for _ in range(tabs)]
                for page in pages:
                    page.goto("/live/lab.html")
                    page.get_by_role("button", name="Train here").click()
                pace = _pace(pages[0]) if tabs == 1 else None
                yield LabRow(tabs, pace, _share(server.process), idle)
        browser.close()


def _pace(page: Page) -> int:
    page.get_by_text("steps/s").wait_for()
    found = re.search(r"steps/s\s+(\d+)", page.locator(".bx-lab-facts").first.inner_text())
    return int(found[1]) if found else 0


def _share(process: int) -> float:
    """Return how much of one processor a process uses for a while (Linux)."""

    def ticks() -> int:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
        fields = stat.rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])  # hundredths of a second: user and system

    before, begin = ticks(), time.monotonic()
    time.sleep(_CLOCK)
    return (ticks() - before) / 100 / (time.monotonic() - begin)

"""Timing two implementations against each other.

Absolute times depend on what else the machine is doing. So both implementations run alternately in
one process; each round gives one ratio, and the median of these ratios is reported.
"""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

COLUMNS = ("work", "peer", "ours", "peer's", "ratio", "goal")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Seconds per call in each round; entries with the same index are from the same round."""

    ours: tuple[float, ...]
    peer: tuple[float, ...]

    def time_ratios(self) -> list[float]:
        """Return our time divided by the peer's, for each round; below 1 is faster."""
        return [ours / peer for ours, peer in zip(self.ours, self.peer, strict=True)]

    def speed_ratios(self) -> list[float]:
        """Return our throughput divided by the peer's, for each round; above 1 is faster."""
        return [peer / ours for ours, peer in zip(self.ours, self.peer, strict=True)]


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal for a ratio: a time ratio of at most, or a speed ratio of at least, `limit`."""

    kind: Literal["time", "speed"]
    limit: float

    def __str__(self) -> str:
        """Format the goal for the table."""
        sign = "≤" if self.kind == "time" else "≥"
        return f"{self.kind} {sign} {self.limit:g}"

    def is_reached(self, ratio: float) -> bool:
        """Return whether a ratio reaches the goal."""
        return ratio <= self.limit if self.kind == "time" else ratio >= self.limit


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    work: Annotated[str, "the work that was timed"]
    peer: Annotated[str, "the implementation it is compared with"]
    goal: Annotated[Goal, "the ratio to reach"]
    comparison: Annotated[Comparison, "the measured rounds"]
    items: Annotated[
        int, "work items per call (lines, forward passes); the table shows the time per item"
    ] = 1

    def ratios(self) -> list[float]:
        """Return the ratio of each round, of the goal's kind."""
        found = self.comparison
        return found.time_ratios() if self.goal.kind == "time" else found.speed_ratios()

    def ratio(self) -> float:
        """Return the median ratio."""
        return statistics.median(self.ratios())

    def cells(self) -> tuple[str, ...]:
        """Return the cells in the order of COLUMNS."""
        ratios = self.ratios()
        return (
            self.work,
            self.peer,
            seconds(statistics.median(self.comparison.ours) / self.items),
            seconds(statistics.median(self.comparison.peer) / self.items),
            f"{self.ratio():.2f} ({min(ratios):.2f}–{max(ratios):.2f})",
            f"{self.goal}: {'yes' if self.goal.is_reached(self.ratio()) else '**no**'}",
        )

    def __str__(self) -> str:
        """Format the line for printing while the benchmark runs."""
        return f"{self.ratio():6.2f}  ({self.goal})  {self.work}  vs. {self.peer}"


def alternate(
    ours: Callable[[], object],
    peer: Callable[[], object],
    *,
    rounds: int,
    seconds: float = 0.2,
) -> Comparison:
    """Time two functions alternately.

    Args:
        ours: our implementation of the work.
        peer: the peer's implementation of the same work.
        rounds: number of rounds; the side that goes first alternates.
        seconds: approximate duration of one side of a round; short calls are repeated.
    """
    for function in (ours, peer, ours, peer):
        function()  # warm up caches, lazy initialisation and the allocator
    once = max(_time(ours, 1), _time(peer, 1))
    calls = max(1, round(seconds / once))
    times: dict[str, list[float]] = {"ours": [], "peer": []}
    gc.collect()
    gc.disable()
    try:
        for index in range(rounds):
            order = [("ours", ours), ("peer", peer)]
            for name, function in order if index % 2 == 0 else reversed(order):
                times[name].append(_time(function, calls))
    finally:
        gc.enable()
    return Comparison(tuple(times["ours"]), tuple(times["peer"]))


def _time(function: Callable[[], object], calls: int) -> float:
    """Return seconds per call."""
    begin = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - begin) / calls


def seconds(value: float) -> str:
    """Format a time with three significant digits.

    >>> [seconds(value) for value in (1.5, 0.0123, 0.0000042)]
    ['1.50 s', '12.3 ms', '4.20 µs']
    """
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 1 or unit == "µs":
            return f"{value * factor:#.3g} {unit}".replace(". ", " ")
    raise AssertionError("the loop always returns")

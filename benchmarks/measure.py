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
Rounds = tuple[list[float], list[float]]
"""Seconds per call of ours and of the peer; those with the same index are of one round."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: our seconds per call and the peer's, round by round."""

    work: Annotated[str, "the work that was timed"]
    peer: Annotated[str, "the implementation it is compared with"]
    goal: Annotated[Literal["time", "speed"], "our time may be at most `limit` of the peer's, or "
                    "our speed has to be at least so much of it"]  # fmt: skip
    limit: Annotated[float, "the ratio to reach"]
    rounds: Annotated[Rounds, "seconds of both sides"]
    items: Annotated[int, "lines, or passes, of a call; the table has the time of one"] = 1

    def ratios(self) -> list[float]:
        """Return the ratio of each round, of the goal's kind."""
        pairs = zip(*self.rounds, strict=True)
        return [a / b if self.goal == "time" else b / a for a, b in pairs]

    def reached(self) -> bool:
        """Return whether the median ratio reaches the goal."""
        ratio = statistics.median(self.ratios())
        return ratio <= self.limit if self.goal == "time" else ratio >= self.limit

    def cells(self) -> tuple[str, ...]:
        """Return the cells in the order of COLUMNS."""
        ratios = self.ratios()
        return (
            self.work,
            self.peer,
            *(seconds(statistics.median(each) / self.items) for each in self.rounds),
            f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})",
            f"{self.goal} {'≤' if self.goal == 'time' else '≥'} {self.limit:g}: "
            f"{'yes' if self.reached() else '**no**'}",
        )


def alternate(
    ours: Callable[[], object],
    peer: Callable[[], object],
    *,
    rounds: int,
    seconds: float = 0.2,
) -> Rounds:
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
    return times["ours"], times["peer"]


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

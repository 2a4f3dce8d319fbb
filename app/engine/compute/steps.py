"""Progress of long work: reported in the thread that waits for it, which may also cancel it."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


class _Cancelled(Exception):
    """Ends the work whose report failed."""


class Steps:
    """What the library's functions call as their `progress`.

    Work is done in a thread of the pool, where a page cannot be drawn. `Processor.run` passes each
    step on to `report` in the thread that waits. If `report` raises, as everything on a page does
    when its visitor has gone on, the work ends at its next step.

    Args:
        report: called with the steps done and their number.
    """

    def __init__(self, report: Callable[[int, int], None]) -> None:
        self._report = report
        self._queue: SimpleQueue[tuple[int, int] | None] = SimpleQueue()
        self._cancelled = False

    def __call__(self, done: int, total: int) -> None:
        """Note a step; called by the work."""
        if self._cancelled:
            raise _Cancelled
        self._queue.put((done, total))

    def follow(self, future: "Future[T]") -> T:
        """Report the steps of some work until it is done, and return its result."""
        future.add_done_callback(lambda _: self._queue.put(None))
        try:
            while (step := self._queue.get()) is not None:
                self._report(*step)
        except BaseException:
            self._cancelled = True
            wait([future])  # its share of the processor is taken until then
            raise
        return future.result()

"""Watching a download: progress for the caller, calling it off, giving up where nothing arrives.

The work runs in a thread of its own, because a read from the network may block for long. The
caller's thread watches it and reports, as front ends want: what they draw with belongs to the
thread that asked, and an exception from there (a page left, Ctrl+C) ends the download.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import TypeVar

from bert_core.errors import DownloadCancelled, DownloadError

T = TypeVar("T")
# Called with the bytes that have arrived and those expected, None where the server does not say.
Progress = Callable[[int, int | None], None]

_TICK = 0.1
_FAREWELL = 2.0  # seconds that a worker gets to clean up after itself


class Stopped(Exception):
    """Raised inside the worker once nobody waits for it any more."""


class Meter:
    """Counts what arrives, in the worker; there, counting also tells it to stop.

    Attributes:
        done: bytes that have arrived.
        total: bytes expected; None where unknown.
    """

    def __init__(self) -> None:
        self.done = 0
        self.total: int | None = None
        self._stop = threading.Event()

    def add(self, count: int) -> None:
        """Count bytes; a negative number where some have to come again.

        Raises:
            Stopped: nobody waits any more.
        """
        if self._stop.is_set():
            raise Stopped
        self.done += count

    def pause(self, seconds: float) -> None:
        """Sleep, but not when it is time to stop.

        Raises:
            Stopped: nobody waits any more.
        """
        if self._stop.wait(seconds):
            raise Stopped

    def stop(self) -> None:
        """Tell the worker to stop at its next count."""
        self._stop.set()


def watched(
    work: Callable[[Meter], T],
    *,
    what: str,
    patience: float,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
    unblock: Callable[[], None] | None = None,
) -> T:
    """Do work in a thread of its own, and watch it.

    Args:
        work: counts on its meter what arrives.
        what: what is being fetched, for the bar and for messages.
        patience: seconds without a byte after which it is given up.
        progress: called in this thread; None draws a bar where a terminal is.
        cancel: calls the work off when set.
        unblock: frees the worker from a read that blocks.

    Raises:
        DownloadCancelled: it was called off.
        DownloadError: nothing arrived for too long, or what the work itself raises.
    """
    meter = Meter()
    future: Future[T] = Future()
    worker = threading.Thread(target=_run, args=(work, meter, future), daemon=True)
    worker.start()
    try:
        with _reporting(progress, what) as report:
            _watch(future, meter, report, what, patience, cancel)
    finally:
        if not future.done():
            meter.stop()
            if unblock is not None:
                unblock()
            worker.join(_FAREWELL)
    return future.result()


def _run(work: Callable[[Meter], T], meter: Meter, future: "Future[T]") -> None:
    try:
        result = work(meter)
    except BaseException as error:  # noqa: BLE001  whatever it is, it belongs to the caller
        future.set_exception(error)
    else:
        future.set_result(result)


def _watch(
    future: "Future[T]",
    meter: Meter,
    report: Progress,
    what: str,
    patience: float,
    cancel: threading.Event | None,
) -> None:
    """Report until the work is done, called off or at a standstill."""
    seen, since = -1, time.monotonic()
    while wait([future], timeout=_TICK).not_done:
        if cancel is not None and cancel.is_set():
            raise DownloadCancelled(f"{what}: called off. Nothing of it was kept.")
        if meter.done != seen:
            seen, since = meter.done, time.monotonic()
            report(seen, meter.total)
        elif time.monotonic() - since > patience:
            raise DownloadError(
                f"{what}: nothing arrived for {patience:.0f} seconds, so it was given up. Try "
                "again later."
            )
    if future.exception() is None:
        report(meter.done, meter.total)


@contextmanager
def _reporting(progress: Progress | None, what: str) -> Iterator[Progress]:
    """Give the caller's function, or a bar on a terminal, or silence."""
    if progress is not None:
        yield progress
    elif sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, total: None
    else:
        from tqdm import tqdm

        with tqdm(desc=what, unit="B", unit_scale=True, leave=False) as bar:

            def draw(done: int, total: int | None) -> None:
                bar.total = total
                bar.update(done - bar.n)

            yield draw

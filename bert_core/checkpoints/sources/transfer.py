"""Supervise a download: report progress, cancel it, or give up when no data arrives.

The work runs in its own thread because a network read may block for a long time. The caller's
thread watches it and reports progress, because front ends can draw only from that thread. An
exception raised there (the user leaves the page, Ctrl+C) ends the download.
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
# Called with the bytes received and expected; None if the server does not state the latter.
Progress = Callable[[int, int | None], None]

_TICK = 0.1
_FAREWELL = 2.0  # seconds for a worker to clean up


class Stopped(Exception):
    """Raised inside the worker when the caller no longer waits for it."""


class Meter:
    """Counts received bytes in the worker, and stops the worker when told to.

    Attributes:
        done: bytes received.
        total: bytes expected; None if unknown.
    """

    def __init__(self) -> None:
        self.done = 0
        self.total: int | None = None
        self._stop = threading.Event()

    def add(self, count: int) -> None:
        """Count received bytes; a negative count if some must be fetched again.

        Raises:
            Stopped: the caller no longer waits.
        """
        if self._stop.is_set():
            raise Stopped
        self.done += count

    def pause(self, seconds: float) -> None:
        """Sleep, but wake up when told to stop.

        Raises:
            Stopped: the caller no longer waits.
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
    """Run work in its own thread and supervise it.

    Args:
        work: function that counts received bytes on its meter.
        what: what is being fetched, for the bar and for messages.
        patience: seconds without any data before giving up.
        progress: called in this thread; None draws a bar on a terminal.
        cancel: event that cancels the work.
        unblock: releases the worker from a blocking read.

    Raises:
        DownloadCancelled: the work was cancelled.
        DownloadError: no data arrived for too long, or the work itself raised it.
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
    except BaseException as error:  # noqa: BLE001  passed on to the caller
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
    """Report progress until the work is done, cancelled or stalled."""
    seen, since = -1, time.monotonic()
    while wait([future], timeout=_TICK).not_done:
        if cancel is not None and cancel.is_set():
            raise DownloadCancelled(f"{what}: cancelled; nothing was kept.")
        if meter.done != seen:
            seen, since = meter.done, time.monotonic()
            report(seen, meter.total)
        elif time.monotonic() - since > patience:
            raise DownloadError(
                f"{what}: no data arrived for {patience:.0f} seconds. Try again later."
            )
    if future.exception() is None:
        report(meter.done, meter.total)


@contextmanager
def _reporting(progress: Progress | None, what: str) -> Iterator[Progress]:
    """Yield the caller's function, otherwise a bar on a terminal, otherwise a no-op."""
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

"""Long work that gives up its turn at each step: others are served, and it can be cancelled.

`Processor.run` cannot be interrupted. A function of `bert_core` that reports its progress can be
run in steps instead: it waits at each report until its visitor has the next turn.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Generic, TypeVar

import torch

from app.engine.compute.processor import PROCESSOR

T = TypeVar("T")
Progress = Callable[[int, int], None]


def in_turns(work: Callable[[Progress], T], *, tokens: int, progress: Progress | None = None) -> T:
    """Run work in inference mode, one turn of the processor for each step it reports.

    Args:
        work: a function that calls its argument with the steps done and their number.
        tokens: number of tokens that the model reads in one step; see `Processor.run`.
        progress: called between two turns, in the caller's thread, with the same numbers; an
            exception it raises cancels the work.
    """
    steps = _Steps(work)
    try:
        while (report := PROCESSOR.run(steps.next, tokens=tokens)) is not None:
            if progress is not None:
                progress(*report)
    finally:
        steps.cancel()
    return steps.result.result()


class _Cancelled(BaseException):
    """Ends work that no visitor waits for any more."""


class _Steps(Generic[T]):
    """Work in a thread of its own, which runs only while `next` is being called."""

    def __init__(self, work: Callable[[Progress], T]) -> None:
        self.result: Future[T] = Future()
        self._work = work
        self._reports: SimpleQueue[tuple[int, int] | None] = SimpleQueue()
        self._go = threading.Semaphore(0)
        self._cancelled = False
        self._threads = 1
        threading.Thread(target=self._run, name="steps", daemon=True).start()

    def next(self) -> tuple[int, int] | None:
        """Let the work continue until it reports its progress; None at its end."""
        self._threads = torch.get_num_threads()
        self._go.release()
        return self._reports.get()

    def cancel(self) -> None:
        """End the work at the step where it waits; nothing happens if it has ended."""
        self._cancelled = True
        self._go.release()

    def _run(self) -> None:
        try:
            self._wait()
            with torch.inference_mode():
                self.result.set_result(self._work(self._report))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            self.result.set_exception(error)
        finally:
            self._reports.put(None)

    def _report(self, done: int, total: int) -> None:
        self._reports.put((done, total))
        self._wait()

    def _wait(self) -> None:
        """Wait for a turn, and take the number of threads that it has (PyTorch keeps it apart)."""
        self._go.acquire()
        if self._cancelled:
            raise _Cancelled
        torch.set_num_threads(self._threads)

"""Long work that gives up its turn at each step: others are served, and it can be cancelled.

`Processor.run` cannot be interrupted. A function of `bert_core` that reports its progress can be
run in steps instead: at each report it waits until its visitor has the next turn.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeVar

import torch

from app.engine.compute.processor import PROCESSOR

T = TypeVar("T")
Progress = Callable[[int, int], None]


def in_turns(work: Callable[[Progress], T], *, tokens: int, progress: Progress | None = None) -> T:
    """Run work in inference mode, one turn of the processor for each step it reports.

    Args:
        work: a function that calls its argument with the steps done and their number.
        tokens: number of tokens that the model reads in one step; see `Processor.run`.
        progress: called between two turns with the same numbers; an exception it raises cancels
            the work.
    """
    turn = ExitStack()

    def begin() -> None:
        torch.set_num_threads(turn.enter_context(PROCESSOR.turn(tokens)))
        turn.callback(torch.set_num_threads, PROCESSOR.threads)  # new threads begin with the last

    def report(done: int, total: int) -> None:
        turn.close()
        if progress is not None:
            progress(done, total)
        begin()

    with turn, torch.inference_mode():
        begin()
        return work(report)

"""Chunks of rows, answered in as many processes as there are cores, one thread in each.

A pass over a short row has nothing for a second thread to do, and Python runs one thread at a time.
On Linux the processes share the memory of the weights (`fork`).
"""

import json
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from app.settings import settings
from bert_core.errors import InputError

Asked = tuple[Mapping[str, object], str]  # a task's values for a row, and what is wrong with them
Chunks = Iterator[tuple[int, Sequence[Asked]]]  # numbered
Lines = Generator[tuple[int, bytes], None, None]  # of a chunk: a line of JSON for each row


def answer_rows(task: str, model: str, rows: Sequence[Asked]) -> bytes:
    """Answer rows: a line of JSON for each, with the answer or the sentence that says why not."""
    from app.declared import declared
    from app.declared.answers import answer, engine_named
    from app.engine.calls import refused
    from app.faces.paper.answers import record

    found, engine = declared(task), engine_named(model)
    lines = list[str]()
    for given, wrong in rows:
        try:
            one = {"error": wrong} if wrong else {"answer": record(answer(found, engine, given))}
        except Exception as error:  # noqa: BLE001 - this row's; a bug gets a number, as elsewhere
            one = {"error": refused(error).message}
        lines.append(json.dumps(one, ensure_ascii=False, allow_nan=False) + "\n")
    return "".join(lines).encode()


def in_order(
    chunks: Chunks, submit: Callable[[Sequence[Asked]], Callable[[], bytes]], most: int
) -> Lines:
    """Yield the chunks in order; so many are submitted, each for what returns its lines."""
    busy: deque[tuple[int, Callable[[], bytes]]] = deque()
    for number, rows in chunks:
        busy.append((number, submit(rows)))
        if len(busy) == most:
            first, lines = busy.popleft()
            yield first, lines()
    for first, lines in busy:
        yield first, lines()


def spread(chunks: Chunks, workers: int, task: str, model: str) -> Lines:
    """Answer chunks, one at a time in each of so many processes.

    Raises:
        InputError: a process was ended from outside.
    """
    forks = sys.platform == "linux" and settings().device == "cpu"
    context: Any = multiprocessing.get_context("fork" if forks else "spawn")
    pool = ProcessPoolExecutor(workers, context, initializer=_begin)
    try:
        submit = lambda rows: pool.submit(answer_rows, task, model, rows).result  # noqa: E731
        yield from in_order(chunks, submit, 2 * workers)
    except BrokenProcessPool:
        raise InputError(
            "A process was ended, perhaps because memory ran out. The answers so far are kept; "
            "run the same command to continue, with --workers 1 for the least memory."
        ) from None
    finally:
        for process in multiprocessing.active_children():
            process.kill()  # what it has not sent is not needed
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """Prepare a process: Ctrl-C is the command's, and it ends when the command does."""
    from app.engine.compute.recent import RECENT

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    RECENT.limit = 8 * 2**20  # bytes of results, in case a row needs one twice
    threading.Thread(target=_end_with_the_command, daemon=True).start()


def _end_with_the_command() -> None:
    if command := multiprocessing.parent_process():
        command.join()
        os._exit(1)

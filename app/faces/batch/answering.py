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
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from app.settings import settings
from bert_core.errors import InputError

# What a task is given for a row, and why it cannot be asked; "" if it can.
Asked = tuple[Mapping[str, object], str]

# Yields `{"answer": …}` or `{"error": …}` for each row.
AnswerRows = Callable[[Sequence[Asked]], Iterator[dict[str, Any]]]

_RECENT = 8 * 2**20  # bytes of results that a process keeps, in case a row needs one twice


def answer_rows(task: str, model: str, rows: Sequence[Asked]) -> Iterator[dict[str, Any]]:
    """Answer rows here: with the task's JSON, or with the sentence that says why not."""
    from app.declared import declared
    from app.declared.answers import answer, engine_named
    from app.engine.calls import refused
    from app.faces.paper.answers import record

    found, engine = declared(task), engine_named(model)
    for given, wrong in rows:
        try:
            yield {"error": wrong} if wrong else {"answer": record(answer(found, engine, given))}
        except Exception as error:  # noqa: BLE001 - this row's; a bug gets a number, as elsewhere
            yield {"error": refused(error).message}


def one_thread_each() -> None:
    """Let processes compute in one thread each; to be called before PyTorch is imported."""
    os.environ.update(BERT_EXPLORER_THREADS="1", BERT_EXPLORER_RUNS="1", OMP_NUM_THREADS="1")


def spread(
    chunks: Iterator[tuple[int, Sequence[Asked]]], workers: int, answer: AnswerRows
) -> Generator[tuple[int, bytes], None, None]:
    """Answer numbered chunks, one at a time in each of so many processes.

    Yields:
        The number of a chunk that is done, and a line of JSON for each of its rows.

    Raises:
        InputError: a process was ended from outside.
    """
    forks = sys.platform == "linux" and settings().device == "cpu"
    context: Any = multiprocessing.get_context("fork" if forks else "spawn")
    pool = ProcessPoolExecutor(workers, context, initializer=_begin)
    busy: dict[Future[bytes], int] = {}
    try:
        while True:
            while len(busy) <= workers and (coming := next(chunks, None)):  # one waits
                busy[pool.submit(answer_chunk, answer, coming[1])] = coming[0]
            if not busy:
                return
            for done in wait(busy, return_when=FIRST_COMPLETED).done:
                yield busy.pop(done), done.result()
    except BrokenProcessPool:
        raise InputError(
            "A process was ended, perhaps because memory ran out. The answers so far are kept; "
            "run the same command to continue, with --workers 1 for the least memory."
        ) from None
    finally:
        for process in multiprocessing.active_children():
            process.kill()  # what it has not sent is not needed
        pool.shutdown(cancel_futures=True)


def answer_chunk(answer: AnswerRows, rows: Sequence[Asked]) -> bytes:
    """Answer rows; return a line of JSON for each."""
    lines = (json.dumps(each, ensure_ascii=False, allow_nan=False) for each in answer(rows))
    return "".join(f"{line}\n" for line in lines).encode()


def _begin() -> None:
    """Prepare a process: Ctrl-C is the command's, and it ends when the command does."""
    from app.engine.compute.recent import RECENT

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    RECENT.limit = _RECENT
    threading.Thread(target=_end_with_command, daemon=True).start()


def _end_with_command() -> None:
    command = multiprocessing.parent_process()
    assert command is not None
    command.join()
    os._exit(1)

"""Chunks of rows, answered in as many processes as there are cores, one thread in each.

A pass over a short row has nothing for a second thread to do, and Python runs one thread at a time.
On Linux the processes share the memory of the weights (`fork`).
"""

import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from app.settings import settings
from bert_core.errors import InputError

Asked = tuple[Mapping[str, object], str]
"""What a task is given for a row, and why it cannot be asked; "" if it can."""

AnswerRows = Callable[[Sequence[Asked]], Iterator[dict[str, Any]]]
"""Yields `{"answer": …}` or `{"error": …}` for each row."""

_RECENT = 8 * 2**20  # bytes of results that a process keeps, in case a row needs one twice


def answer_rows(task: str, model: str, rows: Sequence[Asked]) -> Iterator[dict[str, Any]]:
    """Answer rows here: with the task's JSON, or with the sentence that says why not."""
    from app.declared import declared
    from app.declared.answers import answer, engine_named
    from app.engine.calls import refused
    from app.faces.paper.answers import record

    found, engine = declared(task), engine_named(model)
    if task == "atlas":
        from app.faces.batch.atlas import measured

        yield from measured(engine, rows)
        return
    for given, wrong in rows:
        try:
            yield {"error": wrong} if wrong else {"answer": record(answer(found, engine, given))}
        except Exception as error:  # noqa: BLE001 - this row's; a bug gets a number, as elsewhere
            yield {"error": refused(error).message}


def as_line(answer: Mapping[str, Any]) -> bytes:
    """Write what a row is answered as a line of JSON."""
    return json.dumps(answer, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def one_thread_each() -> None:
    """Let processes compute in one thread each; to be called before PyTorch is imported."""
    os.environ.update(BERT_EXPLORER_THREADS="1", BERT_EXPLORER_RUNS="1", OMP_NUM_THREADS="1")


def spread(
    chunks: Iterator[tuple[int, Sequence[Asked]]], workers: int, answer: AnswerRows
) -> Generator[tuple[int, bytes], None, None]:
    """Answer chunks, one at a time in each process.

    Args:
        chunks: with their numbers.
        workers: processes.
        answer: answers a chunk: `answer_rows` with its task and model, or a function that sends
            them elsewhere.

    Yields:
        The number of a chunk that is done, and a line of JSON for each of its rows.

    Raises:
        InputError: a process was ended from outside.
    """
    forks = sys.platform == "linux" and settings().device == "cpu"
    context: Any = multiprocessing.get_context("fork" if forks else "spawn")
    processes, busy = [], dict[Any, int]()
    try:
        while len(busy) < workers and (coming := next(chunks, None)):
            ours, theirs = context.Pipe()
            processes.append(
                context.Process(target=_serve, args=(theirs, ours, answer), daemon=True)
            )
            processes[-1].start()
            theirs.close()
            _send(ours, coming, busy)
        while busy:
            ready: Any
            for ready in wait(list(busy)):
                number, lines = busy.pop(ready), ready.recv_bytes()
                if coming := next(chunks, None):
                    _send(ready, coming, busy)
                yield number, lines
    except (EOFError, ConnectionError):
        raise InputError(
            "A process was ended, perhaps because memory ran out. The answers so far are kept; "
            "run the same command to continue, with --workers 1 for the least memory."
        ) from None
    finally:
        for process in processes:
            process.kill()  # what it has not sent is not needed
            process.join()


def _send(worker: Connection, chunk: tuple[int, Sequence[Asked]], busy: dict[Any, int]) -> None:
    busy[worker] = chunk[0]
    worker.send(chunk[1])


def _serve(own: Connection, other: Connection, answer: AnswerRows) -> None:
    """Answer chunks until the connection is closed, as it is when the command has ended."""
    from app.engine.compute.recent import RECENT

    other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the command's
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    RECENT.limit = _RECENT
    with suppress(EOFError, ConnectionError):
        while True:
            lines = bytearray()
            for line in answer(own.recv()):
                if own.poll():  # nothing is sent meanwhile: the command has ended
                    return
                lines += as_line(line)
            own.send_bytes(lines)

"""The process in which a student's file is executed: `python -m app.sheets.child`, a job on stdin.

It writes a line of JSON for each check: the name of the function, and what is wrong with it. What
the file itself prints is dropped.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

_MOST_LETTERS = 600


class _TooLong(BaseException):
    """A cell or a check took longer than it may; not an `Exception`, which cells may catch."""


def main() -> None:
    """Execute the cells, then the checks."""
    job = json.load(sys.stdin)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    _limit(job["memory"])
    for found in results(job):
        out.write(json.dumps(found) + "\n")
        out.flush()
    os._exit(0)  # threads that the file has started do not keep the process


def results(job: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Execute the cells of a file, then yield for each check the function, and what is wrong."""
    seconds = job["seconds"]
    space: dict[str, Any] = {"__name__": "sheet"}
    faults = [says for source in job["given"] if (says := _tried(source, space, seconds))]
    ours: dict[str, Any] = {"__name__": "check"}
    for source in job["setup"]:
        exec(compile(source, "setup", "exec"), ours)  # noqa: S102 - of our own sheet
    for name, source in job["checks"]:
        found = space.get(name)
        if callable(found):
            says = _tried(source, {**ours, name: found}, seconds)
        else:
            says = f"There is no function {name}. {' '.join(faults)}".strip()
        yield name, says[:_MOST_LETTERS]


def _limit(memory: int) -> None:
    """Limit the memory, where the system can; Windows and macOS cannot."""
    try:
        import resource
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = memory if most == resource.RLIM_INFINITY else min(memory, most)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def _tried(source: str, space: dict[str, Any], seconds: int) -> str:
    """Execute a cell; return what is wrong, "" for nothing."""
    try:
        _within(seconds, lambda: exec(compile(source, "cell", "exec"), space))  # noqa: S102
    except _TooLong:
        return f"It takes longer than {seconds} seconds. Is there a loop that does not end?"
    except NotImplementedError:
        return "Not written yet."
    except AssertionError as error:
        return str(error) or "A condition of the check does not hold."
    except MemoryError:
        return "It needs more memory than it may use."
    except SyntaxError as error:
        return f"Line {error.lineno} of a cell is not Python: {error.msg}."
    except BaseException as error:  # noqa: BLE001 - whatever a student's code raises
        return f"It ends with {type(error).__name__}: {error}"
    return ""


def _within(seconds: int, work: Callable[[], object]) -> None:
    """Do something, but not for longer; only where the system has alarms."""
    if not hasattr(signal, "setitimer"):
        work()
        return

    def ring(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    main()

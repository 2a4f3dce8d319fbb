"""The log of the site: one line for each event, with its time, its level and its cause.

What a client sends is in no line. Messages of our own loggers (`app`) are kept, because we wrote
them; they describe an exception by its `cause`. Libraries quote requests in theirs, so of any other
record, and of what is printed, only the level, the place in the code and the class of the exception
are written: once, and after a minute how often it was repeated.
"""

import io
import json
import logging
import os
import sys
import sysconfig
import threading
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from errno import errorcode
from pathlib import Path
from types import FrameType, TracebackType
from typing import TextIO

_ROOTS = sorted(
    {f"{each}{os.sep}" for each in (*sysconfig.get_paths().values(), Path(__file__).parents[1])},
    key=len,
    reverse=True,  # an environment may be inside the checkout
)
_FRAMES = 30  # of a traceback; those of an endless recursion say nothing more
_CHAIN = 4  # exceptions that led to each other
_MINUTE = 60.0  # seconds
_PRINTERS = {"traceback", "rich"}  # modules that print for others


def cause(error: BaseException) -> str:
    """Describe an exception by its class and the places it came through, without its message.

    A message may quote what a visitor typed. An error of the system is named in the system's words.

    >>> cause(OSError(28, "No space left for the words of a visitor"))
    'OSError ENOSPC (No space left on device)'
    """
    return ", ".join([" from ".join(_kinds(error)), *_places(error.__traceback__)[-_FRAMES:]])


def _brief(error: BaseException | None) -> str:
    """Describe an exception by its class, where it was raised, and the last place of ours."""
    if error is None:
        return ""
    places = _places(error.__traceback__)
    ours = [each for each in places[:-1] if each.startswith(("app/", "pages/", "bert_core/"))]
    return "".join(f", {each}" for each in [" from ".join(_kinds(error)), *ours[-1:], *places[-1:]])


def _kinds(error: BaseException | None) -> Iterator[str]:
    """Yield the class of an exception and of those that led to it."""
    for _ in range(_CHAIN):
        if error is None:
            return
        yield _kind(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _kind(error: BaseException) -> str:
    name = type(error).__name__
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(number, int) and number in errorcode:
        return f"{name} {errorcode[number]} ({os.strerror(number)})"
    if isinstance(error, BaseExceptionGroup):
        return f"{name} of {' and '.join(sorted({_kind(each) for each in error.exceptions}))}"
    return name


def _places(trace: TracebackType | None) -> list[str]:
    """Return the places of a traceback, the innermost last."""
    return [
        f"{_file(frame.f_code.co_filename)}:{line} in {frame.f_code.co_name}"
        for frame, line in traceback.walk_tb(trace)
    ]


def _file(path: str) -> str:
    """Return the part of a path below the checkout or the environment."""
    return next((path.removeprefix(root) for root in _ROOTS if path.startswith(root)), path)


def line_of(level: str, logger: str, event: str) -> str:
    r"""Write an event as a line. What is not a plain character is escaped, so that it stays one.

    >>> line_of("INFO", "app", "one\ntwo")[25:]
    'INFO app: one\\ntwo\n'
    """
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if _Site.as_json:
        told = {"time": now, "level": level, "logger": logger, "event": event}
        return json.dumps(told) + "\n"
    return f"{now} {level} {logger}: {event}".encode("unicode_escape").decode("ascii") + "\n"


class Log(logging.Handler):
    """Writes records as lines.

    Args:
        out: where to.
        minute: seconds after which it says how often something was repeated.
    """

    def __init__(self, out: TextIO, minute: float = _MINUTE) -> None:
        super().__init__()
        self._out = out
        self._minute = minute
        self._mutex = threading.RLock()
        self._seen: Counter[tuple[str, str, str]] = Counter()
        self._silent = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; of one that is not ours, only where it comes from."""
        error = record.exc_info[1] if record.exc_info else None
        if _is_ours(record.name):
            causes = [cause(error)] if error else []
            self.write(record.levelname, record.name, ", ".join([record.getMessage(), *causes]))
        elif record.levelno >= logging.WARNING:
            place = f"{_file(record.pathname)}:{record.lineno}"
            self.count(record.levelname, record.name, place + _brief(error))

    def count(self, level: str, logger: str, event: str) -> None:
        """Write an event, unless it has been written within the minute."""
        told = level, logger, event
        with self._mutex:
            if not self._seen:
                timer = threading.Timer(self._minute, self._tell)
                timer.daemon = True
                with suppress(RuntimeError):  # no more threads
                    timer.start()
            self._seen[told] += 1
            if self._seen[told] == 1:
                self.write(*told)

    def _tell(self) -> None:
        """Write how often each event was repeated within the minute."""
        with self._mutex:
            seen, self._seen = self._seen, Counter()
        for (level, logger, event), times in seen.items():
            if times > 1:
                self.write(
                    level, logger, f"{event}, {times - 1:,} more in {self._minute:g} seconds"
                )

    def write(self, level: str, logger: str, event: str) -> None:
        """Write a line."""
        with self._mutex, suppress(OSError, ValueError):  # the reader is gone
            if not self._silent:
                self._out.write(line_of(level, logger, event))
                self._out.flush()

    def end(self) -> None:
        """Write nothing more."""
        self._silent = True


class Printed(io.TextIOBase):
    """Replaces `sys.stdout` or `sys.stderr`: passes on what we print, and counts the rest.

    Args:
        real: the stream.
        log: counts.
    """

    def __init__(self, real: TextIO, log: Log) -> None:
        super().__init__()
        self._real = real
        self._log = log

    def write(self, text: str) -> int:
        """Write a text of ours; of any other, only who wrote it."""
        frame = sys._getframe(1)
        while frame.f_back and _name_of(frame).partition(".")[0] in _PRINTERS:
            frame = frame.f_back
        name = _name_of(frame)
        if _is_ours(name) or name == "__main__":
            return self._real.write(text)
        if text.strip():
            place = f"{_file(frame.f_code.co_filename)}:{frame.f_lineno}"
            self._log.count("WARNING", "print", place + _brief(sys.exception()))
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._real.flush()

    def fileno(self) -> int:
        """Return the number of the file behind the stream."""
        return self._real.fileno()


def _name_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def _is_ours(name: str) -> bool:
    return name == "app" or name.startswith("app.")


class _Site:
    """The log of this process."""

    log: Log | None = None
    as_json = False


def begin(*, as_json: bool = False) -> None:
    """Keep this log from now on; call it before strangers come.

    Until then there is only the operator, who is told everything.

    Args:
        as_json: write each event as a JSON object.
    """
    _Site.as_json = as_json
    log = _Site.log = Log(sys.stderr)

    def call_handlers(self: logging.Logger, record: logging.LogRecord) -> None:
        log.handle(record)

    def warned(_: object, kind: type[Warning], filename: str, lineno: int, *__: object) -> None:
        log.count("WARNING", "py.warnings", f"{_file(filename)}:{lineno}, {kind.__name__}")

    # Many libraries give their loggers handlers of their own, some as late as the first record.
    logging.Logger.callHandlers = call_handlers  # type: ignore[method-assign]
    logging.raiseExceptions = False
    logging.getLogger("app").setLevel(logging.INFO)
    warnings.showwarning = warned  # type: ignore[assignment]
    sys.excepthook = lambda _, error, __: log.write("ERROR", "app", f"ended: {cause(error)}")
    sys.unraisablehook = lambda it: log.count(
        "ERROR", "python", f"unraisable{_brief(it.exc_value)}"
    )
    threading.excepthook = lambda it: log.count("ERROR", "python", f"thread{_brief(it.exc_value)}")
    sys.stdout, sys.stderr = Printed(sys.stdout, log), Printed(sys.stderr, log)


def end() -> None:
    """Write nothing more."""
    if _Site.log is not None:
        _Site.log.end()

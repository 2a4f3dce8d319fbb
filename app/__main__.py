"""The command line: `python -m app TASK TEXT`, or one of the commands that are no task.

Without arguments it lists the tasks.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

COMMANDS = {
    "batch": "app.faces.batch.command",
    "record": "app.faces.recorded.command",
    "fetch": "app.faces.terminal_fetch",
    "lesson": "app.faces.terminal_lesson",
    "lessons": "app.faces.terminal_lesson",
    "sheet": "app.faces.terminal_sheet",
}
"""The modules of the commands, each imported only if it is asked for."""


def run(arguments: Sequence[str]) -> int:
    """Ask a task, or run a command; return the exit status."""
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # its reader, such as `head`, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _run(arguments: Sequence[str]) -> int:
    if isinstance(sys.stdout, TextIOWrapper):  # a console may lack characters: "\u2713" instead
        sys.stdout.reconfigure(errors="backslashreplace")
    module = COMMANDS.get(arguments[0]) if arguments else None
    try:
        main = import_module(module or "app.faces.terminal").main
        status: int = main(arguments[1:] if module else arguments)
    except Exception as error:  # settings are read when the first module needs them
        from bert_core.errors import ConfigError  # not for a list of the tasks

        if not isinstance(error, ConfigError):
            raise
        sys.stderr.write(f"{error}\n")
        return 2
    return status


if __name__ == "__main__":
    raise SystemExit(run(sys.argv[1:]))

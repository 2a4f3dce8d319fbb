"""The command line: `python -m app TASK TEXT`, or `python -m app record OUT`.

Without arguments it lists the tasks.
"""

import sys
from collections.abc import Sequence


def run(arguments: Sequence[str]) -> int:
    """Ask a task, or record the site; return the exit status."""
    if arguments[:1] == ["record"]:
        from app.faces.recorded.command import main as record

        return record(arguments[1:])
    from app.faces.terminal import main

    return main(arguments)


if __name__ == "__main__":
    raise SystemExit(run(sys.argv[1:]))

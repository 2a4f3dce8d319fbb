"""The command line: `python -m app TASK TEXT`, and `python -m app record OUT`.

Without arguments it lists the tasks.
"""

import sys

from app.faces import terminal
from app.recorded import command

if __name__ == "__main__":
    _, *given = sys.argv
    raise SystemExit(command.main(given[1:]) if given[:1] == ["record"] else terminal.main(given))

"""The command line: `python -m app TASK TEXT`; without arguments it lists the tasks."""

import sys

from app.faces.terminal import main

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

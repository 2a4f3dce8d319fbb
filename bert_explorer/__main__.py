"""The command `bert-explorer`: without a task it starts the site; with one it answers."""

import runpy
import sys


def main() -> None:
    """Start the site, or do what `python -m app` does; `tasks` lists the tasks."""
    if sys.argv[1:2] and not sys.argv[1].startswith("-"):
        from app.__main__ import run

        raise SystemExit(run([] if sys.argv[1:] == ["tasks"] else sys.argv[1:]))
    from app.settings import ROOT

    sys.argv[0] = str(ROOT / "app.py")
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()

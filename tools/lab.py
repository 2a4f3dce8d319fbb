"""Make the recorded runs of the lab: `python -m tools.lab`.

Each example of the lab is trained to its end, and so are the students of the usual run, with every
recipe and three seeds. What is recorded already is left alone. Remove a file to have it made again,
after a change of the corpus, of the model or of the training.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.catalog import examples


def main(arguments: Sequence[str] | None = None) -> int:
    """Record what is missing; return the exit status."""
    argparse.ArgumentParser(prog="python -m tools.lab", description=__doc__).parse_args(arguments)
    from app.features.lab.result_settings import LabSettings
    from app.features.lab.task import completed
    from app.features.lab.task_distil import record
    from app.features.lab.task_recorded import FOLDER, recorded, write
    from app.features.lab.task_run import Run

    FOLDER.mkdir(exist_ok=True)
    for example in examples("lab"):
        values: Mapping[str, Any] = example.values
        settings = LabSettings(**values)
        if recorded(settings) is None:
            _say(write(completed(Run(settings), longest=3600)))
    for path in record():
        _say(path)
    return 0


def _say(path: Path) -> None:
    sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())

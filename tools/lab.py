"""Record the runs of the lab: `python -m tools.lab`.

Each example of the lab is trained to its end by the browser's own code, in Node (`tools/lab.mjs`).
What is recorded already is left alone. Remove a file in `live/runs` to have it made again, after a
change of the corpus, of the model or of the training.
"""

import argparse
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Record what is missing; return the exit status."""
    argparse.ArgumentParser(prog="python -m tools.lab", description=__doc__).parse_args(arguments)
    from app.declared.live import lab_described
    from app.features.lab.result import file_name
    from app.features.lab.task import RUNS

    described = lab_described({})
    every = [each["values"] for each in described["changes"]]
    missing = [
        {"path": str(RUNS / file_name(values)), "settings": described["usual"] | values}
        for values in every
        if not (RUNS / file_name(values)).is_file()
    ]
    program = ["node", "--no-liftoff", str(Path(__file__).with_name("lab.mjs"))]
    return subprocess.run(program, input=json.dumps(missing), text=True, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())

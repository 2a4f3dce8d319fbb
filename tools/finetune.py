"""Record the fine-tunings of the ready-made rows: `python -m tools.derive finetune`.

To be repeated after a change of the rows, of the bundled model or of the training.
"""

import sys

from app.engine.models import Engine
from app.features.lab.task_finetune import STEPS, tune
from app.features.lab.task_finetune_recorded import write
from app.features.lab.task_finetune_rows import READY, ready
from app.settings import BUNDLED_MODEL


def main() -> int:
    """Record both; return the exit status."""
    engine = Engine(BUNDLED_MODEL)
    for kind in READY.values():
        path = write(
            tune(engine, ready(kind), kind, STEPS[1]).result, engine.provenance.fingerprint
        )
        sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")
    return 0

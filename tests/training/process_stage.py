"""The pretraining in small, for `torchrun`: DATA, WORK and ENCODER are its folders."""

import sys
from pathlib import Path

from tests.training.conftest import SMALL, settings
from training.lessons import run_stage


def run(data: Path, work: Path, encoder: Path) -> None:
    """Run it to its end."""
    run_stage("pretrain", settings(data, work, encoder, 8, save_minutes=0.0), SMALL)


if __name__ == "__main__":
    run(*map(Path, sys.argv[1:]))

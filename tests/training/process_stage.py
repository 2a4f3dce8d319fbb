"""The long pretraining in small, for `torchrun`: DATA, WORK and ENCODER are its folders."""

import sys
from pathlib import Path

from bert_core.finetuning import Budget
from tests.training.whole import LONG
from training.lessons import run_stage
from training.stage import StageSettings
from training.trainer import StageTraining


def run(data: Path, work: Path, encoder: Path) -> None:
    """Run it to its end."""
    settings = StageSettings(
        data=data,
        work=work,
        init=str(encoder),
        trainer=StageTraining(Budget(steps=8), 6e-4, 2, average_last=0.25, decay_share=0.5),
        save_minutes=0.0,
        cache=work / "cache",
        measured=2,
    )
    run_stage("long", settings, LONG)


if __name__ == "__main__":
    run(*map(Path, sys.argv[1:]))

"""The whole recipe in sizes for a test, and a run of it that kills itself: see test_recipe.py.

As a program: `python whole.py DATA WORK ENCODER WHERE`, where WHERE is "pretrain 3" or "tasks 3"
(after the third step of that stage, before its state is saved) or the beginning of a line that
the recipe says.
"""

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from bert_core.finetuning import Budget, StepReport, Trainer
from tests.training.conftest import ROWS, SMALL
from training.plan import Plan, StagePlan
from training.recipe import RecipeSettings, run_recipe
from training.trainer import StageTraining


def settings(data: Path, work: Path, encoder: Path, steps: int = 4) -> RecipeSettings:
    """A step's state is saved as soon as the step is done."""
    trainer = StageTraining(
        Budget(steps=steps), 5e-3, 2, average_last=0.5, decay_share=0.5, optimizer="muon"
    )
    stages = {
        "pretrain": StagePlan(trainer, SMALL),
        "tasks": StagePlan(replace(trainer, layer_decay=0.9), ROWS),
    }
    return RecipeSettings(data, work, str(encoder), Plan("cpu", stages), save_minutes=0.0)


def die() -> None:
    """End at once, as by a power cut."""
    os.kill(os.getpid(), signal.SIGKILL)


def run_until(data: Path, work: Path, encoder: Path, where: str) -> None:
    """Run the recipe and be killed."""
    step = Trainer.step

    def watched(trainer: Trainer) -> StepReport:
        report = step(trainer)
        if trainer.log is not None and f"{trainer.log.parent.name} {report.step}" == where:
            die()
        return report

    def say(line: str) -> None:
        if line.startswith(where):
            die()

    Trainer.step = watched  # type: ignore[method-assign]
    run_recipe(settings(data, work, encoder), say)


if __name__ == "__main__":
    data, work, encoder = map(Path, sys.argv[1:4])
    run_until(data, work, encoder, sys.argv[4])

"""The whole recipe in sizes for a test, and a run of it that kills itself: see test_all.py.

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
from training.long_mixture import LongSettings
from training.mixture import MixtureSettings
from training.plan import Plan, StagePlan
from training.recipe import RecipeSettings, run_recipe
from training.tasks import TaskSettings
from training.trainer import StageTraining

SMALL = MixtureSettings(blocks=4, block_length=32, long_every=4, sentences=2, pairs=4, splits=1)
LONG = LongSettings(
    blocks=4, block_length=32, long_every=0, sentences=12, relations=6, pairs=4, part_tokens=64
)
ROWS = TaskSettings(
    questions=4,
    tags=2,
    partial_tags=2,
    sentiment=2,
    choices=2,
    gapped=2,
    max_length=48,
    stride=16,
    made=60,
    pretraining=LONG,
)


def settings(data: Path, work: Path, encoder: Path, steps: int = 4) -> RecipeSettings:
    """A step's state is saved as soon as the step is done."""
    trainer = StageTraining(Budget(steps=steps), 5e-3, 2, average_last=0.5, optimizer="muon")
    plan = Plan(
        device="cpu",
        stages={
            "pretrain": StagePlan(trainer, SMALL),
            "long": StagePlan(replace(trainer, decay_share=0.5), LONG, measured=2),
            "tasks": StagePlan(replace(trainer, layer_decay=0.9), ROWS),
        },
        bfloat16=False,
    )
    return RecipeSettings(data, work, str(encoder), plan, save_minutes=0.0)


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

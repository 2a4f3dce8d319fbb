"""The schedule of the recipe, on a processor and on a card.

`pretrain` trains the encoder and both pretraining heads, `tasks` all tasks together with the
pretraining. The rate is constant, then falls to 0; the weights of the last tenth are averaged.

- `cpu`: float32, for hours. A step of `pretrain` has about 9,550 tokens, half of them running text;
  its 9,400 steps see 90 million and took 4.5 hours on four quiet cores. A step of the tasks has
  about 22,600, and its 2,650 steps see 60 million. Lengths are in steps, so that an interrupted run
  sees the same batches.
- `cuda`: the same in large steps, in bfloat16, and the schedule follows the clock; it goes on from
  the bundled model. A step of `pretrain` has about 250,000 tokens, one of the tasks about 400,000.
  Parts of at most 32,768 tokens keep a step below 24 GB of memory. No such run was made yet.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import torch

from bert_core.errors import InputError
from bert_core.finetuning import Budget
from training.blocks import TextSettings
from training.stage import StageSettings
from training.start import has_bfloat16
from training.tasks import TaskSettings
from training.trainer import StageTraining

Machine = Literal["cpu", "cuda"]
PRETRAIN, TASKS = "pretrain", "tasks"
_training = partial(StageTraining, weight_decay=0.1, average_last=0.1, optimizer="muon")
_pretrain, _tasks = partial(_training, decay_share=0.25), partial(_training, decay_share=0.4)


@dataclass(frozen=True, slots=True)
class StagePlan:
    """A stage of the recipe."""

    trainer: Annotated[StageTraining, "length and optimizer settings"]
    sizes: Annotated[TextSettings | TaskSettings, "what one step contains"]
    share: Annotated[float, "of the time, where the recipe is given a number of minutes"] = 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """A way to run the recipe; each stage starts from the weights of the one before."""

    device: Machine
    stages: Mapping[str, StagePlan]
    bfloat16: bool = False
    builders: Annotated[int, "processes that build batches in advance"] = 0
    init: Annotated[str, "name of the model to start from; empty: the encoder package"] = ""

    def stage(
        self, name: str, data: Path, work: Path, init: str, budget: Budget, **more: Any
    ) -> StageSettings:
        """Return the settings of one stage on this machine; `more` are further ones, by name."""
        trainer = replace(self.stages[name].trainer, budget=budget, bfloat16=self.bfloat16)
        if not has_bfloat16(self.device):
            trainer = replace(trainer, optimizer="adamw")
        builders = min(self.builders, max(1, (os.cpu_count() or 1) - 2))
        return StageSettings(data, work, init, trainer, self.device, builders=builders, **more)

    def budgets(self, minutes: float | None = None, part: float = 1.0) -> dict[str, Budget]:
        """Return a part of the length of each stage; `minutes` are divided by their shares."""
        for name, value in (("minutes", minutes), ("part", part)):
            if value is not None and not value > 0:
                raise InputError(f"--{name} is {value}; give a number above 0.")
        whole = sum(stage.share for stage in self.stages.values())
        found = {}
        for name, stage in self.stages.items():
            planned = stage.trainer.budget
            if minutes is not None:
                planned = Budget(minutes=minutes * stage.share / whole)
            steps, clock = planned.steps, planned.minutes
            found[name] = Budget(
                None if steps is None else max(1, round(part * steps)),
                None if clock is None else part * clock,
            )
        return found


def _stages(pretrain: StageTraining, tasks: StageTraining, *, times: float) -> dict[str, StagePlan]:
    """Return both stages, the steps of the first so many times as large as on a processor."""
    text, rows = TextSettings(), TaskSettings()
    if times != 1:
        text, rows = text.times(times), rows.times(times / 1.6)
    return {PRETRAIN: StagePlan(pretrain, text, share=2.5), TASKS: StagePlan(tasks, rows)}


PLANS: Mapping[Machine, Plan] = {
    "cpu": Plan(
        "cpu",
        _stages(
            _pretrain(Budget(steps=9_400), learning_rate=7e-4, warmup_steps=200),
            _tasks(Budget(steps=2_650), learning_rate=5e-4, warmup_steps=100),
            times=1,
        ),
        builders=1,
    ),
    "cuda": Plan(
        "cuda",
        _stages(
            _pretrain(Budget(minutes=5), learning_rate=1e-3, warmup_steps=50),
            _tasks(Budget(minutes=2), learning_rate=7e-4, warmup_steps=10, layer_decay=0.9),
            times=25.6,
        ),
        bfloat16=True,
        builders=14,
        init="explorer-mini-uncased",
    ),
}


def choose(machine: Machine | Literal["auto"]) -> Machine:
    """Return the name of the plan to use."""
    there = torch.cuda.is_available()
    if machine == "cuda" and not there:
        raise InputError(
            "--machine cuda needs a CUDA device and a PyTorch built for it; PyTorch finds none "
            "here. Use --machine cpu."
        )
    if machine == "auto":
        return "cuda" if there else "cpu"
    return machine

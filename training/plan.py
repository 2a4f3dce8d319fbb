"""Plans for running the recipe on each kind of machine, chosen by name.

`pretrain` gives an encoder both pretraining heads, `long` trains them for most of the time on one
schedule, and `tasks` trains all tasks together with pretraining.

- `cpu`: float32, in the background, for hours. A step of `pretrain` has 32 x 128 = 4,096 tokens of
  running text and 80 sentence pairs. It took 2.8 seconds in bfloat16 on two cores that were also
  doing other work (mean of 895 steps), so 240 minutes are about 5,200 steps and 21 million tokens.
  A step of the long pretraining has about 9,550 tokens, half of them running text; its 9,400 steps
  see 90 million and took 4.5 hours on four quiet cores (5,570 tokens a second, with an earlier
  version of Muon). A step of the tasks has about 22,600, 41 % of them running text and 15 % short
  sentences; its 2,650 steps see 60 million. The lengths of the last two are in steps, so that an
  interrupted run sees the same batches.
- `cuda`: bfloat16, batches built ahead by processes; it goes on from the bundled model, so
  `pretrain` is left out. A step of `long` has about 250,000 tokens, 131,072 of them running text,
  and a step of `tasks` about 400,000. A token costs about 64 million operations in the layers (6 x
  10.6 million weights), 14 million in the vocabulary layer (20 % of 6 x 11.7 million) and 4 million
  in the attention, so at 80 * 10^12 operations a second, a tenth of an H100's bfloat16 throughput,
  seven minutes see about 400 million tokens. A core builds 100,000 to 200,000 tokens a second, so
  fourteen keep up with that. These are estimates until a card has run it: each stage reports its
  rate after 20 steps. Lengths are in minutes; the schedule follows the clock.

Parts of at most 32,768 tokens keep a step below 24 GB of memory: about 160 kB per token in the
layers and 90 kB in the vocabulary layer.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch

from bert_core.errors import InputError
from bert_core.finetuning import Budget
from training.choices import LONG, PRETRAIN, TASKS
from training.long_mixture import LongSettings
from training.mixture import MixtureSettings
from training.processes import COUNT
from training.stage import StageSettings
from training.start import prefers_bfloat16
from training.tasks import TaskSettings
from training.trainer import StageTraining

Machine = Literal["cpu", "cuda"]

# The warm-up is short, so that little of what the starting model learnt is lost.
# Muon did better in short trials on two cores, from the same bundle on the same blocks of 3,072
# tokens per step: at 5e-4 its masked-word loss was 3.96 and 4.01 after 40 and 80 steps, AdamW's
# 4.05 and 4.11 (means of 40 steps). After 200 steps it was 4.03 at 1e-3, AdamW's 3.99 at 5e-4.
# There were no longer side-by-side trials. In 60 steps of the long pretraining Muon at 5e-4 was
# ahead of AdamW at 5e-4 on text (by 0.08 nats in the last 20 steps) and level on facts.
_trainer = partial(StageTraining, warmup_steps=100, optimizer="muon")
# The long pretraining stays at its highest rate for three quarters.
_long = partial(_trainer, weight_decay=0.1, average_last=0.1, decay_share=0.25)


@dataclass(frozen=True, slots=True)
class StagePlan:
    """A stage of the recipe.

    Attributes:
        trainer: length and optimizer settings.
        sizes: what one step contains.
        share: of the computing time, where the whole recipe is given a number of minutes.
        measured: how often the model is measured on the way.
    """

    trainer: StageTraining
    sizes: MixtureSettings | LongSettings | TaskSettings
    share: float = 1.0
    measured: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """A way to run the recipe.

    Attributes:
        device: device to train on.
        stages: the stages by name, in order; each starts from the weights of the one before.
        bfloat16: whether to use it; None decides by the processor.
        builders: processes that build batches in advance, at most two fewer than there are cores.
        init: name of the model to start from; "" for the encoder package.
    """

    device: Machine
    stages: Mapping[str, StagePlan]
    bfloat16: bool | None = None
    builders: int = 0
    init: str = ""

    def on_this_machine(self) -> "Plan":
        """Return the plan with builders matched to the number of cores, parts to the processes."""
        cores = os.cpu_count() or 1
        if self.device != "cpu":
            return replace(self, builders=max(1, min(self.builders, cores - 2)))
        stages = dict(self.stages)
        if isinstance(sizes := stages[PRETRAIN].sizes, MixtureSettings):
            sizes = replace(sizes, splits=2 * COUNT if COUNT > 1 else 1)
            stages[PRETRAIN] = replace(stages[PRETRAIN], sizes=sizes)
        return replace(self, stages=stages)

    def stage(
        self, name: str, data: Path, work: Path, init: str, *, budget: Budget | None = None,
        **more: Any,
    ) -> StageSettings:  # fmt: skip
        """Return the settings of one stage on this machine; `more` are further ones, by name."""
        stage = self.stages[name]
        trainer = replace(
            stage.trainer,
            budget=budget or stage.trainer.budget,
            bfloat16=prefers_bfloat16(self.device) if self.bfloat16 is None else self.bfloat16,
        )
        more = {"measured": stage.measured, "builders": self.builders, **more}
        return StageSettings(data, work, init, trainer, self.device, **more)

    def with_minutes(self, minutes: float) -> "Plan":
        """Return the plan with this much computing time, divided by the shares of the stages."""
        if not minutes > 0:
            raise InputError(f"The recipe is to take {minutes} minutes; give a number above 0.")
        whole = sum(stage.share for stage in self.stages.values())
        stages = {}
        for name, stage in self.stages.items():
            budget = Budget(minutes=minutes * stage.share / whole)
            stages[name] = replace(stage, trainer=replace(stage.trainer, budget=budget))
        return replace(self, stages=stages)


PLANS: Mapping[Machine, Plan] = {
    "cpu": Plan(
        device="cpu",
        bfloat16=False,
        builders=1,
        stages={
            PRETRAIN: StagePlan(
                _trainer(Budget(minutes=240), learning_rate=5e-4),
                MixtureSettings(
                    blocks=32,
                    sentences=48,
                    everyday=0.2,
                    pairs=80,
                    masked_pairs_every=1,
                    swapped=0.04,
                    word_weight=0.4,
                    pair_word_weight=0.6,
                    rate_falls=0.9,
                ),
            ),
            LONG: StagePlan(
                _long(Budget(steps=9_400), learning_rate=7e-4, warmup_steps=200),
                LongSettings(),
                measured=8,
            ),
            TASKS: StagePlan(
                _long(Budget(steps=2_650), learning_rate=5e-4, decay_share=0.4),
                TaskSettings(),
                measured=4,
            ),
        },
    ),
    "cuda": Plan(
        device="cuda",
        bfloat16=True,
        builders=14,
        init="explorer-mini-uncased",
        stages={
            LONG: StagePlan(
                _long(Budget(minutes=5), learning_rate=1e-3, warmup_steps=50),
                LongSettings().times(25.6),
                share=2.5,
            ),
            TASKS: StagePlan(
                _long(
                    Budget(minutes=2),
                    learning_rate=7e-4,
                    warmup_steps=10,
                    decay_share=0.4,
                    layer_decay=0.9,
                ),
                TaskSettings().times(16),
            ),
        },
    ),
}


def choose(machine: Machine | Literal["auto"]) -> Machine:
    """Return the name of the plan to use.

    Raises:
        InputError: CUDA was asked for but is not available.
    """
    there = torch.cuda.is_available()
    if machine == "cuda" and not there:
        raise InputError(
            "--machine cuda needs a CUDA device and a PyTorch built for it; PyTorch finds none "
            "here. Use --machine cpu."
        )
    if machine == "auto":
        return "cuda" if there else "cpu"
    return machine

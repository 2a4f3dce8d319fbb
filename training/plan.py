"""Plans for running the recipe on each kind of machine, chosen by name.

Both plans use the same kinds of steps in different sizes.

- `cpu`: two cores, in the background, for hours. A step of the first stage has 32 x 128 = 4,096
  tokens of running text and 80 sentence pairs. It took 2.8 seconds in bfloat16 on two cores that
  were also doing other work (mean of 895 steps), so 240 minutes are about 5,200 steps and 21
  million tokens. A step of the second stage took 4.2 seconds (mean of 923, with 28 blocks and 88
  pairs). The budget is in minutes, so that a busy machine still finishes on time.
- `cuda`: bfloat16, compiled layers, batches built ahead by processes. A step has 2,048 x 128 =
  262,144 tokens of running text (every eighth 512 x 506), so 1,200 steps see 315 million; with
  pairs and sentences, a step has about 360,000 tokens. A token costs about 64 million operations
  in the layers (6 x 10.6 million weights), 21 million in the vocabulary layer (30 % of 6 x 11.7
  million) and 4 million in the attention: 32 * 10^12 per step. At 150 * 10^12 operations a
  second, 15 % of an H200's bfloat16 throughput, that is 0.2 seconds per step; at 50 * 10^12, as
  an A100 may reach, 0.64. The 600 steps of the tasks are about the same size, so both stages
  together take 6 minutes, or 19. These are estimates: the actual time is measured and reported
  before training starts. The budget is in steps, so that the same seed produces the same batches.

Parts of at most 65,536 tokens of running text keep a step below 24 GB of memory: about 160 kB per
token in the layers and 90 kB in the vocabulary layer.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

import torch

from bert_core.errors import InputError
from bert_core.finetuning import Budget, TrainerSettings
from training.joint import JointSettings
from training.mixture import MixtureSettings
from training.start import prefers_bfloat16
from training.tasks import TaskSettings

Machine = Literal["cpu", "cuda"]


# The warm-up is short, so that little of what the starting model learnt is lost.
# Muon did better in short trials on two cores, from the same bundle on the same blocks of 3,072
# tokens per step: at 5e-4 its masked-word loss was 3.96 and 4.01 after 40 and 80 steps, AdamW's
# 4.05 and 4.11 (means of 40 steps). After 200 steps it was 4.03 at 1e-3, AdamW's 3.99 at 5e-4.
# There were no longer side-by-side trials.
_stage = partial(TrainerSettings, warmup_steps=100, optimizer="muon")


@dataclass(frozen=True, slots=True)
class Plan:
    """A way to run the recipe.

    Attributes:
        device: device to train on.
        pretrain: length and optimizer settings of the first stage.
        tasks: the same for the second stage.
        mixture: step sizes in the first stage.
        joint: step sizes in the second stage.
        bfloat16: whether to use it; None decides by the processor.
        workers: threads that compute parts of a step in parallel; 0 for one per core.
        compiled: whether to compile the layers.
        builders: processes that build batches in advance.
        pad_to: rows are padded to a multiple of this many tokens.
    """

    device: Machine
    pretrain: TrainerSettings
    tasks: TrainerSettings
    mixture: MixtureSettings
    joint: JointSettings = field(default_factory=JointSettings)
    bfloat16: bool | None = None
    workers: int = 1
    compiled: bool = False
    builders: int = 0
    pad_to: int = 1

    def on_this_machine(self) -> "Plan":
        """Return the plan with workers and builders matched to the number of cores."""
        cores = os.cpu_count() or 1
        if self.device != "cpu":
            return replace(self, builders=max(1, min(self.builders, cores - 2)))
        workers = self.workers or cores
        splits = 2 * workers if workers > 1 else 1
        return replace(self, workers=workers, mixture=replace(self.mixture, splits=splits))

    def trainer(self, stage: TrainerSettings) -> TrainerSettings:
        """Return a stage's settings, completed with those that depend on the machine."""
        bfloat16 = prefers_bfloat16(self.device) if self.bfloat16 is None else self.bfloat16
        return replace(stage, bfloat16=bfloat16, workers=self.workers, compiled=self.compiled)

    def with_minutes(self, minutes: float) -> "Plan":
        """Return the plan with this much computing time, split between the stages as before."""
        if not minutes > 0:
            raise InputError(f"The recipe is to take {minutes} minutes; give a number above 0.")
        stages = self.pretrain.budget, self.tasks.budget
        sizes = [float(budget.minutes or budget.steps or 0) for budget in stages]
        first = minutes * sizes[0] / sum(sizes)
        return replace(
            self,
            pretrain=replace(self.pretrain, budget=Budget(minutes=first)),
            tasks=replace(self.tasks, budget=Budget(minutes=minutes - first)),
        )


PLANS: Mapping[Machine, Plan] = {
    "cpu": Plan(
        device="cpu",
        pretrain=_stage(Budget(minutes=240), learning_rate=5e-4),
        tasks=_stage(Budget(minutes=240), learning_rate=3e-4, average_last=0.1),
        mixture=MixtureSettings(
            blocks=32,
            sentences=48,
            everyday=0.2,
            without_stop=0.15,
            pairs=80,
            masked_pairs_every=1,
            same_document=0.25,
            swapped=0.04,
            word_weight=0.4,
            pair_word_weight=0.6,
            pair_weight=1.5,
            rate_falls=0.9,
        ),
        joint=JointSettings(
            TaskSettings(
                questions=12,
                unanswerable=0.2,
                tags=16,
                partial_tags=8,
                sentiment=14,
                choices=8,
                gapped=14,
            ),
            MixtureSettings(
                blocks=32,
                sentences=56,
                everyday=0.25,
                without_stop=0.15,
                pairs=64,
                masked_pairs_every=2,
                same_document=0.22,
                swapped=0.03,
                word_weight=0.4,
                pair_word_weight=0.5,
                pair_weight=1.5,
                rate_falls=0.3,
                seed=21,
            ),
        ),
        workers=0,
    ),
    "cuda": Plan(
        device="cuda",
        pretrain=_stage(Budget(steps=1_200), learning_rate=1e-3, warmup_steps=150),
        tasks=_stage(
            Budget(steps=600),
            learning_rate=5e-4,
            warmup_steps=80,
            layer_decay=0.9,
            average_last=0.1,
        ),
        mixture=MixtureSettings(
            blocks=2_048,
            sentences=512,
            pairs=1_024,
            everyday=0.15,
            without_stop=0.15,
            masked_pairs_every=2,
            same_document=0.25,
            swapped=0.05,
            word_weight=0.25,
            pair_weight=1.5,
            splits=4,
        ),
        joint=JointSettings(
            pretraining=MixtureSettings(
                blocks=512,
                sentences=192,
                pairs=512,
                everyday=0.15,
                without_stop=0.15,
                masked_pairs_every=2,
                same_document=0.25,
                pair_weight=1.0,
                splits=1,
                rate_falls=0.5,
                seed=21,
            ),
            tasks=TaskSettings(gapped=192),
            rows=1_008,
        ),
        bfloat16=True,
        compiled=True,
        builders=6,
        pad_to=64,
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

"""How the recipe runs on each kind of machine; one name chooses.

Both plans show the same kinds of steps, in other sizes.

- `cpu`: two cores, in the background, for hours. A step of the first stage has 32 x 128 = 4,096
  tokens of running text and 80 sentence pairs and took 2.8 seconds on two cores with bfloat16 that
  did other work too (mean of 895 steps); 240 minutes are then about 5,200 steps and 21 million
  tokens. A step of the second took 4.2 seconds (mean of 923, with 28 blocks and 88 pairs). The
  budget is one of minutes, so that a busy machine ends on time.
- `cuda`: bfloat16, compiled layers, batches built ahead by processes. A step has 2,048 x 128 =
  262,144 tokens of running text (every eighth 512 x 506), so 1,200 steps see 315 million; with
  its pairs and sentences about 360,000 tokens a step. A token costs about 64 million operations
  in the layers (6 x 10.6 million weights), 21 million in the vocabulary layer (30 % of 6 x 11.7
  million) and 4 million in the attention: 32 * 10^12 a step. At 150 * 10^12 operations a second,
  15 % of what an H200 multiplies in bfloat16, that is 0.2 seconds a step; at 50 * 10^12, as an
  A100 may reach, 0.64. The 600 steps of the tasks are of about the same size: 6 minutes for both
  stages, or 19. This is arithmetic, not a measurement: what a machine really takes is measured
  before the start and said. The budget is one of steps, so that the same seed shows the same
  batches again.

Parts of at most 65,536 tokens of running text keep a step below 24 GB of memory: about 160 kB a
token in the layers, and 90 kB in the vocabulary layer.
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


# The rate rises over a few steps only, so that little is lost of a model that was trained before.
# Muon was ahead in short trials on two cores, from the same bundle on the same blocks of 3,072
# tokens a step: at 5e-4 the masked-word loss was 3.96 and 4.01 after 40 and 80 steps, AdamW's 4.05
# and 4.11 (means of 40 steps). At 1e-3 it ended 200 steps at 4.03, AdamW at 5e-4 at 3.99. Longer
# trials side by side were not made.
_stage = partial(TrainerSettings, warmup_steps=100, optimizer="muon")


@dataclass(frozen=True, slots=True)
class Plan:
    """A way to run the recipe.

    Attributes:
        device: where the model is trained.
        pretrain: length and optimization of the first stage.
        tasks: those of the second.
        mixture: sizes of a step of the first stage.
        joint: sizes of a step of the second.
        bfloat16: None chooses by the processor.
        workers: threads that compute parts of a step side by side; 0 for one a core.
        compiled: compile the layers.
        builders: processes that build batches ahead.
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
        """Return the plan with as many workers or builders as the processor has cores for."""
        cores = os.cpu_count() or 1
        if self.device != "cpu":
            return replace(self, builders=max(1, min(self.builders, cores - 2)))
        workers = self.workers or cores
        splits = 2 * workers if workers > 1 else 1
        return replace(self, workers=workers, mixture=replace(self.mixture, splits=splits))

    def trainer(self, stage: TrainerSettings) -> TrainerSettings:
        """Return the settings of one of the stages with what the machine decides."""
        bfloat16 = prefers_bfloat16(self.device) if self.bfloat16 is None else self.bfloat16
        return replace(stage, bfloat16=bfloat16, workers=self.workers, compiled=self.compiled)

    def with_minutes(self, minutes: float) -> "Plan":
        """Return the plan with this much computing, divided among the stages as before."""
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
    """Return which plan to follow.

    Raises:
        InputError: CUDA is wanted and this machine has none.
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

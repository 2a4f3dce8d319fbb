"""Training any model of this package on a user's own rows, step by step.

This package may import torch and `bert_core` only; it prints nothing and knows no command line.
"""

from bert_core.finetuning.schedule import Budget, linear_decay
from bert_core.finetuning.trainer import (
    BatchSource,
    Loss,
    StepReport,
    Trainer,
    TrainerSettings,
    model_loss,
)

__all__ = [
    "BatchSource",
    "Budget",
    "Loss",
    "StepReport",
    "Trainer",
    "TrainerSettings",
    "linear_decay",
    "model_loss",
]

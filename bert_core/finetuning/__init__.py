"""Training any model of this package on labelled rows, step by step.

Read `rows` (annotated examples), `batches` (rows to tensors, and the rows of each step), then
`trainer`. This package imports only torch, numpy and `bert_core`; it prints nothing and has no
command line.
"""

from bert_core.finetuning.batches import (
    Batch,
    RowBatches,
    choice_batch,
    question_batch,
    text_batch,
    word_batch,
)
from bert_core.finetuning.rows import Choices, LabelledText, Question, TaggedWords
from bert_core.finetuning.schedule import Budget, linear_decay
from bert_core.finetuning.trainer import (
    BatchSource,
    Loss,
    NotFiniteError,
    StepReport,
    Trainer,
    TrainerSettings,
    model_loss,
)

__all__ = [
    "Batch",
    "BatchSource",
    "Budget",
    "Choices",
    "LabelledText",
    "Loss",
    "NotFiniteError",
    "Question",
    "RowBatches",
    "StepReport",
    "TaggedWords",
    "Trainer",
    "TrainerSettings",
    "choice_batch",
    "linear_decay",
    "model_loss",
    "question_batch",
    "text_batch",
    "word_batch",
]

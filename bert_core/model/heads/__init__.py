"""The seven classes with a head: what they score, and their losses.

Each class names its parameters as the published checkpoints do and returns tuples and tensors as
the classic interface does; `run` returns the same by name. With labels the result is the loss
alone: a finite scalar, in which the labels -1 and -100 never count.
"""

from bert_core.model.heads.finetuning import (
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model.heads.pretraining import (
    BertForMaskedLM,
    BertForNextSentencePrediction,
    BertForPreTraining,
)

__all__ = [
    "BertForMaskedLM",
    "BertForMultipleChoice",
    "BertForNextSentencePrediction",
    "BertForPreTraining",
    "BertForQuestionAnswering",
    "BertForSequenceClassification",
    "BertForTokenClassification",
]

"""BERT's eight classes, with inputs and labels for each: the table that their tests share."""

from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from bert_core.model.heads import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model.kinds import KINDS

CLASSES: list[type[Any]] = [kind.cls for kind in KINDS.values()]
HEADS = CLASSES[1:]

WORDS = torch.tensor([[-1, 5, -1, 7, -100, 98, -1], [3, -1, -1, 0, -1, -1, -1], [-1] * 7])
_TRUTH = torch.tensor([1, 0, 1])
LABELS: dict[type[Any], dict[str, Tensor]] = {
    BertForPreTraining: {"masked_lm_labels": WORDS, "next_sentence_label": _TRUTH},
    BertForMaskedLM: {"masked_lm_labels": WORDS},
    BertForNextSentencePrediction: {"next_sentence_label": _TRUTH},
    BertForSequenceClassification: {"labels": _TRUTH},
    BertForMultipleChoice: {"labels": _TRUTH},
    BertForTokenClassification: {"labels": torch.arange(21).view(3, 7) % 2},
    BertForQuestionAnswering: {
        "start_positions": torch.tensor([0, 3, 2]),
        "end_positions": torch.tensor([6, 3, 4]),
    },
}
"""Labels of the three rows of `batch` for two classes or choices; some do not count."""


def inputs_for(cls: type[Any], batch: SimpleNamespace, *names: str) -> dict[str, Tensor]:
    """The batch, or some of its tensors; for multiple choice every row with another beside it."""
    values = {name: getattr(batch, name) for name in names or vars(batch)}
    if cls is BertForMultipleChoice:
        return {name: torch.stack([each, each.roll(1, 0)], 1) for name, each in values.items()}
    return values


def options_for(cls: type[Any]) -> dict[str, Any]:
    """Five labels, where the class has labels."""
    labelled = cls in (BertForSequenceClassification, BertForTokenClassification)
    return {"id2label": {index: f"L{index}" for index in range(5)}} if labelled else {}


def as_tuple(found: Any) -> tuple[Any, ...]:
    """The results of `forward`, one or several."""
    return found if isinstance(found, tuple) else (found,)

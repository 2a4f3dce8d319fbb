"""The model of the task stage, one encoder for all tasks: heads, losses and head classes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bert_core.config import BertConfig
from bert_core.finetuning import Loss
from bert_core.model.bert import BertPreTrainedModel
from bert_core.model.heads import (
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from training.mixture import Part, part_loss
from training.rows import SENTIMENTS, TAGS

Task = Literal["questions", "tags", "partial_tags", "sentiment", "choices", "gapped"]
_HEAD_DROPOUT = 0.1
_OUTSIDE = [TAGS.index(tag) for tag in ("O", "B-MISC", "I-MISC")]


class TaskModel(BertForPreTraining):
    """The pretraining model with four more heads; only the recipe uses this class.

    On export, each head becomes that of a library class: `qa_outputs` that of
    BertForQuestionAnswering; `tags`, `sentiment` and `choice` are the `classifier` of
    BertForTokenClassification, BertForSequenceClassification and BertForMultipleChoice.
    """

    def __init__(
        self,
        config: BertConfig,
        output_attentions: bool = False,
        keep_multihead_output: bool = False,
    ) -> None:
        super().__init__(config, output_attentions, keep_multihead_output)
        self.qa_outputs = nn.Linear(config.hidden_size, 2)
        self.tags = nn.Linear(config.hidden_size, len(TAGS))
        self.sentiment = nn.Linear(config.hidden_size, len(SENTIMENTS))
        self.choice = nn.Linear(config.hidden_size, 1)
        for head in (self.qa_outputs, self.tags, self.sentiment, self.choice):
            nn.init.normal_(head.weight, std=config.initializer_range)
            nn.init.zeros_(head.bias)


@dataclass(frozen=True, slots=True)
class TaskPart:
    """One part of a step, with the labels of a task.

    Attributes:
        task: selects the head and the loss.
        batch: inputs and labels, named as in the head's class.
        weight: weight of its loss.
        share: this part's share of the value logged under the task.
    """

    task: Task
    batch: Mapping[str, Tensor]
    weight: float
    share: float = 1.0


def task_loss(model: TaskModel, part: Part | TaskPart) -> Loss:
    """Return the weighted loss of one part; passed to `Trainer`."""
    if isinstance(part, Part):
        return part_loss(model, part)
    batch = {name: value.to(model.device) for name, value in part.batch.items()}
    if part.task in ("choices", "gapped"):  # (B, N, T) -> (B * N, T)
        batch = {name: value if name == "labels" else value.flatten(0, 1)
                 for name, value in batch.items()}  # fmt: skip
    outputs = model.run(
        batch.pop("input_ids"),
        batch.pop("token_type_ids", None),
        attention_mask := batch.pop("attention_mask"),
        attentions=attention_mask.device.type == "cpu",  # see pretraining.losses.joint_loss
        hidden_states=False,
        logits=False,
    )
    pooled = part.task in ("sentiment", "choices", "gapped")
    chosen = outputs.pooler_output if pooled else outputs.last_hidden_state
    assert chosen is not None
    hidden = F.dropout(chosen, _HEAD_DROPOUT, model.training)
    loss = _HEADS[part.task](model, hidden, attention_mask, batch)
    return Loss(part.weight * loss, {part.task: part.share * loss.detach()})


def _span_loss(
    model: TaskModel, hidden: Tensor, attention_mask: Tensor, labels: Mapping[str, Tensor]
) -> Tensor:
    """Return the mean cross-entropy of start and end over the real tokens of each row."""
    scores = model.qa_outputs(hidden).float()  # (B, T, 2)
    scores = scores.masked_fill(attention_mask[..., None] == 0, -1e4)
    start = F.cross_entropy(scores[..., 0], labels["start_positions"])
    return (start + F.cross_entropy(scores[..., 1], labels["end_positions"])) / 2


def _tag_loss(
    model: TaskModel, hidden: Tensor, attention_mask: Tensor, labels: Mapping[str, Tensor]
) -> Tensor:
    """Return the mean cross-entropy over the labelled pieces."""
    kept = labels["labels"] >= 0
    return F.cross_entropy(model.tags(hidden[kept]).float(), labels["labels"][kept])


def _partial_tag_loss(
    model: TaskModel, hidden: Tensor, attention_mask: Tensor, labels: Mapping[str, Tensor]
) -> Tensor:
    """Like `_tag_loss`, but O means "O or an entity of the kind not annotated here"."""
    kept = labels["labels"] >= 0
    wanted = labels["labels"][kept]
    logs = model.tags(hidden[kept]).float().log_softmax(-1)  # (N, C)
    plain = logs.gather(1, wanted[:, None])[:, 0]
    outside = logs[:, _OUTSIDE].logsumexp(-1)
    return -torch.where(wanted == 0, outside, plain).mean()


def _sentiment_loss(
    model: TaskModel, hidden: Tensor, attention_mask: Tensor, labels: Mapping[str, Tensor]
) -> Tensor:
    return F.cross_entropy(model.sentiment(hidden).float(), labels["labels"])


def _choice_loss(
    model: TaskModel, hidden: Tensor, attention_mask: Tensor, labels: Mapping[str, Tensor]
) -> Tensor:
    """Return the cross-entropy over the choices of each row; hidden (B * N, D), labels (B,)."""
    scores = model.choice(hidden).float().view(len(labels["labels"]), -1)
    return F.cross_entropy(scores, labels["labels"])


_HEADS: dict[Task, Callable[[TaskModel, Tensor, Tensor, Mapping[str, Tensor]], Tensor]] = {
    "questions": _span_loss,
    "tags": _tag_loss,
    "partial_tags": _partial_tag_loss,
    "sentiment": _sentiment_loss,
    "choices": _choice_loss,
    "gapped": _choice_loss,
}


def start_task_model(model: BertForPreTraining, init: str) -> TaskModel:
    """Add the heads of all tasks to a pretraining model; those found in `init` are reused."""
    joint, taken = TaskModel.from_model(model), set[str]()
    for cls, own, theirs in HEADS:
        found = cls.from_pretrained(init, ignore_mismatched_sizes=True)
        report = found.load_report
        if report is None or any(theirs in name for name in (*report.missing, *report.mismatched)):
            continue
        source, target = found.get_submodule(theirs), joint.get_submodule(own)
        if source.state_dict()["weight"].shape == target.state_dict()["weight"].shape:
            target.load_state_dict(source.state_dict())
            taken.add(own)
    if "choice" not in taken:  # initialize a fresh one from the next-sentence head
        follows, other = joint.cls.seq_relationship.weight
        with torch.no_grad():
            joint.choice.weight.copy_((follows - other)[None])
    return joint


HEADS: tuple[tuple[type[BertPreTrainedModel], str, str], ...] = (
    (BertForQuestionAnswering, "qa_outputs", "qa_outputs"),
    (BertForTokenClassification, "tags", "classifier"),
    (BertForSequenceClassification, "sentiment", "classifier"),
    (BertForMultipleChoice, "choice", "classifier"),
)
"""Library class, name of its head in TaskModel, name of its head in the class."""

LABELS = {"tags": TAGS, "sentiment": SENTIMENTS}
"""Label names of a head, by its name in TaskModel."""

"""The model of the task stage, one encoder for all tasks: heads, losses and head classes."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, Self

import torch
import torch.nn.functional as F
from torch import Tensor

from bert_core.config import BertConfig
from bert_core.finetuning import Loss
from bert_core.model.heads import (
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model.outputs import ModelOutputs
from bert_core.model.pretrained import BertPreTrainedModel
from training.mixture import Part, part_loss
from training.rows import SENTIMENTS, TAGS

Task = Literal["questions", "tags", "partial_tags", "sentiment", "choices"]
_HEAD_DROPOUT = 0.1
_OUTSIDE = [TAGS.index(tag) for tag in ("O", "B-MISC", "I-MISC")]


class TaskModel(BertForPreTraining):
    """The pretraining model together with one model of each task's class, on one encoder.

    Only the recipe uses this class. Each task's head is a module of this model under a name of its
    own, see `HEADS`, so that its parameters are trained, saved and exported once.

    Attributes:
        products: the models of the tasks, by class; their `bert` is this model's.
    """

    def __init__(
        self,
        config: BertConfig,
        output_attentions: bool = False,
        keep_multihead_output: bool = False,
    ) -> None:
        super().__init__(config, output_attentions, keep_multihead_output)
        self.products: dict[type[BertPreTrainedModel], BertPreTrainedModel] = {}
        for cls, own, theirs in HEADS:
            product = cls(_head_config(config, own))
            product.bert = self.bert
            self.add_module(own, product.get_submodule(theirs))
            self.products[cls] = product

    def train(self, mode: bool = True) -> Self:
        """Switch the tasks' models too: their heads have dropout in training only."""
        for product in self.products.values():
            product.training = mode
        return super().train(mode)


def _head_config(config: BertConfig, own: str) -> BertConfig:
    """Return the configuration of a task's model, with its labels."""
    config = copy.deepcopy(config)
    config.extra["classifier_dropout"] = _HEAD_DROPOUT
    if labels := LABELS.get(own):
        config.id2label = dict(enumerate(labels))
    return config


@dataclass(frozen=True, slots=True)
class TaskPart:
    """One part of a step, with the labels of a task."""

    task: Annotated[Task, "selects the head and the loss"]
    batch: Annotated[Mapping[str, Tensor], "inputs and labels, named as in the head's class"]
    weight: Annotated[float, "of its loss"]
    share: Annotated[float, "of the value logged under the task"] = 1.0


def task_loss(model: TaskModel, part: Part | TaskPart) -> Loss:
    """Return the weighted loss of one part; passed to `Trainer`."""
    if isinstance(part, Part):
        return part_loss(model, part)
    batch = {name: value.to(model.device) for name, value in part.batch.items()}
    attention_mask = batch["attention_mask"]
    cls, loss_of = _TASKS[part.task]
    outputs = model.products[cls].run(
        batch.pop("input_ids"),
        batch.pop("token_type_ids", None),
        batch.pop("attention_mask"),
        attentions=attention_mask.device.type == "cpu",  # see pretraining.losses.joint_loss
        hidden_states=False,
    )
    loss = loss_of(outputs, attention_mask, batch)
    parts = {part.task: part.share * loss.detach(), "tokens": attention_mask.sum()}
    return Loss(part.weight * loss, parts)


def _span_loss(
    outputs: ModelOutputs, attention_mask: Tensor, labels: Mapping[str, Tensor]
) -> Tensor:
    """Return the mean cross-entropy of start and end over the real tokens of each row."""
    assert outputs.start_logits is not None
    assert outputs.end_logits is not None
    padding = attention_mask == 0
    start = outputs.start_logits.float().masked_fill(padding, -1e4)  # (B, T)
    end = outputs.end_logits.float().masked_fill(padding, -1e4)
    losses = (
        F.cross_entropy(start, labels["start_positions"]),
        F.cross_entropy(end, labels["end_positions"]),
    )
    return (losses[0] + losses[1]) / 2


def _partial_tag_loss(
    outputs: ModelOutputs, attention_mask: Tensor, labels: Mapping[str, Tensor]
) -> Tensor:
    """Like `_label_loss`, but O means "O or an entity of the kind not annotated here"."""
    kept = labels["labels"] >= 0
    wanted = labels["labels"][kept]
    assert outputs.logits is not None
    logs = outputs.logits[kept].float().log_softmax(-1)  # (N, C)
    plain = logs.gather(1, wanted[:, None])[:, 0]
    outside = logs[:, _OUTSIDE].logsumexp(-1)
    return -torch.where(wanted == 0, outside, plain).mean()


def _label_loss(
    outputs: ModelOutputs, attention_mask: Tensor, labels: Mapping[str, Tensor]
) -> Tensor:
    """Return the mean cross-entropy over the labelled texts, words or rows of choices."""
    assert outputs.logits is not None
    wanted = labels["labels"]
    kept = wanted >= 0
    return F.cross_entropy(outputs.logits[kept].float(), wanted[kept])


_LossOf = Callable[[ModelOutputs, Tensor, Mapping[str, Tensor]], Tensor]
_TASKS: dict[Task, tuple[type[BertPreTrainedModel], _LossOf]] = {
    "questions": (BertForQuestionAnswering, _span_loss),
    "tags": (BertForTokenClassification, _label_loss),
    "partial_tags": (BertForTokenClassification, _partial_tag_loss),
    "sentiment": (BertForSequenceClassification, _label_loss),
    "choices": (BertForMultipleChoice, _label_loss),
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
            joint.get_parameter("choice.weight").copy_((follows - other)[None])
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

"""One encoder, all tasks: the model the task stage trains, and what each of its steps sees.

Every step holds questions, tagged words and sentiment beside a smaller share of the pretraining
mixture, so that the encoder that learns to answer keeps naming masked words: the attention a
visitor looks at is then that of the model which gave the answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bert_core.config import BertConfig
from bert_core.finetuning import (
    LabelledText,
    Loss,
    Question,
    TaggedWords,
    question_batch,
    text_batch,
    word_batch,
)
from bert_core.heads import (
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model import BertPreTrainedModel
from bert_core.tokenizer import BertTokenizer
from training.mixture import Mixture, Part, part_loss
from training.rows import (
    MISC_SOURCES,
    PARTIAL_SOURCES,
    QUESTION_FILES,
    SENTIMENTS,
    SHORT_QUESTION_FILES,
    TAGS,
    Sentiment,
    questions,
    sentiments,
    tagged_words,
    unanswerable,
)

T = TypeVar("T")
Task = Literal["questions", "tags", "partial_tags", "sentiment"]
_HEAD_DROPOUT = 0.1
_OUTSIDE = [TAGS.index(tag) for tag in ("O", "B-MISC", "I-MISC")]


class TaskModel(BertForPreTraining):
    """The model of pretraining with three heads more; only the recipe uses this class.

    Each head becomes a class of the library on export: `qa_outputs` is that of
    BertForQuestionAnswering, `tags` and `sentiment` are the `classifier` of
    BertForTokenClassification and BertForSequenceClassification.
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
        for head in (self.qa_outputs, self.tags, self.sentiment):
            nn.init.normal_(head.weight, std=config.initializer_range)
            nn.init.zeros_(head.bias)


@dataclass(frozen=True, slots=True)
class TaskPart:
    """One part of a step that has labels of a task.

    Attributes:
        task: which head and which loss.
        batch: inputs and labels by the names of the head's class.
        weight: of its loss.
        share: how much of what is logged under the task this part is.
    """

    task: Task
    batch: Mapping[str, Tensor]
    weight: float
    share: float = 1.0


def task_loss(model: TaskModel, part: Part | TaskPart) -> Loss:
    """Return the weighted loss of one part, for `Trainer`."""
    if isinstance(part, Part):
        return part_loss(model, part)
    batch = {name: value.to(model.device) for name, value in part.batch.items()}
    outputs = model.run(
        batch.pop("input_ids"),
        batch.pop("token_type_ids", None),
        attention_mask := batch.pop("attention_mask"),
        attentions=attention_mask.device.type == "cpu",  # see pretraining.losses.joint_loss
        hidden_states=False,
        logits=False,
    )
    pooled = part.task == "sentiment"
    chosen = outputs.pooler_output if pooled else outputs.last_hidden_state
    assert chosen is not None
    hidden = F.dropout(chosen, _HEAD_DROPOUT, model.training)
    loss = _HEADS[part.task](model, hidden, attention_mask, batch)
    return Loss(part.weight * loss, {part.task: part.share * loss.detach()})


def _span_loss(
    model: TaskModel, hidden: Tensor, attention_mask: Tensor, labels: Mapping[str, Tensor]
) -> Tensor:
    """Mean cross-entropy of start and end over the real tokens of each row."""
    scores = model.qa_outputs(hidden).float()  # (B, T, 2)
    scores = scores.masked_fill(attention_mask[..., None] == 0, -1e4)
    start = F.cross_entropy(scores[..., 0], labels["start_positions"])
    return (start + F.cross_entropy(scores[..., 1], labels["end_positions"])) / 2


def _tag_loss(
    model: TaskModel, hidden: Tensor, attention_mask: Tensor, labels: Mapping[str, Tensor]
) -> Tensor:
    """Mean cross-entropy over labelled pieces."""
    kept = labels["labels"] >= 0
    return F.cross_entropy(model.tags(hidden[kept]).float(), labels["labels"][kept])


def _partial_tag_loss(
    model: TaskModel, hidden: Tensor, attention_mask: Tensor, labels: Mapping[str, Tensor]
) -> Tensor:
    """As `_tag_loss`, but O means "O or an entity of the kind nobody annotated here"."""
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


_HEADS: dict[Task, Callable[[TaskModel, Tensor, Tensor, Mapping[str, Tensor]], Tensor]] = {
    "questions": _span_loss,
    "tags": _tag_loss,
    "partial_tags": _partial_tag_loss,
    "sentiment": _sentiment_loss,
}


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """How many rows of each task a step holds.

    Attributes:
        questions: rows of questions, in two parts of like length.
        unanswerable: share of the questions asked of a passage without the answer.
        short_questions: share of the questions from one-sentence passages.
        tags: sentences with all four kinds annotated.
        partial_tags: sentences in which the fourth kind is not annotated.
        sentiment: film-review sentences, half of them as a person would type them.
        weights: of the losses, by task.
        max_length: tokens of a window; longer passages give several.
        stride: tokens that neighbouring windows share.
        seed: of what is drawn.
    """

    questions: int = 24
    unanswerable: float = 0.18
    short_questions: float = 0.2
    tags: int = 20
    partial_tags: int = 12
    sentiment: int = 20
    weights: Mapping[str, float] = field(
        default_factory=lambda: {
            "questions": 1.5,
            "tags": 1.0,
            "partial_tags": 0.6,
            "sentiment": 0.4,
        }
    )
    max_length: int = 320
    stride: int = 96
    seed: int = 30


@dataclass(frozen=True, slots=True)
class TaskRows:
    """Everything the task stage draws from."""

    answered: Sequence[Question]
    short: Sequence[Question]
    unanswered: Sequence[Question]
    tags: Sequence[TaggedWords]
    partial_tags: Sequence[TaggedWords]
    sentiment: Sequence[Sentiment]

    @classmethod
    def read(cls, data: Path, seed: int) -> "TaskRows":
        """Read all training rows of a data folder."""
        answered = questions(data, QUESTION_FILES)
        return cls(
            answered,
            questions(data, SHORT_QUESTION_FILES),
            unanswerable(answered, len(answered) // 2, seed),
            tagged_words(data, MISC_SOURCES),
            tagged_words(data, PARTIAL_SOURCES),
            sentiments(data, "train"),
        )


class TaskMixture:
    """Step and progress -> the parts of that step, a function of the step alone.

    Args:
        rows: what is drawn from; every row once before any comes again.
        tokenizer: of the model.
        settings: sizes.
        pretraining: the parts that keep masked words and sentence pairs alive.
    """

    def __init__(
        self,
        rows: TaskRows,
        tokenizer: BertTokenizer,
        settings: TaskSettings,
        pretraining: Mixture,
    ) -> None:
        self.rows, self.tokenizer = rows, tokenizer
        self.settings, self.pretraining = settings, pretraining
        self._orders: dict[tuple[str, int], np.ndarray[Any, Any]] = {}

    def __call__(self, step: int, progress: float) -> list[Part | TaskPart]:
        """Return questions, pretraining parts, tags and sentiment of a step."""
        return [
            *self._question_parts(step),
            *self.pretraining(step, progress),
            self._tag_part("tags", self.rows.tags, self.settings.tags, step),
            self._tag_part(
                "partial_tags", self.rows.partial_tags, self.settings.partial_tags, step
            ),
            self._sentiment_part(step),
        ]

    def _question_parts(self, step: int) -> list[TaskPart]:
        settings, rows = self.settings, self.rows
        none = round(settings.questions * settings.unanswerable)
        short = round(settings.questions * settings.short_questions)
        drawn = [
            *self._draw("answered", rows.answered, settings.questions - none - short, step),
            *self._draw("short", rows.short, short, step),
            *self._draw("unanswered", rows.unanswered, none, step),
        ]
        drawn.sort(key=lambda row: len(row.context), reverse=True)
        third = max(1, len(drawn) // 3)
        parts = []
        for group in (drawn[:third], drawn[third:]):  # long ones apart: less padding
            share = len(group) / len(drawn)
            batch = question_batch(
                self.tokenizer, group, max_length=settings.max_length, stride=settings.stride
            )
            weight = share * settings.weights["questions"]
            parts.append(TaskPart("questions", batch, weight, share))
        return parts

    def _tag_part(
        self, task: Literal["tags", "partial_tags"], rows: Sequence[TaggedWords], count: int,
        step: int,
    ) -> TaskPart:  # fmt: skip
        source = np.random.default_rng((self.settings.seed, 2, step, task == "tags"))
        drawn = [
            _without_full_stop(row) if source.random() < 0.2 else row
            for row in self._draw(task, rows, count, step)
        ]
        batch = word_batch(self.tokenizer, drawn, max_length=self.settings.max_length)
        return TaskPart(task, batch, self.settings.weights[task])

    def _sentiment_part(self, step: int) -> TaskPart:
        source = np.random.default_rng((self.settings.seed, 3, step))
        drawn = []
        for row in self._draw("sentiment", self.rows.sentiment, self.settings.sentiment, step):
            text = row.typed if source.random() < 0.5 else row.split
            bare = text.text.rstrip(".") if source.random() < 0.3 else text.text
            drawn.append(LabelledText(bare or text.text, text.label))
        batch = text_batch(self.tokenizer, drawn, max_length=self.settings.max_length)
        return TaskPart("sentiment", batch, self.settings.weights["sentiment"])

    def _draw(self, name: str, rows: Sequence[T], count: int, step: int) -> list[T]:
        """Return `count` rows: every round shows all of them once, in an order of its own."""
        chosen = []
        for place in range(step * count, (step + 1) * count):
            number, offset = divmod(place, len(rows))
            order = self._orders.get((name, number))
            if order is None:
                seed = (self.settings.seed, 1, *name.encode(), number)
                order = np.random.default_rng(seed).permutation(len(rows))
                self._orders = {k: v for k, v in self._orders.items() if k[0] != name}
                self._orders[name, number] = order
            chosen.append(rows[int(order[offset])])
        return chosen


def _without_full_stop(row: TaggedWords) -> TaggedWords:
    """Drop a final full stop: people often type none."""
    if len(row.words) < 2 or row.words[-1] != ".":
        return row
    return TaggedWords(row.words[:-1], row.tags[:-1])


def start_task_model(model: BertForPreTraining, init: str) -> TaskModel:
    """Put the heads of all tasks on a model of pretraining; its parameters are taken over.

    Args:
        model: encoder and both heads of pretraining.
        init: folder or name it came from; task heads that stand there are taken over too.
    """
    joint = TaskModel.from_model(model)
    for cls, own, theirs in HEADS:
        found = cls.from_pretrained(init, ignore_mismatched_sizes=True)
        report = found.load_report
        if report is None or any(theirs in name for name in (*report.missing, *report.mismatched)):
            continue
        source, target = found.get_submodule(theirs), joint.get_submodule(own)
        if source.state_dict()["weight"].shape == target.state_dict()["weight"].shape:
            target.load_state_dict(source.state_dict())
    return joint


HEADS: tuple[tuple[type[BertPreTrainedModel], str, str], ...] = (
    (BertForQuestionAnswering, "qa_outputs", "qa_outputs"),
    (BertForTokenClassification, "tags", "classifier"),
    (BertForSequenceClassification, "sentiment", "classifier"),
)
"""Class of the library, name of its head in TaskModel, name of its head in the class."""

LABELS = {"tags": TAGS, "sentiment": SENTIMENTS}
"""Names of the labels of a head, by its name in TaskModel."""

"""One fine-tuning, driven from outside like a run of the lab: prepare, then advance and look.

The layers of the chosen model and a new head learn a visitor's rows; word vectors and positions are
those of the chosen model, shared with it and not trained. Rows and what is learned from them stay
in memory, unless they are one of the ready-made sets.
"""

import copy
import math
import time
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from app.engine.models import Engine
from app.features.lab.result_finetune import (
    TEXTS,
    FinetuneResult,
    LabelledRow,
    LabelledRows,
    Mistake,
    TuningPoint,
)
from app.features.lab.task_finetune_rows import read_rows, ready
from app.records.counted import wilson
from bert_core import (
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)
from bert_core.checkpoints.saving import saved_files
from bert_core.errors import InputError
from bert_core.finetuning import (
    Batch,
    Budget,
    LabelledText,
    RowBatches,
    TaggedWords,
    Trainer,
    TrainerSettings,
    text_batch,
    word_batch,
)
from bert_core.model.sizes import Architecture

LENGTH = 64  # most pieces of a row
BATCH = 8  # rows
LEARNING_RATE = 3e-4
STEPS = (50, 100, 200)
SEED = 0
MOST_TRAINED = 40_000_000  # parameters; training takes 16 bytes for each
_WARMUP = 10  # of so many steps, one is for warming up
_MOST_POINTS = 200

Tunable = BertForSequenceClassification | BertForTokenClassification
Case = tuple[LabelledRow, int]
"""A held-out row, and the number of a word in it; -1 if the text has one label."""


class Tuning:
    """One fine-tuning.

    Args:
        engine: the chosen model, which is not changed.
        text: the rows; see `read_rows`.
        kind: "texts" or "words": what is labelled.
        steps: of the training.

    Attributes:
        rows: as read and divided.
        points: how it looked, from before the first step on.
        private: whether the rows are the visitor's own.
        diverged: why it ended early; "" if it did not.

    Raises:
        InputError: a row cannot be used; the message has the number of its line.
    """

    named = "tuned"

    def __init__(self, engine: Engine, text: str, kind: str, steps: int = STEPS[1]) -> None:
        self.rows: LabelledRows = read_rows(text, kind)
        _check_size(engine)
        self.private = text.split() != ready(kind).split()
        self.steps = steps
        self.points: list[TuningPoint] = []
        self.diverged = ""
        self._engine = engine
        self._model: Tunable | None = None
        self._trainer: Trainer | None = None
        self._losses: list[float] = []
        self._mistakes: tuple[Mistake, ...] = ()
        self._cut = 0

    # -- training ----------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Build the model, the batches and the trainer."""
        torch.manual_seed(SEED)
        self._model = tunable(self._engine.model(BertModel), self.rows)
        every = (*self.rows.train, *self.rows.held_out)
        self._cut = sum(self._batch([row]).truncated > 0 for row in every)
        training = TrainerSettings(
            Budget(steps=self.steps),
            learning_rate=LEARNING_RATE,
            warmup_steps=self.steps // _WARMUP,
            seed=SEED,
        )
        batches = RowBatches(self.rows.train, self._batch, batch_size=BATCH, seed=SEED)
        self._trainer = Trainer(self._model.train(), batches, training)

    @property
    def prepared(self) -> bool:
        """Whether `prepare` has been called."""
        return self._model is not None

    @property
    def step(self) -> int:
        """Number of steps done."""
        return self.points[-1].step if self._trainer is None and self.points else self._done

    @property
    def done(self) -> bool:
        """Whether nothing is left to train."""
        return self.prepared and (
            self._trainer is None or bool(self.diverged) or self._trainer.done
        )

    @property
    def _done(self) -> int:
        return 0 if self._trainer is None else self._trainer.steps_done

    @property
    def seconds(self) -> float:
        """Computing time so far; 0 when its memory has been released."""
        return 0.0 if self._trainer is None else self._trainer.seconds

    def advance(self, seconds: float) -> None:
        """Train for about so many seconds, at least one step, on one thread.

        A loss that is no longer a number ends the training; it is a result, not an error.
        """
        torch.set_num_threads(1)  # so that it can be repeated exactly
        until = time.monotonic() + seconds
        assert self._trainer is not None
        while not self.done:
            try:
                self._losses.append(self._trainer.step().loss)
            except InputError as error:
                self.diverged = str(error)
            if time.monotonic() >= until:
                return

    def look(self) -> None:
        """Measure the held-out rows and keep the point; must be called in inference mode."""
        torch.set_num_threads(1)
        logits, wanted, cases = self._answers(self.rows.held_out)
        loss = float(nn.functional.cross_entropy(logits, wanted))
        if not math.isfinite(loss):
            self.diverged = self.diverged or f"After step {self.step}, the loss is {loss}."
            return
        shares = torch.softmax(logits, dim=-1)
        best = shares.argmax(dim=-1)
        self._mistakes = tuple(
            Mistake(row, place, self.rows.labels[right], self.rows.labels[said], share)
            for (row, place), right, said, share in zip(
                cases, wanted.tolist(), best.tolist(), shares.amax(dim=-1).tolist(), strict=True
            )
            if right != said
        )
        losses, self._losses = self._losses, []
        done = self._done
        self.points.append(
            TuningPoint(
                step=done,
                loss=sum(losses) / len(losses) if losses else loss,
                held_out=loss,
                right=len(cases) - len(self._mistakes),
                cases=len(cases),
                left=(self.steps - done) * self.seconds / done if done else 0.0,
            )
        )
        if len(self.points) > _MOST_POINTS:
            self.points = [*self.points[:-1:2], self.points[-1]]

    def release(self) -> None:
        """Free what only training needs; the model stays."""
        if self._trainer is not None and self._model is not None:
            self._trainer = None
            for parameter in self._model.parameters():
                parameter.grad = None

    def save(self) -> None:
        """Write nothing: fine-tuning takes seconds, and the rows are the visitor's."""

    # -- what came of it ---------------------------------------------------------------------------

    def result(self) -> FinetuneResult:
        """Return fine-tuning so far; it must have been looked at."""
        last = self.points[-1]
        low, high = wilson(last.right, last.cases)
        assert self._model is not None
        return FinetuneResult(
            rows=self.rows,
            points=tuple(self.points),
            steps=self.steps,
            parameters=sum(p.numel() for p in self._model.parameters() if p.requires_grad),
            low=low,
            high=high,
            mistakes=self._mistakes,
            cut=self._cut,
            diverged=self.diverged,
        )

    def ask(self, text: str) -> tuple[tuple[str, str, float], ...]:
        """Return the labels of a text: (word or text, label, probability) each.

        To be called in inference mode.

        Raises:
            InputError: the text has no piece that the model reads.
        """
        words = tuple(text.split())
        labels = self.rows.labels[:1] * (1 if self.rows.kind == TEXTS else len(words))
        row = LabelledRow(0, " ".join(words), labels)
        if not any(self._engine.tokenizer.encode_ids(list(words), add_special_tokens=False)):
            raise InputError("The text has no piece that the model reads. Write a word.")
        logits, _, cases = self._answers([row])
        shares = torch.softmax(logits, dim=-1)
        return tuple(
            (
                row.text if place < 0 else words[place],
                self.rows.labels[int(share.argmax())],
                float(share.max()),
            )
            for (_, place), share in zip(cases, shares, strict=True)
        )

    def files(self, step: int | None = None) -> dict[str, bytes]:
        """Return what a visitor takes along, by name: a folder that `transformers` opens too.

        Args:
            step: not used: only the newest state is kept.
        """
        assert self._model is not None
        return {
            **saved_files(self._model),
            **self._engine.tokenizer.saved_files(),
            "train.tsv": _lines(self.rows.train).encode(),
            "held_out.tsv": _lines(self.rows.held_out).encode(),
            "train.py": self.python().encode(),
        }

    def python(self) -> str:
        """Return a script that repeats the training exactly; it reads `train.tsv`."""
        texts = self.rows.kind == TEXTS
        model = (BertForSequenceClassification if texts else BertForTokenClassification).__name__
        row, batch = ("LabelledText", "text_batch") if texts else ("TaggedWords", "word_batch")
        made = (
            "LabelledText(text, labels.index(label)) for text, label in lines"
            if texts
            else "TaggedWords(tuple(text.split()), tuple(map(labels.index, tags.split())))\n"
            "        for text, tags in lines"
        )
        return f"""from functools import partial
from pathlib import Path
import torch
from bert_core import {model}, BertModel, BertTokenizer
from bert_core.finetuning import Budget, {row}, RowBatches, Trainer, TrainerSettings
from bert_core.finetuning import {batch}

torch.set_num_threads(1)  # the number of threads changes the last digits
name = {self._engine.provenance.name!r}
labels = {list(self.rows.labels)!r}
read = Path("train.tsv").read_text(encoding="utf-8").strip("\\n")
lines = [line.split("\\t") for line in read.split("\\n")]
rows = [{made}]
tokenizer = BertTokenizer.from_pretrained(name)
bert = BertModel.from_pretrained(name)
bert.embeddings.requires_grad_(False)
bert.config = bert.config.without_temperatures()
bert.config.id2label, bert.config.problem_type = dict(enumerate(labels)), None
torch.manual_seed({SEED})
model = {model}.from_model(bert).train()
make = partial({batch}, tokenizer, max_length={LENGTH})
settings = TrainerSettings(Budget(steps={self.steps}), learning_rate={LEARNING_RATE},
                           warmup_steps={self.steps // _WARMUP}, seed={SEED})
trainer = Trainer(model, RowBatches(rows, make, batch_size={BATCH}, seed={SEED}), settings)
while not trainer.done:
    print(trainer.step().loss)
model.save_pretrained("my-bert")
tokenizer.save_pretrained("my-bert")
"""

    # -- rows and tensors --------------------------------------------------------------------------

    def _batch(self, rows: Sequence[LabelledRow]) -> Batch:
        """Build the tensors of some rows."""
        number = {label: place for place, label in enumerate(self.rows.labels)}
        tokenizer = self._engine.tokenizer
        if self.rows.kind == TEXTS:
            texts = [LabelledText(row.text, number[row.labels[0]]) for row in rows]
            return text_batch(tokenizer, texts, max_length=LENGTH)
        tagged = [
            TaggedWords(tuple(row.text.split()), tuple(number[label] for label in row.labels))
            for row in rows
        ]
        return word_batch(tokenizer, tagged, max_length=LENGTH)

    def _answers(
        self, rows: Sequence[LabelledRow]
    ) -> tuple[torch.Tensor, torch.Tensor, list[Case]]:
        """Return logits (N, C), labels (N,) and places of all that is labelled in some rows.

        Words without a piece are left out.
        """
        model = self._model
        assert model is not None
        batch = self._batch(rows)
        labels = batch.pop("labels")
        model.eval()
        names = ("input_ids", "token_type_ids", "attention_mask")
        outputs = model.run(*(batch[name].to(model.device) for name in names))
        model.train(self._trainer is not None)
        assert outputs.logits is not None
        asked = labels >= 0
        return outputs.logits.cpu()[asked].float(), labels[asked], self._cases(rows)

    def _cases(self, rows: Sequence[LabelledRow]) -> list[Case]:
        """Return everything that is labelled, in the order of the tensors."""
        if self.rows.kind == TEXTS:
            return [(row, -1) for row in rows]
        return [
            (row, place)
            for row in rows
            for place, pieces in enumerate(
                self._engine.tokenizer.encode_ids(row.text.split(), add_special_tokens=False)
            )
            if pieces
        ]


def _check_size(engine: Engine) -> None:
    """Refuse a model whose training would take too much memory."""
    counted = Architecture.from_config(engine.model(BertModel).config.to_dict()).parameters()
    trained = counted.total - counted.embedding
    if trained > MOST_TRAINED:
        raise InputError(
            f"The layers of this model have {trained / 1e6:,.0f} million parameters; at most "
            f"{MOST_TRAINED / 1e6:,.0f} million are trained here. Choose a smaller model."
        )


def tunable(base: BertModel, rows: LabelledRows) -> Tunable:
    """Return a model with a new head for the labels of some rows, and its own copy of the layers.

    The embeddings are shared with `base` and are not trained.
    """
    shared: dict[int, Any] = {
        id(each): nn.Parameter(each.detach(), requires_grad=False)
        for each in base.embeddings.parameters()
    }
    encoder = copy.deepcopy(base, shared)
    encoder.config = encoder.config.without_temperatures()
    encoder.config.id2label = dict(enumerate(rows.labels))
    encoder.config.problem_type = None  # that of the model's own head
    if rows.kind == TEXTS:
        return BertForSequenceClassification.from_model(encoder)
    return BertForTokenClassification.from_model(encoder)


def _lines(rows: Sequence[LabelledRow]) -> str:
    """Write rows as they were read."""
    return "".join(f"{row.text}\t{' '.join(row.labels)}\n" for row in rows)

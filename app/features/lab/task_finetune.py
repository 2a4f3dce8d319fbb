"""Fine-tuning on a visitor's own rows, one visitor at a time.

The layers of the chosen model and a new head learn the rows; word vectors and positions are those
of the chosen model, shared with it and not trained. Rows and what is learned from them stay in
memory.
"""

import copy
import io
import math
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any, Literal

import torch
from torch import nn

from app.engine.compute.processor import PROCESSOR
from app.engine.compute.recent import Cache
from app.engine.compute.visitor import current_visit
from app.engine.models import Engine
from app.features.lab.result_finetune import (
    TEXTS,
    FinetuneResult,
    LabelledRow,
    LabelledRows,
    Mistake,
    TuningPoint,
)
from app.features.lab.task_finetune_recorded import recorded, weights_of
from app.features.lab.task_finetune_rows import read_rows, ready
from app.records.counted import wilson
from app.records.fields import Field
from app.settings import settings
from bert_core import BertForSequenceClassification, BertForTokenClassification, BertModel
from bert_core.checkpoints.saving import saved_files
from bert_core.errors import InputError
from bert_core.finetuning import (
    Batch,
    Budget,
    LabelledText,
    NotFiniteError,
    RowBatches,
    TaggedWords,
    Trainer,
    TrainerSettings,
    text_batch,
    word_batch,
)
from bert_core.model.sizes import Architecture

STEPS = (50, 100, 200)
LENGTH = 64  # most pieces of a row
BATCH = 8  # rows
LEARNING_RATE = 3e-4
SEED = 0
MOST_TRAINED = 40_000_000  # parameters; training takes 16 bytes for each
LONGEST = 120.0  # seconds of waiting, and of computing
_WARMUP = 10  # of so many steps, one is for warming up
_LOOKS = 12  # measurements of a whole training, after the first one

Tunable = BertForSequenceClassification | BertForTokenClassification
Progress = Callable[[int, int], None]
_ONE = threading.Semaphore(1)


def lab_finetune(
    engine: Engine,
    rows: Annotated[str, Field("Rows: text, tab, label", "tune_rows", lines=8)] = "",
    labelled: Annotated[Literal["texts", "words"], Field("Labelled", "tune_kind")] = "texts",
    steps: Annotated[int, Field("Steps", "tune_steps", low=10, high=200)] = STEPS[1],
    progress: Progress = lambda done, total: None,
) -> FinetuneResult:
    """Fine-tune the model on labelled rows and say what it gets wrong in rows it never saw.

    Args:
        engine: the model, which is not changed.
        rows: one a line: a text, a tab, and its label; "" for forty ready-made ones, which are
            answered at once for the bundled model.
        labelled: "texts", one label each, or "words", one tag each with spaces between them.
        steps: of the training, with eight rows each.
        progress: called with the steps done and their number.

    Raises:
        InputError: a row cannot be used, the model is too large, the server trains nothing, or
            others are trained for too long.
    """
    text = rows if rows.strip() else ready(labelled)
    usual = text.split() == ready(labelled).split()
    if usual and engine.provenance.fingerprint == weights_of(labelled):
        found = recorded(labelled)
        if found.steps == steps:
            return found
    return tune(engine, text, labelled, steps, progress).result


def tune(
    engine: Engine, text: str, kind: str, steps: int, progress: Progress = lambda done, total: None
) -> "Tuned":
    """Fine-tune; see `lab_finetune`. What comes of it can be asked about other texts."""
    if not settings().lab:
        raise InputError(
            "This server trains no models; it has a recorded training of its bundled model: leave "
            "out the rows. Its host can allow training (BERT_EXPLORER_LAB)."
        )
    tuned = Tuned(engine, read_rows(text, kind), steps)
    with _alone(lambda: progress(0, steps)):
        tuned.train(progress)
    return tuned


@contextmanager
def _alone(wait: Callable[[], None]) -> Iterator[None]:
    """Let one visitor at a time train, the others wait.

    Raises:
        InputError: it takes too long.
    """
    end = time.monotonic() + LONGEST
    while not _ONE.acquire(timeout=0.5):
        current_visit().tell(1)
        wait()
        if time.monotonic() > end:
            raise InputError("Another visitor’s rows are being trained. Try again in a minute.")
    try:
        current_visit().tell(None)
        yield
    finally:
        _ONE.release()


class Tuned:
    """A fine-tuned model with its rows.

    Args:
        engine: the chosen model, which is not changed.
        rows: as read and divided.
        steps: of the training.

    Raises:
        InputError: the model is too large.
    """

    def __init__(self, engine: Engine, rows: LabelledRows, steps: int) -> None:
        _check_size(engine)
        torch.manual_seed(SEED)
        self.rows, self.steps = rows, steps
        self._engine = engine
        self._model = tunable(engine.model(BertModel), rows)
        self._length = min(LENGTH, self._model.config.max_length)
        self._points: list[TuningPoint] = []
        self._mistakes: tuple[Mistake, ...] = ()
        self._diverged = ""

    def train(self, progress: Progress) -> None:
        """Train to the end, with a measurement every few steps.

        A loss that is no longer a number ends the training; it is a result, not an error.
        """
        training = TrainerSettings(
            Budget(steps=self.steps),
            learning_rate=LEARNING_RATE,
            warmup_steps=self.steps // _WARMUP,
            seed=SEED,
        )
        batches = RowBatches(self.rows.train, self._batch, batch_size=BATCH, seed=SEED)
        trainer = Trainer(self._model.train(), batches, training)
        losses: list[float] = []
        PROCESSOR.run(lambda: self._look(0, losses), tokens=0)
        while not (trainer.done or self._diverged):
            progress(trainer.steps_done, self.steps)
            try:
                losses.append(PROCESSOR.run(lambda: _step(trainer), tokens=0, training=True))
            except NotFiniteError as error:
                self._diverged = str(error)
            done = trainer.steps_done
            if trainer.done or done % max(1, self.steps // _LOOKS) == 0:
                PROCESSOR.run(partial(self._look, done, losses), tokens=0)
            if trainer.seconds > LONGEST and not trainer.done:
                self._diverged = f"Ended after {LONGEST:.0f} s of computing, at step {done:,}."
        for parameter in self._model.parameters():
            parameter.grad = None
        self._model.eval()

    @property
    def result(self) -> FinetuneResult:
        """What came of it."""
        last = self._points[-1]
        low, high = wilson(last.right, last.cases)
        every = (*self.rows.train, *self.rows.held_out)
        return FinetuneResult(
            rows=self.rows,
            points=tuple(self._points),
            steps=self.steps,
            parameters=sum(p.numel() for p in self._model.parameters() if p.requires_grad),
            low=low,
            high=high,
            mistakes=self._mistakes,
            cut=sum(self._batch([row]).truncated > 0 for row in every),
            diverged=self._diverged,
        )

    def ask(self, text: str) -> tuple[tuple[str, str, float], ...]:
        """Return the labels of a text: (word or text, label, probability) each.

        Raises:
            InputError: the text has no piece that the model reads.
        """
        words = tuple(text.split())
        labels = self.rows.labels[:1] * (1 if self.rows.kind == TEXTS else len(words))
        row = LabelledRow(0, " ".join(words), labels)
        if not any(self._engine.tokenizer.encode_ids(list(words), add_special_tokens=False)):
            raise InputError("The text has no piece that the model reads. Write a word.")
        logits, _, cases = PROCESSOR.run(lambda: self._answers([row]), tokens=LENGTH)
        return tuple(
            (
                row.text if place < 0 else words[place],
                self.rows.labels[int(share.argmax())],
                float(share.max()),
            )
            for (_, place), share in zip(cases, torch.softmax(logits, dim=-1), strict=True)
        )

    def archive(self) -> bytes:
        """Return a ZIP file of the folder, which `transformers` opens too."""
        files = {**saved_files(self._model), **self._engine.tokenizer.saved_files()}
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as made:
            for name, content in files.items():
                made.writestr(name, content)
        return target.getvalue()

    def _look(self, done: int, losses: list[float]) -> None:
        """Measure the held-out rows and keep the point; `losses` are those since the last one."""
        logits, wanted, cases = self._answers(self.rows.held_out)
        loss = float(nn.functional.cross_entropy(logits, wanted))
        if not math.isfinite(loss):
            self._diverged = self._diverged or f"After step {done}, the loss is {loss}."
            return
        shares = torch.softmax(logits, dim=-1)
        best = shares.argmax(dim=-1).tolist()
        names = self.rows.labels
        self._mistakes = tuple(
            Mistake(row, place, names[right], names[label], share)
            for (row, place), right, label, share in zip(
                cases, wanted.tolist(), best, shares.amax(dim=-1).tolist(), strict=True
            )
            if right != label
        )
        mean = sum(losses) / len(losses) if losses else loss
        losses.clear()
        right = len(cases) - len(self._mistakes)
        self._points.append(TuningPoint(done, mean, loss, right, len(cases)))

    def _batch(self, rows: Sequence[LabelledRow]) -> Batch:
        number = {label: place for place, label in enumerate(self.rows.labels)}
        tokenizer = self._engine.tokenizer
        if self.rows.kind == TEXTS:
            texts = [LabelledText(row.text, number[row.labels[0]]) for row in rows]
            return text_batch(tokenizer, texts, max_length=self._length)
        tagged = [
            TaggedWords(tuple(row.text.split()), tuple(number[label] for label in row.labels))
            for row in rows
        ]
        return word_batch(tokenizer, tagged, max_length=self._length)

    def _answers(
        self, rows: Sequence[LabelledRow]
    ) -> tuple[torch.Tensor, torch.Tensor, list[tuple[LabelledRow, int]]]:
        """Return logits (N, C), labels (N,), and rows with places of what is labelled in them.

        A place is the number of a word, -1 for a whole text. Words without a piece are left out.
        """
        batch = self._batch(rows)
        labels = batch.pop("labels")
        learns = self._model.training
        self._model.eval()
        names = ("input_ids", "token_type_ids", "attention_mask")
        outputs = self._model.run(*(batch[name].to(self._model.device) for name in names))
        self._model.train(learns)
        assert outputs.logits is not None
        asked = labels >= 0
        return outputs.logits.cpu()[asked].float(), labels[asked], self._cases(rows)

    def _cases(self, rows: Sequence[LabelledRow]) -> list[tuple[LabelledRow, int]]:
        if self.rows.kind == TEXTS:
            return [(row, -1) for row in rows]
        encode = self._engine.tokenizer.encode_ids
        return [
            (row, place)
            for row in rows
            for place, pieces in enumerate(encode(row.text.split(), add_special_tokens=False))
            if pieces
        ]


# The models of all visitors together; the one that was not asked for the longest goes first.
KEPT = Cache(8)


def _step(trainer: Trainer) -> float:
    """Train one step, on one thread so that it can be repeated exactly; return its loss."""
    torch.set_num_threads(1)
    return trainer.step().loss


def _check_size(engine: Engine) -> None:
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

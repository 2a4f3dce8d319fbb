"""`Trainer`: train any model of this package one step at a time; resumable if interrupted.

Read `TrainerSettings`, `StepReport`, `Trainer.step`, then saving and resuming in
`bert_core.finetuning.state`. There is no loop over steps or epochs here: the caller calls `step()`
until `done` and reads the report of each step.
"""

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from bert_core.errors import CheckpointError, InputError
from bert_core.finetuning.averaging import WeightAverage
from bert_core.finetuning.optimizer import Method, make_optimizer
from bert_core.finetuning.parallel import Replicas
from bert_core.finetuning.processes import Processes
from bert_core.finetuning.schedule import Budget, linear_decay
from bert_core.finetuning.state import read_state, write_state
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.model.checks import known_types


class BatchSource(Protocol):
    """A function from step to batches; it keeps no position, so that training can be resumed."""

    def __call__(self, step: int, progress: float, /) -> Sequence[Any]:
        """Return the parts of one step; their losses are summed.

        Args:
            step: number of steps done so far.
            progress: share of the training done, 0 to 1 (for example, to vary a masking rate).
        """


class NotFiniteError(InputError):
    """The loss or the gradients of a step are not finite; the step was not done."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A scalar loss with gradients, and named parts of it for the log."""

    total: Tensor
    parts: Mapping[str, Tensor] = field(default_factory=dict)


LossFunction = Callable[[Any, Any], Loss]


def model_loss(model: BertPreTrainedModel, batch: Mapping[str, Tensor]) -> Loss:
    """Return the loss of a model called with a batch of keyword tensors, including labels.

    Raises:
        InputError: the model did not return a scalar because the batch has no labels.
    """
    given = {name: value.to(model.device) for name, value in batch.items()}
    if "token_type_ids" in given:
        given["token_type_ids"] = known_types(model.config, given["token_type_ids"])
    answer = model(**given)
    if not isinstance(answer, Tensor) or answer.dim():
        raise InputError(
            f"{type(model).__name__} returned no loss for a batch of {', '.join(batch)}. A batch "
            "for training needs the labels of its task."
        )
    return Loss(answer)


@dataclass(frozen=True, slots=True)
class TrainerSettings:
    """Hyperparameters and settings of a training.

    Attributes:
        budget: length of the training, in steps or minutes.
        learning_rate: peak learning rate.
        warmup_steps: steps until the peak.
        weight_decay: of matrices; biases and normalisations have none.
        max_grad_norm: larger gradients are scaled down to this norm.
        bfloat16: compute matrix products in bfloat16; parameters stay float32.
        seed: seed of dropout.
        workers: number of threads that compute the parts of a step in parallel. With more than
            one, gradients are added in any order, so two runs differ in the last digits.
        layer_decay: learning rate of a layer divided by that of the layer above; see
            `bert_core.finetuning.optimizer`. 1.0 gives all layers the same rate.
        average_last: share of the training, from its end, over which to average the weights; see
            `Trainer.average`. 0.0 for no average.
        decay_share: share of the training, from its end, over which the rate decays to 0.
        compiled: compile the encoder layers; for GPUs, with one worker only.
        optimizer: "adamw", or "muon" for the matrices of the layers and AdamW for the rest.

    Raises:
        InputError: `layer_decay` or `decay_share` is not above 0 and at most 1.
    """

    budget: Budget
    learning_rate: float = 5e-5
    warmup_steps: int = 0
    weight_decay: float = 0.01
    max_grad_norm: float = 1.0
    bfloat16: bool = False
    seed: int = 0
    workers: int = 1
    layer_decay: float = 1.0
    average_last: float = 0.0
    decay_share: float = 1.0
    compiled: bool = False
    optimizer: Method = "adamw"

    def __post_init__(self) -> None:
        if not 0.0 < self.layer_decay <= 1.0:
            raise InputError(
                f"layer_decay is {self.layer_decay}; give a factor above 0 and up to 1 (no decay)."
            )
        if not 0.0 < self.decay_share <= 1.0:
            raise InputError(
                f"decay_share is {self.decay_share}; give the share of the training over which "
                "the learning rate decays, above 0 and up to 1 (all of it)."
            )


@dataclass(frozen=True, slots=True)
class StepReport:
    """The result of one step; also one line of the log.

    Attributes:
        step: number of steps done, including this one.
        progress: share of the training done, 0 to 1.
        loss: sum over the parts of the step.
        parts: named parts of the loss.
        learning_rate: used in this step; if layers differ, that of the heads.
        grad_norm: gradient norm before clipping.
        seconds: computing time so far, without pauses.
        truncated: number of tokens removed from the rows of this step; see `Batch`.
        missed: number of answers of this step that no window contains; see `Batch`.
    """

    step: int
    progress: float
    loss: float
    parts: dict[str, float]
    learning_rate: float
    grad_norm: float
    seconds: float
    truncated: int = 0
    missed: int = 0


class Trainer:
    """Train one model with AdamW or Muon, linear warm-up and linear decay.

    Temperatures in the model's config are discarded: they belong to the weights before training.

    Args:
        model: any model of this package; switched to training mode.
        batches: (step, progress) -> parts of that step.
        settings: hyperparameters and settings.
        loss: (model, part) -> `Loss`; by default the model's own loss.
        log: file to which one JSON line per step is appended.

    Attributes:
        average: mean of the last weights (see `TrainerSettings.average_last`); at the end,
            `trainer.average.adopt()` copies it to the model.

    Started by `torchrun`, every process calls the same functions, and computes its share of each
    step.

    The caller runs the steps::

        make = functools.partial(text_batch, tokenizer, max_length=128)
        batches = RowBatches(rows, make, batch_size=16)
        trainer = Trainer(model, batches, TrainerSettings(Budget(steps=100)))
        while not trainer.done:
            report = trainer.step()
    """

    def __init__(
        self,
        model: BertPreTrainedModel,
        batches: BatchSource,
        settings: TrainerSettings,
        *,
        loss: LossFunction = model_loss,
        log: str | Path | None = None,
    ) -> None:
        self.model = model.train()
        if model.config.temperatures:
            model.set_config(model.config.without_temperatures())  # a copy: others may share it
        self.batches, self.settings, self.loss = batches, settings, loss
        self.log = None if log is None else Path(log)
        self.steps_done = 0
        self.seconds = 0.0
        self.optimizer, self.shares = make_optimizer(
            model,
            learning_rate=settings.learning_rate,
            weight_decay=settings.weight_decay,
            layer_decay=settings.layer_decay,
            method=settings.optimizer,
            threads=settings.workers,
            narrow=settings.bfloat16 or model.device.type != "cpu",
        )
        self.average = WeightAverage(model, settings.average_last)
        if settings.compiled:
            compile_layers(model, workers=settings.workers)
        self.replicas = Replicas(model, settings.workers)
        self.processes = Processes()
        torch.manual_seed(settings.seed)

    @property
    def progress(self) -> float:
        """Share of the training done, 0 to 1."""
        return self.settings.budget.progress(self.steps_done, self.seconds)

    @property
    def done(self) -> bool:
        """Whether the budget is used up."""
        return self.progress >= 1.0

    def step(self) -> StepReport:
        """Do one step and return its report.

        A step that raises has changed neither the model nor the state of the optimizer, and its
        gradients are not part of the next step.

        Raises:
            NotFiniteError: the loss or the gradients of the step are not finite; `skip` goes on
                with the next one.
            InputError: the budget is used up.
        """
        if self.done:
            raise InputError(
                f"The training is over after {self.steps_done} steps. Give a larger budget to "
                "continue."
            )
        began = time.perf_counter()
        settings, progress = self.settings, self.progress
        factor = linear_decay(
            self.steps_done, progress, settings.warmup_steps, settings.decay_share
        )
        for group, share in zip(self.optimizer.param_groups, self.shares, strict=True):
            group["lr"] = settings.learning_rate * factor * share
        batches = self.batches(self.steps_done, progress)
        self.replicas.zero_grad()  # an interrupted step may have left some
        total, parts = self._backward(batches)
        self.processes.add_gradients(self.model)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), settings.max_grad_norm)
        if not math.isfinite(norm):
            raise self._not_finite("norm of the gradients", float(norm))
        self.optimizer.step()
        self.replicas.zero_grad()  # frees their memory
        self.steps_done += 1
        self.seconds = self.processes.agreed(self.seconds + time.perf_counter() - began)
        self.average.update(self.progress)
        report = StepReport(
            step=self.steps_done,
            progress=self.progress,
            loss=total,
            parts=parts,
            learning_rate=settings.learning_rate * factor,
            grad_norm=float(norm),
            seconds=self.seconds,
            truncated=_added(batches, "truncated"),
            missed=_added(batches, "missed"),
        )
        self._write(report)
        return report

    def _backward(self, batches: Sequence[Any]) -> tuple[float, dict[str, float]]:
        """Accumulate the gradients of all parts; return the loss and its named parts."""
        totals: dict[str, float] = {}
        failure: NotFiniteError | None = None
        try:
            for figures in self.replicas.run(self._backward_part, self.processes.share(batches)):
                for name, value in figures.items():
                    totals[name] = totals.get(name, 0.0) + value
        except NotFiniteError as error:
            failure = error
        if self.processes.any(failure is not None):  # then no process does the step
            raise failure or self._not_finite("loss in another process", math.nan)
        totals = self.processes.add_figures(totals)
        return totals.pop("", 0.0), totals

    def _backward_part(self, model: BertPreTrainedModel, batch: Any) -> dict[str, float]:
        """Run one part; return its loss under the key "", and its named parts."""
        with self._precision(model):
            loss = self.loss(model, batch)
        value = float(loss.total.detach())
        if not math.isfinite(value):
            raise self._not_finite("loss", value)
        loss.total.backward()  # type: ignore[no-untyped-call]
        return {"": value, **{name: float(part) for name, part in loss.parts.items()}}

    def _not_finite(self, what: str, value: float) -> NotFiniteError:
        return NotFiniteError(
            f"The {what} of step {self.steps_done + 1} is {value}; expected a finite number. The "
            "step changed nothing. Try a smaller learning rate, or check that all labels are in "
            "the model's range."
        )

    def skip(self) -> None:
        """Leave out the next step: its batches are not used, and nothing but its number changes."""
        self.steps_done += 1

    def _precision(self, model: BertPreTrainedModel) -> AbstractContextManager[object]:
        """Return the autocast context for bfloat16, or one that does nothing."""
        if not self.settings.bfloat16:
            return nullcontext()
        return torch.autocast(model.device.type, torch.bfloat16)

    def _write(self, report: StepReport) -> None:
        if self.log is not None and self.processes.first:
            with self.log.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(report)) + "\n")

    # -- saving and resuming ---------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write everything needed to resume; an interruption leaves the old file or the new one.

        Of several processes, let the first one write; see `bert_core.finetuning.processes`.
        """
        write_state(
            Path(path),
            self.model,
            self.optimizer,
            {"step": self.steps_done, "seconds": self.seconds, "settings": asdict(self.settings)},
            self.average,
        )

    def resume(self, path: str | Path) -> None:
        """Continue from a state written by `save`; later lines are removed from the log.

        The settings are those of this trainer, not the saved ones, so a training can be extended
        with a larger budget.

        Raises:
            MissingFileError: the file does not exist.
            CheckpointError: the file is damaged or belongs to another model.
        """
        decays = [group["weight_decay"] for group in self.optimizer.param_groups]
        record = read_state(Path(path), self.model, self.optimizer, self.average)
        for group, decay in zip(self.optimizer.param_groups, decays, strict=True):
            group["weight_decay"] = decay  # the saved state overwrote it
        try:
            self.steps_done, self.seconds = int(record["step"]), float(record["seconds"])
        except (KeyError, TypeError, ValueError):
            raise CheckpointError(
                f"The training state {path} has no valid step and seconds; expected a file written "
                "by Trainer.save. Remove it to start again."
            ) from None
        if self.log is not None and self.log.is_file() and self.processes.first:
            lines = self.log.read_text(encoding="utf-8").splitlines(keepends=True)
            kept = [line for line in lines if _step_of(line) <= self.steps_done]
            self.log.write_text("".join(kept), encoding="utf-8")


def _added(batches: Sequence[Any], name: str) -> int:
    """Sum a count over the parts of a step that have it."""
    return sum(getattr(batch, name, 0) for batch in batches)


def _step_of(line: str) -> float:
    """Return the step of a log line; infinity for an incomplete line."""
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return float("inf")


def compile_layers(model: BertPreTrainedModel, *, workers: int = 1) -> None:
    """Make a model compile its layers on the first call, for batches of any shape.

    On a GPU that fuses many small kernels into one. Each layer is compiled separately; as layers
    share their code, a six-layer model is compiled once, not six times. Embeddings and heads are
    not compiled. Parameters keep their names, so the model can be saved and shared like any other.

    Raises:
        InputError: `workers` is not 1; the compiler supports one thread.
    """
    if workers != 1:
        raise InputError(
            f"Compiled steps run in one thread, but workers is {workers}. Set workers=1 or "
            "compiled=False."
        )
    for block in model.encoder_model.encoder.blocks():
        block.compile(dynamic=True)

"""`Trainer`: any model of this package, one step at a time, resumable after a kill.

Order of reading: `TrainerSettings`, `StepReport`, `Trainer.step`, then saving and resuming in
`bert_core.finetuning.state`. Nothing here loops over epochs: a command line, a page or a test
calls `step()` as often as it likes and looks at what comes back.
"""

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

from bert_core.errors import CheckpointError, InputError
from bert_core.finetuning.averaging import WeightAverage
from bert_core.finetuning.compiling import compile_layers
from bert_core.finetuning.optimizer import Method, make_optimizer
from bert_core.finetuning.parallel import Replicas
from bert_core.finetuning.schedule import Budget, linear_decay
from bert_core.finetuning.state import read_state, write_state
from bert_core.model.bert import BertPreTrainedModel

Device = Literal["cpu", "cuda", "mps"]


class BatchSource(Protocol):
    """What a training learns from, addressed by step so that it needs no position of its own."""

    def __call__(self, step: int, progress: float, /) -> Sequence[Any]:
        """Return the parts of one step; their losses are added up.

        Args:
            step: steps done so far.
            progress: share of the training done, 0 to 1 (a masking rate may follow it).
        """


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss with gradients, and named parts of it for the log."""

    total: Tensor
    parts: Mapping[str, Tensor] = field(default_factory=dict)


LossFunction = Callable[[Any, Any], Loss]


def model_loss(model: BertPreTrainedModel, batch: Mapping[str, Tensor]) -> Loss:
    """Call a model with a batch of keyword tensors, labels among them; its answer is the loss.

    Raises:
        InputError: the model did not answer with a scalar, so the batch has no labels.
    """
    answer = model(**{name: value.to(model.device) for name, value in batch.items()})
    if not isinstance(answer, Tensor) or answer.dim():
        raise InputError(
            f"{type(model).__name__} gave no loss for a batch of {', '.join(batch)}. A batch for "
            "training needs the labels of its task."
        )
    return Loss(answer)


@dataclass(frozen=True, slots=True)
class TrainerSettings:
    """How to train.

    Attributes:
        budget: steps or minutes.
        learning_rate: the peak.
        warmup_steps: steps until the peak.
        weight_decay: of matrices; biases and normalisations have none.
        max_grad_norm: gradients are scaled down to this norm.
        bfloat16: compute matrix products in bfloat16; parameters stay float32.
        seed: of dropout.
        workers: threads that compute the parts of a step side by side. With more than one,
            gradients are added in any order, so two runs differ in the last digits.
        layer_decay: learning rate of a layer beside that of the layer above it; see
            `bert_core.finetuning.optimizer`. 1.0 for one rate.
        average_last: share of the training, from its end, over which the weights are averaged;
            see `Trainer.average`. 0.0 for no average.
        decay_share: share of the training, at its end, over which the rate falls to 0.
        compiled: compile the encoder's layers; for graphics cards, and for one worker.
        optimizer: "adamw", or "muon" for the matrices of the layers and AdamW for the rest.

    Raises:
        InputError: a share is not between 0 and 1.
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
                "the learning rate falls, above 0 and up to 1 (all of it)."
            )


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step did; also one line of the log.

    Attributes:
        step: steps done, this one included.
        progress: share of the training done.
        loss: sum over the parts of the step.
        parts: named parts of the loss.
        learning_rate: used in this step, where layers differ that of the heads.
        grad_norm: before it was clipped.
        seconds: computing time since the training began, pauses left out.
        truncated: tokens that were cut off the rows of this step; see `Batch`.
        missed: answers in this step that no window holds; see `Batch`.
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
    """Trains one model with AdamW or Muon, warm-up and linear decay.

    Temperatures that the model's config names belong to the weights it had; they are dropped.

    Args:
        model: any model of this package; switched to training mode.
        batches: step and progress -> parts of that step.
        settings: how to train.
        loss: model and one part -> `Loss`; by default the model's own loss.
        log: a file that gets one JSON line a step.

    Attributes:
        average: mean of the last weights, where `TrainerSettings.average_last` asks for one;
            `trainer.average.adopt()` puts it into the model at the end.

    Driven from outside, a step at a time::

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
            _forget_temperatures(model)
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
        """Do one step and report it.

        Raises:
            InputError: the budget is used up, or the loss is not a finite number.
        """
        if self.done:
            raise InputError(
                f"The training of {self.steps_done} steps is over. Give a larger budget to go on."
            )
        began = time.perf_counter()
        settings, progress = self.settings, self.progress
        factor = linear_decay(
            self.steps_done, progress, settings.warmup_steps, settings.decay_share
        )
        for group, share in zip(self.optimizer.param_groups, self.shares, strict=True):
            group["lr"] = settings.learning_rate * factor * share
        batches = self.batches(self.steps_done, progress)
        total, parts = self._backward(batches)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), settings.max_grad_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.steps_done += 1
        self.seconds += time.perf_counter() - began
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
        """Add up the gradients of all parts; return the loss and its named parts."""
        totals: dict[str, float] = {}
        for figures in self.replicas.run(self._backward_part, batches):
            for name, value in figures.items():
                totals[name] = totals.get(name, 0.0) + value
        return totals.pop("", 0.0), totals

    def _backward_part(self, model: BertPreTrainedModel, batch: Any) -> dict[str, float]:
        """Run one part; return its loss under the name "" and its named parts."""
        with self._precision(model):
            loss = self.loss(model, batch)
        value = float(loss.total.detach())
        if not math.isfinite(value):
            raise InputError(
                f"The loss of step {self.steps_done + 1} is {value}. Try a smaller learning "
                "rate, or look for labels outside the model's range."
            )
        loss.total.backward()  # type: ignore[no-untyped-call]
        return {"": value, **{name: float(part) for name, part in loss.parts.items()}}

    def _precision(self, model: BertPreTrainedModel) -> AbstractContextManager[object]:
        """Return what to compute in: not every device knows a narrower type."""
        if not self.settings.bfloat16:
            return nullcontext()
        return torch.autocast(model.device.type, torch.bfloat16)

    def _write(self, report: StepReport) -> None:
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(report)) + "\n")

    # -- saving and resuming ---------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write everything a resumed training needs; a kill leaves the old file or the new."""
        write_state(
            Path(path),
            self.model,
            self.optimizer,
            {"step": self.steps_done, "seconds": self.seconds, "settings": asdict(self.settings)},
            self.average,
        )

    def resume(self, path: str | Path) -> None:
        """Go on where `save` was called; later lines of the log are cut off.

        The settings are those given now, so a training may be prolonged.

        Raises:
            MissingFileError: there is no such file.
            CheckpointError: the file is damaged or belongs to another model.
        """
        decays = [group["weight_decay"] for group in self.optimizer.param_groups]
        record = read_state(Path(path), self.model, self.optimizer, self.average)
        for group, decay in zip(self.optimizer.param_groups, decays, strict=True):
            group["weight_decay"] = decay  # the state brought its own
        try:
            self.steps_done, self.seconds = int(record["step"]), float(record["seconds"])
        except (KeyError, TypeError, ValueError):
            raise CheckpointError(
                f"The training state {path} does not say how far it is."
            ) from None
        if self.log is not None and self.log.is_file():
            lines = self.log.read_text(encoding="utf-8").splitlines(keepends=True)
            kept = [line for line in lines if _step_of(line) <= self.steps_done]
            self.log.write_text("".join(kept), encoding="utf-8")


def _added(batches: Sequence[Any], name: str) -> int:
    """Add up a count over those parts of a step that keep it."""
    return sum(getattr(batch, name, 0) for batch in batches)


def _step_of(line: str) -> float:
    """Step of a log line; infinity for a line that a kill cut short."""
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return float("inf")


def _forget_temperatures(model: BertPreTrainedModel) -> None:
    """Give a model, and the models in it, a config of their own without temperatures."""
    config = model.config.without_temperatures()  # others may have been built from the same one
    for module in model.modules():
        if isinstance(module, BertPreTrainedModel):
            module.config = config

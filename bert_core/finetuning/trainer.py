"""`Trainer`: train any model of this package one step at a time; resumable if interrupted.

Read `TrainerSettings`, `StepReport`, then `Trainer.step`. There is no loop over steps or epochs
here: the caller calls `step()` until `done` and reads the report of each step.
"""

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import torch
from torch import Tensor

from bert_core.errors import CheckpointError, InputError
from bert_core.finetuning.optimizer import parameter_groups
from bert_core.finetuning.schedule import Budget, linear_decay
from bert_core.finetuning.state import load_state, write_state
from bert_core.model.checks import known_types
from bert_core.model.pretrained import BertPreTrainedModel

_FORMAT = 2  # of saved states


BatchSource = Callable[[int, float], Sequence[Any]]
"""(steps done, share of the training done) -> the parts of one step, whose losses are summed.

It keeps no position, so that training can be resumed.
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
    inputs = {name: value.to(model.device) for name, value in batch.items()}
    if "token_type_ids" in inputs:
        inputs["token_type_ids"] = known_types(model.config, inputs["token_type_ids"])
    answer = model(**inputs)
    if not isinstance(answer, Tensor) or answer.dim():
        raise InputError(
            f"{type(model).__name__} returned no loss for a batch of {', '.join(batch)}. A batch "
            "for training needs the labels of its task."
        )
    return Loss(answer)


@dataclass(frozen=True, slots=True)
class TrainerSettings:
    """Hyperparameters and settings of a training.

    Raises:
        InputError: `layer_decay` or `decay_share` is not above 0 and at most 1.
    """

    budget: Annotated[Budget, "length of the training, in steps or minutes"]
    learning_rate: Annotated[float, "the peak"] = 5e-5
    warmup_steps: Annotated[int, "until the peak"] = 0
    weight_decay: Annotated[float, "of matrices; biases and normalisations have none"] = 0.01
    max_grad_norm: Annotated[float, "larger gradients are scaled down to this norm"] = 1.0
    bfloat16: Annotated[bool, "compute matrix products in it; parameters stay float32"] = False
    seed: Annotated[int, "of dropout"] = 0
    layer_decay: Annotated[float, "rate of a layer divided by that of the layer above"] = 1.0
    decay_share: Annotated[float, "share of the training over which the rate falls to 0"] = 1.0

    def __post_init__(self) -> None:
        for name in ("layer_decay", "decay_share"):
            if not 0.0 < getattr(self, name) <= 1.0:
                raise InputError(
                    f"{name} is {getattr(self, name)}; give a number above 0 and up to 1."
                )


@dataclass(frozen=True, slots=True)
class StepReport:
    """The result of one step; also one line of the log."""

    step: Annotated[int, "number of steps done, including this one"]
    progress: Annotated[float, "share of the training done, 0 to 1"]
    loss: Annotated[float, "sum over the parts of the step"]
    parts: Annotated[dict[str, float], "named parts of the loss"]
    learning_rate: Annotated[float, "used in this step; if layers differ, that of the heads"]
    grad_norm: Annotated[float, "before clipping"]
    seconds: Annotated[float, "computing time so far, without pauses"]
    truncated: Annotated[int, "tokens removed from the rows of this step; see `Batch`"] = 0
    missed: Annotated[int, "answers of this step that no window contains; see `Batch`"] = 0


class Trainer:
    """Train one model, which is switched to training mode, with AdamW, warm-up and linear decay.

    Temperatures in the model's config are discarded: they belong to the weights before training.
    One JSON line per step is appended to the file `log`. The caller runs the steps::

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
        self.optimizers = self.make_optimizers()
        torch.manual_seed(settings.seed)

    def make_optimizers(self) -> list[torch.optim.Optimizer]:
        """Return the optimizers, whose groups come from `parameter_groups`."""
        settings, device = self.settings, self.model.device.type
        groups = parameter_groups(self.model, settings.weight_decay, settings.layer_decay)
        return [torch.optim.AdamW(groups, settings.learning_rate, fused=device in ("cpu", "cuda"))]

    @property
    def progress(self) -> float:
        """Share of the training done, 0 to 1."""
        return self.settings.budget.progress(self.steps_done, self.seconds)

    @property
    def done(self) -> bool:
        """Whether the budget is used up."""
        return self.progress >= 1.0

    @property
    def groups(self) -> list[dict[str, Any]]:
        """The parameter groups of all optimizers."""
        return [group for optimizer in self.optimizers for group in optimizer.param_groups]

    def step(self) -> StepReport:
        """Do one step and return its report.

        A step that raises has changed neither the model nor the state of the optimizers, and its
        gradients are not part of the next step.

        Raises:
            NotFiniteError: the loss or the gradients of the step are not finite; `skip` goes on
                with the next one.
            InputError: the budget is used up.
        """
        if self.done:
            raise InputError(
                f"The training is over after {self.steps_done} steps. Give a larger budget."
            )
        began = time.perf_counter()
        settings, progress = self.settings, self.progress
        rate = settings.learning_rate * linear_decay(
            self.steps_done, progress, settings.warmup_steps, settings.decay_share
        )
        for group in self.groups:
            group["lr"] = rate * group["share"]
        batches = self.batches(self.steps_done, progress)
        self.model.zero_grad()  # an interrupted step may have left some
        total, parts = self.backward(batches)
        norm = float(
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), settings.max_grad_norm)
        )
        for what, value in (("loss", total), ("norm of the gradients", norm)):
            if not math.isfinite(value):
                raise NotFiniteError(
                    f"The {what} of step {self.steps_done + 1} is {value}; expected a finite "
                    "number. The step changed nothing. Try a smaller learning rate."
                )
        for optimizer in self.optimizers:
            optimizer.step()
        self.model.zero_grad()  # frees their memory
        self.steps_done += 1
        self.seconds += time.perf_counter() - began
        report = StepReport(
            step=self.steps_done,
            progress=self.progress,
            loss=total,
            parts=parts,
            learning_rate=rate,
            grad_norm=norm,
            seconds=self.seconds,
            truncated=sum(getattr(batch, "truncated", 0) for batch in batches),
            missed=sum(getattr(batch, "missed", 0) for batch in batches),
        )
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(report)) + "\n")
        return report

    def backward(self, batches: Sequence[Any]) -> tuple[float, dict[str, float]]:
        """Add the gradients of all parts of a step; return its loss and the loss's named parts."""
        total, parts = 0.0, dict[str, float]()
        device, narrow = self.model.device.type, self.settings.bfloat16
        for batch in batches:
            with torch.autocast(device, torch.bfloat16) if narrow else nullcontext():
                loss = self.loss(self.model, batch)
            loss.total.backward()  # type: ignore[no-untyped-call]
            total += float(loss.total.detach())
            for name, part in loss.parts.items():
                parts[name] = parts.get(name, 0.0) + float(part)
        return total, parts

    def skip(self) -> None:
        """Leave out the next step: its batches are not used, and nothing but its number changes."""
        self.steps_done += 1

    # -- saving and resuming ---------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write everything needed to resume; an interruption leaves the old file or the new one."""
        write_state(Path(path), self.state())

    def state(self) -> dict[str, Any]:
        """Return everything needed to resume, as tensors and plain values."""
        return {
            "format": _FORMAT,
            "model": {name: value.detach() for name, value in self.model.named_parameters()},
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "random": torch.get_rng_state(),
            "cuda_random": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
            "step": self.steps_done,
            "seconds": self.seconds,
        }

    def resume(self, path: str | Path) -> None:
        """Continue from a state written by `save`; later lines are removed from the log.

        The settings are those of this trainer: a training can go on with a larger budget.

        Raises:
            MissingFileError: the file does not exist.
            CheckpointError: the file is damaged or belongs to another training.
        """
        state = load_state(Path(path))
        try:
            self.restore(state)
        except Exception as error:  # noqa: BLE001  a damaged file can raise anything
            raise CheckpointError(
                f"The training state {path} does not fit this training: {str(error)[:200]}. Build "
                "the model and settings it was saved with, or remove it to start again."
            ) from None
        if self.log is not None and self.log.is_file():
            lines = self.log.read_text(encoding="utf-8").splitlines(keepends=True)
            done = [line for line in lines if _step_of(line) <= self.steps_done]
            self.log.write_text("".join(done), encoding="utf-8")

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` returned; an error leaves the model as it is."""
        if state["format"] != _FORMAT:
            raise ValueError(f"its format is {state['format']}, expected {_FORMAT}")
        steps_done, seconds = int(state["step"]), float(state["seconds"])
        self.check_weights(state["model"])
        kept = [(group["weight_decay"], group["share"]) for group in self.groups]
        for optimizer, moments in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(moments)
        for group, (decay, share) in zip(self.groups, kept, strict=True):
            group.update(weight_decay=decay, share=share)  # the saved state overwrote them
        torch.set_rng_state(state["random"])
        if state["cuda_random"] and torch.cuda.is_available():
            torch.cuda.set_rng_state_all(state["cuda_random"])
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                parameter.copy_(state["model"][name])
        self.steps_done, self.seconds = steps_done, seconds

    def check_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Raise a ValueError for the weights of another model."""
        own = dict(self.model.named_parameters())
        wrong = sorted(set(own) ^ set(weights)) or [
            name for name, value in weights.items() if value.shape != own[name].shape
        ]
        if wrong:
            raise ValueError(f"it belongs to another model ({', '.join(wrong[:3])} differ)")


def _step_of(line: str) -> float:
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return math.inf

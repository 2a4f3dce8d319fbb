"""The recipe's trainer: Muon, the mean of the last weights, and several processes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch
from torch import Tensor
from torch.optim import AdamW, Muon, Optimizer

from bert_core.errors import InputError
from bert_core.finetuning import StepReport, Trainer, TrainerSettings
from bert_core.finetuning.optimizer import LAYER, parameter_groups
from bert_core.model.pretrained import BertPreTrainedModel
from training import processes

Method = Literal["adamw", "muon"]


@dataclass(frozen=True, slots=True)
class StageTraining(TrainerSettings):
    """Hyperparameters of a stage."""

    average_last: Annotated[float, "share of the stage, from its end, to average over"] = 0.0
    optimizer: Annotated[Method, "muon: for matrices of the layers, AdamW for the rest"] = "adamw"


class WeightAverage:
    """The mean of all parameters over the last steps of a training, by name; empty before them.

    The weights after individual steps scatter around the point the training converges to, and their
    mean is closer to it than most of them (Polyak and Juditsky 1992; for deep networks Izmailov et
    al. 2018).
    """

    def __init__(self, model: BertPreTrainedModel, last: float) -> None:
        if not 0.0 <= last <= 1.0:
            raise InputError(
                f"average_last is {last}; give a share from 0 (no average) to 1 (the whole stage)."
            )
        self.model, self.last = model, last
        self.count, self.weights = 0, dict[str, Tensor]()

    @torch.no_grad()
    def update(self, progress: float) -> None:
        """Add the weights after a step to the mean, in the last part of the training.

        `progress` is the share of the training done, including this step. If a resumed training
        with a larger budget is no longer in its last part, the mean is reset.
        """
        if not self.last or progress <= 1.0 - self.last + 1e-9:
            self.count, self.weights = 0, {}
            return
        self.count += 1
        for name, value in self.model.named_parameters():
            if self.count == 1:
                self.weights[name] = value.detach().clone()
            else:
                self.weights[name].lerp_(value.detach(), 1.0 / self.count)


class StageTrainer(Trainer):
    """The trainer of a stage; `average` is the mean of the last weights."""

    settings: StageTraining

    def __init__(self, model: BertPreTrainedModel, *given: Any, **options: Any) -> None:
        super().__init__(model, *given, **options)
        self.average = WeightAverage(model, self.settings.average_last)

    def make_optimizers(self) -> list[Optimizer]:
        """Return Muon for the matrices of the layers and AdamW for the rest, or AdamW alone.

        Muon moves a matrix equally in all directions (Jordan et al. 2024, "Muon: An optimizer for
        hidden layers in neural networks"), here at the usual size of AdamW's steps (Liu et al.
        2025, "Muon is scalable for LLM training", section 2.2), so both use the same rate.
        """
        settings = self.settings
        if settings.optimizer == "adamw":
            return super().make_optimizers()
        names = {id(parameter): name for name, parameter in self.model.named_parameters()}
        layers, rest = list[dict[str, Any]](), list[dict[str, Any]]()
        for group in parameter_groups(self.model, settings.weight_decay, settings.layer_decay):
            inner = [p for p in group["params"] if p.dim() == 2 and LAYER.match(names[id(p)])]
            taken = set(map(id, inner))
            outer = [p for p in group["params"] if id(p) not in taken]
            layers += [{**group, "params": inner}] if inner else []
            rest += [{**group, "params": outer}] if outer else []
        rate = settings.learning_rate
        return [Muon(layers, rate, adjust_lr_fn="match_rms_adamw"), AdamW(rest, rate, fused=True)]

    def step(self) -> StepReport:
        """Do one step together with the other processes; the first one's clock counts."""
        report = super().step()
        self.seconds = processes.agreed(self.seconds)
        self.average.update(self.progress)
        return report

    def backward(self, batches: Sequence[Any]) -> tuple[float, dict[str, float]]:
        """Compute this process's share of the parts, and add up what all have computed."""
        total, parts = super().backward(batches[processes.NUMBER :: processes.COUNT])
        processes.add_gradients(self.model)
        figures = processes.add_figures({"": total, **parts})
        return figures.pop(""), figures

    def state(self) -> dict[str, Any]:
        """Return everything needed to resume; "average" only if there is one."""
        average = {"count": self.average.count, "weights": dict(self.average.weights)}
        return super().state() | ({"average": average} if self.average.count else {})

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` returned; an average is left out if the settings ask none."""
        count, weights = 0, dict[str, Tensor]()
        if "average" in state and self.average.last:
            count, weights = int(state["average"]["count"]), dict(state["average"]["weights"])
            self.check_weights(weights)
        super().restore(state)
        device = self.model.device
        self.average.count = count
        self.average.weights = {name: mean.to(device) for name, mean in weights.items()}


def trained_weights(state: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the trained weights: the mean of the last weights if there is one, else the last."""
    return dict(state["average"]["weights"] if "average" in state else state["model"])

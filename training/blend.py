"""Weights between those of a training and those of the model it began with.

Two models of which one was trained on from the other often lie in one valley: what stands on the
line between them can be better than either end (Wortsman et al. 2022, "Robust fine-tuning of
zero-shot models", section 4, who choose the place on the line by rows that are kept apart).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from bert_core.errors import CheckpointError, InputError
from training.start import start_model
from training.task_model import start_task_model


@dataclass(frozen=True, slots=True)
class Blend:
    """What is mixed in.

    Attributes:
        model: folder or name of the other model.
        share: of its weights, 0 (nothing of it) to 1 (nothing of the training).

    Raises:
        InputError: the share is not within 0 and 1.
    """

    model: str
    share: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.share <= 1.0:
            raise InputError(
                f"The share of {self.model} is {self.share}; give one from 0 (nothing of it) to 1."
            )


def blended(parameters: Mapping[str, Tensor], blend: Blend) -> dict[str, Tensor]:
    """Return the weights on the line from those of a training to those of another model.

    Args:
        parameters: of the training: both heads of pretraining, or all heads of `TaskModel`.
        blend: the other model, and how much of it.

    Raises:
        CheckpointError: the other model has other parameters.
    """
    model = start_model(blend.model)
    if any(name.startswith("qa_outputs.") for name in parameters):
        model = start_task_model(model, blend.model)
    other = {name: value.detach().float() for name, value in model.named_parameters()}
    wrong = [
        name
        for name in sorted(set(parameters) | set(other))
        if name not in other
        or name not in parameters
        or other[name].shape != parameters[name].shape
    ]
    if wrong:
        raise CheckpointError(
            f"{blend.model} cannot be mixed in: {', '.join(wrong[:3])} differ from the training's. "
            "Name the model that it began with."
        )
    return {
        name: torch.lerp(value.float(), other[name], blend.share)
        for name, value in parameters.items()
    }

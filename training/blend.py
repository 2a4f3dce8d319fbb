"""Interpolate between the weights of a training and those of the model it started from.

A model and its fine-tuned successor often share one valley of the loss, so that weights between
the two can be better than either (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models",
section 4, who choose the point on the line using held-out rows).
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
    """The other model to mix in, and its share.

    Attributes:
        model: folder or name of the other model.
        share: weight of the other model, from 0 (only the training) to 1 (only the other model).

    Raises:
        InputError: the share is not between 0 and 1.
    """

    model: str
    share: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.share <= 1.0:
            raise InputError(
                f"The share of {self.model} is {self.share}; give one from 0 (nothing of it) to 1."
            )


def blended(parameters: Mapping[str, Tensor], blend: Blend) -> dict[str, Tensor]:
    """Return weights interpolated between those of a training and those of another model.

    The training's are those of both pretraining heads or of all heads of `TaskModel`.

    Raises:
        CheckpointError: the other model has different parameters.
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

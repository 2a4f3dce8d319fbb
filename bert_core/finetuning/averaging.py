"""Averaging a model's weights over the last part of its training.

The weights after individual steps scatter around the point the training converges to, and their
mean is closer to it than most of them (Polyak and Juditsky 1992; for deep networks Izmailov et al.
2018).
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.optim.swa_utils import get_swa_multi_avg_fn

from bert_core.errors import InputError
from bert_core.model.pretrained import BertPreTrainedModel

_MEAN = get_swa_multi_avg_fn()  # type: ignore[no-untyped-call]


class WeightAverage:
    """The mean of all parameters over the last steps of a training, weighted equally.

    Args:
        model: the model being trained.
        last: share of the training, from its end, to average over; 0 to 1, 0 for no average.

    Attributes:
        count: number of steps in the mean so far.
        weights: name -> mean, float32 like the parameters; empty while `count` is 0.

    Raises:
        InputError: `last` is not between 0 and 1.
    """

    def __init__(self, model: BertPreTrainedModel, last: float) -> None:
        if not 0.0 <= last <= 1.0:
            raise InputError(
                f"average_last is {last}; give a share from 0 (no average) to 1 (the whole "
                "training)."
            )
        self.model, self.last = model, last
        self.count = 0
        self.weights: dict[str, Tensor] = {}

    def update(self, progress: float) -> None:
        """Add the weights after a step to the mean.

        Args:
            progress: share of the training done, including this step. If a resumed training with
                a larger budget is no longer in its last part, the mean is reset.
        """
        if not self.last or progress <= 1.0 - self.last + 1e-9:
            self.count, self.weights = 0, {}
            return
        self.count += 1
        with torch.no_grad():
            now = {name: value.detach() for name, value in self.model.named_parameters()}
            if self.count == 1:
                self.weights = {name: value.clone() for name, value in now.items()}
            else:
                means, values = list(self.weights.values()), list(now.values())
                _MEAN(means, values, self.count - 1)

    def adopt(self) -> bool:
        """Replace the model's weights with the mean; return False if there is none.

        Call it only at the end of a training: a state saved afterwards contains the mean in place
        of the last weights.
        """
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                if self.count:
                    parameter.copy_(self.weights[name])
        return self.count > 0

    def state(self) -> dict[str, Any]:
        """Return the arguments of `restore`."""
        return {"count": self.count, "weights": dict(self.weights)}

    def restore(self, count: int, weights: Mapping[str, Tensor]) -> None:
        """Continue from a saved mean; it is ignored if `last` is 0."""
        if not self.last or not count:
            self.count, self.weights = 0, {}
            return
        own = dict(self.model.named_parameters())
        self.count = count
        self.weights = {name: weights[name].to(own[name]).clone() for name in own}

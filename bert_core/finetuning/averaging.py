"""The mean of a model's weights over the end of its training.

The weights after single steps scatter around where the training is heading; their mean lies
nearer to it than most of them (Polyak and Juditsky 1992; for deep networks Izmailov et al. 2018).
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from bert_core.errors import InputError
from bert_core.model.bert import BertPreTrainedModel


class WeightAverage:
    """Keeps the equal-weight mean of all parameters over the last share of a training.

    Args:
        model: the model that is trained.
        last: share of the training, 0 to 1; the weights after each of its last steps count, 0
            for none.

    Attributes:
        count: steps in the mean so far.
        weights: name -> mean, float32 like the parameters; empty while `count` is 0.

    Raises:
        InputError: the share is not within 0 and 1.
    """

    def __init__(self, model: BertPreTrainedModel, last: float) -> None:
        if not 0.0 <= last <= 1.0:
            raise InputError(
                f"The weights are to be averaged over the last {last} of the training; give a "
                "share from 0 (not at all) to 1 (the whole training)."
            )
        self.model, self.last = model, last
        self.count = 0
        self.weights: dict[str, Tensor] = {}

    def update(self, progress: float) -> None:
        """Take in the weights after a step.

        Args:
            progress: share of the training done, this step included. A training that was
                prolonged is no longer in its last part: the mean then starts anew later.
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
                torch._foreach_lerp_(means, values, 1.0 / self.count)

    def adopt(self) -> bool:
        """Give the model the mean instead of its last weights; False where there is none.

        For the end of a training: a state saved afterwards holds the mean as if it were the last
        weights.
        """
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                if self.count:
                    parameter.copy_(self.weights[name])
        return self.count > 0

    def state(self) -> dict[str, Any]:
        """Return what `restore` takes."""
        return {"count": self.count, "weights": dict(self.weights)}

    def restore(self, count: int, weights: Mapping[str, Tensor]) -> None:
        """Go on with a mean that was saved; one that is no longer wanted is dropped."""
        if not self.last or not count:
            self.count, self.weights = 0, {}
            return
        own = dict(self.model.named_parameters())
        self.count = count
        self.weights = {name: weights[name].to(own[name]).clone() for name in own}

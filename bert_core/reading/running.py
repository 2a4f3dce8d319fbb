"""Run many inputs through a model, in batches of similar length and limited size.

Readers compute through a `Runner`. `Runner.of` makes one from a model; to reach the model some
other way, such as through a shared queue, pass a `run` function of your own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bert_core.model.checks import known_types
from bert_core.model.outputs import ModelOutputs
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.batches import TextTokenizer, padded_encodings
from bert_core.text.encoding import Encoding

Run = Callable[[Sequence[Encoding]], ModelOutputs]
Progress = Callable[[int, int], None]
Inputs = tuple[Tensor, Tensor, Tensor]
Floats = NDArray[np.float64]

_CPU = torch.device("cpu")
_TOKENS = {"cpu": 4096, "cuda": 65_536}  # per batch


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs the model for a reader.

    `progress` is called before the first call of `run` and after each, with the number of inputs
    done and the total.
    """

    run: Annotated[Run, "computes several inputs at once, padded to the longest"]
    tokenizer: Annotated[TextTokenizer, "the model's tokenizer"]
    max_length: Annotated[int, "tokens of an input at most, including [CLS] and [SEP]"]
    device: Annotated[torch.device, "determines how many tokens are computed at once"] = _CPU
    together: Annotated[int | None, "inputs computed at once at most; None for no limit"] = None
    progress: Progress | None = None

    @classmethod
    def of(cls, model: BertPreTrainedModel, tokenizer: TextTokenizer) -> "Runner":
        """Return a runner that runs the model on its current device, without gradients."""

        @torch.inference_mode()
        def run(inputs: Sequence[Encoding]) -> ModelOutputs:
            ids, types, mask = input_tensors(tokenizer, inputs, model.device)
            types = known_types(model.config, types)
            return model.run(ids, types, mask, attentions=False, hidden_states=False)

        return cls(run, tokenizer, model.config.max_length, model.device)

    def logits(self, inputs: Sequence[Encoding], *names: str) -> list[tuple[Floats, ...]]:
        """Compute attributes (T, ...) of all inputs, batching those of similar length."""
        found: list[tuple[Floats, ...]] = [()] * len(inputs)
        tell, done = self.progress or (lambda done, total: None), 0
        tell(done, len(inputs))
        for group in by_length(list(map(len, inputs)), self.device, most=self.together):
            outputs = self.run([inputs[number] for number in group])
            batch = [getattr(outputs, name).cpu() for name in names]
            for row, number in enumerate(group):
                length = len(inputs[number])
                found[number] = tuple(each[row, :length].double().numpy() for each in batch)
            done += len(group)
            tell(done, len(inputs))
        return found


def by_length(
    lengths: Sequence[int], device: torch.device, *, each: int = 1, most: int | None = None
) -> Iterator[list[int]]:
    """Yield row numbers in batches of similar length, every row once.

    The device determines how many tokens fit in a batch; `each` is the number of inputs per row,
    `most` the largest number of rows in a batch.
    """
    room = _TOKENS.get(device.type, _TOKENS["cuda"])
    group: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: lengths[index]):
        full = len(group) == most or (len(group) + 1) * each * lengths[index] > room
        if group and full:
            yield group
            group = []
        group.append(index)
    if group:
        yield group


def batches(
    tokenizer: TextTokenizer, rows: Sequence[Encoding], device: torch.device
) -> Iterator[tuple[list[int], Inputs]]:
    """Yield batches of rows of similar length: row numbers; ids, token types and mask."""
    for group in by_length([len(row) for row in rows], device):
        yield group, input_tensors(tokenizer, [rows[index] for index in group], device)


def input_tensors(
    tokenizer: TextTokenizer, inputs: Sequence[Encoding], device: torch.device
) -> Inputs:
    """Pad inputs to the longest and return ids, token types and mask, each (B, T)."""
    tensors = padded_encodings(tokenizer, inputs)
    ids, types, mask = (tensors[name].to(device) for name in tensors)
    return ids, types, mask

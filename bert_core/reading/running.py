"""Many inputs through a model: those of like length together, and no more at once than is wanted.

Readers compute through a `Runner`. `Runner.of` makes one from a model; who has another way to a
model, such as a queue that others wait in too, gives his own `run`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bert_core.model.bert import BertPreTrainedModel
from bert_core.model.outputs import ModelOutputs
from bert_core.text.encoding import Encoding
from bert_core.text.padding import padded_encodings
from bert_core.text.tokenizer import BertTokenizer

Run = Callable[[Sequence[Encoding]], ModelOutputs]
Progress = Callable[[int, int], None]
Inputs = tuple[Tensor, Tensor, Tensor]
Floats = NDArray[np.float64]

_CPU = torch.device("cpu")
_TOKENS = {"cpu": 4096, "cuda": 65_536}  # of a batch


@dataclass(frozen=True, slots=True)
class Runner:
    """What computes for a reader.

    Attributes:
        run: computes several inputs at once, padded to the longest.
        tokenizer: of the model.
        max_length: the longest input in tokens, [CLS] and [SEP] included.
        device: decides how many tokens are computed at once.
        together: the most inputs that are computed at once; None sets no limit.
        progress: is told after each call of `run` how many inputs are done, and of how many.
    """

    run: Run
    tokenizer: BertTokenizer
    max_length: int
    device: torch.device = _CPU
    together: int | None = None
    progress: Progress | None = None

    @classmethod
    def of(cls, model: BertPreTrainedModel, tokenizer: BertTokenizer) -> "Runner":
        """Return what runs a model where it is, without gradients.

        Args:
            model: with any head, in evaluation mode.
            tokenizer: of the model.
        """

        @torch.inference_mode()
        def run(inputs: Sequence[Encoding]) -> ModelOutputs:
            tensors = input_tensors(tokenizer, inputs, model.device)
            return model.run(*tensors, attentions=False, hidden_states=False)

        return cls(run, tokenizer, model.config.max_position_embeddings, model.device)

    def logits(self, inputs: Sequence[Encoding], *names: str) -> list[tuple[Floats, ...]]:
        """Compute all inputs, those of like length together.

        Args:
            inputs: in any order.
            names: attributes of `ModelOutputs` with one row a token.

        Returns:
            For each input, in their order, what these attributes hold: (T, ...) without padding.
        """
        found: list[tuple[Floats, ...]] = [()] * len(inputs)
        done = 0
        for group in by_length(list(map(len, inputs)), self.device, most=self.together):
            outputs = self.run([inputs[number] for number in group])
            batch = [getattr(outputs, name).cpu() for name in names]
            for row, number in enumerate(group):
                length = len(inputs[number])
                found[number] = tuple(each[row, :length].double().numpy() for each in batch)
            done += len(group)
            if self.progress is not None:
                self.progress(done, len(inputs))
        return found


def by_length(
    lengths: Sequence[int], device: torch.device, *, each: int = 1, most: int | None = None
) -> Iterator[list[int]]:
    """Group rows of like length, so that little is computed on padding.

    Args:
        lengths: tokens of each row.
        device: decides how many tokens make a batch.
        each: inputs that a row consists of.
        most: the most rows of a batch; None sets no limit.

    Yields:
        The numbers of the rows of a batch; every row once.
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
    tokenizer: BertTokenizer, rows: Sequence[Encoding], device: torch.device
) -> Iterator[tuple[list[int], Inputs]]:
    """Yield the rows in batches of like length: their numbers; ids, token types and mask."""
    for group in by_length([len(row) for row in rows], device):
        yield group, input_tensors(tokenizer, [rows[index] for index in group], device)


def input_tensors(
    tokenizer: BertTokenizer, inputs: Sequence[Encoding], device: torch.device
) -> Inputs:
    """Pad inputs to the longest: ids, token types and mask, (B, T) each."""
    tensors = padded_encodings(tokenizer, inputs)
    ids, types, mask = (tensors[name].to(device) for name in tensors)
    return ids, types, mask

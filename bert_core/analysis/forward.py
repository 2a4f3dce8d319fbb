"""What all analyses share: one text as tensors, its activations, variants of it in batches.

The only forward pass is the model's own, whose layers pass four results through an `edit`
(`bert_core.model.sites`); there are no hooks. An edit may enlarge the batch: a pass begins with one
text, and continues with N variants of it from the place where they begin to differ.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bert_core.errors import InputError
from bert_core.model.bert import encoder_of
from bert_core.model.checks import check_inputs, known_types
from bert_core.model.outputs import ModelOutputs
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.model.sites import Edit, Site
from bert_core.text.encoding import Encoding

Floats = NDArray[np.float64]
Input = Encoding | Tensor | Sequence[int]
Progress = Callable[[int, int], None]
"""Called with the work done and the total. An exception that it raises cancels the work."""

_TOKENS_ON_CPU, _TOKENS = 2048, 65_536  # per batch


def input_tensors(model: BertPreTrainedModel, given: Input) -> tuple[Tensor, Tensor]:
    """Return the ids and token types of one text, (1, T) each, on the model's device.

    Args:
        given: an encoding, or ids (T,) or (1, T), whose token types are 0.

    Raises:
        InputError: there are several texts, the model is in training mode, or see `check_inputs`.
    """
    if model.training:
        raise InputError(
            "The model is in training mode; dropout changes results. Call model.eval() first."
        )
    ids = torch.as_tensor(given.input_ids if isinstance(given, Encoding) else given)
    ids = ids.to(model.device)[None] if ids.dim() == 1 else ids.to(model.device)
    if ids.dim() == 2 and len(ids) != 1:
        raise InputError(f"Found {len(ids)} texts; expected one. Give the texts one by one.")
    types = torch.zeros_like(ids)
    if isinstance(given, Encoding):
        types = torch.tensor([given.token_type_ids], device=model.device)
        types = known_types(model.config, types)
    check_inputs(model.config, ids, types, device=model.device)
    return ids, types


def head_outputs(model: BertPreTrainedModel, hidden: Tensor) -> ModelOutputs:
    """Apply the model's head to hidden states (B, T, D) of any layer; T may be a selection."""
    encoder = encoder_of(model)
    pooled = None if encoder.pooler is None else encoder.pooler(hidden)
    return model.with_logits(ModelOutputs(hidden, pooler_output=pooled))


@dataclass(frozen=True, slots=True)
class Activations:
    """What one text leaves in a model."""

    hidden_states: Annotated[tuple[Tensor, ...], "L + 1 tensors (1, T, D), embeddings first"]
    attentions: Annotated[tuple[Tensor, ...], "L tensors (1, H, T, T); empty if not requested"]
    at: Annotated[dict[Site, Tensor], "(site, layer) -> activation, (1, T, H * K) or (1, T, D)"]


def record(
    model: BertPreTrainedModel, given: Input, *, attentions: bool = False, edit: Edit | None = None
) -> Activations:
    """Run one text and return its activations at all sites, as the edit leaves them."""
    at: dict[Site, Tensor] = {}

    def keep(site: Site, activation: Tensor) -> Tensor:
        at[site] = activation if edit is None else edit(site, activation)
        return at[site]

    encoder = encoder_of(model)
    inputs = input_tensors(model, given)
    found = encoder.encode(*inputs, attentions=attentions, hidden_states=True, edit=keep)
    return Activations(found.hidden_states or (), found.attentions or (), at)


def in_batches(
    function: Callable[[Tensor], Tensor],
    rows: Tensor,
    tokens: int,
    progress: Progress | None = None,
) -> Tensor:
    """Apply a function to rows (N, ...) in batches that fit the device; return (N, ...).

    Args:
        function: a batch of rows -> its results, in the same order.
        progress: called after each batch with the rows done and their number.
    """
    room = _TOKENS_ON_CPU if rows.device.type == "cpu" else _TOKENS
    found: list[Tensor] = []
    done = 0
    for batch in torch.split(rows, max(1, room // tokens)):
        found.append(function(batch))
        done += len(batch)
        if progress is not None:
            progress(done, len(rows))
    return torch.cat(found)


def as_array(values: Tensor) -> Floats:
    """Return the values of a tensor in double precision."""
    array: Floats = values.detach().double().cpu().numpy()
    return array


def listed(numbers: int | Sequence[int]) -> list[int]:
    """Return one or several numbers as a list."""
    return [numbers] if isinstance(numbers, int) else list(numbers)

"""The input of the first layer, part by part: word + position + segment, then LayerNorm."""

from dataclasses import dataclass

import torch
from torch import Tensor

from bert_core.errors import InputError
from bert_core.model.bert import BertPreTrainedModel
from bert_core.model.inputs import check_inputs
from bert_core.model.kernels import layer_norm


@dataclass(frozen=True, slots=True)
class InputParts:
    """The three vectors of every piece, their sum, and what LayerNorm makes of it.

    Attributes:
        word: (T, D), rows of the word embeddings.
        position: (T, D), the first T rows of the position embeddings.
        segment: (T, D), rows of the token-type embeddings.
        sum: (T, D), word + position + segment.
        mean: (T,), the mean of each sum.
        variance: (T,), its variance (divided by D, not D - 1).
        scale: (D,), LayerNorm's weight (gamma).
        shift: (D,), LayerNorm's bias (beta).
        epsilon: added to the variance.
        normalised: (T, D), (sum - mean) / sqrt(variance + epsilon) * scale + shift: the first of
            the hidden states.
    """

    word: Tensor
    position: Tensor
    segment: Tensor
    sum: Tensor
    mean: Tensor
    variance: Tensor
    scale: Tensor
    shift: Tensor
    epsilon: float
    normalised: Tensor


def input_parts(
    model: BertPreTrainedModel, input_ids: Tensor, token_type_ids: Tensor | None = None
) -> InputParts:
    """Take the input of the first layer apart, as `BertEmbeddings` computes it without dropout.

    Args:
        model: any of the eight classes.
        input_ids: (T,).
        token_type_ids: (T,), default zeros.

    Raises:
        InputError: see `BertModel.run`.
    """
    if input_ids.dim() != 1:
        raise InputError(f"input_ids has the shape {tuple(input_ids.shape)}; expected (tokens,).")
    segments = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
    check_inputs(model.config, input_ids[None], segments[None], device=model.device)
    embeddings = model.encoder_model.embeddings
    word = embeddings.word_embeddings(input_ids.long())  # (T, D)
    position = embeddings.position_embeddings.weight[: len(input_ids)]
    segment = embeddings.token_type_embeddings(segments.long())
    total = word + position + segment
    variance, mean = torch.var_mean(total, dim=-1, correction=0)
    norm = embeddings.LayerNorm
    return InputParts(
        word=word,
        position=position,
        segment=segment,
        sum=total,
        mean=mean,
        variance=variance,
        scale=norm.weight,
        shift=norm.bias,
        epsilon=norm.eps,
        normalised=layer_norm(total, norm),
    )


def inputs_at(model: BertPreTrainedModel, position: int, token_type: int = 0) -> Tensor:
    """Return what each entry of the vocabulary would become at one place of an input.

    Args:
        model: any of the eight classes.
        position: counted from 0.
        token_type: the segment.

    Returns:
        (V, D), after LayerNorm.

    Raises:
        InputError: the model has no such position or segment.
    """
    embeddings = model.encoder_model.embeddings
    positions = embeddings.position_embeddings.weight
    types = embeddings.token_type_embeddings.weight
    for name, found, limit in (
        ("position", position, len(positions)),
        ("token_type", token_type, len(types)),
    ):
        if not 0 <= found < limit:
            raise InputError(f"Found {name}={found}; this model has 0 to {limit - 1}.")
    total = embeddings.word_embeddings.weight + positions[position] + types[token_type]
    return layer_norm(total, embeddings.LayerNorm)

"""The input of the first layer, part by part: word + position + segment, then LayerNorm."""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from bert_core.errors import InputError
from bert_core.model.bert import encoder_of
from bert_core.model.checks import check_inputs
from bert_core.model.pretrained import BertPreTrainedModel


@dataclass(frozen=True, slots=True)
class InputParts:
    """The three vectors of every piece, their sum, and what LayerNorm makes of it."""

    word: Annotated[Tensor, "(T, E), rows of the word embeddings"]
    position: Annotated[Tensor, "(T, E), rows of the position embeddings: in BERT the first T"]
    segment: Annotated[Tensor, "(T, E), rows of the token-type embeddings; zeros if there are none"]
    sum: Annotated[Tensor, "(T, E), word + position + segment"]
    mean: Annotated[Tensor, "(T,), the mean of each sum"]
    variance: Annotated[Tensor, "(T,), its variance (divided by D, not D - 1)"]
    scale: Annotated[Tensor, "(E,), LayerNorm's weight (gamma)"]
    shift: Annotated[Tensor, "(E,), LayerNorm's bias (beta)"]
    epsilon: Annotated[float, "added to the variance"]
    normalised: Annotated[Tensor, "(T, E), (sum - mean) / sqrt(variance + epsilon) * scale + shift"]
    hidden: Annotated[Tensor, "(T, D), `normalised`, or what a family's projection makes of it"]


def input_parts(
    model: BertPreTrainedModel, input_ids: Tensor, token_type_ids: Tensor | None = None
) -> InputParts:
    """Take the input of the first layer apart, as `BertEmbeddings` computes it without dropout.

    Args:
        input_ids: (T,).

    Raises:
        InputError: see `BertModel.run`.
    """
    if input_ids.dim() != 1:
        raise InputError(f"input_ids has the shape {tuple(input_ids.shape)}; expected (tokens,).")
    segments = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
    check_inputs(model.config, input_ids[None], segments[None], device=model.device)
    embeddings = encoder_of(model).embeddings
    word = embeddings.word_embeddings(input_ids.long())  # (T, D)
    position = embeddings.positions(input_ids[None]).reshape(word.shape)
    segment = embeddings.types(segments[None])[0].expand_as(word)
    total = word + position + segment
    variance, mean = torch.var_mean(total, dim=-1, correction=0)
    norm = embeddings.LayerNorm
    normalised = norm(total)
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
        normalised=normalised,
        hidden=embeddings.normalised(total),
    )

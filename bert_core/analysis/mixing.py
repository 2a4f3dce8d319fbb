"""How much of each token's vector flows into each other token's: context mixing.

These methods describe the model, not an answer: they must not be ranked as explanations of a
prediction without saying so. In order: attention rollout (Abnar and Zuidema 2020), the vectors that
attention adds up and their lengths (Kobayashi et al. 2020 and 2021), and value zeroing (Mohebbi et
al. 2023).
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from bert_core.analysis.forward import Activations, Floats, Input, as_array, in_batches, record
from bert_core.errors import InputError
from bert_core.model.bert import BertAttention, BertLayer, encoder_of
from bert_core.model.pretrained import BertPreTrainedModel

Vectors = Callable[[Tensor], Tensor]
INCLUDED = ("attention", "residual", "layer_norm")


def rollout(attentions: Sequence[Tensor]) -> Floats:
    """Multiply L attentions (H, T, T), averaged over heads and with the identity: (T, T)."""
    return rolled(np.stack([as_array(layer.flatten(0, -3)).mean(0) for layer in attentions]))


def rolled(mixing: Floats, *, residual: bool = True) -> Floats:
    """Multiply matrices (L, T, T) of mixing scores, first layer first; rows sum to 1.

    With `residual`, each is averaged with the identity: a token's own vector is added after
    attention.

    >>> rolled(np.array([[[0.0, 1.0], [0.0, 2.0]]])).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    product: Floats = np.eye(mixing.shape[-1])
    for scores in mixing:
        rows = scores / scores.sum(axis=-1, keepdims=True)
        product = ((rows + np.eye(len(rows))) / 2 if residual else rows) @ product
    return product


@torch.inference_mode()
def parts(model: BertPreTrainedModel, encoding: Input, include: str = "attention") -> Tensor:
    """Take the attention block of every layer apart into what each token contributes, (L, T, T, D).

    With `part_biases`, the parts of a token sum to what the block adds ("attention": value vectors
    of all heads, weighted and projected), to that plus the block's input ("residual"), or to the
    block's output ("layer_norm", whose mean and deviation are those of the whole sum). At 128
    tokens a model of 6 layers and 384 dimensions gives 150 MB; `norms` needs a fraction of that.

    Raises:
        InputError: there is no such selection; or see `input_tensors`.
    """
    layers = _layers(model, encoding, include)
    return torch.stack([vectors(torch.arange(len(biases))) for vectors, biases in layers])


@torch.inference_mode()
def part_biases(model: BertPreTrainedModel, encoding: Input, include: str = "attention") -> Tensor:
    """Return what no token contributes: the biases, (L, T, D); arguments as for `parts`."""
    return torch.stack([biases for _, biases in _layers(model, encoding, include)])


@torch.inference_mode()
def norms(model: BertPreTrainedModel, encoding: Input, include: str = "attention") -> Floats:
    """Return the lengths (L, T, T) of the `parts`; arguments as for `parts`."""
    found = []
    for vectors, biases in _layers(model, encoding, include):
        rows = torch.arange(len(biases), device=biases.device)
        found.append(in_batches(_lengths(vectors), rows, len(rows)))
    return as_array(torch.stack(found))


def _lengths(vectors: Vectors) -> Vectors:
    return lambda rows: torch.linalg.vector_norm(vectors(rows), dim=-1)


def _layers(
    model: BertPreTrainedModel, encoding: Input, include: str
) -> Iterator[tuple[Vectors, Tensor]]:
    """Run a text, and take one attention block after another apart; see `_taken_apart`."""
    if include not in INCLUDED:
        raise InputError(f"There is no {include!r}; expected one of {', '.join(INCLUDED)}.")
    text = record(model, encoding, attentions=True)
    encoder = encoder_of(model)
    for number, layer in enumerate(encoder.encoder.layers()):
        hidden, weights = text.hidden_states[number][0], text.attentions[number][0]
        sums = text.at["attention", number][0] + hidden
        yield _taken_apart(layer.attention, hidden, weights, sums, include)


def _taken_apart(
    block: BertAttention, hidden: Tensor, weights: Tensor, sums: Tensor, include: str
) -> tuple[Vectors, Tensor]:
    """Return a function, tokens (N,) -> their parts (N, T, D), and the biases (T, D).

    They are of an attention block with the input `hidden` (T, D) and the attention `weights` (H, T,
    T), whose LayerNorm gets `sums` (T, D).
    """
    dense, norm = block.output.dense, block.output.LayerNorm
    value = block.self.project(hidden[None])[2][0]  # (H, T, K)
    slices = torch.unflatten(dense.weight, 1, (len(value), -1))  # (D, H, K)
    values = torch.einsum("htk,dhk->htd", value, slices)
    deviations = torch.sqrt(sums.var(dim=-1, correction=0, keepdim=True) + norm.eps)  # (T, 1)

    def normalised(vectors: Tensor, deviations: Tensor) -> Tensor:
        return (vectors - vectors.mean(dim=-1, keepdim=True)) / deviations * norm.weight

    def vectors(rows: Tensor) -> Tensor:
        found = torch.einsum("hit,htd->itd", weights[:, rows], values)
        if include != "attention":
            found[torch.arange(len(rows)), rows] += hidden[rows]
        return normalised(found, deviations[rows, None]) if include == "layer_norm" else found

    biases = dense.bias.expand_as(hidden)
    if include == "layer_norm":
        biases = normalised(biases, deviations) + norm.bias
    return vectors, biases


@torch.inference_mode()
def value_zeroing(model: BertPreTrainedModel, encoding: Input) -> Floats:
    """Measure how a layer's output at each token changes without the value vectors of each token.

    The layer gets its true input, the attention weights stay, and the values of one token are 0 in
    all heads (Mohebbi et al. 2023, section 3). (L, T, T): 1 - cosine, rows divided by their sum.
    """
    text = record(model, encoding, attentions=True)
    encoder = encoder_of(model)
    scores = [
        _zeroed_scores(layer, number, text) for number, layer in enumerate(encoder.encoder.layers())
    ]
    found = as_array(torch.stack(scores))
    total = found.sum(axis=-1, keepdims=True)
    return found / np.where(total > 0, total, 1)


def _zeroed_scores(layer: BertLayer, number: int, text: Activations) -> Tensor:
    hidden, true = text.hidden_states[number], text.hidden_states[number + 1]
    value = layer.attention.self.project(hidden)[2][0]  # (H, T, K)
    weights, context = text.attentions[number][0], text.at["head", number]

    def changed(zeroed: Tensor) -> Tensor:
        lost = torch.einsum("hin,hnk->nihk", weights[..., zeroed], value[:, zeroed])
        without = context - lost.flatten(2)  # (N, T, H * K)
        output, _ = layer(hidden, edit=lambda site, own: without if site == "head" else own)
        return distances(output, true)  # (N, T)

    tokens = hidden.shape[1]
    return in_batches(changed, torch.arange(tokens, device=hidden.device), tokens).T


def distances(one: Tensor, other: Tensor) -> Tensor:
    """Return 1 - cosine of vectors (..., D), exactly 0 for equal vectors.

    >>> distances(torch.tensor([3.0, 0.0]), torch.tensor([0.0, 2.0])).item()
    1.0
    """
    # |a - b|^2 = 2 (1 - cosine) for vectors of length 1; the cosine itself loses the small digits.
    return (F.normalize(one, dim=-1) - F.normalize(other, dim=-1)).square().sum(-1) / 2

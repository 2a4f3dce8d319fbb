"""The forward pass with its inner results in reach; all analyses compute with it.

It runs the model's own layers, which pass four results ("sites") through an `edit`, a function that
may replace them; see `bert_core.model.bert`. The model is not modified: there are no hooks. An edit
may also enlarge the batch: a pass begins with one text, and continues with N variants of it from the
place where they begin to differ.

`attention_maps` and `queries_and_keys` are shorter passes, for what needs no more than these.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from bert_core.errors import InputError
from bert_core.model.bert import Edit, Site, attention_bias
from bert_core.model.checks import check_inputs, known_types
from bert_core.model.outputs import ModelOutputs
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.encoding import Encoding

Input = Encoding | Tensor | Sequence[int]
Progress = Callable[[int, int], None]
"""Called with the work done and the total. An exception that it raises cancels the work."""

SITES = ("head", "attention", "feed_forward", "layer")
_TOKENS = {"cpu": 2048, "cuda": 65_536}  # per batch


def input_tensors(model: BertPreTrainedModel, given: Input) -> tuple[Tensor, Tensor]:
    """Return the ids and token types of one text, (1, T) each, on the model's device.

    Args:
        model: any of the eight classes.
        given: an encoding, or ids (T,) or (1, T), whose token types are 0.

    Raises:
        InputError: there are several texts, the model is in training mode, or see `check_inputs`.
    """
    if model.training:
        raise InputError(
            "The model is in training mode, in which dropout changes every result. Call "
            "model.eval() first."
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


def word_vectors(model: BertPreTrainedModel, ids: Tensor) -> Tensor:
    """Return rows of the word embeddings: ids (B, T) -> (B, T, E), without gradients."""
    vectors: Tensor = model.encoder_model.embeddings.word_embeddings(ids.long())
    return vectors.detach()


def embed(model: BertPreTrainedModel, words: Tensor, ids: Tensor, token_type_ids: Tensor) -> Tensor:
    """Return the first hidden states (B, T, D) for word vectors (B, T, E).

    Positions are those of the text itself, `ids` (1 or B, T), also where its words are replaced.
    """
    embeddings = model.encoder_model.embeddings
    hidden: Tensor = embeddings.normalised(
        words + embeddings.positions(ids) + embeddings.types(token_type_ids)
    )
    return hidden


def run_layers(
    model: BertPreTrainedModel, hidden: Tensor, bias: Tensor | None = None, **options: Any
) -> ModelOutputs:
    """Run layers on hidden states (B, T, D), and the pooler.

    Options are those of `BertEncoder.forward`: `attentions`, `hidden_states`, `edit`, `start`.
    """
    outputs: ModelOutputs = model.encoder_model.encoder(hidden, bias, **options)
    return replace(outputs, pooler_output=pool(model, outputs.last_hidden_state))


def pool(model: BertPreTrainedModel, last: Tensor) -> Tensor | None:
    """Return the pooled output (B, D), or None for a class without a pooler."""
    pooler = model.encoder_model.pooler
    return None if pooler is None else pooler(last)


def head_outputs(model: BertPreTrainedModel, hidden: Tensor) -> ModelOutputs:
    """Apply the model's head to hidden states (B, T, D) of any layer; T may be a selection."""
    return model.with_logits(ModelOutputs(hidden, pooler_output=pool(model, hidden)))


@dataclass(frozen=True, slots=True)
class Activations:
    """What one text leaves in a model.

    Attributes:
        hidden_states: L + 1 tensors (1, T, D), embeddings first.
        attentions: L tensors (1, H, T, T); empty if not requested.
        at: (site, layer) -> activation, (1, T, H * K) or (1, T, D).
    """

    hidden_states: tuple[Tensor, ...]
    attentions: tuple[Tensor, ...]
    at: dict[Site, Tensor]


def record(
    model: BertPreTrainedModel,
    given: Input,
    *,
    attentions: bool = False,
    edit: Edit | None = None,
) -> Activations:
    """Run one text and return its activations at all sites, as the edit leaves them."""
    ids, types = input_tensors(model, given)
    found: dict[Site, Tensor] = {}

    def keep(site: Site, activation: Tensor) -> Tensor:
        found[site] = activation if edit is None else edit(site, activation)
        return found[site]

    embedded = embed(model, word_vectors(model, ids), ids, types)
    encoded = run_layers(model, embedded, attentions=attentions, hidden_states=True, edit=keep)
    return Activations(encoded.hidden_states or (), encoded.attentions or (), found)


def in_batches(
    function: Callable[[Tensor], Tensor],
    rows: Tensor,
    tokens: int,
    progress: Progress | None = None,
) -> Tensor:
    """Apply a function to rows (N, ...) in batches that fit the device; return (N, ...).

    Args:
        function: a batch of rows -> its results, in the same order.
        rows: N rows.
        tokens: number of tokens that the model runs for each row.
        progress: called after each batch.
    """
    room = _TOKENS.get(rows.device.type, _TOKENS["cuda"])
    found: list[Tensor] = []
    done = 0
    for batch in torch.split(rows, max(1, room // tokens)):
        found.append(function(batch))
        done += len(batch)
        if progress is not None:
            progress(done, len(rows))
    return torch.cat(found)


def attention_maps(
    model: BertPreTrainedModel,
    input_ids: Tensor,
    token_type_ids: Tensor | None = None,
    attention_mask: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Return the same attentions as `model.run(...)`, skipping everything after the last one.

    No attention depends on the last layer's output projection and feed-forward block; skipping
    them saves an eighth of the work in linear layers of a six-layer model.

    Returns:
        L tensors (B, H, T, T), rows sum to 1 (Vaswani et al. 2017, equation 1).

    Raises:
        InputError: see `BertModel.run`.
    """
    encoder = model.encoder_model
    place = model.device
    check_inputs(model.config, input_ids, token_type_ids, attention_mask, device=place)
    hidden = encoder.embeddings(input_ids, token_type_ids)
    bias = attention_bias(attention_mask, hidden.dtype)
    maps: list[Tensor] = []
    *before, last = encoder.encoder.blocks()
    for layer in before:
        hidden, found = layer(hidden, bias, attentions=True)
        maps.append(found)
    maps.append(last.attention.self(hidden, bias, attentions=True)[1])
    return tuple(maps)


def queries_and_keys(
    model: BertPreTrainedModel,
    layer: int,
    input_ids: Tensor,
    token_type_ids: Tensor | None = None,
    attention_mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the queries and keys of one layer, by the model's own projections.

    The attention of the layer is the softmax of the queries times the keys, divided by the square
    root of K (Vaswani et al. 2017, equation 1).

    Args:
        model: any of the eight classes.
        layer: counted from 0.
        input_ids: (B, T).
        token_type_ids: (B, T), default zeros.
        attention_mask: (B, T), default ones.

    Returns:
        Queries and keys, (B, H, T, K) each.

    Raises:
        InputError: there is no such layer; or see `BertModel.run`.
    """
    encoder = model.encoder_model
    blocks = list(encoder.encoder.blocks())
    if not 0 <= layer < len(blocks):
        raise InputError(f"There is no layer {layer}; the model has layers 0 to {len(blocks) - 1}.")
    check_inputs(model.config, input_ids, token_type_ids, attention_mask, device=model.device)
    hidden = encoder.embeddings(input_ids, token_type_ids)
    bias = attention_bias(attention_mask, hidden.dtype)
    for block in blocks[:layer]:
        hidden, _ = block(hidden, bias, attentions=True)
    query, key, _ = blocks[layer].attention.self.project(hidden)
    return query, key

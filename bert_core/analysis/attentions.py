"""Shorter forward passes for analyses that need only the attentions, or what they come from."""

from torch import Tensor

from bert_core.errors import InputError
from bert_core.model.bert import BertPreTrainedModel
from bert_core.model.inputs import check_inputs
from bert_core.model.layers import Request, attention_bias


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
    want = Request(attentions=True)
    maps: list[Tensor] = []
    *before, last = encoder.encoder.blocks()
    for layer in before:
        hidden, found = layer(hidden, bias, None, want)
        maps.append(found)
    maps.append(last.attention.self(hidden, bias, None, want)[1])
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
    want = Request(attentions=True)  # the kernels of `attention_maps`, so that numbers agree
    for block in blocks[:layer]:
        hidden, _ = block(hidden, bias, None, want)
    query, key, _ = blocks[layer].attention.self.project(hidden)
    return query, key

"""A shorter forward pass for analyses that need only the attentions."""

from torch import Tensor

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

"""BERT, from token ids to hidden states: read it from top to bottom.

`BertModel`, at the end, calls what stands above it: embeddings, self-attention, attention block,
feed-forward block, layer, encoder, pooler. Sources: Devlin et al. 2019, "BERT", section 3; Vaswani
et al. 2017, "Attention is all you need", section 3. Modules and parameters have the names of the
published checkpoints; `bert_core.model.outputs` explains the letters used for shapes.

`linear(layer, x)` is `layer(x)`, faster on some processors. An `edit` lets an analysis read or
replace four results of each layer, its *sites*; in a plain forward pass it is `unchanged`:

    "head"           the heads' contexts before the output projection, (B, T, H * K)
    "attention"      what the attention block adds to its input, (B, T, D)
    "feed_forward"   what the feed-forward block adds to its input, (B, T, D)
    "layer"          the layer's output, (B, T, D)
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bert_core.compat import recording_graph
from bert_core.config import BertConfig
from bert_core.families import BERT
from bert_core.model.activations import activation
from bert_core.model.outputs import ModelOutputs
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.model.relatives import RelativeEmbeddings, repeated
from bert_core.model.speed import linear

Site = tuple[str, int]
"""One of the names above, and a layer, counted from 0."""
Edit = Callable[[Site, Tensor], Tensor]
LayerEdit = Callable[[str, Tensor], Tensor]


def unchanged(site: str, activation: Tensor) -> Tensor:
    """Return an activation as it is: the edit that changes nothing."""
    return activation


class BertEmbeddings(nn.Module):
    """Sum of word, position and token-type embeddings, normalised; ids (B, T) -> (B, T, D)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.word_embeddings = nn.Embedding(config.vocab_size, size, padding_idx=config.padding_row)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, size)
        self.LayerNorm = nn.LayerNorm(size, eps=config.layer_norm_eps)
        self.dropout_rate = config.hidden_dropout_prob

    def positions(self, input_ids: Tensor) -> Tensor:
        """Return the rows of positions for ids (B, T): (1, T, D)."""
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        rows: Tensor = self.position_embeddings(places[None])
        return rows

    def types(self, token_type_ids: Tensor) -> Tensor:
        """Return the rows of token types (B, T, D)."""
        rows: Tensor = self.token_type_embeddings(token_type_ids.long())
        return rows

    def normalised(self, summed: Tensor) -> Tensor:
        """Return the first hidden state (..., D) for a sum of three vectors."""
        return F.dropout(self.LayerNorm(summed), self.dropout_rate, self.training)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor | None = None) -> Tensor:
        """Embed token ids; missing token types are 0."""
        kinds = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        words: Tensor = self.word_embeddings(input_ids.long())  # (B, T, D)
        return self.normalised(words + self.positions(input_ids) + self.types(kinds))


def attention_bias(mask: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """Return what is added to the scores for a 0/1 mask (B, T) or (B, T, T); None for nothing.

    Masked entries of the result (B, 1, 1 or T, T) are half of the smallest finite number instead of
    -inf, so that a fully masked row stays finite, also in float16.
    """
    if mask is None:
        return None
    keep = mask != 0
    # Reading a value from a GPU would wait for all work queued there.
    if keep.device.type == "cpu" and not recording_graph() and bool(keep.all()):
        return None
    keep = keep[:, None, None, :] if keep.dim() == 2 else keep[:, None, :, :]
    bias = torch.zeros(keep.shape, dtype=dtype, device=mask.device)
    return bias.masked_fill_(~keep, torch.finfo(dtype).min / 2)


class BertSelfAttention(nn.Module):
    """Multi-head scaled dot-product attention (Vaswani et al. 2017, section 3.2)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.head_size = config.head_size  # K
        self.heads = list(range(config.num_attention_heads))  # heads that are not pruned
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout_rate = config.attention_probs_dropout_prob

    def project(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return query, key and value of every head, each (B, H, T, K)."""
        query, key, value = (  # (B, T, H, K) each
            linear(part, hidden).view(*hidden.shape[:2], len(self.heads), self.head_size)
            for part in (self.query, self.key, self.value)
        )
        return query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)

    def forward(
        self,
        hidden: Tensor,
        bias: Tensor | None = None,
        head_mask: Tensor | None = None,
        attentions: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Let every token of `hidden` (B, T, D) attend to all tokens.

        `bias` is the result of `attention_bias`; `head_mask` (H,) has factors for the heads.

        Returns:
            The heads' contexts side by side, (B, T, H * K); and if `attentions`, the probabilities
            (B, H, T, T) before dropout, else None.
        """
        query, key, value = self.project(hidden)
        probabilities = None
        if attentions:  # softmax(Q Kᵀ / √K) V, equation 1
            scores = query @ key.transpose(-1, -2) / math.sqrt(self.head_size)  # (B, H, T, T)
            if bias is not None:
                scores = scores + bias
            probabilities = torch.softmax(scores, dim=-1)  # rows are queries and sum to 1
            seen = F.dropout(probabilities, self.dropout_rate, self.training)
            context = seen @ value  # (B, H, T, K)
        else:  # the same, without keeping the probabilities
            dropout = self.dropout_rate if self.training else 0.0
            context = F.scaled_dot_product_attention(query, key, value, bias, dropout)
        if head_mask is not None:
            context = context * head_mask[self.heads].view(1, -1, 1, 1)
        return context.transpose(1, 2).flatten(2), probabilities


class BertSelfOutput(nn.Module):
    """The end of both blocks: projection to D, residual, then LayerNorm (post-LN)."""

    def __init__(self, config: BertConfig, input_size: int, site: str) -> None:
        super().__init__()
        self.dense = nn.Linear(input_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout_rate = config.hidden_dropout_prob
        self.site = site

    def forward(self, hidden: Tensor, residual: Tensor, edit: LayerEdit = unchanged) -> Tensor:
        """Return LayerNorm(residual + dropout(dense(hidden))), (B, T, D)."""
        added = edit(self.site, linear(self.dense, hidden))
        added = F.dropout(added, self.dropout_rate, self.training)
        normalised: Tensor = self.LayerNorm(residual + added)
        return normalised


class BertAttention(nn.Module):
    """The attention block: self-attention and its output projection."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.self = BertSelfAttention(config)
        self.output = BertSelfOutput(config, config.hidden_size, "attention")

    def forward(
        self,
        hidden: Tensor,
        bias: Tensor | None = None,
        head_mask: Tensor | None = None,
        attentions: bool = False,
        edit: LayerEdit = unchanged,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the block's output (B, T, D), and the attentions (B, H, T, T) or None."""
        context, probabilities = self.self(hidden, bias, head_mask, attentions)
        return self.output(edit("head", context), hidden, edit), probabilities


class BertIntermediate(nn.Module):
    """The first half of the feed-forward block (section 3.3); (B, T, D) -> (B, T, F)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)
        self.activation = activation(config.hidden_act)

    def forward(self, hidden: Tensor) -> Tensor:
        """Apply the linear layer and the activation."""
        return self.activation(linear(self.dense, hidden))


class BertLayer(nn.Module):
    """One layer: the attention block, then the feed-forward block."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.attention = BertAttention(config)
        self.intermediate = BertIntermediate(config)
        self.output = BertSelfOutput(config, config.intermediate_size, "feed_forward")

    def forward(
        self,
        hidden: Tensor,
        bias: Tensor | None = None,
        head_mask: Tensor | None = None,
        attentions: bool = False,
        edit: LayerEdit = unchanged,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the layer's output (B, T, D), and the attentions (B, H, T, T) or None."""
        attended, probabilities = self.attention(hidden, bias, head_mask, attentions, edit)
        output = self.output(self.intermediate(attended), attended, edit)
        return edit("layer", output), probabilities


class BertEncoder(nn.Module):
    """The stack of L layers."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.layer = nn.ModuleList()
        for number, own in enumerate(config.weights_of):
            first = own == number  # as always in BERT; ALBERT repeats layers
            layer = BertLayer(config) if first else repeated(BertLayer, config, self.layer[own])
            self.layer.append(layer)

    def block(self, index: int) -> BertLayer:
        """Return one layer."""
        layer = self.layer[index]
        assert isinstance(layer, BertLayer)
        return layer

    def blocks(self) -> Iterator[BertLayer]:
        """Return all layers in order."""
        return (self.block(index) for index in range(len(self.layer)))

    def forward(
        self,
        hidden: Tensor,
        bias: Tensor | None = None,
        head_mask: Tensor | None = None,
        *,
        attentions: bool = False,
        hidden_states: bool = False,
        edit: Edit | None = None,
        start: int = 0,
    ) -> ModelOutputs:
        """Run the layers from `start` on hidden states (B, T, D); `head_mask` is (L, H) or None."""
        states, probabilities = [hidden], []
        for number in range(start, len(self.layer)):
            factors = None if head_mask is None else head_mask[number]
            within = unchanged if edit is None else _at(edit, number)
            hidden, found = self.layer[number](hidden, bias, factors, attentions, within)
            if hidden_states:
                states.append(hidden)
            if attentions:
                probabilities.append(found)
        return ModelOutputs(
            last_hidden_state=hidden,
            hidden_states=tuple(states) if hidden_states else None,
            attentions=tuple(probabilities) if attentions else None,
        )


def _at(edit: Edit, number: int) -> LayerEdit:
    """Return the edit of one layer."""
    return lambda site, activation: edit((site, number), activation)


class BertPooler(nn.Module):
    """Linear layer and tanh on the hidden state of [CLS]; (B, T, D) -> (B, D)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden: Tensor) -> Tensor:
        """Pool the hidden state of [CLS]."""
        return torch.tanh(linear(self.dense, hidden[:, 0]))


class BertModel(BertPreTrainedModel):
    """The encoder: embeddings, L layers, and a pooler over [CLS] if the family has one.

    `add_pooling_layer` is False for tasks whose checkpoints have no pooler.
    """

    def __init__(
        self,
        config: BertConfig,
        output_attentions: bool = False,
        keep_multihead_output: bool = False,
        *,
        add_pooling_layer: bool = True,
    ) -> None:
        super().__init__(config, output_attentions, keep_multihead_output)
        family = config.family
        self.embeddings = (BertEmbeddings if family is BERT else RelativeEmbeddings)(config)
        self.encoder = BertEncoder(config)
        self.pooler = BertPooler(config) if add_pooling_layer and family.pooler else None
        self._finish()

    def encode(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        head_mask: Tensor | None = None,
        **options: Any,
    ) -> ModelOutputs:
        """Run embeddings, layers and pooler; the inputs have been checked.

        `head_mask` is (L, H) or None; the options are those of `BertEncoder.forward`.
        """
        hidden = self.embeddings(input_ids, token_type_ids)  # (B, T, D)
        bias = attention_bias(attention_mask, hidden.dtype)
        outputs: ModelOutputs = self.encoder(hidden, bias, head_mask, **options)
        pooled = None if self.pooler is None else self.pooler(outputs.last_hidden_state)
        return replace(outputs, pooler_output=pooled)

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        output_all_encoded_layers: bool = True,
        head_mask: Tensor | None = None,
    ) -> Any:
        """Encode token ids; inputs are those of `run`.

        Returns:
            `(encoded_layers, pooled_output)`. `encoded_layers` is a list of L tensors (B, T, D),
            or only the last one unless `output_all_encoded_layers`; `pooled_output` is (B, D), or
            None without a pooler. With `output_attentions`: `(attentions, *these two)`.

        Raises:
            InputError: see `check_inputs`.
        """
        inputs = (input_ids, token_type_ids, attention_mask, head_mask)
        outputs = self._encode(*inputs, hidden_states=output_all_encoded_layers)
        states = outputs.hidden_states
        layers = outputs.last_hidden_state if states is None else list(states[1:])
        return self._answer(outputs, layers, outputs.pooler_output)

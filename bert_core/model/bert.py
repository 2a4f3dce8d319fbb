"""BERT, from token ids to hidden states: read it from top to bottom.

`BertModel`, at the end, calls the classes above it: embeddings, then layers. A layer has two
sub-layers, attention and feed-forward; each ends with LayerNorm(input + what it adds). Sources:
Devlin et al. 2019, "BERT", section 3 and appendix A.2; Vaswani et al. 2017, "Attention is all you
need", section 3; for the LayerNorm of the embeddings and the pooler, google-research/bert,
`modeling.py`. Unlike Vaswani et al., BERT has the encoder alone, learns its positions, adds token
types, and uses GELU in place of ReLU.

Modules and parameters have the names of the published checkpoints. `bert_core.model.outputs`
explains the letters used for shapes; `bert_core.model.heads` goes on from here. Other families run
through the same code: only the two constructors at the end ask for `bert_core.families`.

`linear(layer, x)` computes `layer(x)`, faster on some processors.

An `edit` lets an analysis read or replace four results of each layer: `bert_core.model.sites`.
"""

import math
from collections.abc import Iterator
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
from bert_core.model.relatives import FamilyEmbeddings, shared_layers
from bert_core.model.sites import Edit, LayerEdit, in_layer, unchanged
from bert_core.model.speed import linear


class BertEmbeddings(nn.Module):
    """LayerNorm of word + position + token-type embeddings; ids (B, T) -> (B, T, D)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.word_embeddings = nn.Embedding(config.vocab_size, size, padding_idx=config.padding_row)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, size)
        self.LayerNorm = nn.LayerNorm(size, eps=config.layer_norm_eps)
        self.dropout_rate = config.hidden_dropout_prob

    def positions(self, input_ids: Tensor) -> Tensor:
        """Return the vectors of the positions 0 to T - 1 for ids (B, T): (1, T, D)."""
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)
        vectors: Tensor = self.position_embeddings(positions[None])
        return vectors

    def types(self, token_type_ids: Tensor) -> Tensor:
        """Return the vectors of token types (B, T): (B, T, D)."""
        vectors: Tensor = self.token_type_embeddings(token_type_ids.long())
        return vectors

    def normalised(self, summed: Tensor) -> Tensor:
        """Return dropout(LayerNorm(summed)), the first hidden state (..., D)."""
        return F.dropout(self.LayerNorm(summed), self.dropout_rate, self.training)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor | None = None) -> Tensor:
        """Embed token ids; missing token types are 0."""
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        words: Tensor = self.word_embeddings(input_ids.long())  # (B, T, D)
        return self.normalised(words + self.positions(input_ids) + self.types(types))


def attention_bias(mask: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """Return what is added to the scores so that masked tokens get no attention.

    `mask` is (B, T), or (B, T, T) with a row for each query; 0 masks, anything else keeps. The
    result is 0 where kept and very negative where masked, (B, 1, 1, T) or (B, 1, T, T); None if
    nothing is masked. Not -inf: a row with every key masked would become NaN. Half of the smallest
    number, because in float16 the whole one plus a negative score would be -inf again.
    """
    if mask is None:
        return None
    keep = mask != 0
    # Attention is faster without a bias. Not on a GPU, where reading a value waits for all work.
    if keep.device.type == "cpu" and not recording_graph() and bool(keep.all()):
        return None
    keep = keep[:, None, None, :] if keep.dim() == 2 else keep[:, None, :, :]
    bias = torch.zeros(keep.shape, dtype=dtype, device=mask.device)
    return bias.masked_fill_(~keep, torch.finfo(dtype).min / 2)


class BertSelfAttention(nn.Module):
    """Multi-head attention (Vaswani et al. 2017, section 3.2), all but its output projection."""

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
        """Let every token of `hidden` (B, T, D) attend to all tokens, to its left and right.

        `bias` is the result of `attention_bias`; `head_mask` (H,) has a factor for each head,
        pruned ones included, which scales contexts and not probabilities.

        Returns:
            The heads' contexts side by side, (B, T, H * K); and if `attentions`, the probabilities
            (B, H, T, T) before dropout, else None.
        """
        query, key, value = self.project(hidden)  # (B, H, T, K) each
        probabilities = None
        if attentions:  # equation 1, softmax(Q Kᵀ / √d) V, written out to keep the probabilities
            scores = query @ key.transpose(-1, -2) / math.sqrt(self.head_size)  # (B, H, T, T)
            if bias is not None:
                scores = scores + bias
            probabilities = torch.softmax(scores, dim=-1)  # row: a query; column: a key
            dropped = F.dropout(probabilities, self.dropout_rate, self.training)
            context = dropped @ value  # (B, H, T, K)
        else:  # the same in one call of PyTorch, which is faster
            dropout = self.dropout_rate if self.training else 0.0
            context = F.scaled_dot_product_attention(query, key, value, bias, dropout)
        if head_mask is not None:
            context = context * head_mask[self.heads].view(1, -1, 1, 1)
        joined = context.transpose(1, 2).flatten(2)  # (B, T, H * K): the heads side by side
        return joined, probabilities


class BertOutput(nn.Module):
    """The end of a sub-layer: to width D, then "Add & Norm" (Vaswani et al. 2017, figure 1)."""

    def __init__(self, config: BertConfig, input_size: int, site: str) -> None:
        super().__init__()
        self.dense = nn.Linear(input_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout_rate = config.hidden_dropout_prob
        self.site = site  # the name by which an edit finds what this sub-layer adds

    def forward(self, inner: Tensor, residual: Tensor, edit: LayerEdit = unchanged) -> Tensor:
        """Return LayerNorm(residual + dropout(dense(inner))); inner is (B, T, H * K or F)."""
        added = edit(self.site, linear(self.dense, inner))  # (B, T, D)
        added = F.dropout(added, self.dropout_rate, self.training)
        normalised: Tensor = self.LayerNorm(residual + added)
        return normalised


class BertAttention(nn.Module):
    """The attention sub-layer; "self" and "output" are the names in the checkpoints."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.self = BertSelfAttention(config)
        self.output = BertOutput(config, config.hidden_size, "attention")

    def forward(
        self,
        hidden: Tensor,
        bias: Tensor | None = None,
        head_mask: Tensor | None = None,
        attentions: bool = False,
        edit: LayerEdit = unchanged,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the sub-layer's output (B, T, D), and the attentions (B, H, T, T) or None."""
        context, probabilities = self.self(hidden, bias, head_mask, attentions)
        context = edit("head", context)  # (B, T, H * K)
        return self.output(context, hidden, edit), probabilities


class BertIntermediate(nn.Module):
    """First half of feed-forward (Vaswani et al. 2017, section 3.3); (B, T, D) -> (B, T, F)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)
        self.activation = activation(config.hidden_act)  # GELU in BERT

    def forward(self, hidden: Tensor) -> Tensor:
        """Return activation(dense(hidden))."""
        return self.activation(linear(self.dense, hidden))


class BertLayer(nn.Module):
    """One layer: attention, then feed-forward, whose second half is `output`."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.attention = BertAttention(config)
        self.intermediate = BertIntermediate(config)
        self.output = BertOutput(config, config.intermediate_size, "feed_forward")

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
        inner = self.intermediate(attended)  # (B, T, F)
        output = self.output(inner, attended, edit)  # (B, T, D)
        return edit("layer", output), probabilities


class BertEncoder(nn.Module):
    """The stack of L layers."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        if config.family.shares_layers:  # ALBERT
            self.layer = shared_layers(BertLayer, config)
        else:
            self.layer = nn.ModuleList(BertLayer(config) for _ in range(config.num_hidden_layers))

    def layer_at(self, number: int) -> BertLayer:
        """Return a layer by its number, from 0."""
        layer = self.layer[number]
        assert isinstance(layer, BertLayer)
        return layer

    def layers(self) -> Iterator[BertLayer]:
        """Return all layers, first to last."""
        return (self.layer_at(number) for number in range(len(self.layer)))

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
        """Run the layers from number `start` on `hidden`, what goes into it (B, T, D).

        `head_mask` is (L, H) or None; `attentions` and `hidden_states` say what is returned besides
        the last hidden state: of the layers that run, after `hidden` itself.
        """
        all_states, all_attentions = [hidden], []  # the embeddings come first
        for number in range(start, len(self.layer)):
            layer_head_mask = None if head_mask is None else head_mask[number]  # (H,)
            layer_edit = unchanged if edit is None else in_layer(edit, number)
            layer = self.layer[number]
            hidden, probabilities = layer(hidden, bias, layer_head_mask, attentions, layer_edit)
            if hidden_states:
                all_states.append(hidden)
            if attentions:
                all_attentions.append(probabilities)
        return ModelOutputs(
            last_hidden_state=hidden,
            hidden_states=tuple(all_states) if hidden_states else None,
            attentions=tuple(all_attentions) if attentions else None,
        )


class BertPooler(nn.Module):
    """tanh of a linear layer on the first token, [CLS]; (B, T, D) -> (B, D)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the pooled output."""
        return torch.tanh(linear(self.dense, hidden[:, 0]))


class BertModel(BertPreTrainedModel):
    """BERT without a head: embeddings, L layers, and a pooler if the family has one.

    `add_pooling_layer=False` leaves the pooler out, for tasks that do not use it. The other
    arguments are those of `BertPreTrainedModel`.
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
        self.embeddings = (BertEmbeddings if family is BERT else FamilyEmbeddings)(config)
        self.encoder = BertEncoder(config)
        self.pooler = BertPooler(config) if add_pooling_layer and family.pooler else None
        self._finish()  # fresh weights; heads that the config calls pruned are removed

    def encode(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        head_mask: Tensor | None = None,
        **options: Any,
    ) -> ModelOutputs:
        """Run embeddings, layers and pooler; `_run_encoder` checks the inputs and calls this.

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
        """Encode token ids; inputs are those of `BertPreTrainedModel.run`.

        Returns:
            `(encoded_layers, pooled_output)`: a list of L tensors (B, T, D), or only the last one
            if `output_all_encoded_layers` is False; and (B, D), or None without a pooler. With
            `output_attentions`, the attentions come first.
        """
        inputs = (input_ids, token_type_ids, attention_mask, head_mask)
        outputs = self._run_encoder(*inputs, hidden_states=output_all_encoded_layers)
        layers: Tensor | list[Tensor] = outputs.last_hidden_state
        if outputs.hidden_states is not None:
            layers = list(outputs.hidden_states[1:])  # without the embeddings
        return self._with_attentions(outputs, layers, outputs.pooler_output)


def encoder_of(model: BertPreTrainedModel) -> BertModel:
    """Return the encoder of a model of any class."""
    encoder = model.encoder_model
    assert isinstance(encoder, BertModel)
    return encoder

"""The forward pass: embeddings, self-attention, layer, encoder, pooler.

Read from top to bottom; `outputs` explains the letters used for shapes. Sources: Devlin et al.
2019, section 3, and Vaswani et al. 2017, "Attention is all you need", section 3.2. Module and
parameter names are those of the published checkpoints.

There is one implementation for all devices: the functions of `bert_core.model.kernels` choose the
fastest kernel, and attention probabilities are computed only if requested.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bert_core.config import BertConfig
from bert_core.errors import ConfigError
from bert_core.model.kernels import (
    activation,
    add,
    attend,
    attend_only,
    first_rows,
    is_plain,
    layer_norm,
    linear,
    masks_nothing,
    project,
    project_together,
    store_together,
    zeroth_row,
)


@dataclass(frozen=True, slots=True)
class Request:
    """What the encoder should return or keep in addition to its last hidden state."""

    attentions: bool = False
    hidden_states: bool = False
    multihead: bool = False


@dataclass(frozen=True, slots=True)
class Encoded:
    """The encoder's results.

    Attributes:
        last: (B, T, D), the last hidden state.
        pooled: (B, D), or None without a pooler.
        hidden_states: L + 1 tensors (B, T, D), embeddings first; None if not requested.
        attentions: L tensors (B, H, T, T); None if not requested.
    """

    last: Tensor
    pooled: Tensor | None
    hidden_states: tuple[Tensor, ...] | None
    attentions: tuple[Tensor, ...] | None


def attention_bias(mask: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """Convert a 0/1 mask (B, T) or (B, T, T) to a bias that is added to the attention scores.

    Returns:
        (B, 1, 1, T) or (B, 1, T, T), or None if nothing is masked. Masked entries are half of the
        smallest finite number instead of -inf, so that a fully masked row stays finite, also in
        float16.
    """
    if mask is None:
        return None
    keep = mask != 0
    if masks_nothing(keep):
        return None
    keep = keep[:, None, None, :] if keep.dim() == 2 else keep[:, None, :, :]
    bias = torch.zeros(keep.shape, dtype=dtype, device=mask.device)
    return bias.masked_fill_(~keep, torch.finfo(dtype).min / 2)


def _indices(ids: Tensor) -> Tensor:
    """Return ids as int32 or int64; embeddings do not accept narrower integers."""
    return ids if ids.dtype in (torch.int64, torch.int32) else ids.long()


class BertEmbeddings(nn.Module):
    """Sum of word, position and token-type embeddings, normalised; ids (B, T) -> (B, T, D)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size, pad = config.embedding_size, config.pad_token_id
        if pad is not None and not 0 <= pad < config.vocab_size:
            pad = None
        self.word_embeddings = nn.Embedding(config.vocab_size, size, padding_idx=pad)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, size)
        self.LayerNorm = nn.LayerNorm(size, eps=config.layer_norm_eps)
        self.dropout_rate = config.hidden_dropout_prob

    def positions(self, input_ids: Tensor) -> Tensor:
        """Return the rows of positions for ids (B, T): (T, D), or (1, T, D)."""
        return first_rows(self.position_embeddings, input_ids.shape[1], input_ids)

    def types(self, token_type_ids: Tensor) -> Tensor:
        """Return the rows of token types (B, T, D)."""
        rows: Tensor = self.token_type_embeddings(_indices(token_type_ids))
        return rows

    def projected(self, normalised: Tensor) -> Tensor:
        """Return normalised embeddings as the first hidden state: as they are, in BERT."""
        return normalised

    def forward(self, input_ids: Tensor, token_type_ids: Tensor | None = None) -> Tensor:
        """Embed token ids; missing token types are 0."""
        words, types = self.word_embeddings, self.token_type_embeddings
        positions = first_rows(self.position_embeddings, input_ids.shape[1], input_ids)
        embedded = words(_indices(input_ids))  # (B, T, D)
        embedded = add(embedded, positions, over=is_plain(words, nn.Embedding))
        if token_type_ids is None:
            embedded += zeroth_row(types, input_ids)
        else:
            embedded += types(_indices(token_type_ids))
        return F.dropout(layer_norm(embedded, self.LayerNorm), self.dropout_rate, self.training)


class BertSelfAttention(nn.Module):
    """Multi-head scaled dot-product attention; (B, T, D) -> (B, T, H * K)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        if config.hidden_size % config.num_attention_heads:
            raise ConfigError(
                f"hidden_size is {config.hidden_size}; expected a multiple of num_attention_heads, "
                f"which is {config.num_attention_heads}."
            )
        self.head_size = config.hidden_size // config.num_attention_heads
        self.heads = list(range(config.num_attention_heads))  # heads that are not pruned
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout_rate = config.attention_probs_dropout_prob
        self.multihead_output: Tensor | None = None

    def fuse(self) -> None:
        """Store query, key and value together: one matrix product at inference instead of three."""
        store_together((self.query, self.key, self.value))

    def train(self, mode: bool = True) -> Self:
        """Switch between training and inference; fuse the projections for inference."""
        super().train(mode)
        if not mode:
            self.fuse()
        return self

    def project(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return query, key and value, each (B, H, T, K)."""
        parts, split = (self.query, self.key, self.value), (len(self.heads), self.head_size)
        query, key, value = project_together(hidden, parts, split)  # (B, T, H, K) each
        return query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)

    def forward(
        self, hidden: Tensor, bias: Tensor | None, head_mask: Tensor | None, want: Request
    ) -> tuple[Tensor, Tensor | None]:
        """Compute self-attention.

        Args:
            hidden: (B, T, D).
            bias: the result of `attention_bias`.
            head_mask: (H,), factors for the heads' outputs, or None.
            want: whether to return attentions and keep the multi-head output.

        Returns:
            (B, T, H * K), and the attention probabilities (B, H, T, T) or None.
        """
        query, key, value = self.project(hidden)
        rate = self.dropout_rate if self.training else 0.0
        probabilities = None
        if want.attentions:
            scale = 1 / math.sqrt(self.head_size)
            context, probabilities = attend(query, key, value, bias, scale=scale, dropout=rate)
        else:
            context = attend_only(query, key, value, bias, dropout=rate)  # (B, H, T, K)
        if head_mask is not None:
            context = context * head_mask[self.heads].view(1, -1, 1, 1)
        if want.multihead:
            self.multihead_output = context
            if context.requires_grad:
                context.retain_grad()
        return context.transpose(1, 2).flatten(2), probabilities


class BertSelfOutput(nn.Module):
    """Projection to D, residual and normalisation; used after attention and feed-forward."""

    def __init__(self, config: BertConfig, input_size: int) -> None:
        super().__init__()
        self.dense = nn.Linear(input_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout_rate = config.hidden_dropout_prob

    def forward(self, hidden: Tensor, residual: Tensor) -> Tensor:
        """Return LayerNorm(dropout(dense(hidden)) + residual), (B, T, D)."""
        hidden = F.dropout(project(hidden, self.dense), self.dropout_rate, self.training)
        hidden = add(hidden, residual, over=is_plain(self.dense, nn.Linear))
        return layer_norm(hidden, self.LayerNorm)


class BertAttention(nn.Module):
    """Self-attention with its output projection; supports pruning heads."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.self = BertSelfAttention(config)
        self.output = BertSelfOutput(config, config.hidden_size)

    def forward(
        self, hidden: Tensor, bias: Tensor | None, head_mask: Tensor | None, want: Request
    ) -> tuple[Tensor, Tensor | None]:
        """Return the block's output (B, T, D), and the attentions (B, H, T, T) or None."""
        context, probabilities = self.self(hidden, bias, head_mask, want)
        return self.output(context, hidden), probabilities

    def prune(self, heads: set[int]) -> None:
        """Remove heads, given as indices of the unpruned model (Michel et al. 2019)."""
        attention = self.self
        kept = [head for head in attention.heads if head not in heads]
        places = torch.tensor([attention.heads.index(head) for head in kept], dtype=torch.long)
        columns = places[:, None] * attention.head_size + torch.arange(attention.head_size)
        columns = columns.flatten().to(attention.query.weight.device)
        for part in (attention.query, attention.key, attention.value):
            part.weight = nn.Parameter(part.weight.detach()[columns].clone())
            part.bias = nn.Parameter(part.bias.detach()[columns].clone())
            part.out_features = len(columns)
        dense = self.output.dense
        dense.weight = nn.Parameter(dense.weight.detach()[:, columns].clone())
        dense.in_features = len(columns)
        attention.heads = kept
        attention.fuse()


class BertIntermediate(nn.Module):
    """First half of the feed-forward block; (B, T, D) -> (B, T, F)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)
        self.activation = activation(config)

    def forward(self, hidden: Tensor) -> Tensor:
        """Apply the linear layer and the activation."""
        return project(hidden, self.dense, self.activation)


class BertLayer(nn.Module):
    """One layer: attention block, then feed-forward block."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.attention = BertAttention(config)
        self.intermediate = BertIntermediate(config)
        self.output = BertSelfOutput(config, config.intermediate_size)

    def forward(
        self, hidden: Tensor, bias: Tensor | None, head_mask: Tensor | None, want: Request
    ) -> tuple[Tensor, Tensor | None]:
        """Return the layer's output (B, T, D), and the attentions (B, H, T, T) or None."""
        attended, probabilities = self.attention(hidden, bias, head_mask, want)
        return self.output(self.intermediate(attended), attended), probabilities


class BertEncoder(nn.Module):
    """The stack of L layers."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.layer = nn.ModuleList(BertLayer(config) for _ in range(config.num_hidden_layers))

    def block(self, index: int) -> BertLayer:
        """Return one layer."""
        layer = self.layer[index]
        assert isinstance(layer, BertLayer)
        return layer

    def blocks(self) -> Iterator[BertLayer]:
        """Return all layers in order."""
        return (self.block(index) for index in range(len(self.layer)))

    def forward(
        self, hidden: Tensor, bias: Tensor | None, head_mask: Tensor | None, want: Request
    ) -> Encoded:
        """Run all layers on the embeddings (B, T, D); `head_mask` is (L, H) or None."""
        states, attentions = [hidden], []
        for index, layer in enumerate(self.layer):
            factors = None if head_mask is None else head_mask[index]
            hidden, probabilities = layer(hidden, bias, factors, want)
            if want.hidden_states:
                states.append(hidden)
            if probabilities is not None:
                attentions.append(probabilities)
        return Encoded(
            last=hidden,
            pooled=None,
            hidden_states=tuple(states) if want.hidden_states else None,
            attentions=tuple(attentions) if want.attentions else None,
        )


class BertPooler(nn.Module):
    """Linear layer and tanh on the hidden state of [CLS]; (B, T, D) -> (B, D)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden: Tensor) -> Tensor:
        """Pool the hidden state of [CLS]."""
        return torch.tanh(linear(hidden[:, 0], self.dense))

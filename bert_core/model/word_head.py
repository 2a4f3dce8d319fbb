"""The layers that score words and sentence pairs (Devlin et al. 2019, section 3.1)."""

import torch
from torch import Tensor, nn

from bert_core.config import BertConfig
from bert_core.model.kernels import (
    activation_called,
    layer_norm,
    linear,
)


class BertPredictionHeadTransform(nn.Module):
    """Linear layer, activation and LayerNorm before the decoder; (..., D) -> (..., E)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size = config.embedding_size
        self.dense = nn.Linear(config.hidden_size, size)
        self.activation = activation_called(config.family.word_activation or config.hidden_act)
        self.LayerNorm = nn.LayerNorm(size, eps=config.layer_norm_eps)

    def forward(self, hidden: Tensor) -> Tensor:
        """Transform hidden states."""
        return layer_norm(linear(hidden, self.dense, self.activation), self.LayerNorm)


class BertLMPredictionHead(nn.Module):
    """Scores for every piece of the vocabulary; (..., D) -> (..., V).

    `decoder.weight` is the word embedding matrix, and `decoder.bias` is `bias`: one parameter with
    two names, as in the published checkpoints.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.transform = BertPredictionHeadTransform(config)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.decoder = nn.Linear(config.embedding_size, config.vocab_size)

    def forward(self, hidden: Tensor) -> Tensor:
        """Score hidden states."""
        return linear(self.transform(hidden), self.decoder)


class BertPreTrainingHeads(nn.Module):
    """The module `cls`: the masked-word head, the head for two sentences, or both."""

    def __init__(self, config: BertConfig, *, words: bool, sentences: bool) -> None:
        super().__init__()
        if words:
            self.predictions = BertLMPredictionHead(config)
        if sentences:
            self.seq_relationship = nn.Linear(config.hidden_size, 2)

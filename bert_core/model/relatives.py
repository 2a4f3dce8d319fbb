"""What the families (`bert_core.families`) have in place of BERT's embeddings and separate layers.

Everything that is not here is BERT's own code, in `bert_core.model.bert`.
"""

from collections.abc import Callable
from contextlib import nullcontext

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bert_core.checkpoints.fillable import without_memory
from bert_core.config import BertConfig


class FamilyEmbeddings(nn.Module):
    """Word, position and perhaps token-type embeddings of width E; ids (B, T) -> (B, T, D).

    RoBERTa's table of positions is kept whole: its first rows are those of padding and of nothing.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        family, size = config.family, config.embedding_size
        self.word_embeddings = nn.Embedding(config.vocab_size, size, padding_idx=config.padding_row)
        self.padding = config.pad_token_id if family.counts_after_padding else None
        # The row of the padding gets no gradient.
        self.position_embeddings = nn.Embedding(
            config.max_position_embeddings, size, padding_idx=self.padding
        )
        if family.token_types:
            self.token_type_embeddings = nn.Embedding(config.type_vocab_size, size)
        self.LayerNorm = nn.LayerNorm(size, eps=config.layer_norm_eps)
        self.dropout_rate = config.hidden_dropout_prob
        wide = config.hidden_size
        self.projection = nn.Linear(size, wide) if config.projects_words else None

    def positions(self, input_ids: Tensor) -> Tensor:
        """Return the rows of positions for ids (B, T): (1 or B, T, E)."""
        if self.padding is None:
            places = torch.arange(input_ids.shape[1], device=input_ids.device)[None]
        else:
            counted = (input_ids != self.padding).long()
            places = counted.cumsum(dim=1) * counted + self.padding  # padding stays in its row
        rows: Tensor = self.position_embeddings(places)
        return rows

    def types(self, token_type_ids: Tensor) -> Tensor:
        """Return the rows of token types (B, T, E), or zeros without a table."""
        if not hasattr(self, "token_type_embeddings"):
            return self.LayerNorm.weight.new_zeros(*token_type_ids.shape, 1)
        rows: Tensor = self.token_type_embeddings(token_type_ids.long())
        return rows

    def normalised(self, summed: Tensor) -> Tensor:
        """Return the first hidden state (..., D) for a sum of three vectors (..., E)."""
        hidden = F.dropout(self.LayerNorm(summed), self.dropout_rate, self.training)
        return hidden if self.projection is None else self.projection(hidden)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor | None = None) -> Tensor:
        """Embed token ids; missing token types are 0."""
        kinds = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        words: Tensor = self.word_embeddings(input_ids.long())
        return self.normalised(words + self.positions(input_ids) + self.types(kinds))


def shared_layers(make: Callable[[BertConfig], nn.Module], config: BertConfig) -> nn.ModuleList:
    """Make layers of which some have the weights of earlier ones (Lan et al. 2020, section 3.1).

    Each keeps its own place in the stack, so that it can be asked for its own results; matrices and
    normalisations are the same modules.
    """
    layers = nn.ModuleList()
    for number, source in enumerate(config.weights_of):
        with nullcontext() if number == source else without_memory():
            layer = make(config)
        for name, module in layers[source].named_modules() if number != source else ():
            if next(module.parameters(recurse=False), None) is not None:
                layer.set_submodule(name, module)
        layers.append(layer)
    return layers

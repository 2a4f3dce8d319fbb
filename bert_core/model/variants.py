"""What other families (`bert_core.families`) have in place of BERT's embeddings and encoder.

Read `layers` first: everything that is not here is BERT's own code.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bert_core.checkpoints.fillable import without_memory
from bert_core.config import BertConfig
from bert_core.model.kernels import layer_norm, linear
from bert_core.model.layers import BertEmbeddings, BertEncoder, BertLayer


class FamilyEmbeddings(BertEmbeddings):
    """Word, position and perhaps token-type embeddings of width E; ids (B, T) -> (B, T, D).

    RoBERTa's table of positions is kept whole: its first rows are those of padding and of nothing.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        family = config.family
        self.padding = config.pad_token_id if family.counts_after_padding else None
        if self.padding is not None:
            self.position_embeddings.padding_idx = self.padding  # it gets no gradient
        self.has_types = family.token_types
        if not self.has_types:
            del self.token_type_embeddings
        self.projection: nn.Linear | None = None
        size = config.hidden_size
        if family.projects and (family.always_projects or config.embedding_size != size):
            self.projection = nn.Linear(config.embedding_size, size)

    def positions(self, input_ids: Tensor) -> Tensor:
        """Return the rows of positions for ids (B, T): (1 or B, T, E)."""
        if self.padding is None:
            return super().positions(input_ids)
        counted = (input_ids != self.padding).long()
        places = counted.cumsum(dim=1) * counted + self.padding  # (B, T), padding stays in its row
        rows: Tensor = self.position_embeddings(places)
        return rows

    def types(self, token_type_ids: Tensor) -> Tensor:
        """Return the rows of token types (B, T, E), or zeros without a table."""
        if self.has_types:
            return super().types(token_type_ids)
        return self.LayerNorm.weight.new_zeros(*token_type_ids.shape, 1)

    def projected(self, normalised: Tensor) -> Tensor:
        """Return normalised embeddings (..., E) as the first hidden state (..., D)."""
        return normalised if self.projection is None else linear(normalised, self.projection)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor | None = None) -> Tensor:
        """Embed token ids; missing token types are 0."""
        kinds = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        words: Tensor = self.word_embeddings(input_ids.long())
        total = words + self.positions(input_ids) + self.types(kinds)  # (B, T, E)
        normalised = layer_norm(total, self.LayerNorm)
        return self.projected(F.dropout(normalised, self.dropout_rate, self.training))


class RepeatedEncoder(BertEncoder):
    """L layers with the weights of fewer (Lan et al. 2020, section 3.1).

    Each layer has its own place in the stack, so that it can be asked for its own results; layers
    that share weights have the same matrices and normalisations as modules.
    """

    def __init__(self, config: BertConfig) -> None:
        with without_memory():
            super().__init__(config)
        for number, own in enumerate(config.weights_of):
            if own == number:
                self.layer[number] = BertLayer(config)
            else:
                _share(self.block(number), self.block(own))


def _share(layer: BertLayer, own: BertLayer) -> None:
    """Give a layer the modules of another that have weights."""
    attention, theirs = layer.attention.self, own.attention.self
    attention.query, attention.key, attention.value = theirs.query, theirs.key, theirs.value
    layer.attention.output = own.attention.output
    layer.intermediate, layer.output = own.intermediate, own.output

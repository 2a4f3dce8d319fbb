"""The two models that only relatives of BERT are trained as, for ALBERT and ELECTRA."""

from typing import Any

import torch
from torch import Tensor, nn

from bert_core.config import BertConfig
from bert_core.model.activations import activation
from bert_core.model.bert import BertModel
from bert_core.model.heads import SentencePair, WithLabels
from bert_core.model.losses import cross_entropy, without_padding
from bert_core.model.outputs import ModelOutputs
from bert_core.model.speed import linear


class BertForSentenceOrderPrediction(SentencePair):
    """ALBERT with its head for two sentences: index 0 is "in order", 1 "swapped".

    Lan et al. 2020, section 3.1: both are neighbours, so a common topic does not give them away.
    """

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        sentence_order_label: Tensor | None = None,
        head_mask: Tensor | None = None,
    ) -> Any:
        """Score the order of two sentences (B, 2), or return the loss."""
        outputs, logits = self._score(input_ids, token_type_ids, attention_mask, head_mask)
        if sentence_order_label is not None:
            return cross_entropy(logits, sentence_order_label, name="sentence_order_label")
        return self._with_attentions(outputs, logits)


class ReplacedTokenHead(nn.Module):
    """One score for every token; (..., D) -> (...)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = activation(config.hidden_act)
        self.dense_prediction = nn.Linear(config.hidden_size, 1)

    def forward(self, hidden: Tensor) -> Tensor:
        """Score hidden states."""
        return linear(self.dense_prediction, self.activation(linear(self.dense, hidden)))[..., 0]


class BertForReplacedTokenDetection(WithLabels):
    """ELECTRA's discriminator: which tokens were replaced? (Clark et al. 2020, section 2).

    Logits are (B, T), positive for "replaced". `labels` (B, T) are 1 for replaced tokens, else 0;
    padding is ignored, as are -1 and -100.
    """

    def _build(self, config: BertConfig) -> None:
        self.bert = BertModel(config)
        self.discriminator_predictions = ReplacedTokenHead(config)

    def _logits(self, outputs: ModelOutputs) -> dict[str, Tensor]:
        return {"logits": self.discriminator_predictions(outputs.last_hidden_state)}

    def _loss(self, logits: Tensor, labels: Tensor, attention_mask: Tensor | None) -> Tensor:
        # Two scores, 0 and the logit, make cross-entropy the loss of a sigmoid.
        both = torch.stack([torch.zeros_like(logits), logits], dim=-1)
        return cross_entropy(both, without_padding(labels, attention_mask, logits))

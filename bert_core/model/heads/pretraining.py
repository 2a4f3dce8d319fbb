"""The heads of pre-training (Devlin et al. 2019, section 3.1): masked words, next sentence."""

from typing import Any

import torch
from torch import Tensor, nn

from bert_core.config import BertConfig
from bert_core.errors import InputError
from bert_core.model.bert import BertModel, BertPreTrainedModel
from bert_core.model.heads.losses import cross_entropy, is_ignored, whole_numbers
from bert_core.model.inputs import check_positions
from bert_core.model.kernels import activation, layer_norm, linear, recording_graph
from bert_core.model.layers import Encoded


def pooled(encoded: Encoded) -> Tensor:
    """Return the pooled output (B, D) of an encoder that was built with a pooler."""
    assert encoded.pooled is not None
    return encoded.pooled


class BertPredictionHeadTransform(nn.Module):
    """Dense, activation, normalisation before the vocabulary; (..., D) -> (..., D)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = activation(config)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, hidden: Tensor) -> Tensor:
        """Transform hidden states."""
        return layer_norm(linear(hidden, self.dense, self.activation), self.LayerNorm)


class BertLMPredictionHead(nn.Module):
    """Scores of every word of the vocabulary; (..., D) -> (..., V).

    `decoder.weight` is the word embedding matrix and `decoder.bias` is `bias`: one parameter
    each under two names, as in the published checkpoints.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.transform = BertPredictionHeadTransform(config)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, hidden: Tensor) -> Tensor:
        """Score hidden states."""
        return linear(self.transform(hidden), self.decoder)


class BertPreTrainingHeads(nn.Module):
    """`cls`: the masked-word head, the next-sentence head, or both."""

    def __init__(self, config: BertConfig, *, words: bool, sentences: bool) -> None:
        super().__init__()
        if words:
            self.predictions = BertLMPredictionHead(config)
        if sentences:
            self.seq_relationship = nn.Linear(config.hidden_size, 2)


class _MaskedWords(BertPreTrainedModel):
    """What the two classes with a masked-word head share."""

    bert: BertModel
    cls: BertPreTrainingHeads

    def tied_keys(self) -> tuple[str, ...]:
        """The decoder repeats the word embeddings and the bias."""
        return ("cls.predictions.decoder.weight", "cls.predictions.decoder.bias")

    def tie_weights(self) -> None:
        """Point the decoder at the word embeddings and the bias."""
        head = self.cls.predictions
        head.decoder.weight = self.bert.embeddings.word_embeddings.weight
        head.decoder.bias = head.bias

    def scores_at(
        self,
        input_ids: Tensor,
        positions: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        *,
        head_mask: Tensor | None = None,
    ) -> Tensor:
        """Score the vocabulary at chosen positions only.

        Args:
            input_ids: (B, T).
            positions: (B, P), indices into T; negative ones are refused.
            token_type_ids: (B, T), default zeros.
            attention_mask: (B, T), default ones.
            head_mask: (H,) or (L, H).

        Returns:
            (B, P, V), the rows `forward` would give at these positions.

        Raises:
            InputError: positions of another shape, not whole numbers, or outside the input.
        """
        check_positions(positions, input_ids)
        encoded = self._encode(input_ids, token_type_ids, attention_mask, head_mask)
        places = positions.long().to(encoded.last.device)[..., None]
        chosen = encoded.last.gather(1, places.expand(-1, -1, encoded.last.shape[-1]))  # (B, P, D)
        scores: Tensor = self.cls.predictions(chosen)
        return scores

    def _word_loss(self, encoded: Encoded, labels: Tensor) -> Tensor:
        """Masked-word loss; the vocabulary is scored only where a label counts.

        How many labels count is not known while a graph is recorded: then all places are scored.
        """
        labels = whole_numbers(labels, "masked_lm_labels")
        if labels.shape != encoded.last.shape[:2]:
            raise InputError(
                f"masked_lm_labels has the shape {tuple(labels.shape)}; expected "
                f"{tuple(encoded.last.shape[:2])}."
            )
        labels = labels.to(encoded.last.device)
        if recording_graph():
            scores = self.cls.predictions(encoded.last)  # (B, T, V)
            return cross_entropy(scores, labels, name="masked_lm_labels")
        counted = ~is_ignored(labels)
        scores = self.cls.predictions(encoded.last[counted])  # (number counted, V)
        return cross_entropy(scores, labels[counted], name="masked_lm_labels")


class BertForPreTraining(_MaskedWords):
    """BERT with both heads of pre-training: masked words and next sentence.

    With both kinds of labels `forward` returns the sum of both losses, with one kind that loss
    alone, with none the scores.
    """

    def __init__(
        self,
        config: BertConfig,
        output_attentions: bool = False,
        keep_multihead_output: bool = False,
    ) -> None:
        super().__init__(
            config, output_attentions=output_attentions, keep_multihead_output=keep_multihead_output
        )
        self.bert = BertModel(config)
        self.cls = BertPreTrainingHeads(config, words=True, sentences=True)
        self._finish()

    def _logits(self, encoded: Encoded) -> dict[str, Tensor]:
        return {
            "logits": self.cls.predictions(encoded.last),
            "seq_relationship_logits": linear(pooled(encoded), self.cls.seq_relationship),
        }

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        masked_lm_labels: Tensor | None = None,
        next_sentence_label: Tensor | None = None,
        head_mask: Tensor | None = None,
    ) -> Any:
        """Score words (B, T, V) and the sentence relation (B, 2), or return the loss.

        Args:
            input_ids: (B, T).
            token_type_ids: (B, T), default zeros.
            attention_mask: (B, T), default ones.
            masked_lm_labels: (B, T); -1 and -100 do not count.
            next_sentence_label: (B,); 0 "B follows A", 1 "B is random".
            head_mask: (H,) or (L, H).

        Returns:
            Without labels both scores. With both kinds of labels the sum of both losses, with one
            kind that loss alone.
        """
        encoded = self._encode(input_ids, token_type_ids, attention_mask, head_mask)
        losses = []
        if masked_lm_labels is not None:
            losses.append(self._word_loss(encoded, masked_lm_labels))
        if next_sentence_label is not None:
            relation = linear(pooled(encoded), self.cls.seq_relationship)
            losses.append(cross_entropy(relation, next_sentence_label, name="next_sentence_label"))
        if losses:
            return sum(losses[1:], losses[0])
        return self._answer(encoded, *self._logits(encoded).values())


class BertForMaskedLM(_MaskedWords):
    """BERT with the masked-word head (Devlin et al. 2019, task 1)."""

    def __init__(
        self,
        config: BertConfig,
        output_attentions: bool = False,
        keep_multihead_output: bool = False,
    ) -> None:
        super().__init__(
            config, output_attentions=output_attentions, keep_multihead_output=keep_multihead_output
        )
        self.bert = BertModel(config, add_pooling_layer=False)
        self.cls = BertPreTrainingHeads(config, words=True, sentences=False)
        self._finish()

    def _logits(self, encoded: Encoded) -> dict[str, Tensor]:
        return {"logits": self.cls.predictions(encoded.last)}

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        masked_lm_labels: Tensor | None = None,
        head_mask: Tensor | None = None,
    ) -> Any:
        """Score every word at every position (B, T, V), or return the loss."""
        encoded = self._encode(input_ids, token_type_ids, attention_mask, head_mask)
        if masked_lm_labels is not None:
            return self._word_loss(encoded, masked_lm_labels)
        return self._answer(encoded, self._logits(encoded)["logits"])


class BertForNextSentencePrediction(BertPreTrainedModel):
    """BERT with the next-sentence head (task 2); index 0 "B follows A", 1 "B is random"."""

    def __init__(
        self,
        config: BertConfig,
        output_attentions: bool = False,
        keep_multihead_output: bool = False,
    ) -> None:
        super().__init__(
            config, output_attentions=output_attentions, keep_multihead_output=keep_multihead_output
        )
        self.bert = BertModel(config)
        self.cls = BertPreTrainingHeads(config, words=False, sentences=True)
        self._finish()

    def _logits(self, encoded: Encoded) -> dict[str, Tensor]:
        return {"logits": linear(pooled(encoded), self.cls.seq_relationship)}

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        next_sentence_label: Tensor | None = None,
        head_mask: Tensor | None = None,
    ) -> Any:
        """Score the relation of two sentences (B, 2), or return the loss."""
        encoded = self._encode(input_ids, token_type_ids, attention_mask, head_mask)
        logits = self._logits(encoded)["logits"]
        if next_sentence_label is not None:
            return cross_entropy(logits, next_sentence_label, name="next_sentence_label")
        return self._answer(encoded, logits)

"""The heads of fine-tuning (Devlin et al. 2019, section 3.2 and figure 4)."""

import copy
from dataclasses import replace
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from bert_core.config import BertConfig
from bert_core.errors import InputError
from bert_core.model.bert import BertModel, BertPreTrainedModel
from bert_core.model.heads.losses import IGNORED, cross_entropy, position_loss, whole_numbers
from bert_core.model.heads.pretraining import pooled
from bert_core.model.inputs import check_inputs
from bert_core.model.kernels import linear
from bert_core.model.layers import Encoded
from bert_core.model.outputs import ModelOutputs


class _Classifier(BertPreTrainedModel):
    """What the classes with a `classifier` layer share."""

    def __init__(
        self,
        config: BertConfig,
        outputs: int,
        output_attentions: bool,
        keep_multihead_output: bool,
        *,
        pooling: bool = True,
    ) -> None:
        super().__init__(
            config, output_attentions=output_attentions, keep_multihead_output=keep_multihead_output
        )
        rate = config.extra.get("classifier_dropout")
        self.dropout_rate = config.hidden_dropout_prob if rate is None else float(rate)
        self.bert = BertModel(config, add_pooling_layer=pooling)
        self.classifier = nn.Linear(config.hidden_size, outputs)
        self._finish()

    def _classify(self, hidden: Tensor) -> Tensor:
        return linear(F.dropout(hidden, self.dropout_rate, self.training), self.classifier)


class BertForSequenceClassification(_Classifier):
    """BERT with one decision a text or pair: sentiment, entailment, similarity ...

    Args:
        config: sizes of the model.
        num_labels: C; None means what the config says, else 2. One label is a regression.
    """

    def __init__(
        self,
        config: BertConfig,
        num_labels: int | None = None,
        output_attentions: bool = False,
        keep_multihead_output: bool = False,
    ) -> None:
        config = _labelled(config, num_labels)
        self.num_labels = config.num_labels
        super().__init__(config, self.num_labels, output_attentions, keep_multihead_output)

    def _logits(self, encoded: Encoded) -> dict[str, Tensor]:
        return {"logits": self._classify(pooled(encoded))}

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        head_mask: Tensor | None = None,
    ) -> Any:
        """Return logits (B, C), or the loss: cross-entropy, squared error where C is 1."""
        encoded = self._encode(input_ids, token_type_ids, attention_mask, head_mask)
        logits = self._logits(encoded)["logits"]
        if labels is None:
            return self._answer(encoded, logits)
        if self.num_labels > 1:
            return cross_entropy(logits, labels)
        if not isinstance(labels, Tensor) or labels.numel() != logits.numel():
            found = tuple(labels.shape) if isinstance(labels, Tensor) else type(labels).__name__
            raise InputError(f"labels is {found}; expected a tensor {(logits.shape[0],)}.")
        return F.mse_loss(logits.flatten(), labels.flatten().to(logits))


class BertForMultipleChoice(_Classifier):
    """BERT that chooses one of N texts; inputs are (B, N, T).

    Args:
        config: sizes of the model.
        num_choices: N the caller plans with; an input may have any other N.
    """

    def __init__(
        self,
        config: BertConfig,
        num_choices: int = 2,
        output_attentions: bool = False,
        keep_multihead_output: bool = False,
    ) -> None:
        self.num_choices = num_choices
        super().__init__(config, 1, output_attentions, keep_multihead_output)

    def _logits(self, encoded: Encoded) -> dict[str, Tensor]:
        return {"logits": self._classify(pooled(encoded))}

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        head_mask: Tensor | None = None,
    ) -> Any:
        """Return logits (B, N), or the loss; attentions are (B * N, H, T, T)."""
        check_inputs(self.config, input_ids, token_type_ids, attention_mask, rank=3)
        flat = [_flat(tensor) for tensor in (input_ids, token_type_ids, attention_mask)]
        assert flat[0] is not None
        encoded = self._encode(flat[0], flat[1], flat[2], head_mask)
        logits = self._logits(encoded)["logits"].view(input_ids.shape[:2])
        if labels is not None:
            return cross_entropy(logits, labels)
        return self._answer(encoded, logits)

    def run(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        **options: Any,
    ) -> ModelOutputs:
        """Return everything by name; logits (B, N), all else with B * N in place of B."""
        check_inputs(self.config, input_ids, token_type_ids, attention_mask, rank=3)
        flat = [_flat(tensor) for tensor in (input_ids, token_type_ids, attention_mask)]
        assert flat[0] is not None
        outputs = super().run(flat[0], flat[1], flat[2], **options)
        if outputs.logits is None:
            return outputs
        return replace(outputs, logits=outputs.logits.view(input_ids.shape[:2]))


def _flat(tensor: Tensor | None) -> Tensor | None:
    """(B, N, T) -> (B * N, T)."""
    return None if tensor is None else tensor.flatten(0, 1)


class BertForTokenClassification(_Classifier):
    """BERT with one decision a token: entities, parts of speech ...

    Args:
        config: sizes of the model.
        num_labels: C; None means what the config says, else 2.
    """

    def __init__(
        self,
        config: BertConfig,
        num_labels: int | None = None,
        output_attentions: bool = False,
        keep_multihead_output: bool = False,
    ) -> None:
        config = _labelled(config, num_labels)
        self.num_labels = config.num_labels
        super().__init__(
            config, self.num_labels, output_attentions, keep_multihead_output, pooling=False
        )

    def _logits(self, encoded: Encoded) -> dict[str, Tensor]:
        return {"logits": self._classify(encoded.last)}

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        head_mask: Tensor | None = None,
    ) -> Any:
        """Return logits (B, T, C), or the loss over tokens whose attention mask is not 0."""
        encoded = self._encode(input_ids, token_type_ids, attention_mask, head_mask)
        logits = self._logits(encoded)["logits"]
        if labels is None:
            return self._answer(encoded, logits)
        labels = whole_numbers(labels, "labels")
        if attention_mask is not None and attention_mask.shape == labels.shape:
            labels = labels.to(logits.device).masked_fill(attention_mask == 0, IGNORED[1])
        return cross_entropy(logits, labels)


class BertForQuestionAnswering(BertPreTrainedModel):
    """BERT that marks where an answer starts and ends in the text."""

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
        self.qa_outputs = nn.Linear(config.hidden_size, 2)
        self._finish()

    def _logits(self, encoded: Encoded) -> dict[str, Tensor]:
        start, end = linear(encoded.last, self.qa_outputs).unbind(-1)  # (B, T) each
        return {"start_logits": start, "end_logits": end}

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        start_positions: Tensor | None = None,
        end_positions: Tensor | None = None,
        head_mask: Tensor | None = None,
    ) -> Any:
        """Return `(start_logits, end_logits)` (B, T) each, or the mean of both losses.

        Positions outside the input do not count.
        """
        encoded = self._encode(input_ids, token_type_ids, attention_mask, head_mask)
        start, end = self._logits(encoded).values()
        if start_positions is None and end_positions is None:
            return self._answer(encoded, start, end)
        if start_positions is None or end_positions is None:
            raise InputError("start_positions and end_positions are needed together.")
        start_loss = position_loss(start, start_positions, "start_positions")
        return (start_loss + position_loss(end, end_positions, "end_positions")) / 2


def _labelled(config: BertConfig, num_labels: int | None) -> BertConfig:
    """Return a config with this many labels; the caller's own is left as it is."""
    if num_labels is None or num_labels == config.num_labels:
        return config
    config = copy.deepcopy(config)
    config.num_labels = num_labels
    return config

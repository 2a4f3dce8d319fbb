"""The models with a head, and their losses; `bert_core.model.kinds` has a table of them.

First the pre-training heads (Devlin et al. 2019, section 3.1), then the fine-tuning heads (section
3.2 and figure 4). A head is one or two layers over what `BertModel` returns.

Parameters have the names of the published checkpoints. `forward` returns tensors and tuples, as in
the original PyTorch interface; `run` returns the same by name. If labels are given, `forward`
returns only the loss, a finite scalar that ignores the labels -1 and -100.
"""

import copy
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bert_core.compat import recording_graph
from bert_core.config import BertConfig
from bert_core.errors import InputError
from bert_core.families import Step
from bert_core.model.activations import activation
from bert_core.model.bert import BertModel
from bert_core.model.checks import check_inputs, check_positions
from bert_core.model.losses import (
    cross_entropy,
    is_ignored,
    position_loss,
    whole_numbers,
    widened,
    without_padding,
)
from bert_core.model.outputs import ModelOutputs
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.model.speed import linear

# -- pre-training -------------------------------------------------------------------------------


class BertPredictionHeadTransform(nn.Module):
    """Linear layer, activation and LayerNorm before the decoder; (..., D) -> (..., E)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size = config.embedding_size
        self.dense = nn.Linear(config.hidden_size, size)
        self.activation = activation(config.family.word_activation or config.hidden_act)
        self.LayerNorm = nn.LayerNorm(size, eps=config.layer_norm_eps)

    def forward(self, hidden: Tensor) -> Tensor:
        """Transform hidden states."""
        normalised: Tensor = self.LayerNorm(self.activation(linear(self.dense, hidden)))
        return normalised


class BertLMPredictionHead(nn.Module):
    """Scores for every piece of the vocabulary; (..., D) -> (..., V).

    The output matrix `decoder.weight` is that of the word embeddings, and `decoder.bias` is `bias`:
    one parameter with two names, as in the published checkpoints (`tie_weights` sees to it).
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.transform = BertPredictionHeadTransform(config)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.decoder = nn.Linear(config.embedding_size, config.vocab_size)

    def forward(self, hidden: Tensor) -> Tensor:
        """Score hidden states."""
        return linear(self.decoder, self.transform(hidden))


class BertPreTrainingHeads(nn.Module):
    """The module `cls`: the masked-word head, the head for two sentences, or both."""

    def __init__(self, config: BertConfig, *, words: bool, sentences: bool) -> None:
        super().__init__()
        if words:
            self.predictions = BertLMPredictionHead(config)
        if sentences:
            self.seq_relationship = nn.Linear(config.hidden_size, 2)


def _pooled(outputs: ModelOutputs) -> Tensor:
    assert outputs.pooler_output is not None
    return outputs.pooler_output


class ModelWithHead(BertPreTrainedModel):
    """Base class of the models with a head: an encoder and a head, both made by `_build`."""

    bert: BertModel

    def __init__(
        self,
        config: BertConfig,
        output_attentions: bool = False,
        keep_multihead_output: bool = False,
    ) -> None:
        super().__init__(config, output_attentions, keep_multihead_output)
        self._build(config)
        self._finish()

    def _build(self, config: BertConfig) -> None:
        raise NotImplementedError

    def _score(self, *inputs: Any) -> tuple[ModelOutputs, Tensor]:
        outputs = self._run_encoder(*inputs)
        return outputs, self._logits(outputs)["logits"]


class _MaskedWords(ModelWithHead):
    cls: BertPreTrainingHeads

    def tied_keys(self) -> tuple[str, ...]:
        """Return all aliases, among them the decoder's: the word embeddings and the bias."""
        decoder = ("cls.predictions.decoder.weight", "cls.predictions.decoder.bias")
        return (*super().tied_keys(), *decoder)

    def tie_weights(self) -> None:
        """Make the decoder refer to the word embeddings and the bias, unless it was replaced."""
        head, words = self.cls.predictions, self.bert.embeddings.word_embeddings
        if all("weight" in each._parameters for each in (head.decoder, words)):
            head.decoder.weight, head.decoder.bias = words.weight, head.bias

    def scores_at(
        self,
        input_ids: Tensor,
        positions: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        *,
        head_mask: Tensor | None = None,
    ) -> Tensor:
        """Score the vocabulary at chosen positions (B, P) only: (B, P, V), as `forward` does there.

        Positions are indices into T and not negative; the other inputs are those of `forward`.

        Raises:
            InputError: positions have the wrong shape, are not integers, or are outside the input.
        """
        check_positions(positions, input_ids)
        outputs = self._run_encoder(input_ids, token_type_ids, attention_mask, head_mask)
        hidden = outputs.last_hidden_state
        places = positions.long().to(hidden.device)[..., None]
        chosen = torch.take_along_dim(hidden, places, dim=1)  # (B, P, D)
        scores: Tensor = self.cls.predictions(chosen)
        return scores

    def _word_loss(self, outputs: ModelOutputs, labels: Tensor) -> Tensor:
        """Return the masked-word loss, scoring the vocabulary only at labelled positions.

        While a graph is recorded, the number of labels is unknown, so all positions are scored.
        """
        hidden, name = outputs.last_hidden_state, "masked_lm_labels"
        labels = whole_numbers(labels, name)
        if labels.shape != hidden.shape[:2]:
            raise InputError(
                f"{name} has the shape {tuple(labels.shape)}; expected {tuple(hidden.shape[:2])}."
            )
        labels = labels.to(hidden.device)
        if not recording_graph():
            counted = ~is_ignored(labels)
            hidden, labels = hidden[counted], labels[counted]  # (number counted, D)
        return cross_entropy(self.cls.predictions(hidden), labels, name=name)


class BertForPreTraining(_MaskedWords):
    """BERT with both pre-training heads: masked words and next sentence.

    In other families the second is the one they are trained with (ALBERT: the order of sentences),
    or it is missing: its scores are None then.
    """

    def _build(self, config: BertConfig) -> None:
        self.has_pairs = bool(config.family.sentence_head)
        self.bert = BertModel(config, add_pooling_layer=self.has_pairs)
        self.cls = BertPreTrainingHeads(config, words=True, sentences=self.has_pairs)

    def _logits(self, outputs: ModelOutputs) -> dict[str, Any]:
        return {
            "logits": self.cls.predictions(outputs.last_hidden_state),
            "seq_relationship_logits": self._relation(outputs) if self.has_pairs else None,
        }

    def _relation(self, outputs: ModelOutputs) -> Tensor:
        if not self.has_pairs:
            raise InputError(
                f"next_sentence_label was given; {self.config.family.title} has no head for it."
            )
        return linear(self.cls.seq_relationship, _pooled(outputs))

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

        `masked_lm_labels` are (B, T), -1 and -100 are ignored; `next_sentence_label` is (B,), 0 for
        "B follows A" and 1 for "B is random" (ALBERT: 1 for "A and B are swapped"); the other
        inputs are those of `BertModel.forward`. With both kinds of labels the losses are added.
        """
        outputs = self._run_encoder(input_ids, token_type_ids, attention_mask, head_mask)
        losses = []
        if masked_lm_labels is not None:
            losses.append(self._word_loss(outputs, masked_lm_labels))
        if next_sentence_label is not None:
            relation = self._relation(outputs)
            losses.append(cross_entropy(relation, next_sentence_label, name="next_sentence_label"))
        if losses:
            return sum(losses[1:], losses[0])
        return self._with_attentions(outputs, *self._logits(outputs).values())


class BertForMaskedLM(_MaskedWords):
    """BERT with the masked-word head (Devlin et al. 2019, section 3.1, task 1)."""

    def _build(self, config: BertConfig) -> None:
        self.bert = BertModel(config, add_pooling_layer=False)
        self.cls = BertPreTrainingHeads(config, words=True, sentences=False)

    def _logits(self, outputs: ModelOutputs) -> dict[str, Tensor]:
        return {"logits": self.cls.predictions(outputs.last_hidden_state)}

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        masked_lm_labels: Tensor | None = None,
        head_mask: Tensor | None = None,
    ) -> Any:
        """Score every word at every position (B, T, V), or return the loss."""
        outputs = self._run_encoder(input_ids, token_type_ids, attention_mask, head_mask)
        if masked_lm_labels is not None:
            return self._word_loss(outputs, masked_lm_labels)
        return self._with_attentions(outputs, self._logits(outputs)["logits"])


class SentencePair(ModelWithHead):
    """Base class of the two models with only a head for two sentences."""

    cls: BertPreTrainingHeads

    def _build(self, config: BertConfig) -> None:
        self.bert = BertModel(config)
        self.cls = BertPreTrainingHeads(config, words=False, sentences=True)

    def _logits(self, outputs: ModelOutputs) -> dict[str, Tensor]:
        return {"logits": linear(self.cls.seq_relationship, _pooled(outputs))}


class BertForNextSentencePrediction(SentencePair):
    """BERT with the next-sentence head (task 2): index 0 is "B follows A", 1 "B is random"."""

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        next_sentence_label: Tensor | None = None,
        head_mask: Tensor | None = None,
    ) -> Any:
        """Score the relation of two sentences (B, 2), or return the loss."""
        outputs, logits = self._score(input_ids, token_type_ids, attention_mask, head_mask)
        if next_sentence_label is not None:
            return cross_entropy(logits, next_sentence_label, name="next_sentence_label")
        return self._with_attentions(outputs, logits)


class WithLabels(ModelWithHead):
    """Base class of the models whose labels are called `labels`."""

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        head_mask: Tensor | None = None,
    ) -> Any:
        """Return the logits, or with labels the loss; see the class for shapes."""
        outputs, logits = self._score(input_ids, token_type_ids, attention_mask, head_mask)
        if labels is None:
            return self._with_attentions(outputs, logits)
        return self._loss(logits, labels, attention_mask)

    def _loss(self, logits: Tensor, labels: Tensor, attention_mask: Tensor | None) -> Tensor:
        raise NotImplementedError


# -- fine-tuning --------------------------------------------------------------------------------


class _Classifier(ModelWithHead):
    """Base class of the models with a `classifier` layer.

    It reads the pooled output of a text; where a family has no pooler, a `Step` takes its place.
    """

    def _add_classifier(self, config: BertConfig, classes: int, *, pooler: bool) -> None:
        rate = config.extra.get(config.family.dropout)
        self.dropout_rate = config.hidden_dropout_prob if rate is None else float(rate)
        self.bert = BertModel(config, add_pooling_layer=pooler)
        self.classifier = nn.Linear(config.hidden_size, classes)

    def _add_with_step(self, config: BertConfig, classes: int, step: Step | None) -> None:
        """Add the encoder, the classifier, and the step before it; None means the pooler."""
        self._add_classifier(config, classes, pooler=step is None)
        self.step = step
        if step is not None:
            self.step_activation = activation(step.activation)
            self.add_module(step.name, nn.Linear(config.hidden_size, config.hidden_size))

    def _classify(self, hidden: Tensor) -> Tensor:
        return linear(self.classifier, F.dropout(hidden, self.dropout_rate, self.training))

    def _classify_texts(self, outputs: ModelOutputs) -> Tensor:
        """Return the scores (B, C) of whole texts, by their first token."""
        if self.step is None:
            return self._classify(_pooled(outputs))
        first = outputs.last_hidden_state[:, 0]
        if self.step.drops_first:
            first = F.dropout(first, self.dropout_rate, self.training)
        dense = self.get_submodule(self.step.name)
        return self._classify(self.step_activation(linear(dense, first)))


class _LabelClassifier(_Classifier):
    """Base class of the two models that choose among C labels.

    `num_labels` is C; None means the number in the config, else 2.
    """

    def __init__(
        self,
        config: BertConfig,
        num_labels: int | None = None,
        output_attentions: bool = False,
        keep_multihead_output: bool = False,
    ) -> None:
        if num_labels is not None and (config.label_fault or num_labels != config.num_labels):
            config = copy.deepcopy(config)  # the caller's stays as it is
            config.num_labels = num_labels
        self.num_labels = config.num_labels
        super().__init__(config, output_attentions, keep_multihead_output)


class BertForSequenceClassification(_LabelClassifier, WithLabels):
    """BERT that classifies a text or a pair; `config.problem_type` says what its outputs are.

    Logits are (B, C). The loss is cross-entropy; for a regression the mean squared error, and for
    several true labels the binary cross-entropy, both with labels (B, C).
    """

    def _build(self, config: BertConfig) -> None:
        self._add_with_step(config, config.num_labels, config.family.text_step)

    def _logits(self, outputs: ModelOutputs) -> dict[str, Tensor]:
        return {"logits": self._classify_texts(outputs)}

    def _loss(self, logits: Tensor, labels: Tensor, attention_mask: Tensor | None) -> Tensor:
        problem = self.config.problem_type
        if problem == "single_label_classification":
            return cross_entropy(logits, labels)
        if not isinstance(labels, Tensor) or labels.numel() != logits.numel():
            found = tuple(labels.shape) if isinstance(labels, Tensor) else type(labels).__name__
            raise InputError(f"labels is {found}; expected a tensor {tuple(logits.shape)}.")
        logits = widened(logits)
        loss = F.mse_loss if problem == "regression" else F.binary_cross_entropy_with_logits
        return loss(logits, labels.view_as(logits).to(logits))


class BertForMultipleChoice(_Classifier, WithLabels):
    """BERT that chooses one of N texts; inputs are (B, N, T). `num_choices` is only stored.

    Logits are (B, N), attentions (B * N, H, T, T).
    """

    def __init__(
        self,
        config: BertConfig,
        num_choices: int = 2,
        output_attentions: bool = False,
        keep_multihead_output: bool = False,
    ) -> None:
        self.num_choices = num_choices
        super().__init__(config, output_attentions, keep_multihead_output)

    def _build(self, config: BertConfig) -> None:
        self._add_with_step(config, 1, config.choice_step)

    def _logits(self, outputs: ModelOutputs) -> dict[str, Tensor]:
        return {"logits": self._classify_texts(outputs)}

    def _score(self, *inputs: Any) -> tuple[ModelOutputs, Tensor]:
        input_ids, types, mask, head_mask = inputs
        outputs, logits = super()._score(*self._flat(input_ids, types, mask), head_mask)
        return outputs, logits.view(input_ids.shape[:2])

    def _loss(self, logits: Tensor, labels: Tensor, attention_mask: Tensor | None) -> Tensor:
        return cross_entropy(logits, labels)

    def run(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        **options: Any,
    ) -> ModelOutputs:
        """Return named outputs: logits (B, N), all others with B * N in place of B."""
        ids, types, mask = self._flat(input_ids, token_type_ids, attention_mask)
        outputs = super().run(ids, types, mask, **options)
        if outputs.logits is None:
            return outputs
        return replace(outputs, logits=outputs.logits.view(input_ids.shape[:2]))

    def _flat(
        self, input_ids: Tensor, token_type_ids: Tensor | None, attention_mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        check_inputs(self.config, input_ids, token_type_ids, attention_mask, rank=3)
        return (
            input_ids.flatten(0, 1),
            None if token_type_ids is None else token_type_ids.flatten(0, 1),
            None if attention_mask is None else attention_mask.flatten(0, 1),
        )


class BertForTokenClassification(_LabelClassifier, WithLabels):
    """BERT that classifies every token: entities, parts of speech ...

    Logits are (B, T, C). The loss is that of the tokens whose attention mask is not 0.
    """

    def _build(self, config: BertConfig) -> None:
        self._add_classifier(config, config.num_labels, pooler=False)

    def _logits(self, outputs: ModelOutputs) -> dict[str, Tensor]:
        return {"logits": self._classify(outputs.last_hidden_state)}

    def _loss(self, logits: Tensor, labels: Tensor, attention_mask: Tensor | None) -> Tensor:
        return cross_entropy(logits, without_padding(labels, attention_mask, logits))


class BertForQuestionAnswering(ModelWithHead):
    """BERT that scores every token as the start and as the end of an answer."""

    def _build(self, config: BertConfig) -> None:
        self.bert = BertModel(config, add_pooling_layer=False)
        self.qa_outputs = nn.Linear(config.hidden_size, 2)

    def _logits(self, outputs: ModelOutputs) -> dict[str, Tensor]:
        start, end = linear(self.qa_outputs, outputs.last_hidden_state).unbind(-1)  # (B, T) each
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
        """Return `(start_logits, end_logits)`, each (B, T), or the mean of both losses.

        Positions outside the input are ignored.
        """
        outputs = self._run_encoder(input_ids, token_type_ids, attention_mask, head_mask)
        start, end = self._logits(outputs).values()
        if start_positions is None and end_positions is None:
            return self._with_attentions(outputs, start, end)
        if start_positions is None or end_positions is None:
            raise InputError(
                "Found only one of start_positions and end_positions; both are needed together."
            )
        start_loss = position_loss(start, start_positions, "start_positions")
        return (start_loss + position_loss(end, end_positions, "end_positions")) / 2

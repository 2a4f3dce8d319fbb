"""The joint pretraining loss, with vocabulary scores at the masked positions only.

At 15 % masking the scores of all tokens would cost more than the encoder itself; gathering the
hidden states first gives the same loss.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from bert_core.model.heads import BertForPreTraining
from bert_core.pretraining.corruption import IGNORED


@dataclass(frozen=True, slots=True)
class PretrainingBatch:
    """One batch for both tasks; a task whose labels are None is left out.

    Attributes:
        input_ids: (B, T), corrupted.
        token_type_ids: (B, T) or None for zeros.
        attention_mask: (B, T) or None for ones.
        positions: (B, P) masked positions, with `position_labels` (B, P), -100 for filling.
        next_sentence_label: (B,), 0 = B follows A, 1 = it does not.
    """

    input_ids: Tensor
    token_type_ids: Tensor | None = None
    attention_mask: Tensor | None = None
    positions: Tensor | None = None
    position_labels: Tensor | None = None
    next_sentence_label: Tensor | None = None

    def to(self, device: torch.device) -> "PretrainingBatch":
        """Return the batch on another device."""
        moved = {
            name: value.to(device)
            for name in PretrainingBatch.__slots__
            if (value := getattr(self, name)) is not None
        }
        return PretrainingBatch(**moved)


@dataclass(frozen=True, slots=True)
class PretrainingLoss:
    """Both losses as scalars with gradients; a task without labels is 0."""

    masked_lm: Tensor
    next_sentence: Tensor

    @property
    def total(self) -> Tensor:
        """The sum BERT is trained with."""
        return self.masked_lm + self.next_sentence


def joint_loss(model: BertForPreTraining, batch: PretrainingBatch) -> PretrainingLoss:
    """Return masked-language-model loss and next-sentence loss, each a mean over its labels."""
    # Asking for attentions takes the path with plain matrix products: on CPU its backward
    # pass is several times faster in bfloat16 than the fused kernel's; in float32 that kernel
    # is the faster one, by 3 % of a step.
    outputs = model.run(
        batch.input_ids,
        batch.token_type_ids,
        batch.attention_mask,
        attentions=batch.input_ids.device.type == "cpu" and torch.is_autocast_enabled("cpu"),
        hidden_states=False,
        logits=False,
    )
    hidden, pooled = outputs.last_hidden_state, outputs.pooler_output
    assert hidden is not None
    assert pooled is not None
    masked_lm, next_sentence = hidden.new_zeros(()), hidden.new_zeros(())
    if batch.positions is not None and batch.position_labels is not None:
        masked_lm = _masked_lm(model, hidden, batch.positions, batch.position_labels)
    if batch.next_sentence_label is not None:
        scores = model.cls.seq_relationship(pooled)
        next_sentence = F.cross_entropy(scores.float(), batch.next_sentence_label)
    return PretrainingLoss(masked_lm, next_sentence)


def _masked_lm(
    model: BertForPreTraining, hidden: Tensor, positions: Tensor, labels: Tensor
) -> Tensor:
    """Score the labelled positions alone; 0 where there is none."""
    kept = labels != IGNORED
    rows = torch.arange(len(hidden), device=hidden.device)[:, None].expand_as(kept)
    chosen = hidden[rows[kept], positions[kept]]  # (N, D)
    if not len(chosen):
        return hidden.sum() * 0.0
    scores = model.cls.predictions(chosen)  # (N, V)
    return F.cross_entropy(scores.float(), labels[kept])

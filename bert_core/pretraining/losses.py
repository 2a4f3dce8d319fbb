"""The joint pretraining loss, computing vocabulary scores at the masked positions only.

With 15 % masking, scoring every token would cost more than the encoder itself. Gathering the hidden
states of the masked positions first gives the same loss.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import torch
from torch import Tensor
from torch.nn import functional as F

from bert_core.errors import InputError
from bert_core.model.heads import BertForPreTraining
from bert_core.pretraining.corruption import IGNORED


@dataclass(frozen=True, slots=True)
class PretrainingBatch:
    """One batch for both tasks; a task whose labels are None is skipped."""

    input_ids: Annotated[Tensor, "(B, T), corrupted"]
    token_type_ids: Annotated[Tensor | None, "(B, T), or None for zeros"] = None
    attention_mask: Annotated[Tensor | None, "(B, T), or None for ones"] = None
    positions: Annotated[Tensor | None, "(B, P) masked positions"] = None
    position_labels: Annotated[Tensor | None, "(B, P) original ids there, -100: padding"] = None
    next_sentence_label: Annotated[Tensor | None, "(B,), 0 if B follows A, 1 if not"] = None

    def to(self, device: torch.device) -> "PretrainingBatch":
        """Return the batch on another device."""
        tensors = (getattr(self, name) for name in self.__slots__)
        moved: list[Any] = [each if each is None else each.to(device) for each in tensors]
        return PretrainingBatch(*moved)


@dataclass(frozen=True, slots=True)
class PretrainingLoss:
    """Both losses as scalars with gradients; 0 for a task without labels."""

    masked_lm: Annotated[Tensor, "of the masked words"]
    next_sentence: Annotated[Tensor, "of the pairs"]
    scores: Annotated[Tensor | None, "(N, V) of the masked words; None if there are none"] = None

    @property
    def total(self) -> Tensor:
        """The sum of both losses, which BERT is trained with."""
        return self.masked_lm + self.next_sentence


def joint_loss(model: BertForPreTraining, batch: PretrainingBatch) -> PretrainingLoss:
    """Return the masked-word loss and the next-sentence loss, each a mean over its labels.

    Raises:
        InputError: there are labels of pairs, and the family has no head for them.
    """
    # Requesting attentions selects plain matrix products instead of the fused kernel: on CPU
    # their backward pass is several times faster in bfloat16. In float32 the fused kernel is
    # faster, by 3 % of a step.
    outputs = model.run(
        batch.input_ids,
        batch.token_type_ids,
        batch.attention_mask,
        attentions=batch.input_ids.device.type == "cpu" and torch.is_autocast_enabled("cpu"),
        hidden_states=False,
        logits=False,
    )
    hidden, pooled = outputs.last_hidden_state, outputs.pooler_output
    masked_lm, next_sentence = hidden.new_zeros(()), hidden.new_zeros(())
    scores: Tensor | None = None
    if batch.positions is not None and batch.position_labels is not None:
        masked_lm, scores = _masked_lm(model, hidden, batch.positions, batch.position_labels)
    if batch.next_sentence_label is not None:
        if pooled is None:
            raise InputError(
                f"The batch has labels of sentence pairs; {model.config.family.title} has no head "
                "for two sentences. Make batches of texts."
            )
        relation = model.cls.seq_relationship(pooled)
        next_sentence = F.cross_entropy(relation.float(), batch.next_sentence_label)
    return PretrainingLoss(masked_lm, next_sentence, scores)


def _masked_lm(
    model: BertForPreTraining, hidden: Tensor, positions: Tensor, labels: Tensor
) -> tuple[Tensor, Tensor | None]:
    """Return the loss over the labelled positions, 0 if there are none, and their scores."""
    kept = labels != IGNORED
    rows = torch.arange(len(hidden), device=hidden.device)[:, None].expand_as(kept)
    chosen = hidden[rows[kept], positions[kept]]  # (N, D)
    if not len(chosen):
        return hidden.sum() * 0.0, None
    scores = model.cls.predictions(chosen).float()  # (N, V)
    return F.cross_entropy(scores, labels[kept]), scores

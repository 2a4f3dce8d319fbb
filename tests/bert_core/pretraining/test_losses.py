"""The joint loss equals the losses of the whole score tensors."""

import pytest
import torch
from torch.nn import functional as F

from bert_core.config import BertConfig
from bert_core.model.heads import BertForPreTraining
from bert_core.pretraining import PretrainingBatch, gather_positions, joint_loss
from tests.bert_core.conftest import SIZES


@pytest.fixture
def model() -> BertForPreTraining:
    torch.manual_seed(0)
    config = BertConfig(99, **SIZES, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return BertForPreTraining(config).train()


def batch_of(labels: torch.Tensor, next_sentence: torch.Tensor | None) -> PretrainingBatch:
    torch.manual_seed(1)
    positions, position_labels, _ = gather_positions(labels)
    mask = torch.ones_like(labels)
    mask[1, -2:] = 0
    types = torch.zeros_like(labels)
    types[:, 4:] = 1
    ids = torch.randint(99, labels.shape)
    return PretrainingBatch(ids, types, mask, positions, position_labels, next_sentence)


LABELS = torch.tensor(
    [[-100, 7, -100, 8, -100, -100, -100], [-100] * 7, [-100, -100, 9, -100, -100, -100, -100]]
)


def test_losses_and_gradients_equal_those_over_all_scores(model: BertForPreTraining) -> None:
    next_sentence = torch.tensor([0, 1, 1])
    batch = batch_of(LABELS, next_sentence)
    inputs = (batch.input_ids, batch.token_type_ids, batch.attention_mask)
    loss = joint_loss(model, batch)
    words, relation = model(*inputs)
    expected = F.cross_entropy(words.view(-1, 99), LABELS.view(-1), ignore_index=-100)
    assert loss.masked_lm.item() == pytest.approx(expected.item(), abs=1e-5)
    expected = F.cross_entropy(relation, next_sentence)
    assert loss.next_sentence.item() == pytest.approx(expected.item(), abs=1e-5)
    loss.total.backward()  # type: ignore[no-untyped-call]
    gradients = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    whole = model(*inputs, LABELS, next_sentence)
    assert loss.total.item() == pytest.approx(whole.item(), abs=1e-5)
    whole.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        assert torch.allclose(gradients[name], parameter.grad, atol=1e-6), name


def test_a_task_without_labels_counts_nothing(model: BertForPreTraining) -> None:
    words_only = joint_loss(model, batch_of(LABELS, None))
    assert words_only.next_sentence.item() == 0.0
    assert words_only.masked_lm.item() > 0.0
    batch = batch_of(torch.full_like(LABELS, -100), torch.tensor([0, 0, 1]))
    nothing_masked = joint_loss(model, batch)
    assert nothing_masked.masked_lm.item() == 0.0
    nothing_masked.total.backward()  # type: ignore[no-untyped-call]

"""The loss of a student, against formulas by hand, against autograd, and what it starts with."""

import math
from pathlib import Path

import pytest
import torch

from bert_core.config import BertConfig
from bert_core.errors import InputError
from bert_core.model.heads import BertForPreTraining
from bert_core.pretraining import (
    PretrainingBatch,
    distilled_loss,
    every_second_layer,
    joint_loss,
    soft_loss,
)
from tests.bert_core.conftest import SIZES


def made(layers: int = 4, pieces: int = 99) -> BertForPreTraining:
    torch.manual_seed(layers)
    sizes = {**SIZES, "num_hidden_layers": layers, "initializer_range": 0.2}
    rates = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    config = BertConfig(pieces, **sizes, **rates)
    return BertForPreTraining(config)


def batch(labels: list[list[int]] | None = None) -> PretrainingBatch:
    torch.manual_seed(1)
    return PretrainingBatch(
        torch.randint(99, (3, 7)),
        positions=torch.tensor([[1, 3], [2, 0], [5, 0]]),
        position_labels=torch.tensor(labels or [[7, 8], [9, -100], [-100, -100]]),
        next_sentence_label=torch.tensor([0, 1, 1]),
    )


def test_the_soft_loss_is_the_formula_of_the_paper() -> None:
    scores, wanted = [[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]], [[2.0, 0.0, -1.0], [1.0, 1.0, 4.0]]
    temperature, expected = 2.0, 0.0
    for found_row, wanted_row in zip(scores, wanted, strict=True):
        q, p = ([math.exp(each / temperature) for each in row] for row in (found_row, wanted_row))
        expected += sum(
            b / sum(p) * math.log(b / sum(p) / (a / sum(q))) for a, b in zip(q, p, strict=True)
        )
    found = soft_loss(torch.tensor(scores), torch.tensor(wanted), temperature)
    assert found.item() == pytest.approx(expected / 2 * temperature**2, abs=1e-5)


def test_a_student_learns_from_both_and_the_teacher_from_nothing() -> None:
    student, teacher, given = made(2), made(4), batch()
    hard, taught = joint_loss(student, given), joint_loss(teacher, given)
    assert hard.scores is not None and taught.scores is not None
    assert hard.scores.shape == (3, 99)
    found = distilled_loss(student, teacher, given, temperature=2.0, soft=0.7)
    expected = 0.3 * hard.masked_lm + 0.7 * soft_loss(hard.scores, taught.scores, 2.0)
    torch.testing.assert_close(found.masked_lm, expected)
    torch.testing.assert_close(found.next_sentence, hard.next_sentence)
    torch.testing.assert_close(distilled_loss(student, teacher, given, soft=0.0).total, hard.total)
    found.total.backward()  # type: ignore[no-untyped-call]
    assert all(each.grad is None for each in teacher.parameters())
    assert student.bert.encoder.layer_at(0).intermediate.dense.weight.grad is not None
    nothing = batch([[-100, -100]] * 3)
    assert distilled_loss(student, teacher, nothing).masked_lm.item() == 0.0


@pytest.mark.parametrize("shared", [False, True])
def test_a_student_starts_with_every_second_layer_of_its_own(shared: bool) -> None:
    teacher = made(4)
    if shared:  # as in ALBERT
        layer = teacher.bert.encoder.layer
        teacher.bert.encoder.layer = torch.nn.ModuleList([layer[0]] * 4)
    before = {name: each.clone() for name, each in teacher.state_dict().items()}
    student = every_second_layer(teacher)
    assert student.config.num_hidden_layers == 2 and teacher.config.num_hidden_layers == 4
    for name, value in student.state_dict().items():
        source = name.replace("layer.1.", "layer.2.")
        torch.testing.assert_close(value, before[source])
    layers = list(student.bert.encoder.layers())
    assert (layers[0] is layers[1]) == shared
    with torch.no_grad():
        for parameter in student.parameters():
            parameter.add_(1.0)
    for name, value in teacher.state_dict().items():
        torch.testing.assert_close(value, before[name])


def test_a_student_of_a_pruned_teacher_can_be_saved_and_loaded(tmp_path: Path) -> None:
    teacher = made(4)
    teacher.prune_heads({1: [0, 1], 2: [3]})
    every_second_layer(teacher).save_pretrained(tmp_path)
    student = BertForPreTraining.from_pretrained(tmp_path)
    assert student.config.extra["pruned_heads"] == {"1": [3]}
    weight = student.bert.encoder.layer_at(1).attention.self.query.weight
    torch.testing.assert_close(weight, teacher.bert.encoder.layer_at(2).attention.self.query.weight)


def test_what_cannot_be_distilled_is_refused_with_the_numbers() -> None:
    with pytest.raises(InputError, match="has 3 layers; expected an even number"):
        every_second_layer(made(3))
    with pytest.raises(InputError, match="99 pieces, the teacher's 98"):
        distilled_loss(made(2), made(2, 98), batch())
    with pytest.raises(InputError, match=r"soft is 1\.5; give a share from 0 to 1"):
        distilled_loss(made(2), made(2), batch(), soft=1.5)
    for wrong in (0.0, -1.0, math.nan):
        with pytest.raises(InputError, match="above 0"):
            soft_loss(torch.zeros(1, 2), torch.zeros(1, 2), wrong)

"""Losses: what counts, what is ignored, what is refused."""

import pytest
import torch
import transformers
from torch.nn import functional as F

from bert_core.errors import InputError
from bert_core.model.heads import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from tests.bert_core.classes import LABELS, inputs_for

ROWS = torch.tensor([0, 1, 1])
SOME = [(cls, [*labels]) for cls, labels in LABELS.items()]
SOME += [(BertForPreTraining, [name]) for name in LABELS[BertForPreTraining]]


@pytest.mark.parametrize("value", [-1, -100])
@pytest.mark.parametrize(("cls", "names"), SOME)
def test_where_nothing_is_left_to_count_the_loss_is_zero(make_config, batch, value, cls, names):
    model = cls(make_config())
    labels = {name: torch.full_like(LABELS[cls][name], value) for name in names}
    loss = model(**inputs_for(cls, batch), **labels)
    assert loss.dim() == 0
    assert loss.item() == 0
    loss.backward()
    for parameter in model.parameters():
        assert parameter.grad is None or torch.isfinite(parameter.grad).all()


@pytest.mark.parametrize("value", [-1, -100])
def test_ignored_labels_do_not_count(make_pair, batch, assert_close, value):
    ours, _ = make_pair(BertForTokenClassification, num_labels=5)
    labels = torch.full((3, 7), value)
    labels[0, 2], labels[1, 1] = 4, 0
    logits = ours(**vars(batch))
    expected = F.cross_entropy(logits[[0, 1], [2, 1]], torch.tensor([4, 0]))
    assert_close(ours(**vars(batch), labels=labels), expected)
    rows = torch.tensor([value, 1, 0])
    model, _ = make_pair(BertForSequenceClassification)
    expected = F.cross_entropy(model(**vars(batch))[1:], rows[1:])
    assert_close(model(**vars(batch), labels=rows), expected)


def test_token_labels_count_unless_they_are_on_padding(make_pair, batch, assert_close):
    ours, _ = make_pair(BertForTokenClassification, num_labels=5)
    labels = torch.arange(21).view(3, 7) % 5
    changed = labels.where(batch.attention_mask == 1, 3)
    assert_close(ours(**vars(batch), labels=changed), ours(**vars(batch), labels=labels))
    expected = F.cross_entropy(ours(batch.input_ids).flatten(0, 1), labels.flatten())
    assert_close(ours(batch.input_ids, labels=labels), expected)


def test_the_two_losses_of_pre_training_add_up(make_pair, batch, assert_close):
    ours, _ = make_pair(BertForPreTraining)
    words = torch.where(torch.arange(21).view(3, 7) % 4 == 0, 5, -1)
    both = ours(**vars(batch), masked_lm_labels=words, next_sentence_label=ROWS)
    alone = ours(**vars(batch), masked_lm_labels=words)
    other = ours(**vars(batch), next_sentence_label=ROWS)
    assert_close(both, alone + other)
    masked, pairs = BertForMaskedLM.from_model(ours), BertForNextSentencePrediction.from_model(ours)
    assert_close(alone, masked(**vars(batch), masked_lm_labels=words))
    assert_close(other, pairs(**vars(batch), next_sentence_label=ROWS))


@pytest.mark.parametrize("cls", [BertForSequenceClassification, BertForTokenClassification,
                                 BertForQuestionAnswering])  # fmt: skip
def test_labels_may_be_of_any_whole_number_type_and_have_a_last_axis(
    make_pair, batch, assert_close, cls
):
    ours, _ = make_pair(cls)
    labels = {name: each.clamp(max=1) for name, each in LABELS[cls].items()}
    expected = ours(**vars(batch), **labels)
    for change in (torch.Tensor.int, torch.Tensor.char, torch.Tensor.byte, torch.Tensor.bool,
                   lambda each: each[:, None] if each.dim() == 1 else each):  # fmt: skip
        changed = {name: change(each) for name, each in labels.items()}
        assert_close(ours(**vars(batch), **changed), expected)


@pytest.mark.parametrize(
    ("cls", "labels", "says"),
    [
        (BertForSequenceClassification, {"labels": torch.zeros(2).long()}, r"\(2,\).*\(3,\)"),
        (BertForSequenceClassification, {"labels": torch.zeros(3, 2).long()}, r"\(3, 2\)"),
        (BertForSequenceClassification, {"labels": torch.zeros(3)}, "whole numbers"),
        (BertForSequenceClassification, {"labels": [0, 1, 0]}, "whole numbers"),
        (BertForSequenceClassification, {"labels": torch.tensor([0, 1, 2])}, "2.*0 to 1"),
        (BertForSequenceClassification, {"labels": torch.tensor([0, 1, -7])}, "-7.*0 to 1"),
        (BertForNextSentencePrediction, {"next_sentence_label": ROWS[:2]}, "next_sentence_label"),
        (BertForMultipleChoice, {"labels": torch.tensor([0, 1, 2])}, "2.*0 to 1"),
        (BertForTokenClassification, {"labels": [[0] * 7] * 3}, "list"),
        (BertForTokenClassification, {"labels": torch.zeros(3, 7)}, "float32"),
        (BertForMaskedLM, {"masked_lm_labels": [[0] * 7] * 3}, "list"),
        (BertForTokenClassification, {"labels": ROWS}, r"\(3,\).*\(3, 7\)"),
        (BertForTokenClassification, {"labels": torch.zeros(7, 3).long()}, r"\(7, 3\).*\(3, 7\)"),
        (BertForMaskedLM, {"masked_lm_labels": ROWS}, r"masked_lm_labels.*\(3,\).*\(3, 7\)"),
        (BertForMaskedLM, {"masked_lm_labels": torch.full((3, 7), 99)}, "99.*0 to 98"),
        (BertForPreTraining, {"masked_lm_labels": torch.zeros(7, 3).long()}, "masked_lm_labels"),
        (BertForPreTraining, {"next_sentence_label": torch.zeros(3, 7).long()}, "next_sentence"),
        (
            BertForQuestionAnswering,
            {"start_positions": ROWS, "end_positions": ROWS[:2]},
            "end_positions",
        ),
        (BertForQuestionAnswering, {"start_positions": ROWS}, "together"),
        (BertForQuestionAnswering, {"end_positions": ROWS}, "together"),
        (
            BertForQuestionAnswering,
            {"start_positions": ROWS.float(), "end_positions": ROWS},
            "start_positions",
        ),
    ],
)
def test_labels_of_the_wrong_kind_are_refused(make_config, batch, cls, labels, says):
    model = cls(make_config()).eval()
    with pytest.raises(InputError, match=says):
        model(**inputs_for(cls, batch), **labels)


@pytest.mark.parametrize(
    ("problem", "labels"),
    [
        ("regression", torch.tensor([[0.5, -1, 2], [0, 3, 1], [2, 2, 0]])),
        ("multi_label_classification", torch.tensor([[0.0, 1, 1], [0, 0, 0], [1, 0, 1]])),
        ("single_label_classification", torch.tensor([0, 2, 1])),
    ],
)
def test_the_loss_is_that_of_the_problem_type(make_config, batch, assert_close, problem, labels):
    torch.manual_seed(0)
    ours = BertForSequenceClassification(make_config(num_labels=3, problem_type=problem)).eval()
    theirs = transformers.BertForSequenceClassification(
        transformers.BertConfig(**ours.config.to_dict())
    ).eval()
    theirs.load_state_dict(ours.state_dict())
    assert_close(ours(**vars(batch), labels=labels), theirs(**vars(batch), labels=labels).loss)


@pytest.mark.parametrize("cls", [BertForSequenceClassification, BertForTokenClassification])
def test_the_number_of_labels_is_the_argument_else_the_configs_else_two(make_config, cls):
    assert cls(make_config()).num_labels == 2
    assert cls(make_config(id2label={0: "a", 1: "b", 2: "c"})).num_labels == 3
    assert cls(make_config(num_labels=4)).classifier.out_features == 4
    config = make_config(id2label={0: "a", 1: "b", 2: "c"})
    model = cls(config, 5)
    assert model.classifier.out_features == 5
    assert model.config.num_labels == 5
    assert config.num_labels == 3

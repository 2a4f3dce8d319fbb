"""Targets: their numbers, against the outputs of the model; their words; what they refuse."""

from typing import Any

import pytest
import torch

from bert_core import BertForMaskedLM, BertForSequenceClassification, BertModel
from bert_core.analysis import Target, run
from bert_core.errors import InputError
from tests.bert_core.analysis.conftest import TARGETS


def by_hand(target, outputs):
    """The number of a target, from the outputs of the whole model."""
    at = target.position
    if target.kind in ("start", "end"):
        logits = outputs.start_logits if target.kind == "start" else outputs.end_logits
        return logits[0].log_softmax(-1)[at]
    if target.kind == "next_sentence":
        relation = outputs.seq_relationship_logits
        relation = outputs.logits if relation is None else relation
        return relation[0, 0] - relation[0, 1]
    if target.kind == "token_difference":
        return outputs.logits[0, at, target.chosen] - outputs.logits[0, at, target.other]
    if target.kind in ("token", "label"):
        return outputs.logits[0, at].log_softmax(-1)[target.chosen]
    if target.kind == "score":
        return outputs.logits[0, 0]
    return outputs.logits[0].log_softmax(-1)[target.chosen]


@pytest.mark.parametrize(("cls", "target"), TARGETS)
@torch.inference_mode()
def test_a_target_is_read_from_the_models_own_answer(build, pair, cls, target):
    model = build(cls)
    outputs = run(model, pair)
    target.check(model, len(pair))
    found = target.read(model, outputs.last_hidden_state.repeat(3, 1, 1))
    assert found.shape == (3,)
    assert torch.allclose(found, by_hand(target, outputs).expand(3), atol=1e-5)


@pytest.mark.parametrize(
    ("target", "words", "probability"),
    [
        (Target.token(3, 7), "log-probability of token 7 at position 3", 0.25),
        (Target.token_difference(3, 7, 9), "logit of token 7 minus logit of token 9", 0.2),
        (Target.start(2), "log-probability that the answer starts at position 2", 0.25),
        (Target.end(2), "log-probability that the answer ends at position 2", 0.25),
        (Target.label(2, 1), "log-probability of label 1 at position 2", 0.25),
        (Target.classification(1), "log-probability of label 1", 0.25),
        (Target.next_sentence(), 'logit of "B follows A" minus logit of "B does not follow"', 0.2),
        (Target.score(), "score 0 of the text", -1.3862943),
    ],
)
def test_a_target_says_what_it_is(target, words, probability):
    assert str(target).startswith(words)
    found = target.probability(torch.tensor([-1.3862943])).item()  # log(1/4), also log(0.2 / 0.8)
    assert found == pytest.approx(probability)


def test_targets_ask_only_what_the_model_has(build):
    with pytest.raises(InputError, match="cannot be asked of a BertModel; expected BertForMask"):
        Target.token(1, 2).check(build(BertModel), 5)
    with pytest.raises(InputError, match="Found position 5; the text has 0 to 4"):
        Target.token(5, 2).check(build(), 5)


@torch.inference_mode()
def test_scores_that_the_head_does_not_have_are_refused(build, pair):
    def read(model: Any, target: Target) -> None:
        target.read(model, run(model, pair).last_hidden_state)

    with pytest.raises(InputError, match="the head gives 0 to 79"):
        read(build(BertForMaskedLM), Target.token(1, 80))
    with pytest.raises(InputError, match=r"2 outputs .*Use Target.classification"):
        read(build(BertForSequenceClassification), Target.score())
    for settings in (
        {"num_labels": 1},
        {"num_labels": 3, "problem_type": "regression"},
        {"num_labels": 3, "problem_type": "multi_label_classification"},
    ):
        model = build(BertForSequenceClassification, **settings)
        with pytest.raises(InputError, match=r"Use Target.score"):
            read(model, Target.classification(0))
        read(model, Target.score(model.num_labels - 1))

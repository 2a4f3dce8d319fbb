"""Context mixing: what rolls out, what sums to what, and values that are really zero."""

import numpy as np
import pytest
import torch

from bert_core import BertModel
from bert_core.analysis import norms, part_biases, parts, rolled, rollout, run, value_zeroing
from bert_core.analysis.forward import record
from bert_core.errors import InputError


def test_rows_of_a_rollout_sum_to_one(words, pair):
    attentions = run(words, pair).attentions
    assert attentions
    found = rollout(attentions)
    assert found.shape == (11, 11)
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-9)
    mixed = [(layer[0].mean(0).detach().double().numpy() + np.eye(11)) / 2 for layer in attentions]
    np.testing.assert_allclose(found, mixed[2] @ mixed[1] @ mixed[0], atol=1e-6)
    without_batch = rollout([layer[0] for layer in attentions])
    np.testing.assert_array_equal(found, without_batch)


def test_rolling_without_the_identity_is_the_plain_product():
    scores = np.array([[[1.0, 3.0], [1.0, 1.0]], [[0.0, 2.0], [5.0, 0.0]]])
    expected = np.array([[0.0, 1.0], [1.0, 0.0]]) @ np.array([[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_allclose(rolled(scores, residual=False), expected)


@pytest.mark.parametrize("heads", [{}, {1: [0, 2]}])
@torch.inference_mode()
def test_parts_and_biases_sum_to_what_the_model_computes(build, pair, heads):
    model = build(BertModel)
    model.prune_heads(heads)
    text = record(model, pair)
    for layer in range(3):
        block = model.encoder.layer_at(layer).attention
        hidden = text.hidden_states[layer]
        added = block.output.dense(text.at["head", layer])
        expected = {
            "attention": added,
            "residual": added + hidden,
            "layer_norm": block.output(text.at["head", layer], hidden),
        }
        for include, whole in expected.items():
            vectors, biases = parts(model, pair, include), part_biases(model, pair, include)
            assert vectors.shape == (3, 11, 11, 32) and biases.shape == (3, 11, 32)
            summed = vectors[layer].sum(dim=1) + biases[layer]
            torch.testing.assert_close(summed, whole[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("include", ["attention", "residual", "layer_norm"])
def test_norms_are_the_lengths_of_the_parts(words, pair, include):
    expected = parts(words, pair, include).norm(dim=-1).numpy()
    np.testing.assert_allclose(norms(words, pair, include), expected, rtol=1e-5)


def test_the_residual_is_a_part_of_the_token_itself(words, pair):
    with torch.inference_mode():
        added = parts(words, pair, "residual") - parts(words, pair, "attention")
        states = torch.cat((run(words, pair).hidden_states or ())[:-1])
    own = torch.diagonal(added, dim1=1, dim2=2).transpose(1, 2)  # (L, T, D)
    torch.testing.assert_close(own, states, rtol=1e-5, atol=1e-5)
    assert added.norm(dim=-1)[~torch.eye(11, dtype=torch.bool).expand(3, -1, -1)].max() == 0


@torch.inference_mode()
def test_zeroed_values_are_zero_in_every_head(words, pair):
    found = value_zeroing(words, pair)
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-6)
    text = record(words, pair, attentions=True)
    block = words.bert.encoder.layer_at(1)
    hidden, true = text.hidden_states[1], text.hidden_states[2][0]
    value = block.attention.self.project(hidden)[2]
    scores = np.empty((11, 11))
    for token in range(11):
        zeroed = value.clone()
        zeroed[:, :, token] = 0
        context = (text.attentions[1] @ zeroed).transpose(1, 2).flatten(2)
        attended = block.attention.output(context, hidden)
        output = block.output(block.intermediate(attended), attended)[0]
        scores[:, token] = 1 - torch.cosine_similarity(output.double(), true.double(), dim=-1)
    np.testing.assert_allclose(found[1], scores / scores.sum(-1, keepdims=True), atol=1e-5)


def test_unknown_parts_are_refused(words, pair):
    for function in (parts, part_biases, norms):
        with pytest.raises(InputError, match="There is no 'values'; expected one of attention"):
            function(words, pair, "values")

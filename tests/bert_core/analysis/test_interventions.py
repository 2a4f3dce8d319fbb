"""Interventions: every algebraic statement about them."""

from dataclasses import fields
from typing import Any

import pytest
import torch

from bert_core.analysis import FeedForward, Heads, Patch, fitted, run
from bert_core.analysis.forward import record
from bert_core.errors import InputError
from bert_core.model.kinds import KINDS
from bert_core.model.sites import SITES
from tests.bert_core.analysis.conftest import VOCABULARY
from tests.compat.torch import hooks_of


def tensors(encoding):
    return torch.tensor([encoding.input_ids]), torch.tensor([encoding.token_type_ids])


def flat(outputs):
    values = [getattr(outputs, each.name) for each in fields(outputs)]
    nested = [v if isinstance(v, tuple) else (v,) for v in values if v is not None]
    return [tensor for group in nested for tensor in group]


@pytest.mark.parametrize("cls", [kind.cls for kind in KINDS.values()])
@pytest.mark.parametrize("attentions", [True, False])
@torch.inference_mode()
def test_no_intervention_gives_the_same_bits(build, pair, cls, attentions):
    model = build(cls)
    ids, types = tensors(pair)
    if KINDS[cls.__name__].has_axis("N"):
        expected = model.run(ids[None], types[None], attentions=attentions)
    else:
        expected = model.run(ids, types, attentions=attentions)
    found = run(model, pair, attentions=attentions)
    assert len(flat(found)) == len(flat(expected)) > (5 if attentions else 2)
    assert all(torch.equal(a, b) for a, b in zip(flat(found), flat(expected), strict=True))


@pytest.mark.parametrize(
    ("layer", "heads", "scale"), [(0, [2], 0), (1, [0, 3], 0.5), (2, [0, 1, 2, 3], 0)]
)
@torch.inference_mode()
def test_scaling_heads_scales_their_columns_of_the_output_projection(
    build, pair, layer, heads, scale, assert_close
):
    model, twin = build(), build()
    found = run(model, pair, interventions=[Heads(layer, heads, scale=scale)])
    weight = twin.bert.encoder.layer_at(layer).attention.output.dense.weight
    for head in heads:
        weight[:, head * 8 : head * 8 + 8] *= scale
    expected = twin.run(*tensors(pair))
    for a, b in zip(flat(found), flat(expected), strict=True):
        assert_close(a, b, 1e-6 * float(b.abs().max()))
    assert not torch.equal(found.logits, model.run(*tensors(pair)).logits)


@pytest.mark.parametrize("kept", [True, False])
@torch.inference_mode()
def test_means_are_those_of_a_source_or_kept_for_the_model(words, pair, other, tokenizer, kept):
    change = FeedForward(1, mode="mean", source=None if kept else other)
    text = torch.tensor(other.special_tokens_mask) == 0
    mean = record(words, other).at["feed_forward", 1][:, text].mean(1)
    if kept:
        mean = fitted(words, tokenizer).means["feed_forward", 1]
    layer, own = words.bert.encoder.layer_at(1), record(words, pair)
    attended = layer.attention.output(own.at["head", 1], own.hidden_states[1])
    found = run(words, pair, interventions=[change]).hidden_states[2]
    assert torch.allclose(found, layer.output.LayerNorm(attended + mean), atol=1e-5)


@pytest.mark.parametrize("site", SITES)
@torch.inference_mode()
def test_patching_a_run_with_itself_changes_nothing(words, pair, site):
    plain = run(words, pair)
    for positions in (None, 3, [0, 5]):
        patched = run(words, pair, interventions=[Patch(site, 1, positions, pair)])
        assert all(torch.equal(a, b) for a, b in zip(flat(patched), flat(plain), strict=True))


@pytest.mark.parametrize("layer", [0, 1, 2])
@torch.inference_mode()
def test_patching_all_of_a_layer_gives_the_answer_of_the_source(words, pair, other, layer):
    source = run(words, other)
    assert not torch.equal(source.logits, run(words, pair).logits)
    for given in (other, source):
        patched = run(words, pair, interventions=[Patch("layer", layer, None, given)])
        assert torch.equal(patched.logits, source.logits)


@torch.inference_mode()
def test_a_patch_acts_only_where_it_is_told(words, pair, other):
    states = run(words, pair, interventions=[Patch("layer", 0, [2, 4], other)]).hidden_states
    own, source = run(words, pair).hidden_states, run(words, other).hidden_states
    assert states and own and source
    for at in range(len(pair)):
        expected = source if at in (2, 4) else own
        assert torch.equal(states[1][:, at], expected[1][:, at])


def test_gradients_pass_through_interventions(words, pair):
    run(words, pair, interventions=[Heads(1, 2)]).logits.sum().backward()
    layers = words.bert.encoder
    gradient = layers.layer_at(1).attention.output.dense.weight.grad
    assert gradient[:, 16:24].abs().max() == 0 < gradient[:, :16].abs().max()


def test_nothing_is_left_on_the_model(words, pair, other):
    def state() -> list[Any]:
        return [(name, sorted(vars(each)), hooks_of(each)) for name, each in words.named_modules()]

    before, weights = str(state()), {k: v.clone() for k, v in words.state_dict().items()}
    changes = [Heads(0, 1, mode="mean", source=other), Patch("layer", 1, 2, other), FeedForward(2)]
    run(words, pair, interventions=changes)
    assert str(state()) == before
    assert all(torch.equal(v, weights[k]) for k, v in words.state_dict().items())
    assert all(p.grad is None for p in words.parameters())


SHORT = [2, 5, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (Heads(3, 0), "no layer 3; this model has 0 to 2"),
        (Heads(0, 4), "no head 4"),
        (Heads(0, 0, mode="median"), "no mode 'median'"),
        (Heads(0, 0, mode="resample"), "needs a source"),
        (Heads(0, 0, mode="resample", source=SHORT), "3 tokens, the text 11"),
        (Patch("layer", 0, None, SHORT), "3 tokens, the text 11"),
        (Patch("layer", 0, 3, SHORT), r"positions \[3\]; both texts have 0 to 2"),
        (Patch("output", 0, None, SHORT), "site 'output'"),
        (Patch("layer", 0, 0, SHORT, heads=1), "heads only at 'head'"),
        (Patch("layer", -1, 0, SHORT), "no layer -1"),
    ],
)
def test_impossible_interventions_are_refused(words, pair, change, message):
    with pytest.raises(InputError, match=message):
        run(words, pair, interventions=[change])


def test_unusable_inputs_are_refused(words, pair):
    with pytest.raises(InputError, match="Found 2 texts; expected one"):
        run(words, torch.tensor([[2, 3], [2, 3]]))
    with pytest.raises(InputError, match=f"contains {len(VOCABULARY)}"):
        run(words, [2, len(VOCABULARY), 3])
    with pytest.raises(InputError, match="in training mode"):
        run(words.train(), pair)

"""Effects and patching grids, against one intervention at a time."""

import numpy as np
import pytest
import torch

from bert_core import BertForQuestionAnswering
from bert_core.analysis import (
    Attention,
    FeedForward,
    Heads,
    Patch,
    Target,
    effects_by_layer,
    head_effects,
    layer_effects,
    patching_grid,
    run,
)
from bert_core.errors import InputError
from bert_core.model.sites import SITES
from tests.bert_core.analysis.conftest import TARGETS

TARGET = Target.token_difference(3, 7, 9)


@torch.inference_mode()
def value(model, encoding, target, *changes):
    outputs = run(model, encoding, interventions=changes, attentions=False)
    return float(target.read(model, outputs.last_hidden_state)[0])


@pytest.mark.parametrize("mode", ["zero", "mean", "resample"])
def test_effects_are_those_of_one_part_at_a_time(words, pair, other, mode):
    off = {"mode": mode, "source": None if mode == "zero" else other}
    plain = value(words, pair, TARGET)

    def without(part):
        return value(words, pair, TARGET, part) - plain

    heads = [[without(Heads(layer, head, **off)) for head in range(4)] for layer in range(3)]
    found = head_effects(words, pair, TARGET, **off)
    np.testing.assert_allclose(found, heads, atol=2e-5)
    assert np.abs(found).min() > 1e-4
    blocks = [
        [without(kind(layer, **off)) for kind in (Attention, FeedForward)] for layer in range(3)
    ]
    np.testing.assert_allclose(layer_effects(words, pair, TARGET, **off), blocks, atol=2e-5)
    layers = effects_by_layer(words, pair, TARGET, **off)
    for both, own in zip(zip(*layers, strict=True), (heads, blocks), strict=True):
        np.testing.assert_allclose(np.stack(both), own, atol=2e-5)


@pytest.mark.parametrize(("cls", "target"), TARGETS)
def test_every_head_of_a_model_can_be_asked(build, pair, cls, target):
    model = build(cls)
    found = head_effects(model, pair, target, "zero")
    single = value(model, pair, target, Heads(0, 3)) - value(model, pair, target)
    assert found.shape == (3, 4)
    assert found[0, 3] == pytest.approx(single, abs=2e-5)


def test_pruned_heads_have_no_effect_to_measure(build, pair, other):
    model = build()
    model.prune_heads({0: [1], 2: [0, 1, 2, 3]})
    found = head_effects(model, pair, TARGET, "zero")
    gone = [[False, True, False, False], [False] * 4, [True] * 4]
    assert np.isnan(found).tolist() == gone
    assert np.isnan(patching_grid(model, pair, other, TARGET, "head")).tolist() == gone


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("direction", ["denoise", "noise"])
def test_a_grid_holds_one_patch_at_a_time(words, pair, other, site, direction):
    found = patching_grid(words, pair, other, TARGET, site, direction=direction)
    clean, corrupt = value(words, pair, TARGET), value(words, other, TARGET)
    start, giver = (other, pair) if direction == "denoise" else (pair, other)
    for layer, place in ((0, 2), (1, 3), (2, 0)):
        patch = Patch(site, layer, place, giver)
        if site == "head":
            patch = Patch(site, layer, None, giver, heads=place)
        expected = (value(words, start, TARGET, patch) - corrupt) / (clean - corrupt)
        assert found[layer, place] == pytest.approx(expected, abs=1e-4)
    assert found.shape == (3, 4 if site == "head" else len(pair))


def test_what_cannot_be_patched_is_refused(words, pair, other):
    with pytest.raises(InputError, match="11 and 3 tokens; expected equal numbers"):
        patching_grid(words, pair, [2, 5, 3], Target.token(1, 7))
    with pytest.raises(InputError, match="no difference"):
        patching_grid(words, pair, pair, TARGET)
    with pytest.raises(InputError, match="direction='up'"):
        patching_grid(words, pair, other, TARGET, direction="up")
    with pytest.raises(InputError, match="cannot be asked of a BertForQuestionAnswering"):
        head_effects(BertForQuestionAnswering(words.config).eval(), pair, TARGET)

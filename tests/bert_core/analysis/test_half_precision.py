"""Causes and statistics of models in bfloat16 and float16, beside the same in float32."""

import copy

import numpy as np
import pytest
import torch

from bert_core.analysis import (
    METHODS,
    attribute,
    differences,
    head_effects,
    lens,
    norms,
    patching_grid,
    run,
    value_zeroing,
)
from bert_core.analysis.targets import Target
from tests.bert_core.analysis.conftest import TARGETS

NARROW = {torch.bfloat16: 0.06, torch.float16: 0.01}  # of the largest value


def close(found, expected, share):
    found, expected = (np.asarray(each, dtype=float) for each in (found, expected))
    assert np.isfinite(found).all()
    assert np.abs(found - expected).max() <= share * np.abs(expected).max()


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize(("cls", "target"), TARGETS)
def test_targets_are_read_in_float32(cls, target, dtype, build, pair):
    model = build(cls)
    last = model.encoder_model.run(torch.tensor([pair.input_ids])).last_hidden_state.detach()
    with torch.no_grad():
        expected = target.read(model, last)
        found = target.read(model.to(dtype), last.to(dtype))
    assert found.dtype == torch.float32
    assert (found - expected).abs().max() < 3 * NARROW[dtype]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("method", METHODS)
def test_attributions_are_close(method, dtype, build, pair):
    target = Target.token(3, 7)
    expected = attribute(build(), pair, target, method=method)
    found = attribute(build().to(dtype), pair, target, method=method)
    close(found.scores, expected.scores, 4 * NARROW[dtype])


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize(
    "measure",
    [
        lambda model, pair, other: head_effects(model, pair, Target.token(3, 7), mode="zero"),
        lambda model, pair, other: lens(model, pair, [3]).double().numpy(),
        lambda model, pair, other: norms(model, pair),
        lambda model, pair, other: value_zeroing(model, pair),
        lambda model, pair, other: differences(run(model, pair), run(model, other)).hidden_states,
    ],
    ids=["head effects", "lens", "norms", "value zeroing", "differences"],
)
def test_other_analyses_are_close(measure, dtype, build, pair, other):
    expected = measure(build(), pair, other)
    close(measure(build().to(dtype), pair, other), expected, 4 * NARROW[dtype])


def test_patching_finds_the_word_that_differs_and_changes_no_weight(build, pair, other):
    model = build().bfloat16()
    kept = copy.deepcopy(model.state_dict())
    grid = patching_grid(model, pair, other, Target.token(3, 7))
    assert np.isfinite(grid).all()
    assert grid[0].argmax() == 2  # the word that differs
    assert all(torch.equal(value, kept[name]) for name, value in model.state_dict().items())

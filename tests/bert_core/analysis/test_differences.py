"""Differences of two runs."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from bert_core.analysis import differences, run
from bert_core.analysis.differences import jensen_shannon
from bert_core.errors import InputError


def test_equal_runs_differ_by_exactly_nothing(words, pair):
    for align in (None, [(3, 3), (1, 1)]):
        found = differences(run(words, pair), run(words, pair), align=align)
        assert not found.attention.any() and not found.hidden_states.any()
    assert found.attention.shape == (3, 4)
    assert found.hidden_states.shape == (4, 2)


def test_differences_are_distances_and_angles(words, pair, other):
    one, two = run(words, pair), run(words, other)
    found = differences(one, two)
    assert one.hidden_states and two.hidden_states and one.attentions and two.attentions
    angle = 1 - torch.cosine_similarity(one.hidden_states[2], two.hidden_states[2], dim=-1)
    np.testing.assert_allclose(found.hidden_states[2], angle[0].detach(), atol=1e-6)
    p, q = (each.attentions[1][0, 2].detach().double().numpy() for each in (one, two))
    m = (p + q) / 2
    entropy = [(each * np.log2(each / m)).sum(-1) for each in (p, q)]
    expected = np.sqrt(sum(entropy) / 2).mean()
    assert found.attention[1, 2] == pytest.approx(expected, abs=1e-6)
    assert found.align == tuple((at, at) for at in range(11))
    changed = found.hidden_states[0] > 0
    assert changed.tolist() == [at == 2 for at in range(11)], "only one word differs"
    backwards = differences(two, one)
    np.testing.assert_allclose(found.attention, backwards.attention, atol=1e-9)


def test_texts_of_different_length_need_pairs(words, pair, tokenizer):
    short = run(words, tokenizer.encode("the cat [MASK] on a mat"))
    long = run(words, pair)
    with pytest.raises(InputError, match="11 and 8 tokens; expected equal numbers, or"):
        differences(long, short)
    found = differences(long, short, align=[(at, at) for at in range(7)])
    assert found.hidden_states.shape == (4, 7)
    assert not found.hidden_states[0].any() and found.hidden_states[1].all()
    assert long.attentions and short.attentions
    p = long.attentions[0][0, 1, :7].detach().double()
    q = short.attentions[0][0, 1, :7].detach().double()
    p = torch.cat([p[:, :7], p[:, 7:].sum(-1, keepdim=True)], -1)
    q = torch.cat([q[:, :7], q[:, 7:].sum(-1, keepdim=True)], -1)
    assert found.attention[0, 1] == pytest.approx(float(jensen_shannon(p, q).mean()), abs=1e-9)


def test_unequal_models_and_pairs_outside_are_refused(build, words, pair):
    plain = run(words, pair)
    for changes in ({"num_hidden_layers": 2}, {"num_attention_heads": 8}, {"hidden_size": 36}):
        with pytest.raises(InputError, match="expected equal numbers"):
            differences(plain, run(build(**changes), pair))
    for align in ([], [(0, 11)], [(-1, 0)], [(0, 0), (0, 1)]):
        with pytest.raises(InputError, match="at least one pair"):
            differences(plain, plain, align=align)
    with pytest.raises(InputError, match="no hidden states or attentions"):
        differences(plain, replace(plain, attentions=None))
    assert plain.hidden_states
    doubled = tuple(each.repeat(2, 1, 1) for each in plain.hidden_states)
    with pytest.raises(InputError, match="2 texts"):
        differences(plain, replace(plain, hidden_states=doubled))

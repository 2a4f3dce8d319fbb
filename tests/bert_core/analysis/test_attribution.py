"""Attributions: what they must sum to, and what they are by hand."""

import math
from itertools import permutations

import numpy as np
import pytest
import torch
from torch import Tensor

from bert_core import BertForMaskedLM, BertTokenizer
from bert_core.analysis import METHODS, Target, attribute, by_word, norms, rolled, rollout, run
from bert_core.analysis.forward import input_tensors
from bert_core.analysis.masking import free_tokens
from bert_core.errors import InputError
from tests.bert_core.analysis.conftest import TARGETS

TARGET = Target.token(3, 7)
BUNDLED = "explorer-mini-uncased"


def target_of(model, encoding, target, ids):
    """The target of a text, computed by the model itself."""
    types = torch.tensor([encoding.token_type_ids])
    with torch.inference_mode():
        last = model.run(torch.tensor([ids]), types, attentions=False).last_hidden_state
        return float(target.read(model, last)[0])


def vectors_of(model, encoding):
    """The word vectors of a text."""
    rows: Tensor = model.encoder_model.embeddings.word_embeddings.weight
    return rows[encoding.input_ids][None].detach()


def from_vectors(model, encoding, target, words):
    """The target of a text with other word vectors, computed by the model itself."""
    ids, types = input_tensors(model, encoding)
    rows = model.encoder_model.embeddings
    hidden = rows.normalised(words + rows.positions(ids) + rows.types(types))
    return target.read(model, model.encoder_model.encoder(hidden).last_hidden_state)


def masked(encoding, places):
    mask = encoding.special_id("[MASK]")
    return [mask if at in places else id_ for at, id_ in enumerate(encoding.input_ids)]


# -- frozen tokens ---------------------------------------------------------------------------------


def test_added_tokens_and_the_asked_mask_are_frozen(pair):
    assert free_tokens(pair, TARGET) == [1, 2, 4, 5, 6, 8, 9]
    assert free_tokens(pair, Target.token(2, 7)) == [1, 2, 3, 4, 5, 6, 8, 9]
    assert free_tokens(pair, Target.label(3, 1)) == [1, 2, 3, 4, 5, 6, 8, 9]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("cls", "target"), TARGETS)
def test_every_method_explains_every_target(build, pair, cls, target, method):
    found = attribute(build(cls), pair, target, method=method)
    assert found.scores.shape == (len(pair),)
    assert set(found.frozen) >= {0, 7, 10}
    assert (found.scores[list(found.frozen)] == 0).all()
    assert sorted((*found.order, *found.frozen)) == list(range(len(pair)))
    assert (np.diff(found.scores[list(found.order)]) <= 0).all()
    assert np.abs(found.scores).sum() > 0
    assert (found.method, found.target) == (method, target)


# -- gradients -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cls", "target"), TARGETS)
def test_gradients_are_those_of_finite_differences(build, pair, cls, target):
    model = build(cls).double()

    def value(words: Tensor) -> Tensor:
        return from_vectors(model, pair, target, words)

    words = vectors_of(model, pair).requires_grad_()
    assert torch.autograd.gradcheck(value, (words,), eps=1e-6, atol=1e-6, fast_mode=True)
    gradient = torch.autograd.grad(value(words).sum(), words)[0][0].numpy()
    found = attribute(model, pair, target, method="gradient").scores
    free = free_tokens(pair, target)
    np.testing.assert_allclose(found[free], np.linalg.norm(gradient, axis=-1)[free], rtol=1e-9)
    times = attribute(model, pair, target, method="gradient_x_input").scores
    expected = (gradient * words.detach().numpy()[0]).sum(-1)
    np.testing.assert_allclose(times[free], expected[free], rtol=1e-9)


@pytest.mark.parametrize("baseline", ["[MASK]", "[PAD]", "[UNK]", "zero"])
def test_integrated_gradients_are_complete(words, pair, baseline):
    found = attribute(words.double(), pair, TARGET, baseline=baseline)
    vectors = vectors_of(words, pair)
    empty = vectors.clone()
    empty[:, free_tokens(pair, TARGET)] = (
        0.0
        if baseline == "zero"
        else words.bert.embeddings.word_embeddings.weight[pair.special_id(baseline)].detach()
    )
    ends = [from_vectors(words, pair, TARGET, each).item() for each in (vectors, empty)]
    gap = abs(found.scores.sum() - (ends[0] - ends[1])) / abs(ends[0] - ends[1])
    assert found.gap == pytest.approx(gap, rel=1e-6)
    assert found.gap <= 0.01 or found.steps == 64
    assert (found.baseline, found.steps in (8, 16, 32, 64)) == (baseline, True)
    assert found.passes == 2 + 2 * sum(s for s in (8, 16, 32, 64) if s <= found.steps)


@pytest.mark.parametrize(
    "text", ["the capital of france is [MASK].", "the cat [MASK] on the mat .", "a [MASK] of milk"]
)
def test_the_bundled_model_is_explained_completely(text):
    model = BertForMaskedLM.from_pretrained(BUNDLED)
    encoding = BertTokenizer.from_pretrained(BUNDLED).encode(text)
    at = encoding.tokens.index("[MASK]")
    first = int(run(model, encoding).logits[0, at].argmax())
    found = attribute(model, encoding, Target.token(at, first))
    assert found.gap is not None and (found.gap <= 0.01 or found.steps == 64)
    whole = target_of(model, encoding, found.target, encoding.input_ids)
    empty = target_of(model, encoding, found.target, masked(encoding, found.order))
    assert found.scores.sum() == pytest.approx(whole - empty, rel=found.gap + 1e-3)


# -- hidden tokens ---------------------------------------------------------------------------------


def test_occlusion_masks_one_token_at_a_time(words, pair):
    found = attribute(words, pair, TARGET, method="occlusion")
    whole = target_of(words, pair, TARGET, pair.input_ids)
    for at in found.order:
        fall = whole - target_of(words, pair, TARGET, masked(pair, [at]))
        assert found.scores[at] == pytest.approx(fall, abs=1e-5)
    assert (found.baseline, found.passes) == ("mask", 8)


def test_tokens_can_be_hidden_by_the_attention_mask(words, pair):
    found = attribute(words, pair, TARGET, method="occlusion", operator="attention")
    ids, types = torch.tensor([pair.input_ids]), torch.tensor([pair.token_type_ids])
    with torch.inference_mode():
        for at in (1, 8):
            mask = torch.ones_like(ids)
            mask[0, at] = 0
            values = [
                TARGET.read(words, words.run(ids, types, each).last_hidden_state)[0].item()
                for each in (None, mask)
            ]
            assert found.scores[at] == pytest.approx(values[0] - values[1], abs=1e-5)


def brute_force(value, count):
    """Shapley values by their definition: the mean over all orders."""
    scores = [0.0] * count
    for order in permutations(range(count)):
        for at, token in enumerate(order):
            seen = frozenset(order[:at])
            scores[token] += value(seen | {token}) - value(seen)
    return [score / math.factorial(count) for score in scores]


def test_shapley_values_are_those_of_all_orders(words, tokenizer):
    encoding = tokenizer.encode("the cat [MASK] on mat")
    free = free_tokens(encoding, TARGET)
    known: dict[frozenset[int], float] = {}

    def value(shown: frozenset[int]) -> float:
        if shown not in known:
            hidden = [at for number, at in enumerate(free) if number not in shown]
            known[shown] = target_of(words, encoding, TARGET, masked(encoding, hidden))
        return known[shown]

    found = attribute(words, encoding, TARGET, method="shapley")
    np.testing.assert_allclose(found.scores[free], brute_force(value, len(free)), atol=1e-5)
    assert (found.passes, found.steps) == (2**4, 24)


def test_sampled_shapley_values_approach_the_exact_ones(words, pair):
    exact = attribute(words, pair, TARGET, method="shapley").scores
    errors = []
    for orders in (4, 400):
        sampled = attribute(words, pair, TARGET, method="shapley", exact=False, orders=orders)
        errors.append(np.abs(sampled.scores - exact).max())
    assert errors[1] < errors[0] / 3
    again = attribute(words, pair, TARGET, method="shapley", exact=False, orders=4)
    first = attribute(words, pair, TARGET, method="shapley", exact=False, orders=4)
    np.testing.assert_array_equal(again.scores, first.scores)


# -- attention -------------------------------------------------------------------------------------


def test_attention_is_the_row_of_the_asked_token(words, pair):
    attentions = run(words, pair).attentions
    assert attentions
    with torch.inference_mode():
        mean = torch.stack(attentions)[:, 0, :, 3].mean((0, 1)).numpy()
        last = attentions[-1][0, :, 3].mean(0).detach().numpy()
    free = free_tokens(pair, TARGET)
    for layers, expected in (("mean", mean), ("last", last)):
        found = attribute(words, pair, TARGET, method="attention", layers=layers).scores
        np.testing.assert_allclose(found[free], expected[free], atol=1e-6)
    rolled_out = attribute(words, pair, TARGET, method="rollout").scores
    np.testing.assert_allclose(rolled_out[free], rollout(attentions)[3][free], atol=1e-7)
    lengths = attribute(words, pair, TARGET, method="norms").scores
    np.testing.assert_allclose(lengths[free], rolled(norms(words, pair))[3][free], atol=1e-7)


# -- words, progress, refusals ---------------------------------------------------------------------


def test_scores_of_pieces_sum_to_words(tokenizer):
    encoding = tokenizer.encode("the Playing cat", "dogs!")
    assert encoding.tokens[1:4] == ["the", "play", "##ing"]
    scores = [2.0**at for at in range(len(encoding))]
    found = by_word(scores, encoding)
    assert [(w.text, w.sequence) for w in found] == [
        ("the", 0),
        ("Playing", 0),
        ("cat", 0),
        ("dogs", 1),
        ("!", 1),
    ]
    assert (found[1].score, found[1].positions, found[1].start, found[1].end) == (12, (2, 3), 4, 11)
    added = sum(s for s, f in zip(scores, encoding.special_tokens_mask, strict=True) if f)
    assert sum(w.score for w in found) == sum(scores) - added
    with pytest.raises(InputError, match="Found 2 scores for"):
        by_word([1.0, 2.0], encoding)


@pytest.mark.parametrize("method", ["integrated_gradients", "occlusion", "shapley", "gradient"])
def test_progress_is_told_and_can_cancel(words, pair, method):
    seen: list[tuple[int, int]] = []
    attribute(words, pair, TARGET, method=method, progress=lambda *done: seen.append(done))
    assert seen and seen[-1][0] == seen[-1][1]

    def cancel(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attribute(words, pair, TARGET, method=method, progress=cancel)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "lime"}, "There is no method 'lime'; expected one of integrated_gradients"),
        ({"baseline": "cat"}, "'cat' is not a special token"),
        ({"method": "occlusion", "operator": "delete"}, "There is no operator 'delete'"),
        ({"method": "attention", "layers": "first"}, "layers='first'"),
    ],
)
def test_unknown_choices_are_refused(words, pair, options, message):
    with pytest.raises(InputError, match=message):
        attribute(words, pair, TARGET, **options)

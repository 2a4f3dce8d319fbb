"""The kernel for inference and the ordinary one give the same, and each serves where it may."""

from itertools import pairwise

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from transformers.activations import ACT2FN

from bert_core.errors import ConfigError
from bert_core.model import kernels as functional
from bert_core.model.bert import BertModel
from bert_core.model.kernels import (
    ACTIVATIONS,
    affine,
    gelu_tanh,
    layer_norm,
    linear,
    project,
    project_together,
    special_kernels,
    store_together,
)

ONEDNN = pytest.mark.skipif(not functional.HAS_ONEDNN, reason="this build of PyTorch has no oneDNN")
BOTH = pytest.mark.parametrize("mkl", [False, True], indirect=True)
MKL_IS_FASTER = functional._mkl_is_faster


@pytest.fixture(autouse=True)
def mkl(request, monkeypatch):
    """Whether MKL multiplies float32; False, on every machine, where a test does not say."""
    chosen = getattr(request, "param", False)
    monkeypatch.setattr(functional, "_mkl_is_faster", lambda: chosen)
    return chosen


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return nn.Linear(32, 37)


@pytest.fixture
def x():
    return torch.randn(3, 7, 32, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("name", [None, *ACTIVATIONS])
def test_with_and_without_gradients_a_layer_gives_the_same(layer, x, name, assert_close):
    then = None if name is None else ACTIVATIONS[name]
    expected = layer(x) if then is None else then(layer(x))
    assert_close(linear(x, layer, then), expected)
    for context in (torch.no_grad(), torch.inference_mode()):
        with context:
            found = linear(x, layer, then)
        assert found.shape == (3, 7, 37)
        assert_close(found, expected)


PUBLISHED = ["gelu_10", "gelu_fast", "quick_gelu", "mish", "linear", "sigmoid", "leaky_relu"]


@pytest.mark.parametrize("name", sorted({*ACTIVATIONS, *PUBLISHED}))
def test_every_activation_and_its_gradient_are_those_of_transformers(name, assert_close):
    # Gradients in float64: rounded to float32, those of the tanh form differ by 1.1e-6.
    mine = torch.linspace(-30, 30, 6001, dtype=torch.float64).requires_grad_()
    peers = mine.detach().clone().requires_grad_()
    found, expected = ACTIVATIONS[name](mine), ACT2FN[name](peers)
    found.sum().backward()
    expected.sum().backward()
    assert_close(found, expected, 1e-6)
    assert_close(mine.grad, peers.grad, 1e-6)
    narrow = mine.detach().float()
    assert_close(ACTIVATIONS[name](narrow), ACT2FN[name](narrow), 1e-6)


def test_any_callable_may_follow(layer, x, assert_close):
    with torch.no_grad():
        assert_close(linear(x, layer, torch.sin), torch.sin(layer(x)))
        assert_close(linear(x, layer, nn.Hardtanh()), layer(x).clamp(-1, 1))


def test_gelu_is_the_erf_form_and_its_variant_the_tanh_form(assert_close):
    wide = torch.linspace(-8, 8, 4001)[:, None]
    one, zero = torch.ones(1, 1), torch.zeros(1)
    with torch.no_grad():
        assert_close(affine(wide, one, zero, F.gelu), F.gelu(wide.double()).float(), 1e-6)
        expected = F.gelu(wide.double(), approximate="tanh").float()
        assert_close(affine(wide, one, zero, gelu_tanh), expected, 1e-6)


@ONEDNN
def test_inference_in_float32_takes_the_fast_kernel(layer, x, monkeypatch):
    def refuse(*_):
        raise AssertionError("the ordinary kernel was used")

    monkeypatch.setattr(F, "linear", refuse)
    with torch.no_grad():
        assert linear(x, layer).shape == (3, 7, 37)
    with torch.inference_mode():
        assert linear(x[:, 0], layer, F.gelu).shape == (3, 37)


@pytest.mark.parametrize("kind", [torch.float64, torch.float16])
def test_other_number_types_take_the_ordinary_kernel(layer, x, kind):
    with torch.no_grad():
        found = linear(x.to(kind), layer.to(kind), F.gelu)
    assert found.dtype == kind
    assert torch.equal(found, F.gelu(F.linear(x.to(kind), layer.weight, layer.bias)))


def test_autocast_is_respected(layer, x):
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        assert linear(x, layer).dtype == torch.bfloat16


def test_gradients_take_the_ordinary_kernel(layer, x):
    linear(x, layer, F.gelu).sum().backward()
    assert layer.weight.grad.abs().sum() > 0


@BOTH
def test_nothing_times_something_is_nothing(layer):
    with torch.no_grad():
        assert linear(torch.zeros(3, 0, 32), layer).shape == (3, 0, 37)
        assert torch.equal(
            affine(torch.zeros(3, 0), torch.zeros(5, 0), torch.ones(5)), torch.ones(3, 5)
        )


@BOTH
def test_inputs_of_any_layout_are_read(layer, x, assert_close):
    for turned in (x.transpose(0, 1), x[:, ::2], x[:, 0], x.expand(2, 3, 7, 32), x[0, 0]):
        with torch.no_grad():
            assert_close(linear(turned, layer), layer(turned))


@BOTH
def test_weights_may_be_rows_of_a_larger_storage(x, assert_close):
    joint = torch.randn(3 * 32, 32)
    with torch.no_grad():
        for part in joint.split(32):
            assert_close(affine(x, part, torch.zeros(32)), x @ part.T)


@BOTH
def test_without_the_fast_kernel_a_model_gives_the_same(
    make_pair, batch, assert_close, monkeypatch
):
    ours, _ = make_pair(BertModel)
    with torch.inference_mode():
        fast = ours.run(**vars(batch))
        monkeypatch.setattr(functional, "HAS_ONEDNN", False)
        slow = ours.run(**vars(batch))
    assert_close(fast.last_hidden_state, slow.last_hidden_state)
    assert_close(fast.attentions[1], slow.attentions[1])


def test_layer_norm_is_the_modules(x, assert_close):
    norm = nn.LayerNorm(32, eps=1e-3)
    nn.init.normal_(norm.weight)
    assert_close(layer_norm(x, norm), norm(x))


# -- three layers at once -------------------------------------------------------------------------


@pytest.fixture
def three():
    torch.manual_seed(4)
    return nn.Linear(32, 24), nn.Linear(32, 24), nn.Linear(32, 24)


def test_layers_stored_together_are_the_same_layers_and_take_one_product(
    three, x, assert_close, monkeypatch
):
    expected = [part(x).view(3, 7, 4, 6) for part in three]
    parameters = [parameter for part in three for parameter in part.parameters()]
    assert functional._joint(three) is None
    store_together(three)
    assert functional._joint(three) is not None
    again = [parameter for part in three for parameter in part.parameters()]
    assert [id(parameter) for parameter in again] == [id(parameter) for parameter in parameters]
    products = []
    real = functional.affine
    monkeypatch.setattr(functional, "affine", lambda *given: products.append(given) or real(*given))
    for context, count in ((torch.no_grad(), 1), (torch.enable_grad(), 3)):
        products.clear()
        with context:
            found = project_together(x, three, (4, 6))
        assert len(products) == count
        for mine, wanted in zip(found, expected, strict=True):
            assert_close(mine, wanted)


def test_layers_that_lie_apart_again_are_applied_one_by_one(three, x, assert_close):
    store_together(three)
    three[1].weight.data = three[1].weight.detach().clone()
    assert functional._joint(three) is None
    with torch.no_grad():
        assert_close(project_together(x, three, (24,))[1], three[1](x))


# -- one short text -------------------------------------------------------------------------------


@ONEDNN
@pytest.mark.parametrize(("mkl", "tokens"), [(0, 1), (0, 5), (1, 1), (1, 2)], indirect=["mkl"])
@pytest.mark.parametrize("name", ["gelu", "gelu_new", "relu"])
def test_a_short_text_is_projected_feature_by_feature(layer, assert_close, tokens, name):
    text = torch.randn(1, tokens, 32, generator=torch.Generator().manual_seed(2))
    expected = ACTIVATIONS[name](layer(text))
    with torch.no_grad():
        found = project(text, layer, ACTIVATIONS[name])
        stored = project(text, layer).stride(-1)
    assert stored == tokens
    assert found.shape == (1, tokens, 37)
    assert_close(found, expected)


def test_long_texts_several_and_gradients_are_projected_token_by_token(layer):
    with torch.no_grad():
        for shape in ((1, 6, 32), (2, 5, 32), (5, 32)):
            assert project(torch.randn(shape), layer).stride(-1) == 1
    assert project(torch.randn(1, 5, 32), layer).requires_grad


@BOTH
@pytest.mark.parametrize("tokens", [1, 2, 31, 64])
@pytest.mark.parametrize("attentions", [True, False])
def test_a_short_text_has_the_results_of_the_peer_and_of_a_batch(
    make_pair, assert_close, tokens, attentions, monkeypatch
):
    monkeypatch.setattr(functional, "_FEATURES_A_TOKEN", 0)
    ours, peer = make_pair(BertModel, max_position_embeddings=64)
    ids = torch.randint(1, 99, (1, tokens), generator=torch.Generator().manual_seed(tokens))
    mask = (torch.arange(tokens) < max(1, tokens - 3)).long()[None]
    expected = peer(ids, attention_mask=mask, output_attentions=True, output_hidden_states=True)
    with torch.inference_mode():
        alone = ours.run(ids, attention_mask=mask, attentions=attentions)
        among = ours.run(
            ids.expand(3, -1), attention_mask=mask.expand(3, -1), attentions=attentions
        )
    assert_close(alone.last_hidden_state, expected.last_hidden_state)
    assert_close(alone.last_hidden_state, among.last_hidden_state[:1])
    assert alone.last_hidden_state.is_contiguous()
    for mine, wanted in zip(alone.hidden_states, expected.hidden_states, strict=True):
        assert_close(mine, wanted)
        assert mine.is_contiguous()
    if attentions:
        for mine, wanted in zip(alone.attentions, expected.attentions, strict=True):
            assert_close(mine, wanted)
            assert mine.is_contiguous()


@BOTH
def test_a_short_text_sees_every_change_of_the_weights(make_pair, assert_close, monkeypatch):
    monkeypatch.setattr(functional, "_FEATURES_A_TOKEN", 0)
    ours, peer = make_pair(BertModel)
    ids = torch.arange(1, 8)[None]

    def check():
        with torch.inference_mode():
            found = ours.run(ids).last_hidden_state
        peer.load_state_dict(ours.state_dict())
        assert_close(found, peer(ids).last_hidden_state)
        return found

    states = [check()]
    dense = ours.encoder.layer[0].intermediate.dense
    with torch.no_grad():
        dense.weight[3] += 1
    states.append(check())
    dense.weight.data.mul_(0.5)
    states.append(check())
    dense.bias.data = torch.ones_like(dense.bias)
    states.append(check())
    ours.load_state_dict({key: 1.1 * value for key, value in ours.state_dict().items()})
    states.append(check())
    optimizer = torch.optim.SGD(ours.parameters(), lr=0.1)
    ours.train()
    ours.run(ids).last_hidden_state.square().sum().backward()
    optimizer.step()
    ours.eval()
    states.append(check())
    assert all(not torch.allclose(first, second) for first, second in pairwise(states))


# -- the setting ----------------------------------------------------------------------------------


@pytest.fixture
def set_kernels(monkeypatch):
    """Set BERT_CORE_KERNELS, which is read once in a process, for one test."""

    def choose(choice):
        monkeypatch.setenv("BERT_CORE_KERNELS", choice)
        special_kernels.cache_clear()

    yield choose
    special_kernels.cache_clear()


def test_the_plain_setting_takes_no_special_kernel(
    make_pair, batch, assert_close, monkeypatch, set_kernels
):
    ours, peer = make_pair(BertModel)
    expected = peer(**vars(batch), output_attentions=True)
    apart, _ = make_pair(BertModel)

    def refuse(*_, **__):
        raise AssertionError("a special kernel was used")

    set_kernels("plain")
    monkeypatch.setattr(functional, "_HEAD_BY_HEAD", 1)
    monkeypatch.setattr(functional.BLOCKS, "empty", refuse)
    monkeypatch.setattr(functional, "_attend_head_by_head", refuse)
    monkeypatch.setattr(functional, "_attend_row_by_row", refuse)
    monkeypatch.setattr(functional, "_joint", refuse)
    monkeypatch.setattr(functional, "_times", refuse)
    apart.eval()  # would store query, key and value together
    with torch.inference_mode():
        found = ours.run(**vars(batch))
    assert_close(found.last_hidden_state, expected.last_hidden_state)
    for mine, theirs in zip(found.attentions, expected.attentions, strict=True):
        assert_close(mine, theirs)


def test_the_plain_setting_looks_at_no_mask(set_kernels):
    ones = torch.ones(1, 7, dtype=torch.bool)
    assert functional.masks_nothing(ones)
    set_kernels("plain")
    assert not functional.masks_nothing(ones)


def test_another_setting_is_refused_in_words(set_kernels, layer, x):
    set_kernels("quick")
    with torch.no_grad(), pytest.raises(ConfigError, match=r"BERT_CORE_KERNELS.*quick.*plain"):
        linear(x, layer)


# -- attention ------------------------------------------------------------------------------------

HOLES = torch.tensor([[1, 1, 0, 1, 1, 0, 0], [0, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1]])


def projections(rows):
    """Query, key and value as the fused projection lays them out: (B, H, T, K) with gaps."""
    torch.manual_seed(3)
    joint = torch.randn(rows, 7, 3, 4, 8)
    return joint.permute(2, 0, 3, 1, 4).unbind(0)


def attended(query, key, value, bias):
    """The definition, in float64."""
    scores = query.double() @ key.double().transpose(-1, -2) + (0 if bias is None else bias)
    probabilities = torch.softmax(scores, dim=-1)
    return probabilities @ value.double(), probabilities


@BOTH
@pytest.mark.parametrize("way", ["head by head", "row by row", "all together", "by feature"])
@pytest.mark.parametrize("shape", [None, "a row each", "a square each", "one square", "one row"])
@pytest.mark.parametrize("rows", [1, 3])
def test_attention_in_every_way_is_the_definition(monkeypatch, assert_close, way, shape, rows):
    monkeypatch.setattr(functional, "_mkl_uses_whole_unit", lambda: False)
    monkeypatch.setattr(functional, "_HEAD_BY_HEAD", 1 if way == "head by head" else 1000)
    monkeypatch.setattr(functional, "_ROW_BY_ROW", 1000 if way == "all together" else 1)
    parts = projections(rows)
    if way == "by feature":
        parts = tuple(part.permute(1, 3, 0, 2).contiguous().permute(2, 0, 3, 1) for part in parts)
        assert parts[0].stride(-1) == rows * 7
    keep = {
        "a row each": HOLES[:rows, None, None, :],
        "a square each": HOLES[:rows, None, None, :].expand(rows, 1, 7, 7).tril(),
        "one square": torch.ones(1, 1, 7, 7).tril(),
        "one row": HOLES[:1, None, None, :],
    }.get(shape)
    bias = None if keep is None else torch.where(keep.bool(), 0.0, torch.finfo().min / 2)
    with torch.inference_mode():
        found = functional.attend(*parts, bias)
    for mine, wanted in zip(found, attended(*parts, bias), strict=True):
        assert mine.shape == wanted.shape
        assert_close(mine, wanted.float(), 1e-6)


@ONEDNN
def test_long_inputs_are_attended_to_head_by_head_where_nothing_forbids_it(monkeypatch):
    monkeypatch.setattr(functional, "_HEAD_BY_HEAD", 7)
    monkeypatch.setattr(functional, "_mkl_uses_whole_unit", lambda: False)
    calls = []
    real = functional._attend_head_by_head
    monkeypatch.setattr(
        functional, "_attend_head_by_head", lambda *parts: calls.append(parts) or real(*parts)
    )
    parts = projections(1)
    with torch.no_grad():
        functional.attend(*parts, None)
        assert len(calls) == 1
        functional.attend(*(part[:, :, :6] for part in parts), None)  # too short
        functional.attend(*(part.double() for part in parts), None)
        functional.attend(*parts, None, dropout=0.5)
    functional.attend(*(part.requires_grad_() for part in parts), None)[0].sum().backward()
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("maker", "on_linux", "expected"),
    [
        ("GenuineIntel", True, True),
        ("AuthenticAMD", True, False),
        ("Intel64 Family 6, GenuineIntel", False, True),
        ("", False, False),
    ],
)
def test_mkl_is_trusted_with_intels_processors(monkeypatch, maker, on_linux, expected):
    def read_text(*_, **__):
        if not on_linux:
            raise FileNotFoundError
        return f"processor : 0\nvendor_id : {maker}\n"

    monkeypatch.setattr(functional.Path, "read_text", read_text)
    monkeypatch.setattr(functional.platform, "processor", lambda: maker)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    assert functional._mkl_uses_whole_unit.__wrapped__() is expected


@pytest.mark.parametrize(
    ("capability", "has_mkl", "expected"),
    [
        ("AVX2", True, True),
        ("AVX2", False, False),
        ("AVX512", True, False),
        ("SVE256", True, False),
    ],
)
def test_mkl_multiplies_where_there_is_nothing_beyond_avx2(
    monkeypatch, capability, has_mkl, expected
):
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: has_mkl)
    assert MKL_IS_FASTER.__wrapped__() is expected


@pytest.mark.parametrize(("mkl", "tokens"), [(0, 6), (1, 3)], indirect=["mkl"])
def test_the_limit_of_a_short_text_is_half_with_mkl(layer, tokens):
    with torch.no_grad():
        assert project(torch.randn(1, tokens - 1, 32), layer).stride(-1) == tokens - 1
        assert project(torch.randn(1, tokens, 32), layer).stride(-1) == 1


@ONEDNN
@pytest.mark.parametrize(("mkl", "used"), [(False, True), (True, False)], indirect=["mkl"])
def test_onednn_multiplies_only_where_it_is_the_faster_one(
    layer, x, assert_close, monkeypatch, mkl, used
):
    calls = []
    real = functional._times
    monkeypatch.setattr(functional, "_times", lambda *given: calls.append(given) or real(*given))
    with torch.no_grad():
        for name in ("gelu", "gelu_new", "relu"):
            assert_close(linear(x, layer, ACTIVATIONS[name]), ACTIVATIONS[name](layer(x)))
    assert bool(calls) is used


def test_dropout_changes_what_is_attended_to_and_not_what_is_shown(assert_close):
    parts = projections(1)
    whole, probabilities = functional.attend(*parts, None)
    dropped, shown = functional.attend(*parts, None, dropout=0.5)
    assert_close(shown, probabilities)
    assert not torch.allclose(dropped, whole)


@BOTH
def test_a_long_input_gives_a_model_the_same_numbers(make_pair, batch, assert_close, monkeypatch):
    ours, peer = make_pair(BertModel)
    expected = peer(**vars(batch), output_attentions=True)
    monkeypatch.setattr(functional, "_HEAD_BY_HEAD", 1)
    with torch.inference_mode():
        found = ours.run(**vars(batch))
    assert_close(found.last_hidden_state, expected.last_hidden_state)
    for mine, theirs in zip(found.attentions, expected.attentions, strict=True):
        assert_close(mine, theirs)

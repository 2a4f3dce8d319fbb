"""The kernel for inference and the ordinary one give the same, and each serves where it may."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from bert_core import functional
from bert_core.functional import ACTIVATIONS, affine, gelu_tanh, layer_norm, linear
from bert_core.model import BertModel

ONEDNN = pytest.mark.skipif(
    not functional._HAS_ONEDNN, reason="this build of PyTorch has no oneDNN"
)


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


@pytest.mark.parametrize("kind", [torch.float64, torch.float16, torch.bfloat16])
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


def test_nothing_times_something_is_nothing(layer):
    with torch.no_grad():
        assert linear(torch.zeros(3, 0, 32), layer).shape == (3, 0, 37)
        assert torch.equal(
            affine(torch.zeros(3, 0), torch.zeros(5, 0), torch.ones(5)), torch.ones(3, 5)
        )


def test_inputs_of_any_layout_are_read(layer, x, assert_close):
    for turned in (x.transpose(0, 1), x[:, ::2], x[:, 0], x.expand(2, 3, 7, 32), x[0, 0]):
        with torch.no_grad():
            assert_close(linear(turned, layer), layer(turned))


def test_weights_may_be_rows_of_a_larger_storage(x, assert_close):
    joint = torch.randn(3 * 32, 32)
    with torch.no_grad():
        for part in joint.split(32):
            assert_close(affine(x, part, torch.zeros(32)), x @ part.T)


def test_without_the_fast_kernel_a_model_gives_the_same(
    make_pair, batch, assert_close, monkeypatch
):
    ours, _ = make_pair(BertModel)
    with torch.inference_mode():
        fast = ours.run(**vars(batch))
        monkeypatch.setattr(functional, "_HAS_ONEDNN", False)
        slow = ours.run(**vars(batch))
    assert_close(fast.last_hidden_state, slow.last_hidden_state)
    assert_close(fast.attentions[1], slow.attentions[1])


def test_layer_norm_is_the_modules(x, assert_close):
    norm = nn.LayerNorm(32, eps=1e-3)
    nn.init.normal_(norm.weight)
    assert_close(layer_norm(x, norm), norm(x))

"""After an upgrade of PyTorch: what of its undocumented side is not as it was."""

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from bert_core import compat

onednn = pytest.mark.skipif(not compat.HAS_ONEDNN, reason="this build of PyTorch has no oneDNN")


def test_the_operator_is_there_where_onednn_is() -> None:
    assert torch.backends.mkldnn.is_available() == compat.HAS_ONEDNN, (
        "mkldnn._linear_pointwise is gone: linear layers take twice as long on some processors"
    )


@onednn
def test_onednn_multiplies() -> None:
    x, weight, bias = torch.randn(3, 5), torch.randn(7, 5), torch.randn(7)
    with torch.inference_mode():
        found = compat.onednn_product(x, weight, bias)
    expected = F.linear(x, weight, bias)
    assert torch.allclose(found, expected, atol=1e-5), "_linear_pointwise means something else"


def test_every_write_is_counted() -> None:
    weight = nn.Parameter(torch.zeros(3))
    before = compat.times_written(weight)
    with torch.no_grad():
        weight.add_(1)
    assert compat.times_written(weight) > before, "what is known of old weights would be kept"
    with torch.inference_mode():
        assert compat.times_written(torch.zeros(3)) == 0


@pytest.mark.parametrize("move", [nn.Module.double, nn.Module.cpu, lambda m: m.to(torch.float64)])
def test_moving_a_module_goes_through_the_method_that_models_replace(
    move: Callable[[nn.Module], object],
) -> None:
    moved = []

    class Part(nn.Linear):
        def _apply(self, fn: object, recurse: bool = True) -> "Part":  # type: ignore[override]
            moved.append(fn)
            return super()._apply(fn, recurse)  # type: ignore[no-any-return, no-untyped-call]

    move(nn.Sequential(Part(2, 2)))
    assert moved, "Module._apply is not called: tied weights would come apart when a model is moved"

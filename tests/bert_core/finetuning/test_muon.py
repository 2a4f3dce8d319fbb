"""Muon in float32 does what PyTorch's does in bfloat16, to the precision of that."""

import pytest
import torch

from bert_core.finetuning.muon import Float32Muon, orthogonal


def steps(cls: type[torch.optim.Muon]) -> list[torch.Tensor]:
    torch.manual_seed(3)
    parameters = [torch.nn.Parameter(torch.randn(shape)) for shape in ((6, 10), (10, 6), (6, 10))]
    optimizer = cls(parameters, lr=0.01, weight_decay=0.2, adjust_lr_fn="match_rms_adamw")
    for _ in range(3):
        for parameter in parameters:
            parameter.grad = torch.randn(parameter.shape)
        optimizer.step()  # type: ignore[no-untyped-call]
    return [parameter.detach() for parameter in parameters]


def test_steps_are_those_of_pytorch() -> None:
    for own, theirs in zip(steps(Float32Muon), steps(torch.optim.Muon), strict=True):
        assert torch.allclose(own, theirs, atol=2e-3)
        assert not torch.equal(own, theirs)


@pytest.mark.parametrize("shape", [(2, 5, 9), (2, 9, 5)])
def test_what_comes_out_is_nearly_orthogonal(shape: tuple[int, ...]) -> None:
    torch.manual_seed(4)
    found = orthogonal(torch.randn(shape), (3.4445, -4.7750, 2.0315), 5, 1e-7)
    assert found.shape == shape
    values = torch.linalg.svdvals(found)
    assert float(values.min()) > 0.5
    assert float(values.max()) < 1.5

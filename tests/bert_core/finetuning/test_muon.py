"""Muon takes the steps of PyTorch's, which old versions lack, and can continue from its state."""

import copy
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

from bert_core.finetuning.optimizer import Muon, orthogonal

pytorchs = pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="PyTorch 2.9 has it first")
Make = Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer]


def theirs(parameters: list[torch.nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.Muon(parameters, lr=0.01, weight_decay=0.2, adjust_lr_fn="match_rms_adamw")


def ours(parameters: list[torch.nn.Parameter], *, narrow: bool = False) -> torch.optim.Optimizer:
    return Muon(parameters, lr=0.01, weight_decay=0.2, narrow=narrow)


def narrow_ours(parameters: list[torch.nn.Parameter]) -> torch.optim.Optimizer:
    return ours(parameters, narrow=True)


def steps(make: Make, count: int = 3, state: dict[str, Any] | None = None) -> tuple[Any, Any]:
    """Return the parameters after some steps, and the optimizer's state."""
    torch.manual_seed(3)
    parameters = [torch.nn.Parameter(torch.randn(shape)) for shape in ((6, 10), (10, 6), (6, 10))]
    optimizer = make(parameters)
    if state is not None:
        optimizer.load_state_dict(state)
    for _ in range(count):
        for parameter in parameters:
            parameter.grad = torch.randn(parameter.shape)
        optimizer.step()
    return [parameter.detach() for parameter in parameters], copy.deepcopy(optimizer.state_dict())


@pytorchs
def test_steps_are_those_of_pytorch() -> None:
    expected = steps(theirs)[0]
    for make, distance in ((ours, 2e-3), (narrow_ours, 2e-3)):
        for own, their in zip(steps(make)[0], expected, strict=True):
            assert torch.allclose(own, their, atol=distance)
    assert not torch.equal(steps(ours)[0][0], expected[0])  # float32, not bfloat16


@pytorchs
def test_a_state_of_pytorch_s_is_continued() -> None:
    state = steps(theirs)[1]
    went_on, fresh = steps(narrow_ours, 2, state)[0], steps(narrow_ours, 2)[0]
    for own, their in zip(went_on, steps(theirs, 2, state)[0], strict=True):
        assert torch.allclose(own, their, atol=4e-3)
    assert not torch.allclose(went_on[0], fresh[0], atol=4e-3)


def test_training_imports_where_pytorch_has_no_muon() -> None:
    script = "import torch; vars(torch.optim).pop('Muon', None); import bert_core.finetuning"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("shape", [(2, 5, 9), (2, 9, 5)])
def test_what_comes_out_is_nearly_orthogonal(shape: tuple[int, ...]) -> None:
    torch.manual_seed(4)
    found = orthogonal(torch.randn(shape))
    assert found.shape == shape
    values = torch.linalg.svdvals(found)
    assert float(values.min()) > 0.5
    assert float(values.max()) < 1.5

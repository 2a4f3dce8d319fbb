"""bfloat16 and float16 on the CPU: losses and gradients; for outputs see `test_devices`."""

import pytest
import torch

from tests.bert_core.classes import HEADS, LABELS, inputs_for, options_for

NARROW = {torch.bfloat16: 2**-8, torch.float16: 2**-11}  # the relative error of one rounding


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("cls", HEADS)
def test_losses_are_float32_and_gradients_follow(cls, dtype, make_pair, batch):
    ours, _ = make_pair(cls, **options_for(cls))
    inputs, labels = inputs_for(cls, batch), LABELS[cls]
    exact = ours(**inputs, **labels)
    exact.backward()
    expected = torch.cat([each.grad.flatten() for each in ours.parameters()])
    ours.zero_grad()
    ours.to(dtype)
    loss = ours(**inputs, **labels)
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(exact.item(), rel=30 * NARROW[dtype])
    loss.backward()
    assert {each.grad.dtype for each in ours.parameters()} == {dtype}
    found = torch.cat([each.grad.float().flatten() for each in ours.parameters()])
    assert torch.cosine_similarity(found, expected, dim=0) > 0.99

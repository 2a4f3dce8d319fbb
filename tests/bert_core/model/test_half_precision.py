"""bfloat16 and float16 on the CPU: every class works, stays narrow, and is as close as the peer."""

import pytest
import torch

from tests.bert_core.classes import CLASSES, HEADS, LABELS, inputs_for, options_for

NARROW = {torch.bfloat16: 2**-8, torch.float16: 2**-11}  # the relative error of one rounding


def saved(cls, make_pair, folder):
    """Save a tiny model and return it with its peer."""
    ours, peer = make_pair(cls, **options_for(cls))
    ours.save_pretrained(folder)
    return ours, peer


def numbers_of(outputs):
    """Every tensor of the outputs, by name."""
    found = {}
    for name in outputs.__dataclass_fields__:
        value = getattr(outputs, name)
        if isinstance(value, tuple):
            found |= {f"{name}.{index}": each for index, each in enumerate(value)}
        elif value is not None:
            found[name] = value
    return found


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("cls", CLASSES)
def test_every_output_is_close_and_of_the_chosen_type(
    cls, dtype, padded, make_pair, batch, tmp_path
):
    saved(cls, make_pair, tmp_path)
    inputs = inputs_for(cls, batch, *([] if padded else ["input_ids"]))
    exact = cls.from_pretrained(tmp_path)
    narrow = cls.from_pretrained(tmp_path, dtype=str(dtype).removeprefix("torch."))
    for inference in (True, False):
        with torch.inference_mode(inference):
            expected, found = (numbers_of(model.run(**inputs)) for model in (exact, narrow))
        assert list(found) == list(expected)
        for name, value in found.items():
            assert value.dtype == dtype, name
            error = (value.float() - expected[name]).abs().max() / expected[name].abs().max()
            assert error < 12 * NARROW[dtype], name  # about thirty roundings, of both signs
            if name.startswith("attentions"):
                assert (value.float().sum(-1) - 1).abs().max() < 2 * NARROW[dtype]
        one, other = (model(**inputs) for model in (exact, narrow))
        assert isinstance(other, type(one))


# -- memory ----------------------------------------------------------------------------------------


# -- training --------------------------------------------------------------------------------------


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

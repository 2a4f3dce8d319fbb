"""One model on the processor, on a GPU, in half precision: the same calls, the same answers.

Where there is no GPU, the calls are made on PyTorch's device without memory under a watch that
lets no operation see tensors of two devices: a tensor that was made on the processor and then used
beside the model's is found here too, only the numbers are not.
"""

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from bert_core import (
    BertForMaskedLM,
    BertForPreTraining,
    BertForSequenceClassification,
)
from bert_core.errors import InputError
from bert_core.finetuning import Budget, Trainer, TrainerSettings
from bert_core.pretraining import mask_tokens
from tests.bert_core.classes import CLASSES, HEADS, LABELS, inputs_for
from tests.compat.torch import tree_leaves
from tests.one_device import OneDevice

HERE = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
GPUS = [
    pytest.param(name, marks=[pytest.mark.gpu, pytest.mark.skipif(not here, reason="needs a GPU")])
    for name, here in HERE.items()
]
HALVES = [(torch.float16, 5e-3), (torch.bfloat16, 4e-2)]


# -- the calls ------------------------------------------------------------------------------------


def inputs_on(cls: type[Any], batch: SimpleNamespace, device: str) -> dict[str, Tensor]:
    return {name: value.to(device) for name, value in inputs_for(cls, batch).items()}


Inputs = dict[str, Tensor]


def run(model: Any, inputs: Inputs) -> Any:
    found = model.run(**inputs)
    fields = (getattr(found, name) for name in type(found).__slots__)
    return [field for field in fields if field is not None]


def run_with_head_mask(model: Any, inputs: Inputs) -> Any:
    mask = torch.tensor([[1.0, 0, 1, 1], [0, 1, 1, 1]])  # on the processor
    found = model.run(**inputs, head_mask=mask, hidden_states=False)
    return [found.last_hidden_state, *found.attentions]


def forward(model: Any, inputs: Inputs) -> Any:
    return model(**inputs)


def forward_without_masks(model: Any, inputs: Inputs) -> Any:
    return model(inputs["input_ids"].int())


def forward_with_attentions(model: Any, inputs: Inputs) -> Any:
    model.output_attentions = model.keep_multihead_output = True
    try:
        return [model(**inputs), model.get_multihead_outputs()]
    finally:
        model.output_attentions = model.keep_multihead_output = False


def in_another_class(model: Any, inputs: Inputs) -> Any:
    other = BertForSequenceClassification.from_model(model)
    # What the model lacks is fresh, and random numbers may differ from type to type.
    torch.nn.init.eye_(other.bert.pooler.dense.weight)
    torch.nn.init.ones_(other.classifier.weight)
    assert {parameter.device.type for parameter in other.parameters()} == {model.device.type}
    ids = inputs["input_ids"]
    return other(ids if ids.dim() == 2 else ids[:, 0])


def pruned(model: Any, inputs: Inputs) -> Any:
    model.prune_heads({0: [1], -1: [0, 2]})
    return run(model, inputs)


CALLS: list[Callable[[Any, Inputs], Any]] = [
    run,
    run_with_head_mask,
    forward,
    forward_without_masks,
    forward_with_attentions,
    in_another_class,
    pruned,  # the last: it changes the model
]


@pytest.fixture
def make(make_config: Callable[..., Any]) -> Callable[[type[Any]], Any]:
    """A model whose numbers are the same each time."""

    def build(cls: type[Any], **changes: Any) -> Any:
        torch.manual_seed(4)
        return cls(make_config(initializer_range=0.2, **changes)).eval()

    return build


def places(found: Any) -> set[str]:
    return {leaf.device.type for leaf in tree_leaves(found) if isinstance(leaf, Tensor)}


# -- without a GPU --------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", CLASSES)
def test_no_call_and_no_loss_mixes_devices(
    make: Any, batch: SimpleNamespace, cls: type[Any]
) -> None:
    model, inputs = make(cls).to("meta"), inputs_on(cls, batch, "meta")
    with OneDevice():
        if cls in HEADS:  # labels and positions may be on the processor
            loss = model.train()(**inputs, **LABELS[cls])
            loss.backward()
            assert loss.is_meta and loss.shape == ()
            assert all(parameter.grad.is_meta for parameter in model.parameters())
        if hasattr(model, "scores_at"):
            found = model.scores_at(inputs["input_ids"], torch.tensor([[1], [2], [0]]))
            assert found.is_meta and found.shape == (3, 1, 99)
        for call in CALLS:
            training = call is forward
            with torch.inference_mode(not training):
                assert places(call(model.train(training), inputs)) == {"meta"}


@pytest.mark.parametrize(
    "cls", [BertForPreTraining, *(pytest.param(e, marks=pytest.mark.slow) for e in HEADS[1:])]
)
def test_a_training_does_not_mix_devices(make: Any, batch: SimpleNamespace, cls: type[Any]) -> None:
    model = make(cls).to("meta")
    part = {**inputs_on(cls, batch, "cpu"), **LABELS[cls]}
    trainer = Trainer(model, lambda step, progress: [part], TrainerSettings(Budget(steps=2)))
    with OneDevice():
        assert [trainer.step().step, trainer.step().step] == [1, 2]
    assert model.device.type == "meta"


def test_the_watch_sees_what_it_should() -> None:
    here, there = torch.ones(3), torch.ones(3, device="meta")
    with OneDevice():
        assert (there + there).is_meta and here.to("meta").is_meta
        for mixed in (
            lambda: there + here,
            lambda: torch.cat([there, here]),
            lambda: there[torch.tensor([1])],
            lambda: torch.where(there > 0, there, here),
        ):
            with pytest.raises(AssertionError, match="cpu"):
                mixed()


@pytest.mark.parametrize("cls", CLASSES)
def test_inputs_that_are_elsewhere_are_refused_in_words(
    make: Any, batch: SimpleNamespace, cls: type[Any]
) -> None:
    model, inputs = make(cls).to("meta"), inputs_on(cls, batch, "meta")
    for name in inputs:
        elsewhere = {**inputs, name: inputs_on(cls, batch, "cpu")[name]}
        with pytest.raises(InputError, match=f"{name} is on cpu, the model on meta"):
            model(**elsewhere)
        with pytest.raises(InputError, match=r"\.to\(model\.device\)"):
            model.run(**elsewhere)


# -- half precision, and with a GPU ---------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "tolerance"), HALVES)
def test_a_checkpoint_in_half_precision_is_read_as_it_is_or_widened(
    make: Any, batch: SimpleNamespace, tmp_path: Any, dtype: torch.dtype, tolerance: float
) -> None:
    model = make(BertForMaskedLM)
    model.to(dtype).save_pretrained(tmp_path)
    as_it_is = BertForMaskedLM.from_pretrained(tmp_path, dtype="auto")
    widened = BertForMaskedLM.from_pretrained(tmp_path)
    assert (as_it_is.dtype, widened.dtype) == (dtype, torch.float32)
    with torch.inference_mode():
        positions = torch.tensor([[1, 2], [0, 3], [4, 4]])
        close, exact = (m.scores_at(batch.input_ids, positions) for m in (as_it_is, widened))
    assert close.dtype == dtype
    torch.testing.assert_close(close.float(), exact, rtol=tolerance, atol=8 * tolerance)


@pytest.mark.parametrize("device", ["cpu", *GPUS])
@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), *HALVES])
def test_every_device_and_type_gives_what_the_processor_gives_in_float32(
    make: Any,
    batch: SimpleNamespace,
    cls: type[Any],
    device: str,
    dtype: torch.dtype,
    tolerance: float,
) -> None:
    changes = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    exact, other = make(cls, **changes), make(cls, **changes).to(device, dtype)
    for call in CALLS:
        with torch.inference_mode():
            answers = [call(exact, inputs_for(cls, batch)),
                       call(other, inputs_on(cls, batch, device))]  # fmt: skip
        expected, found = (
            [leaf for leaf in tree_leaves(each) if isinstance(leaf, Tensor)] for each in answers
        )
        assert places(found) == {device}
        for mine, true in zip(found, expected, strict=True):
            assert mine.dtype == dtype
            scale = max(1.0, float(true.abs().max()))
            torch.testing.assert_close(
                mine.cpu().float(), true, rtol=tolerance, atol=tolerance * scale
            )


@pytest.mark.parametrize("device", ["cpu", *GPUS])
def test_words_are_hidden_where_they_are(batch: SimpleNamespace, device: str) -> None:
    vocab = {f"w{number}": number for number in range(98)} | {"[MASK]": 98}
    draw = functools.partial(torch.Generator().manual_seed, 3)
    found = mask_tokens(batch.input_ids.to(device), vocab, generator=draw())
    expected = mask_tokens(batch.input_ids, vocab, generator=draw())
    for name in type(found).__slots__:
        assert getattr(found, name).device.type == device
        assert torch.equal(getattr(found, name).cpu(), getattr(expected, name))

"""The setting that says where models compute, and that everything comes back from there."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from app.engine.compute.device import chosen_device, on_processor
from app.engine.models import Engine, engine
from app.features.attention.task import attention
from app.features.fill_mask.task import fill_mask
from app.features.ner.task import ner
from app.features.next_sentence.task import next_sentence
from app.features.qa.task import qa
from app.settings import settings
from bert_core import BertForQuestionAnswering, BertForTokenClassification, BertModel
from bert_core.errors import ConfigError
from bert_core.model.outputs import ModelOutputs
from tests.one_device import OneDevice

TASKS: dict[str, Callable[[Engine], Any]] = {
    "fill_mask": lambda engine: fill_mask(engine, "the [MASK] sat on the [MASK]"),
    "next_sentence": lambda engine: next_sentence(engine, "the cat sat", "the dog sat"),
    "attention": lambda engine: attention(engine, "the cat sat", "the dog"),
    "qa": lambda engine: qa(engine, "the cat sat on the mat", "the cat?"),
    "ner": lambda engine: ner(engine, "the cat sat on the mat"),
}


@pytest.fixture
def has(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Pretend which devices there are."""

    def pretend(cuda: int = 0, mps: bool = False) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    return pretend


@pytest.mark.parametrize(
    ("name", "cuda", "mps", "device"),
    [
        ("", 1, True, "cpu"),
        ("cpu", 1, True, "cpu"),
        (" CUDA ", 1, False, "cuda"),
        ("cuda:1", 2, False, "cuda:1"),
        ("mps", 0, True, "mps"),
        ("auto", 0, False, "cpu"),
        ("auto", 0, True, "mps"),
        ("auto", 1, True, "cuda"),
    ],
)
def test_one_variable_says_where_models_compute(
    monkeypatch: pytest.MonkeyPatch, has: Any, name: str, cuda: int, mps: bool, device: str
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_DEVICE", name)
    has(cuda, mps)
    assert chosen_device() == torch.device(device)


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "cuda:-1", "meta", "0", "cuda:9999"])
def test_what_is_no_device_is_refused(monkeypatch: pytest.MonkeyPatch, has: Any, name: str) -> None:
    monkeypatch.setenv("BERT_EXPLORER_DEVICE", name)
    has(1, True)
    with pytest.raises(ConfigError, match=r"expected cpu, cuda, cuda:0"):
        chosen_device()


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "cuda:3", "mps"])
def test_a_device_that_is_not_here_is_refused_when_a_model_is_opened(
    monkeypatch: pytest.MonkeyPatch, has: Any, tiny_folder: Path, name: str
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_DEVICE", name)
    has(0, False)
    assert settings().device == name
    with pytest.raises(ConfigError, match="sees no such device"):
        Engine(str(tiny_folder))


def test_outputs_on_the_processor_are_not_copied() -> None:
    outputs = ModelOutputs(torch.ones(1, 2, 3), attentions=(torch.ones(1), torch.zeros(1)))
    found = on_processor(outputs)
    assert found.last_hidden_state is outputs.last_hidden_state
    assert found.attentions is not None and outputs.attentions is not None
    assert [a is b for a, b in zip(found.attentions, outputs.attentions, strict=True)] == [1, 1]
    assert found.logits is None


class Direct:
    """Computes in the thread that asks, under the watch, which knows one thread only."""

    def run(self, work: Callable[[], Any], *, tokens: int) -> Any:
        assert tokens > 0
        with OneDevice(), torch.inference_mode():
            return work()


@pytest.fixture
def elsewhere(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """An engine whose models are not on the processor."""
    monkeypatch.setattr(engine, "chosen_device", lambda: torch.device("meta"))
    monkeypatch.setattr(engine, "PROCESSOR", Direct())
    return Engine(str(tiny_folder))


@pytest.mark.parametrize("task", TASKS)
def test_every_task_answers_with_a_model_that_is_elsewhere(
    elsewhere: Engine, tiny_engine: Engine, task: str
) -> None:
    assert elsewhere.model(BertModel).device.type == "meta"
    assert type(TASKS[task](elsewhere)) is type(TASKS[task](tiny_engine))


@pytest.mark.parametrize("cls", [BertForQuestionAnswering, BertForTokenClassification, BertModel])
def test_every_class_is_where_the_engine_is(elsewhere: Engine, cls: type[Any]) -> None:
    assert {each.device.type for each in elsewhere.model(cls).parameters()} == {"meta"}
    encoding = elsewhere.tokenizer.encode("the cat sat", "on the mat")
    outputs = elsewhere.run(cls, [encoding, encoding], attentions=True, hidden_states=True)
    assert outputs.attentions is not None and outputs.hidden_states is not None
    for tensor in (*outputs.attentions, *outputs.hidden_states):
        assert tensor.device.type == "cpu" and tensor.shape[0] == 2

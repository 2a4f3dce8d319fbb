"""Compiled layers compute what plain ones do, for batches of any shape."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from bert_core.config import BertConfig
from bert_core.errors import InputError
from bert_core.finetuning import Budget, Trainer, TrainerSettings
from bert_core.finetuning.trainer import compile_layers
from bert_core.model.heads import BertForTokenClassification
from tests.compat.torch import compiled_graphs

# PyTorch's compiler warns of PyTorch's own code.
pytestmark = [
    pytest.mark.filterwarnings(r"ignore:The .grad attribute of a Tensor that is not a leaf"),
    pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated"),
]
COMPILER = shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A compiler that keeps what it makes to this test."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "compiled"))
    monkeypatch.setenv("TORCHINDUCTOR_COMPILE_THREADS", "1")
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def trainer(**options: Any) -> Trainer:
    torch.manual_seed(0)
    config = BertConfig(
        50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=32, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    settings = TrainerSettings(Budget(steps=3), learning_rate=1e-2, **options)
    return Trainer(BertForTokenClassification(config, 3), batches, settings)


def batches(step: int, progress: float) -> list[dict[str, torch.Tensor]]:
    """Another shape in every step, with padding."""
    source = torch.Generator().manual_seed(step)
    ids = torch.randint(5, 50, (2 + step, 8 + 4 * step), generator=source)
    mask = torch.ones_like(ids)
    mask[0, -2:] = 0
    return [{"input_ids": ids, "attention_mask": mask, "labels": ids % 3}]


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="compiling for a processor needs a C++ compiler")
def test_a_compiled_training_ends_like_a_plain_one(compiler: None) -> None:
    plain, compiled = trainer(), trainer(compiled=True)
    while not plain.done:
        ours, theirs = compiled.step(), plain.step()
        assert ours.loss == pytest.approx(theirs.loss, abs=1e-4)
        assert ours.grad_norm == pytest.approx(theirs.grad_norm, rel=1e-3)
    expected = plain.model.state_dict()
    found = compiled.model.state_dict()
    assert list(found) == list(expected)  # compiling renames nothing
    for name, value in expected.items():
        assert torch.allclose(found[name], value, atol=1e-3), name
    assert compiled_graphs() > 0


def test_the_layers_are_traced_whole_and_once_for_all_of_them() -> None:
    """What the compiler sees, without the time to compile it."""
    torch.compiler.reset()
    model = trainer().model
    traced = []

    def keep(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
        traced.append(graph)
        return graph.forward

    for block in model.encoder_model.encoder.blocks():
        block.compile(dynamic=True, backend=keep, fullgraph=True)
    expected = trainer().model
    for step in range(3):
        batch = batches(step, 0.0)[0]
        loss = model(**batch)
        loss.backward()
        assert torch.allclose(loss, expected(**batch), atol=1e-5)
    assert len(traced) == 1
    torch.compiler.reset()


def test_several_workers_do_not_share_compiled_layers() -> None:
    with pytest.raises(InputError, match="workers is 2"):
        compile_layers(trainer().model, workers=2)
    with pytest.raises(InputError, match="compiled=False"):
        trainer(compiled=True, workers=2)

"""The recipe's trainer: who takes which matrices, and the average is the mean by hand."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from bert_core.config import BertConfig
from bert_core.errors import CheckpointError, InputError
from bert_core.finetuning import Budget
from bert_core.finetuning.state import load_state
from bert_core.model.heads import BertForMaskedLM
from training.trainer import StageTrainer, StageTraining, trained_weights

Weights = dict[str, torch.Tensor]


def batches(step: int, progress: float) -> list[dict[str, torch.Tensor]]:
    source = torch.Generator().manual_seed(step)
    ids = torch.randint(5, 50, (2, 7), generator=source)
    return [{"input_ids": ids, "masked_lm_labels": ids}]


def trainer(steps: int = 10, **options: Any) -> StageTrainer:
    torch.manual_seed(0)
    config = BertConfig(
        50, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12,
        max_position_embeddings=16,
    )  # fmt: skip
    settings = StageTraining(Budget(steps=steps), learning_rate=1e-2, seed=3, **options)
    return StageTrainer(BertForMaskedLM(config), batches, settings)


def train(training: StageTrainer) -> list[Weights]:
    """The weights after every step until the end."""
    seen = []
    while not training.done:
        training.step()
        named = training.model.named_parameters()
        seen.append({name: value.detach().clone() for name, value in named})
    return seen


def test_muon_has_the_matrices_of_the_layers_and_adamw_the_rest() -> None:
    training = trainer(optimizer="muon", layer_decay=0.7)
    names = {id(parameter): name for name, parameter in training.model.named_parameters()}
    own, rest = (
        [names[id(p)] for group in optimizer.param_groups for p in group["params"]]
        for optimizer in training.optimizers
    )
    assert len(own) == 2 * 6  # query, key, value, output, and two of the feed-forward part
    assert all(re.search(r"layer\.\d+\..*(dense|query|key|value)\.weight$", name) for name in own)
    assert sorted([*own, *rest]) == sorted(names.values())


@pytest.mark.parametrize(("last", "count"), [(0.3, 3), (0.1, 1), (1.0, 10)])
def test_the_average_is_the_mean_of_the_last_steps(last: float, count: int) -> None:
    training = trainer(average_last=last)
    seen = train(training)
    assert training.average.count == count
    for name, mean in training.average.weights.items():
        by_hand = torch.stack([each[name] for each in seen[-count:]]).double().mean(0)
        assert torch.allclose(mean.double(), by_hand, atol=1e-6), name


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
@pytest.mark.parametrize("killed_after", [2, 8, 10])
def test_a_killed_training_ends_with_the_same_weights_and_average(
    optimizer: str, killed_after: int, tmp_path: Path
) -> None:
    whole = trainer(average_last=0.4, optimizer=optimizer)
    expected = train(whole)[-1]
    killed = trainer(average_last=0.4, optimizer=optimizer)
    for _ in range(killed_after):
        killed.step()
    killed.save(tmp_path / "state.pt")
    resumed = trainer(average_last=0.4, optimizer=optimizer)
    resumed.resume(tmp_path / "state.pt")
    train(resumed)
    assert resumed.average.count == whole.average.count == 4
    for name, value in resumed.model.named_parameters():
        assert torch.equal(value, expected[name]), name
        assert torch.equal(whole.average.weights[name], resumed.average.weights[name]), name


def test_a_prolonged_training_begins_its_average_anew(tmp_path: Path) -> None:
    training = trainer(average_last=0.5)
    last = train(training)[-1]
    training.save(tmp_path / "state.pt")
    state = load_state(tmp_path / "state.pt")
    name = "bert.encoder.layer.1.output.dense.weight"
    assert torch.equal(state["model"][name], last[name])
    assert torch.equal(trained_weights(state)[name], training.average.weights[name])
    prolonged = trainer(steps=20, average_last=0.2)
    prolonged.resume(tmp_path / "state.pt")
    assert prolonged.average.count == 5
    prolonged.step()
    assert prolonged.average.count == 0
    train(prolonged)
    assert prolonged.average.count == 4
    without = trainer(steps=20)
    without.resume(tmp_path / "state.pt")
    assert not without.average.count and "average" not in without.state()


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.pt"
    trainer().save(path)
    with pytest.raises(CheckpointError, match="does not fit"):
        trainer(optimizer="muon").resume(path)
    training = trainer(average_last=1.0)
    training.step()
    training.save(path)
    state = load_state(path)
    state["average"]["weights"].pop("cls.predictions.bias")
    torch.save(state, path)
    with pytest.raises(CheckpointError, match="another model"):
        trainer(average_last=1.0).resume(path)
    with pytest.raises(InputError, match=r"average_last is 1\.1"):
        trainer(average_last=1.1)

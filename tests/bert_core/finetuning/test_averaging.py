"""The mean of the last weights, held against one computed by hand."""

from pathlib import Path

import pytest
import torch

from bert_core.errors import CheckpointError, InputError
from bert_core.finetuning import Budget, Trainer, TrainerSettings
from bert_core.finetuning.state import load_state, trained_weights
from bert_core.model.heads import BertForMaskedLM
from tests.bert_core.finetuning.test_optimizer import batches, tiny

Weights = dict[str, torch.Tensor]


def trainer(average_last: float, steps: int = 10) -> Trainer:
    torch.manual_seed(0)
    settings = TrainerSettings(
        Budget(steps=steps), learning_rate=1e-2, average_last=average_last, seed=3
    )
    return Trainer(BertForMaskedLM(tiny(2, dropout=0.1)), batches, settings)


def weights(training: Trainer) -> Weights:
    return {name: value.detach().clone() for name, value in training.model.named_parameters()}


def train(training: Trainer) -> list[Weights]:
    """The weights after every step until the end."""
    seen = []
    while not training.done:
        training.step()
        seen.append(weights(training))
    return seen


@pytest.mark.parametrize(("last", "steps"), [(0.3, 3), (0.1, 1), (0.7, 7), (1.0, 10)])
def test_the_average_is_the_mean_of_the_last_steps(last: float, steps: int) -> None:
    training = trainer(last)
    seen = train(training)
    assert training.average.count == steps
    for name, mean in training.average.weights.items():
        by_hand = torch.stack([each[name] for each in seen[-steps:]]).double().mean(0)
        assert torch.allclose(mean.double(), by_hand, atol=1e-6), name


def test_averaging_changes_nothing_of_the_training_itself() -> None:
    with_average, without = train(trainer(0.5))[-1], train(trainer(0.0))[-1]
    assert all(torch.equal(with_average[name], without[name]) for name in without)


@pytest.mark.parametrize("killed_after", [2, 7, 8, 10])
def test_a_killed_training_ends_with_the_same_average(killed_after: int, tmp_path: Path) -> None:
    whole = trainer(0.4)
    train(whole)
    killed = trainer(0.4)
    for _ in range(killed_after):
        killed.step()
    killed.save(tmp_path / "state.pt")
    resumed = trainer(0.4)
    resumed.resume(tmp_path / "state.pt")
    train(resumed)
    assert resumed.average.count == whole.average.count == 4
    for name, mean in whole.average.weights.items():
        assert torch.equal(mean, resumed.average.weights[name]), name


def test_a_saved_average_is_what_the_training_gave(tmp_path: Path) -> None:
    training = trainer(0.5)
    last = train(training)[-1]
    training.save(tmp_path / "state.pt")
    state = load_state(tmp_path / "state.pt")
    given = trained_weights(state)
    name = "bert.encoder.layer.1.output.dense.weight"
    assert torch.equal(given[name], training.average.weights[name])
    assert torch.equal(state["model"][name], last[name])
    assert not torch.equal(given[name], last[name])


def test_a_state_without_an_average_gives_its_last_weights_and_resumes(tmp_path: Path) -> None:
    training = trainer(0.0)
    for _ in range(8):
        training.step()
    training.save(tmp_path / "state.pt")
    state = load_state(tmp_path / "state.pt")
    assert "average" not in state
    now = weights(training)
    assert all(torch.equal(value, now[name]) for name, value in trained_weights(state).items())
    resumed = trainer(0.5)
    resumed.resume(tmp_path / "state.pt")
    seen = train(resumed)
    assert resumed.average.count == 2  # what is still to come of the last half
    name = "bert.embeddings.word_embeddings.weight"
    by_hand = (seen[0][name] + seen[1][name]) / 2
    assert torch.allclose(resumed.average.weights[name], by_hand, atol=1e-6)


def test_a_prolonged_training_begins_its_average_anew(tmp_path: Path) -> None:
    training = trainer(0.5)
    train(training)
    training.save(tmp_path / "state.pt")
    prolonged = trainer(0.2, steps=20)
    prolonged.resume(tmp_path / "state.pt")
    assert prolonged.average.count == 5
    prolonged.step()
    assert prolonged.average.count == 0
    seen = train(prolonged)
    assert prolonged.average.count == 4
    name = "cls.predictions.bias"
    by_hand = torch.stack([each[name] for each in seen[-4:]]).mean(0)
    assert torch.allclose(prolonged.average.weights[name], by_hand, atol=1e-6)


def test_a_model_can_adopt_the_average() -> None:
    training = trainer(0.5)
    before = train(training)[-1]
    assert training.average.adopt()
    after = weights(training)
    name = "bert.pooler.dense.weight" if "bert.pooler.dense.weight" in after else next(iter(after))
    assert torch.equal(after[name], training.average.weights[name])
    assert any(not torch.equal(after[name], before[name]) for name in after)
    without = trainer(0.0)
    last = train(without)[-1]
    assert not without.average.adopt()
    assert all(torch.equal(value, last[name]) for name, value in weights(without).items())


def test_an_average_of_another_model_is_refused(tmp_path: Path) -> None:
    training = trainer(1.0)
    training.step()
    training.save(tmp_path / "state.pt")
    state = load_state(tmp_path / "state.pt")
    state["average"]["weights"].pop("cls.predictions.bias")
    torch.save(state, tmp_path / "state.pt")
    with pytest.raises(CheckpointError, match="another model"):
        trainer(1.0).resume(tmp_path / "state.pt")
    state["average"] = [1, 2]
    torch.save(state, tmp_path / "state.pt")
    with pytest.raises(CheckpointError, match="cannot be read"):
        trainer(1.0).resume(tmp_path / "state.pt")


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_shares_that_are_none_are_refused(share: float) -> None:
    with pytest.raises(InputError, match="share from 0"):
        trainer(share)

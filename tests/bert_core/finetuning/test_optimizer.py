"""Rates by layer, held against rates computed by hand; Muon by what defines its steps."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from bert_core.config import BertConfig
from bert_core.errors import CheckpointError, InputError
from bert_core.finetuning import Budget, Trainer, TrainerSettings
from bert_core.finetuning.optimizer import MuonAndAdamW, make_optimizer
from bert_core.model.bert import BertModel
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.model.heads import BertForMaskedLM


def tiny(layers: int = 3, dropout: float = 0.0) -> BertConfig:
    return BertConfig(
        50, hidden_size=8, num_hidden_layers=layers, num_attention_heads=2, intermediate_size=12,
        max_position_embeddings=16, hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )  # fmt: skip


def batches(step: int, progress: float) -> list[dict[str, torch.Tensor]]:
    source = torch.Generator().manual_seed(step)
    ids = torch.randint(5, 50, (2, 7), generator=source)
    return [{"input_ids": ids, "masked_lm_labels": ids}]


def trainer(layer_decay: float, steps: int = 10) -> Trainer:
    torch.manual_seed(0)
    settings = TrainerSettings(
        Budget(steps=steps), learning_rate=1e-2, warmup_steps=2, layer_decay=layer_decay
    )
    return Trainer(BertForMaskedLM(tiny()), batches, settings)


def muon_trainer(steps: int = 10) -> Trainer:
    whole = trainer(0.7, steps)
    torch.manual_seed(0)
    settings = replace(whole.settings, optimizer="muon")
    return Trainer(BertForMaskedLM(tiny()), batches, settings)


def rates(training: Trainer) -> dict[str, float]:
    names = {id(parameter): name for name, parameter in training.model.named_parameters()}
    return {
        names[id(parameter)]: group["lr"]
        for group in training.optimizer.param_groups
        for parameter in group["params"]
    }


def test_each_layer_learns_half_as_fast_as_the_one_above() -> None:
    training = trainer(0.5)
    training.step()  # the first of two warm-up steps, nothing done: half of 0.01
    found = rates(training)
    assert set(found) == {name for name, _ in training.model.named_parameters()}
    by_hand = {
        "cls.predictions.transform.dense.weight": 0.005,
        "cls.predictions.bias": 0.005,
        "bert.pooler.dense.weight": 0.005,
        "bert.encoder.layer.2.output.dense.bias": 0.0025,
        "bert.encoder.layer.1.attention.self.query.weight": 0.00125,
        "bert.encoder.layer.0.output.LayerNorm.weight": 0.000625,
        "bert.embeddings.word_embeddings.weight": 0.0003125,
        "bert.embeddings.LayerNorm.bias": 0.0003125,
    }
    names = dict(training.model.named_parameters())
    for name, rate in by_hand.items():
        if name in names:
            assert found[name] == pytest.approx(rate), name
    assert len(by_hand.keys() & names.keys()) >= 7


def test_the_rate_reported_is_that_of_the_heads_and_falls_for_all_alike() -> None:
    training = trainer(0.5)
    for _ in range(6):
        report = training.step()
    # Five of ten steps were done before the sixth: half of the peak is left.
    assert report.learning_rate == pytest.approx(0.005)
    assert sorted(set(rates(training).values()))[0] == pytest.approx(0.005 / 16)


def test_without_decay_there_are_the_two_groups_there_always_were() -> None:
    groups = trainer(1.0).optimizer.param_groups
    assert [group["weight_decay"] for group in groups] == [0.01, 0.0]
    model = BertForMaskedLM(tiny())
    expected = [id(p) for p in model.parameters() if p.dim() > 1]
    optimizer, shares = make_optimizer(model, learning_rate=1.0, weight_decay=0.01, layer_decay=1.0)
    assert [id(p) for p in optimizer.param_groups[0]["params"]] == expected
    assert shares == [1.0, 1.0]


def test_matrices_alone_are_decayed_in_every_layer() -> None:
    for group in trainer(0.5).optimizer.param_groups:
        matrices = {parameter.dim() > 1 for parameter in group["params"]}
        assert matrices == {group["weight_decay"] == 0.01}


@pytest.mark.parametrize("cls", [BertModel, BertForMaskedLM])
def test_the_embeddings_of_a_bare_encoder_are_found_too(cls: type[BertPreTrainedModel]) -> None:
    model = cls(tiny())
    optimizer, shares = make_optimizer(model, learning_rate=1.0, weight_decay=0.0, layer_decay=0.1)
    share = {
        id(p): s for g, s in zip(optimizer.param_groups, shares, strict=True) for p in g["params"]
    }
    words = model.encoder_model.embeddings.word_embeddings.weight
    assert share[id(words)] == pytest.approx(1e-4)


@pytest.mark.parametrize("make", [lambda: trainer(0.7), muon_trainer], ids=["adamw", "muon"])
def test_a_resumed_training_with_layer_decay_equals_one_in_one_go(
    make: Callable[[], Trainer], tmp_path: Path
) -> None:
    whole, killed, resumed = make(), make(), make()
    while not whole.done:
        whole.step()
    for _ in range(4):
        killed.step()
    killed.save(tmp_path / "state.pt")
    resumed.resume(tmp_path / "state.pt")
    while not resumed.done:
        resumed.step()
    ours, theirs = whole.model.state_dict(), resumed.model.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_a_state_saved_with_other_groups_is_refused(tmp_path: Path) -> None:
    trainer(1.0).save(tmp_path / "state.pt")
    with pytest.raises(CheckpointError, match="does not fit this training"):
        trainer(0.7).resume(tmp_path / "state.pt")


def test_a_resumed_training_decays_as_its_settings_say_now(tmp_path: Path) -> None:
    trainer(1.0).save(tmp_path / "state.pt")
    settings = TrainerSettings(Budget(steps=10), weight_decay=0.2)
    again = Trainer(BertForMaskedLM(tiny()), batches, settings)
    again.resume(tmp_path / "state.pt")
    assert [group["weight_decay"] for group in again.optimizer.param_groups] == [0.2, 0.0]


@pytest.mark.parametrize("layer_decay", [0.0, -0.5, 1.5, float("nan")])
def test_factors_that_are_none_are_refused(layer_decay: float) -> None:
    with pytest.raises(InputError, match="layer_decay"):
        TrainerSettings(Budget(steps=1), layer_decay=layer_decay)


def test_muon_has_the_matrices_of_the_layers_and_adamw_the_rest() -> None:
    training = muon_trainer()
    assert isinstance(training.optimizer, MuonAndAdamW)
    names = {id(parameter): name for name, parameter in training.model.named_parameters()}
    own = [names[id(p)] for g in training.optimizer.muon.param_groups for p in g["params"]]
    rest = [names[id(p)] for g in training.optimizer.adamw.param_groups for p in g["params"]]
    assert len(own) == 3 * 6  # query, key, value, output, and two of the feed-forward part
    assert all(re.search(r"layer\.\d+\..*(dense|query|key|value)\.weight$", name) for name in own)
    assert sorted([*own, *rest]) == sorted(names.values())
    training.step()
    found = rates(training)
    assert found["bert.encoder.layer.2.output.dense.weight"] == pytest.approx(0.005 * 0.7)
    assert found["cls.predictions.bias"] == pytest.approx(0.005)


def test_a_step_of_muon_moves_all_directions_alike_and_as_far_as_adamw_would() -> None:
    training = muon_trainer()
    weights = dict(training.model.named_parameters())
    name = "bert.encoder.layer.1.attention.self.query.weight"
    before = weights[name].detach().clone()
    training.step()
    rate = rates(training)[name]
    step = (before * (1 - rate * 0.01) - weights[name].detach()) / rate  # the decay taken off
    sizes = torch.linalg.svdvals(step)
    # Five iterations bring singular values near 1, not to it; 0.2 * sqrt(8) is the common factor.
    # One of the eight directions has hardly a gradient: layer normalisation took it away.
    assert float(sizes[0] / sizes[-2]) < 3.0
    assert float(step.square().mean().sqrt()) == pytest.approx(0.2, rel=0.35)


def test_a_state_of_another_optimizer_is_refused(tmp_path: Path) -> None:
    trainer(0.7).save(tmp_path / "adamw.pt")
    with pytest.raises(CheckpointError, match="saved by another optimizer"):
        muon_trainer().resume(tmp_path / "adamw.pt")
    muon_trainer().save(tmp_path / "muon.pt")
    with pytest.raises(CheckpointError, match="does not fit this training"):
        trainer(0.7).resume(tmp_path / "muon.pt")


def test_muon_without_a_matrix_to_train_leaves_everything_to_adamw() -> None:
    model = BertForMaskedLM(tiny())
    for name, parameter in model.named_parameters():
        parameter.requires_grad = "encoder.layer" not in name
    optimizer, _ = make_optimizer(
        model, learning_rate=1.0, weight_decay=0.0, layer_decay=1.0, method="muon"
    )
    assert isinstance(optimizer, torch.optim.AdamW)


def test_the_number_of_threads_is_as_before_after_a_step_of_muon() -> None:
    training = muon_trainer()
    assert isinstance(training.optimizer, MuonAndAdamW)
    training.optimizer.threads = torch.get_num_threads() + 1
    before = torch.get_num_threads()
    training.step()
    assert torch.get_num_threads() == before

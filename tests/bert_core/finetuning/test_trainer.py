"""The trainer: every class learns, steps are reported, a killed training goes on unharmed."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from bert_core.config import BertConfig
from bert_core.errors import CheckpointError, InputError
from bert_core.finetuning import Budget, Loss, NotFiniteError, Trainer, TrainerSettings
from bert_core.finetuning.optimizer import parameter_groups
from bert_core.model.bert import BertModel
from bert_core.model.heads import BertForMaskedLM, BertForSequenceClassification
from bert_core.model.pretrained import BertPreTrainedModel
from tests.bert_core.conftest import SIZES

LENGTH = 7
Batch = dict[str, torch.Tensor]


def tiny(dropout: float = 0.0) -> BertConfig:
    rates = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    return BertConfig(99, **SIZES, **rates)


def random_batches(step: int, progress: float) -> list[Batch]:
    source = torch.Generator().manual_seed(step)
    input_ids = torch.randint(5, 99, (2, LENGTH), generator=source)
    labels = torch.where(torch.rand((2, LENGTH), generator=source) < 0.3, input_ids, -100)
    return [{"input_ids": input_ids, "masked_lm_labels": labels}]


def constant(*parts: Any) -> Callable[[int, float], Sequence[Any]]:
    return lambda step, progress: list(parts)


def words_trainer(log: Path | None = None, steps: int = 8, **options: Any) -> Trainer:
    torch.manual_seed(0)
    options = {"learning_rate": 1e-3, "warmup_steps": 2, "seed": 4, **options}
    settings = TrainerSettings(Budget(steps=steps), **options)
    return Trainer(BertForMaskedLM(tiny(dropout=0.1)), random_batches, settings, log=log)


def everything(trainer: Trainer) -> list[torch.Tensor]:
    """Copy parameters and the state of the optimizer."""
    kept = list(trainer.model.parameters())
    for optimizer in trainer.optimizers:
        kept += [value for each in optimizer.state.values() for value in each.values()]
    return [value.detach().clone() for value in kept]


# -- steps ----------------------------------------------------------------------------------------


def test_a_report_says_what_the_step_did() -> None:
    trainer = words_trainer()
    reports = [trainer.step() for _ in range(8)]
    assert [report.step for report in reports] == list(range(1, 9))
    assert reports[-1].progress == 1.0
    rates = [report.learning_rate for report in reports]
    assert rates[0] == pytest.approx(0.5e-3)  # first of two warm-up steps
    assert rates[2:] == sorted(rates[2:], reverse=True)
    assert rates[-1] == pytest.approx(1e-3 / 8)
    assert all(report.grad_norm > 0 for report in reports)
    assert reports[-1].seconds > reports[0].seconds


def test_the_parts_of_a_step_add_up_to_one_batch() -> None:
    ids = random_batches(2, 0.0)[0]["input_ids"].repeat(2, 1)
    batch = {"input_ids": ids, "labels": torch.tensor([0, 1, 2, 1])}
    halves = [{name: value[at : at + 2] for name, value in batch.items()} for at in (0, 2)]
    reports = []
    for parts in ([batch], halves):

        def mean(model: BertPreTrainedModel, part: Batch, parts: list[Batch] = parts) -> Loss:
            return Loss(model(**part) / len(parts))

        torch.manual_seed(0)
        model = BertForSequenceClassification(tiny(), 3)
        settings = TrainerSettings(Budget(steps=1), learning_rate=1e-2)
        reports.append(Trainer(model, constant(*parts), settings, loss=mean).step())
    assert reports[0].loss == pytest.approx(reports[1].loss, abs=1e-6)
    assert reports[0].grad_norm == pytest.approx(reports[1].grad_norm, rel=1e-4)


def test_a_budget_of_minutes_follows_the_computing_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100, 15))  # 15 seconds between two looks at the clock
    monkeypatch.setattr("time.perf_counter", lambda: float(next(clock)))
    settings = TrainerSettings(Budget(minutes=0.5), learning_rate=1e-3)
    trainer = Trainer(BertForMaskedLM(tiny()), random_batches, settings)
    assert [trainer.step().progress, trainer.step().progress] == [0.5, 1.0]
    assert trainer.done


def test_temperatures_of_the_weights_before_are_dropped_and_others_keep_them() -> None:
    config = tiny()
    config.temperatures = {"BertForMaskedLM": 1.3}
    config.extra["temperatures_fitted_on"] = {"BertForMaskedLM": "texts"}
    model, other = BertForMaskedLM(config), BertForMaskedLM(config)
    Trainer(model, random_batches, TrainerSettings(Budget(steps=1)))
    for trained in (model, model.bert):
        assert trained.config.temperature("BertForMaskedLM") == 1.0
        assert "temperatures_fitted_on" not in trained.config.to_dict()
    assert other.config.temperature("BertForMaskedLM") == 1.3


def test_what_is_over_or_has_no_labels_is_refused() -> None:
    trainer = words_trainer(steps=1)
    trainer.step()
    assert trainer.done
    with pytest.raises(InputError, match="over after 1 steps"):
        trainer.step()
    batch = {"input_ids": random_batches(0, 0.0)[0]["input_ids"]}
    unlabelled = Trainer(trainer.model, constant(batch), TrainerSettings(Budget(steps=1)))
    with pytest.raises(InputError, match="labels of its task"):
        unlabelled.step()


# -- rates and decay ------------------------------------------------------------------------------


def test_each_layer_learns_half_as_fast_as_the_one_above() -> None:
    trainer = words_trainer(steps=10, learning_rate=1e-2, layer_decay=0.5)
    assert trainer.step().learning_rate == pytest.approx(0.005)  # the first of two warm-up steps
    names = {id(parameter): name for name, parameter in trainer.model.named_parameters()}
    found = {names[id(p)]: group["lr"] for group in trainer.groups for p in group["params"]}
    assert set(found) == set(names.values())
    for name, rate in {
        "cls.predictions.transform.dense.weight": 0.005,
        "cls.predictions.bias": 0.005,
        "bert.encoder.layer.1.output.dense.bias": 0.0025,
        "bert.encoder.layer.1.attention.self.query.weight": 0.0025,
        "bert.encoder.layer.0.output.LayerNorm.weight": 0.00125,
        "bert.embeddings.word_embeddings.weight": 0.000625,
        "bert.embeddings.LayerNorm.bias": 0.000625,
    }.items():
        assert found[name] == pytest.approx(rate), name


@pytest.mark.parametrize("cls", [BertModel, BertForMaskedLM])
@pytest.mark.parametrize("layer_decay", [1.0, 0.5])
def test_matrices_alone_are_decayed(cls: type[BertPreTrainedModel], layer_decay: float) -> None:
    model = cls(tiny())
    groups = parameter_groups(model, 0.01, layer_decay)
    assert len(groups) == 2 if layer_decay == 1.0 else 8
    for group in groups:
        matrices = {parameter.dim() > 1 for parameter in group["params"]}
        assert matrices == {group["weight_decay"] == 0.01}
    words = model.encoder_model.embeddings.word_embeddings.weight
    (share,) = (g["share"] for g in groups if any(p is words for p in g["params"]))
    assert share == layer_decay**3


# -- steps that cannot be done --------------------------------------------------------------------


class BadGradient(torch.autograd.Function):
    """Return its input; its gradient is no number."""

    @staticmethod
    def forward(ctx: Any, value: torch.Tensor) -> torch.Tensor:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return gradient * float("nan")


def stop(value: torch.Tensor) -> torch.Tensor:
    raise RuntimeError("the user has pressed a key")


FAULTS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], type[Exception], str]] = {
    "loss": (lambda loss: loss * float("nan"), NotFiniteError, "loss of step 2 is nan"),
    "gradients": (BadGradient.apply, NotFiniteError, "gradients of step 2 is nan"),
    "interrupted": (stop, RuntimeError, "pressed a key"),
}


@pytest.mark.parametrize("fault", list(FAULTS))
def test_a_failed_step_changes_nothing_and_the_next_is_as_good(fault: str) -> None:
    change, error, message = FAULTS[fault]
    broken: list[int] = []

    def loss(model: BertForMaskedLM, batch: Batch) -> Loss:
        total = model(**batch)
        last = torch.equal(batch["input_ids"], parts[-1]["input_ids"])
        return Loss(change(total) if broken and last else total)

    parts = [random_batches(step, 0.0)[0] for step in range(3)]
    trainers = []
    for _ in range(2):
        torch.manual_seed(0)
        settings = TrainerSettings(Budget(steps=4), 1e-3)
        model = BertForMaskedLM(tiny())
        trainers.append(Trainer(model, constant(*parts), settings, loss=loss))
        trainers[-1].step()
    plain, hit = trainers
    before = everything(hit)
    broken.append(1)
    with pytest.raises(error, match=message):
        hit.step()
    broken.clear()
    assert hit.steps_done == 1
    assert all(map(torch.equal, everything(hit), before))
    assert plain.step().grad_norm == pytest.approx(hit.step().grad_norm, rel=1e-6)
    assert all(map(torch.equal, everything(hit), everything(plain)))


def test_a_step_that_is_left_out_changes_its_number_alone() -> None:
    seen: list[int] = []

    def batches(step: int, progress: float) -> list[Batch]:
        seen.append(step)
        return random_batches(step, progress)

    trainer = Trainer(BertForMaskedLM(tiny()), batches, TrainerSettings(Budget(steps=3), 1e-3))
    trainer.step()
    before = everything(trainer)
    trainer.skip()
    assert trainer.steps_done == 2
    assert all(map(torch.equal, everything(trainer), before))
    trainer.step()
    assert seen == [0, 2] and trainer.done


# -- saving and resuming --------------------------------------------------------------------------


@pytest.mark.parametrize("layer_decay", [1.0, 0.7])
def test_a_resumed_training_equals_an_uninterrupted_one_bit_for_bit(
    layer_decay: float, tmp_path: Path
) -> None:
    whole = words_trainer(tmp_path / "whole.jsonl", layer_decay=layer_decay)
    while not whole.done:
        whole.step()

    killed = words_trainer(tmp_path / "log.jsonl", layer_decay=layer_decay)
    for _ in range(3):
        killed.step()
    killed.save(tmp_path / "state.pt")
    killed.step()  # done, but never saved: the kill comes here, in the middle of a line
    with (tmp_path / "log.jsonl").open("a") as stream:
        stream.write('{"step": 5, "pro')
    torch.manual_seed(99)

    resumed = words_trainer(tmp_path / "log.jsonl", layer_decay=layer_decay)
    with torch.no_grad():
        for parameter in resumed.model.parameters():
            parameter.add_(1.0)  # whatever it starts from is overwritten
    resumed.resume(tmp_path / "state.pt")
    assert resumed.steps_done == 3
    while not resumed.done:
        resumed.step()

    assert all(map(torch.equal, everything(whole), everything(resumed)))
    logs = [
        [
            {k: v for k, v in json.loads(line).items() if k != "seconds"}
            for line in (tmp_path / name).read_text().splitlines()
        ]
        for name in ("whole.jsonl", "log.jsonl")
    ]
    assert [line["step"] for line in logs[1]] == list(range(1, 9))
    assert logs[0] == logs[1]


def test_damaged_states_are_refused_and_leave_the_model_alone(tmp_path: Path) -> None:
    trainer = words_trainer()
    trainer.step()
    trainer.save(tmp_path / "state.pt")
    trainer.step()
    before = {name: value.clone() for name, value in trainer.model.state_dict().items()}
    whole, chance = (tmp_path / "state.pt").read_bytes(), random.Random(5)
    refused = 0
    for _ in range(60):
        raw = bytearray(whole)
        for _ in range(chance.choice((1, 3, 9))):
            raw[chance.randrange(6_000)] = chance.choice((0, 1, 46, 127, 128, 255))
        (tmp_path / "state.pt").write_bytes(raw)
        try:
            trainer.resume(tmp_path / "state.pt")
            trainer.model.load_state_dict(before)
        except CheckpointError:
            refused += 1
            state = trainer.model.state_dict()
            assert all(torch.equal(state[name], value) for name, value in before.items())
    assert refused > 30

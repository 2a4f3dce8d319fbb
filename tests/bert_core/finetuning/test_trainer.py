"""The trainer: every class learns, steps are reported, a killed training goes on unharmed."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from bert_core.config import BertConfig
from bert_core.errors import CheckpointError, InputError, MissingFileError
from bert_core.finetuning import Budget, Loss, NotFiniteError, Trainer, TrainerSettings
from bert_core.model.bert import BertModel
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.model.heads import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)

ROWS, LENGTH = 4, 7
Batch = dict[str, torch.Tensor]


def tiny(dropout: float = 0.0) -> BertConfig:
    return BertConfig(
        99,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=37,
        max_position_embeddings=16,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )


def ids(*shape: int) -> torch.Tensor:
    return torch.randint(5, 99, shape, generator=torch.Generator().manual_seed(2))


def word_labels() -> torch.Tensor:
    labels = torch.full((ROWS, LENGTH), -100)
    labels[:, 2] = torch.tensor([10, 20, 30, 40])
    return labels


TRUTH = torch.tensor([0, 1, 1, 0])
TASKS: dict[type[BertPreTrainedModel], tuple[tuple[int, ...], Batch]] = {
    BertForPreTraining: ((), {"masked_lm_labels": word_labels(), "next_sentence_label": TRUTH}),
    BertForMaskedLM: ((), {"masked_lm_labels": word_labels()}),
    BertForNextSentencePrediction: ((), {"next_sentence_label": TRUTH}),
    BertForSequenceClassification: ((3,), {"labels": torch.tensor([0, 1, 2, 1])}),
    BertForMultipleChoice: ((3,), {"labels": torch.tensor([2, 0, 1, 1])}),
    BertForTokenClassification: ((4,), {"labels": ids(ROWS, LENGTH) % 4}),
    BertForQuestionAnswering: (
        (),
        {
            "start_positions": torch.tensor([1, 2, 3, 4]),
            "end_positions": torch.tensor([2, 2, 5, 6]),
        },
    ),
}


def example(model_class: type[BertPreTrainedModel]) -> tuple[BertPreTrainedModel, Batch]:
    torch.manual_seed(0)
    sizes, labels = TASKS[model_class]
    shape = (ROWS, 3, LENGTH) if model_class is BertForMultipleChoice else (ROWS, LENGTH)
    return model_class(tiny(), *sizes), {"input_ids": ids(*shape), **labels}


def constant(*parts: Any) -> Callable[[int, float], Sequence[Any]]:
    return lambda step, progress: list(parts)


@pytest.mark.parametrize("model_class", list(TASKS), ids=lambda cls: cls.__name__)
def test_every_class_learns_four_rows(model_class: type[BertPreTrainedModel]) -> None:
    model, batch = example(model_class)
    settings = TrainerSettings(Budget(steps=30), learning_rate=1e-2, warmup_steps=3)
    trainer = Trainer(model, constant(batch), settings)
    losses = []
    while not trainer.done:
        losses.append(trainer.step().loss)
    assert len(losses) == 30
    assert losses[-1] < 0.1 * losses[0]


def test_the_bare_encoder_trains_with_a_loss_of_one_s_own() -> None:
    torch.manual_seed(0)
    target = torch.linspace(-0.5, 0.5, 32)

    def distance(model: BertModel, batch: torch.Tensor) -> Loss:
        pooled = model(batch, output_all_encoded_layers=False)[1]
        loss = (pooled - target).pow(2).mean()
        return Loss(loss, {"distance": loss.detach()})

    settings = TrainerSettings(Budget(steps=30), learning_rate=1e-2)
    trainer = Trainer(BertModel(tiny()), constant(ids(2, 5)), settings, loss=distance)
    first = trainer.step()
    while not trainer.done:
        last = trainer.step()
    assert last.loss < 0.1 * first.loss
    assert last.parts == {"distance": pytest.approx(last.loss)}


def random_batches(step: int, progress: float) -> list[Batch]:
    source = torch.Generator().manual_seed(step)
    input_ids = torch.randint(5, 99, (2, LENGTH), generator=source)
    labels = torch.where(torch.rand((2, LENGTH), generator=source) < 0.3, input_ids, -100)
    return [{"input_ids": input_ids, "masked_lm_labels": labels}]


def words_trainer(log: Path | None = None, steps: int = 8) -> Trainer:
    torch.manual_seed(0)
    settings = TrainerSettings(Budget(steps=steps), learning_rate=1e-3, warmup_steps=2, seed=4)
    return Trainer(BertForMaskedLM(tiny(dropout=0.1)), random_batches, settings, log=log)


def test_a_resumed_training_equals_an_uninterrupted_one_bit_for_bit(tmp_path: Path) -> None:
    whole = words_trainer(tmp_path / "whole.jsonl")
    while not whole.done:
        whole.step()

    killed = words_trainer(tmp_path / "log.jsonl")
    for _ in range(3):
        killed.step()
    killed.save(tmp_path / "state.pt")
    killed.step()  # done, but never saved: the kill comes here
    torch.manual_seed(99)

    resumed = words_trainer(tmp_path / "log.jsonl")
    with torch.no_grad():
        for parameter in resumed.model.parameters():
            parameter.add_(1.0)  # whatever it starts from is overwritten
    resumed.resume(tmp_path / "state.pt")
    assert resumed.steps_done == 3
    while not resumed.done:
        resumed.step()

    theirs = resumed.model.state_dict()
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, theirs[name]), name
    logs = [
        [
            {k: v for k, v in json.loads(line).items() if k != "seconds"}
            for line in (tmp_path / name).read_text().splitlines()
        ]
        for name in ("whole.jsonl", "log.jsonl")
    ]
    assert [line["step"] for line in logs[1]] == list(range(1, 9))
    assert logs[0] == logs[1]


def test_a_log_line_cut_by_a_kill_is_dropped_on_resuming(tmp_path: Path) -> None:
    trainer = words_trainer(tmp_path / "log.jsonl")
    trainer.step()
    trainer.save(tmp_path / "state.pt")
    with (tmp_path / "log.jsonl").open("a") as stream:
        stream.write('{"step": 2, "pro')
    again = words_trainer(tmp_path / "log.jsonl")
    again.resume(tmp_path / "state.pt")
    again.step()
    lines = (tmp_path / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [1, 2]


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
    model, batch = example(BertForSequenceClassification)
    halves = [
        {name: value[half] for name, value in batch.items()} for half in (slice(0, 2), slice(2, 4))
    ]

    def mean_of_two(model: BertPreTrainedModel, part: Batch) -> Loss:
        return Loss(model(**part) / 2)

    settings = TrainerSettings(Budget(steps=1), learning_rate=1e-2)
    whole = Trainer(model, constant(batch), settings)
    apart = Trainer(
        example(BertForSequenceClassification)[0], constant(*halves), settings, loss=mean_of_two
    )
    one, two = whole.step(), apart.step()
    assert one.loss == pytest.approx(two.loss, abs=1e-6)
    assert one.grad_norm == pytest.approx(two.grad_norm, rel=1e-4)


def test_two_workers_give_the_gradients_of_one() -> None:
    halves = [random_batches(step, 0.0)[0] for step in range(5)]
    trained = []
    for workers in (1, 2):
        torch.manual_seed(0)
        settings = TrainerSettings(Budget(steps=3), learning_rate=1e-2, workers=workers)
        trainer = Trainer(BertForMaskedLM(tiny()), constant(*halves), settings)
        reports = [trainer.step() for _ in range(3)]
        trained.append([(report.loss, report.grad_norm) for report in reports])
    for one, two in zip(*trained, strict=True):
        assert one == pytest.approx(two, rel=1e-3)


def test_an_error_in_a_worker_reaches_the_caller() -> None:
    batch = random_batches(0, 0.0)[0]
    broken = {**batch, "input_ids": batch["input_ids"] + 99}
    settings = TrainerSettings(Budget(steps=3), workers=2)
    trainer = Trainer(BertForMaskedLM(tiny()), constant(batch, broken), settings)
    with pytest.raises(InputError, match="0 to 98"):
        trainer.step()


def test_biases_and_normalisations_are_not_decayed() -> None:
    groups = words_trainer().optimizer.param_groups
    assert [group["weight_decay"] for group in groups] == [0.01, 0.0]
    assert all(parameter.dim() > 1 for parameter in groups[0]["params"])
    assert all(parameter.dim() == 1 for parameter in groups[1]["params"])


def test_steps_after_the_end_are_refused() -> None:
    trainer = words_trainer(steps=1)
    trainer.step()
    assert trainer.done
    with pytest.raises(InputError, match="over after 1 steps"):
        trainer.step()


def test_a_batch_without_labels_is_refused() -> None:
    model = BertForMaskedLM(tiny())
    trainer = Trainer(model, constant({"input_ids": ids(2, 5)}), TrainerSettings(Budget(steps=1)))
    with pytest.raises(InputError, match="labels of its task"):
        trainer.step()


def test_a_loss_that_is_no_number_stops_the_training() -> None:
    def broken(model: BertForMaskedLM, batch: Batch) -> Loss:
        return Loss(model.cls.predictions.bias.sum() * float("nan"))

    settings = TrainerSettings(Budget(steps=1))
    trainer = Trainer(BertForMaskedLM(tiny()), constant({}), settings, loss=broken)
    with pytest.raises(InputError, match="step 1 is nan"):
        trainer.step()


class BadGradient(torch.autograd.Function):
    """Return its input; its gradient is no number."""

    @staticmethod
    def forward(ctx: Any, value: torch.Tensor) -> torch.Tensor:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return gradient * float("nan")


def everything(trainer: Trainer) -> list[torch.Tensor]:
    """Copy parameters, optimizer state and average."""
    kept = list(trainer.model.parameters()) + list(trainer.average.weights.values())
    state = trainer.optimizer.state_dict()
    for own in [state] if "state" in state else state.values():
        kept += [
            value
            for each in own["state"].values()
            for value in each.values()
            if isinstance(value, torch.Tensor)
        ]
    return [value.detach().clone() for value in kept]


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
@pytest.mark.parametrize("workers", [1, 2])
def test_gradients_that_are_no_numbers_change_nothing_and_the_next_step_is_as_good(
    optimizer: Any, workers: int
) -> None:
    bad: set[int] = set()

    def loss(model: BertForMaskedLM, batch: Batch) -> Loss:
        total = model(**batch)
        return Loss(BadGradient.apply(total) if bad else total)

    def make() -> Trainer:
        torch.manual_seed(0)
        settings = TrainerSettings(
            Budget(steps=4), 1e-3, optimizer=optimizer, workers=workers, average_last=1.0
        )
        batches = constant(*random_batches(0, 0.0), *random_batches(1, 0.0))
        return Trainer(BertForMaskedLM(tiny()), batches, settings, loss=loss)

    plain, hit = make(), make()
    for trainer in (plain, hit):
        trainer.step()
    before = everything(hit)
    bad.add(1)
    with pytest.raises(NotFiniteError, match="norm of the gradients of step 2 is nan"):
        hit.step()
    bad.clear()
    assert hit.steps_done == 1 and hit.average.count == 1
    for value, was in zip(everything(hit), before, strict=True):
        assert torch.equal(value, was)
    one, other = plain.step(), hit.step()
    assert one.grad_norm == pytest.approx(other.grad_norm, rel=1e-6)
    for value, wanted in zip(hit.model.parameters(), plain.model.parameters(), strict=True):
        assert torch.allclose(value, wanted, atol=1e-6)


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


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_step_leaves_no_gradients_for_the_next(workers: int) -> None:
    stop: set[int] = set()

    def loss(model: BertForMaskedLM, batch: Batch) -> Loss:
        if stop and bool((batch["input_ids"] == stopped).all()):
            raise RuntimeError("the user has pressed a key")
        return Loss(model(**batch))

    parts = [random_batches(step, 0.0)[0] for step in range(5)]
    stopped = parts[-1]["input_ids"]
    norms = []
    for interrupted in (False, True):
        torch.manual_seed(0)
        settings = TrainerSettings(Budget(steps=2), 1e-3, workers=workers)
        trainer = Trainer(BertForMaskedLM(tiny()), constant(*parts), settings, loss=loss)
        if interrupted:
            stop.add(1)
            with pytest.raises(RuntimeError, match="pressed a key"):
                trainer.step()
            stop.clear()
        norms.append(trainer.step().grad_norm)
    assert norms[0] == pytest.approx(norms[1], rel=1e-6)


def test_states_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.pt"
    with pytest.raises(MissingFileError, match="no training state"):
        words_trainer().resume(path)
    words_trainer().save(path)
    other = Trainer(BertModel(tiny()), constant({}), TrainerSettings(Budget(steps=1)))
    with pytest.raises(CheckpointError, match="another model"):
        other.resume(path)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(CheckpointError, match="cannot be read"):
        words_trainer().resume(path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["state.pt"]


def test_two_hundred_damaged_states_are_refused_and_leave_the_model_alone(tmp_path: Path) -> None:
    trainer = words_trainer()
    trainer.step()
    trainer.save(tmp_path / "state.pt")
    trainer.step()
    before = {name: value.clone() for name, value in trainer.model.state_dict().items()}
    whole, chance = (tmp_path / "state.pt").read_bytes(), random.Random(5)
    refused = 0
    for _ in range(200):
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
    assert refused > 100


def test_a_budget_of_minutes_follows_the_computing_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100, 15))  # 15 seconds between two looks at the clock
    monkeypatch.setattr("time.perf_counter", lambda: float(next(clock)))
    model = BertForMaskedLM(tiny())
    settings = TrainerSettings(Budget(minutes=0.5), learning_rate=1e-3)
    trainer = Trainer(model, random_batches, settings)
    assert [trainer.step().progress, trainer.step().progress] == [0.5, 1.0]
    assert trainer.done


def test_temperatures_of_the_weights_before_are_dropped_and_others_keep_them() -> None:
    config = tiny()
    config.temperatures = {"BertForMaskedLM": 1.3}
    config.extra["temperatures_fitted_on"] = {"BertForMaskedLM": "texts"}
    model, other = BertForMaskedLM(config), BertForMaskedLM(config)
    batch = {"input_ids": ids(ROWS, LENGTH), "masked_lm_labels": word_labels()}
    Trainer(model, lambda step, progress: [batch], TrainerSettings(Budget(steps=1)))
    for trained in (model, model.bert):
        assert trained.config.temperature("BertForMaskedLM") == 1.0
        assert "temperatures_fitted_on" not in trained.config.to_dict()
    assert other.config.temperature("BertForMaskedLM") == 1.3

"""What the plans promise, recomputed from their numbers."""

import math
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from bert_core.errors import InputError
from bert_core.finetuning import Budget
from tests.training.whole import ROWS, SMALL
from training.lessons import pretraining_lesson, task_lesson
from training.long_mixture import LongSettings
from training.mixture import MixtureSettings
from training.plan import PLANS, choose
from training.stage import StageSettings, closing_builders, make_trainer
from training.task_model import TaskPart
from training.tasks import TaskSettings
from training.trainer import StageTraining


def stage(data: Path, work: Path, encoder: Path, **options: Any) -> StageSettings:
    return StageSettings(
        data, work, str(encoder), StageTraining(Budget(steps=4), 1e-3, 2), **options
    )


def test_the_card_s_plan_goes_on_from_the_bundled_model_by_the_clock() -> None:
    plan = PLANS["cuda"]
    assert list(plan.stages) == ["long", "tasks"] and plan.init == "explorer-mini-uncased"
    assert all(stage.trainer.budget.minutes for stage in plan.stages.values())
    assert plan.bfloat16 and plan.builders
    for name, factor in {"long": 25.6, "tasks": 16.0}.items():
        small, large = (PLANS[machine].stages[name].sizes for machine in ("cpu", "cuda"))
        assert isinstance(small, LongSettings | TaskSettings) and large == small.times(factor)
        text = large.pretraining if isinstance(large, TaskSettings) else large
        assert text.part_tokens <= 32_768  # a part's memory


def test_a_step_becomes_larger_or_smaller_in_as_many_parts() -> None:
    long, tasks = LongSettings(), TaskSettings()
    assert (long.times(3).blocks, long.times(3).part_tokens) == (120, 3_840)
    assert long.times(0.001).blocks == 1 and long.times(3).made_facts == 0  # as none were
    large = tasks.times(3)
    assert (large.questions, large.passages) == (93, 15)
    assert large.pretraining == tasks.pretraining.times(3)


def test_the_processor_s_plan_is_in_float32(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    plan = PLANS["cpu"].on_this_machine()
    pretrain, tasks = plan.stages["pretrain"], plan.stages["tasks"]
    assert isinstance(pretrain.sizes, MixtureSettings)
    assert pretrain.sizes.splits == 1  # one process
    assert pretrain.trainer.budget.minutes and tasks.trainer.budget.steps
    for name in plan.stages:
        assert not plan.stage(name, Path("d"), Path("w"), "init").trainer.bfloat16
    assert PLANS["cuda"].on_this_machine().builders == 1  # two cores are left for the rest


def test_the_long_pretraining_is_a_stage_of_the_processor_s_plan() -> None:
    long = PLANS["cpu"].stages["long"]
    assert list(PLANS["cpu"].stages) == ["pretrain", "long", "tasks"]
    assert long.sizes == LongSettings() and long.measured == 8
    trainer = long.trainer
    assert trainer.budget == Budget(steps=9_400) and trainer.optimizer == "muon"
    assert (trainer.learning_rate, trainer.warmup_steps) == (7e-4, 200)
    assert (trainer.weight_decay, trainer.decay_share, trainer.average_last) == (0.1, 0.25, 0.1)
    assert isinstance(long.sizes, LongSettings)
    assert (long.sizes.rate, long.sizes.everywhere) == (0.2, 0.5)


def test_the_tasks_read_the_long_pretraining_s_mixture() -> None:
    own, long = PLANS["cpu"].stages["tasks"].sizes, LongSettings()
    assert isinstance(own, TaskSettings)
    text = own.pretraining
    assert text.pairs > long.pairs and text.made_facts and text.made_pairs
    assert (text.same_document, text.swapped) == (0.25, 0.25)  # of the false pairs; half are easy
    names = "blocks sentences relations made_facts pairs made_pairs same_document swapped seed"
    same = {name: getattr(long, name) for name in names.split()}
    assert replace(text, **same) == long  # and hidden in the same way
    assert text.seed != long.seed


def test_minutes_are_divided_as_the_plan_divides_them() -> None:
    plan = PLANS["cpu"].with_minutes(30)
    assert {name: each.trainer.budget for name, each in plan.stages.items()} == {
        name: Budget(minutes=10) for name in ("pretrain", "long", "tasks")
    }
    card = PLANS["cuda"].with_minutes(7)
    assert [stage.trainer.budget.minutes for stage in card.stages.values()] == [5, 2]
    for wrong in (0.0, -3.0, math.nan):
        with pytest.raises(InputError, match="above 0"):
            plan.with_minutes(wrong)


def test_the_machine_is_chosen_by_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose("auto") == choose("cpu") == "cpu"
    with pytest.raises(InputError, match="--machine cpu"):
        choose("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose("auto") == choose("cuda") == "cuda"
    assert choose("cpu") == "cpu"


def tokens_of(parts: list[Any]) -> int:
    """Count the tokens in a step, including padding."""
    batches = [part.batch for part in parts]
    return sum(
        (batch["input_ids"] if isinstance(batch, dict) else batch.input_ids).numel()
        for batch in batches
    )


@pytest.fixture
def lesson_parts(task_data: Path, encoder: Path, tmp_path: Path) -> list[Any]:
    lesson = task_lesson(stage(task_data, tmp_path / "w", encoder), ROWS, lambda line: None)
    parts: list[Any] = [part for step in range(4) for part in lesson.batches(step, 0.5)]
    assert {"questions", "tags", "partial_tags", "sentiment", "choices"} <= {
        part.task for part in parts if isinstance(part, TaskPart)
    }
    return [lesson, parts]


@pytest.mark.slow
def test_batches_built_ahead_train_the_same(data: Path, encoder: Path, tmp_path: Path) -> None:
    plain = stage(data, tmp_path / "w", encoder)
    ahead = replace(plain, builders=1)
    lesson = pretraining_lesson(plain, SMALL, lambda line: None)
    trained = []
    for settings in (plain, ahead):
        trainer = make_trainer(settings, lesson)
        with closing_builders(trainer):
            while not trainer.done:
                trainer.step()
        trained.append(trainer.model.state_dict())
    assert all(torch.equal(trained[0][name], trained[1][name]) for name in trained[0])


def test_the_task_stage_s_batches_can_be_sent_to_builders(lesson_parts: list[Any]) -> None:
    lesson, parts = lesson_parts
    sent = pickle.loads(pickle.dumps(lesson.batches))  # noqa: S301 - ours
    again = [part for step in range(4) for part in sent(step, 0.5)]
    assert tokens_of(again) == tokens_of(parts)
    for one, two in zip(parts, again, strict=True):
        if isinstance(one, TaskPart):
            assert all(torch.equal(one.batch[name], two.batch[name]) for name in one.batch)
        else:
            assert torch.equal(one.batch.input_ids, two.batch.input_ids)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_step_in_bfloat16_runs_on_a_card(data: Path, encoder: Path, tmp_path: Path) -> None:
    settings = stage(data, tmp_path / "w", encoder, device="cuda")
    trainer = replace(settings.trainer, bfloat16=True)
    settings = replace(settings, trainer=trainer)
    trainer = make_trainer(settings, pretraining_lesson(settings, SMALL, lambda line: None))
    losses = [trainer.step().loss for _ in range(4)]
    assert all(math.isfinite(loss) for loss in losses)

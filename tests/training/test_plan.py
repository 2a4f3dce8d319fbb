"""What the plans promise, recomputed from their numbers."""

import math
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from bert_core.errors import InputError
from bert_core.finetuning import Budget
from tests.training.conftest import ROWS, SMALL, quiet, settings
from training.blocks import TextSettings
from training.lessons import pretraining_lesson, task_lesson
from training.plan import PLANS, choose
from training.stage import make_trainer
from training.task_model import TaskPart
from training.tasks import TaskSettings


def test_the_card_does_the_same_in_large_steps_by_the_clock() -> None:
    cpu, card = PLANS["cpu"], PLANS["cuda"]
    assert list(cpu.stages) == list(card.stages) == ["pretrain", "tasks"]
    assert card.init == "explorer-mini-uncased" and card.bfloat16 and not cpu.bfloat16
    for name, factor in {"pretrain": 25.6, "tasks": 16.0}.items():
        small, large = (plan.stages[name] for plan in (cpu, card))
        assert large.sizes == small.sizes.times(factor)
        assert small.trainer.budget.steps and large.trainer.budget.minutes
        assert small.trainer.decay_share == large.trainer.decay_share
        text = large.sizes.pretraining if isinstance(large.sizes, TaskSettings) else large.sizes
        assert text.part_tokens <= 32_768  # a part's memory


def test_a_step_becomes_larger_or_smaller_in_as_many_parts() -> None:
    text, tasks = TextSettings(), TaskSettings()
    assert (text.times(3).blocks, text.times(3).part_tokens) == (120, 3_840)
    assert text.times(0.001).blocks == 1
    large = tasks.times(3)
    assert (large.questions, large.passages) == (93, 15)
    assert large.pretraining == tasks.pretraining.times(3)
    names = ("blocks", "sentences", "pairs", "same_document", "swapped", "seed")
    same = {name: getattr(text, name) for name in names}
    assert replace(tasks.pretraining, **same) == text  # and hidden in the same way


def test_lengths_are_divided_by_shares_and_cut_to_a_part() -> None:
    plan = PLANS["cuda"]
    assert [each.minutes for each in plan.budgets(7).values()] == [5, 2]
    assert plan.budgets(part=0.5)["pretrain"] == Budget(minutes=2.5)
    assert [each.steps for each in PLANS["cpu"].budgets(part=0.001).values()] == [9, 3]
    for wrong in (0.0, -3.0, math.nan):
        with pytest.raises(InputError, match="above 0"):
            plan.budgets(wrong)
        with pytest.raises(InputError, match="--part"):
            plan.budgets(part=wrong)


@pytest.mark.parametrize(("words", "optimizer"), [("avx512_bf16", "muon"), ("avx2", "adamw")])
def test_muon_is_for_machines_with_bfloat16(
    words: str, optimizer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(f"flags : fpu {words}\n")
    monkeypatch.setattr("training.start._PROCESSOR", tmp_path / "cpuinfo")
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    for machine, expected in (("cpu", optimizer), ("cuda", "muon")):
        stage = PLANS[machine].stage("tasks", tmp_path, tmp_path, "init", Budget(steps=1))  # type: ignore[index]
        assert stage.trainer.optimizer == expected and stage.trainer.budget.steps == 1
        assert stage.builders == 1  # two cores are left for the rest


def test_the_machine_is_chosen_by_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose("auto") == choose("cpu") == "cpu"
    with pytest.raises(InputError, match="--machine cpu"):
        choose("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose("auto") == choose("cuda") == "cuda"
    assert choose("cpu") == "cpu"


def test_the_batches_can_be_sent_to_builders(
    task_data: Path, encoder: Path, tmp_path: Path
) -> None:
    lesson = task_lesson(settings(task_data, tmp_path, encoder), ROWS, quiet)
    sent = pickle.loads(pickle.dumps(lesson.batches))  # noqa: S301 - ours
    for one, two in zip(lesson.batches(3, 0.5), sent(3, 0.5), strict=True):
        if isinstance(one, TaskPart):
            assert all(torch.equal(one.batch[name], two.batch[name]) for name in one.batch)
        else:
            assert torch.equal(one.batch.input_ids, two.batch.input_ids)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_step_in_bfloat16_runs_on_a_card(data: Path, encoder: Path, tmp_path: Path) -> None:
    stage = settings(data, tmp_path, encoder, device="cuda")
    stage = replace(stage, trainer=replace(stage.trainer, bfloat16=True, optimizer="muon"))
    trainer = make_trainer(stage, pretraining_lesson(stage, SMALL, quiet))
    assert all(math.isfinite(trainer.step().loss) for _ in range(4))

"""What the plans promise, recomputed from their numbers."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from bert_core.errors import InputError
from bert_core.finetuning import Budget
from training.blocks import TextSettings
from training.plan import PLANS, choose
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

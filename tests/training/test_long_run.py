"""The long pretraining: states that take turns, killed and resumed, measured on the way."""

import json
import threading
from pathlib import Path

import pytest
import torch

from bert_core.errors import CheckpointError
from bert_core.finetuning import Budget, Trainer, TrainerSettings
from bert_core.model.heads import BertForPreTraining
from tests.training.test_long_mixture import SMALL, long_data
from training.long_run import STATES, WAY, long_lesson, resume_newest, run_long
from training.stage import LOG, STATE, StageSettings, make_trainer

__all__ = ["long_data"]  # a fixture


def quiet(line: str) -> None:
    """Nobody listens."""


def settings(data: Path, work: Path, encoder: Path, steps: int = 8) -> StageSettings:
    return StageSettings(
        data=data,
        work=work,
        init=str(encoder),
        trainer=TrainerSettings(Budget(steps=steps), 6e-4, 2, average_last=0.25, decay_share=0.5),
        save_minutes=0.0,
        cache=data / "cache",
    )


def weights(trainer: Trainer) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in trainer.model.named_parameters()}


def test_stopped_and_resumed_it_ends_like_a_run_in_one_go(
    long_data: Path, encoder: Path, tmp_path: Path
) -> None:
    whole = run_long(settings(long_data, tmp_path / "whole", encoder), SMALL, quiet)
    stop = threading.Event()
    apart = settings(long_data, tmp_path / "apart", encoder)

    def end(line: str) -> None:
        if line.startswith("measured") and (apart.work / WAY).read_text().count("\n") == 4:
            stop.set()  # after step 3 of 8

    part = run_long(apart, SMALL, end, stop)
    assert part.steps_done == 3 and not (apart.work / STATE).exists()
    rest = run_long(apart, SMALL, quiet)
    assert rest.done and (apart.work / STATE).is_file()
    for name, value in weights(rest).items():
        assert torch.equal(value, dict(whole.model.named_parameters())[name]), name
    logged = [json.loads(line) for line in (apart.work / LOG).read_text().splitlines()]
    assert [line["step"] for line in logged] == list(range(1, 9))
    assert all(line["parts"]["tokens"] > 0 for line in logged)
    # warm-up, level, then down
    assert [line["learning_rate"] / 6e-4 for line in logged] == pytest.approx(
        [0.5, 1, 1, 1, 1, 0.75, 0.5, 0.25]
    )
    way = [json.loads(line) for line in (apart.work / WAY).read_text().splitlines()]
    assert [line["step"] for line in way] == list(range(9))
    assert {"famous first", "unseen wrong copies", "running text first"} <= set(way[0])
    last = BertForPreTraining.from_pretrained(apart.work / "quarter-4")
    mean = rest.average.weights["bert.pooler.dense.weight"]
    assert torch.allclose(last.bert.pooler.dense.weight, mean, atol=1e-3)


def test_a_damaged_state_gives_way_to_the_older_one(
    long_data: Path, encoder: Path, tmp_path: Path
) -> None:
    plan = settings(long_data, tmp_path / "work", encoder, steps=3)
    run_long(plan, SMALL, quiet, measured=1)
    newest = max((plan.work / name for name in STATES), key=lambda path: path.stat().st_mtime)
    newest.write_bytes(newest.read_bytes()[:1000])
    long = long_lesson(plan, SMALL, quiet)
    trainer = make_trainer(plan, long.lesson)
    found = resume_newest(trainer, plan.work)
    assert found is not None and found != newest
    assert trainer.steps_done in (2, 3)
    found.write_bytes(b"")
    with pytest.raises(CheckpointError):
        resume_newest(trainer, plan.work)
    for name in STATES:
        (plan.work / name).unlink()
    assert resume_newest(trainer, plan.work) is None

"""The long pretraining: the state before the newest, killed and resumed, measured on the way."""

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from bert_core.errors import CheckpointError
from bert_core.finetuning import Budget, NotFiniteError, StepReport, Trainer
from bert_core.finetuning.state import load_state
from bert_core.model.heads import BertForPreTraining
from tests.training import process_stage
from tests.training.conftest import quiet
from tests.training.whole import LONG
from training.lessons import long_lesson, run_stage
from training.stage import (
    BEFORE,
    LOG,
    REFUSED,
    STATE,
    WAY,
    StageSettings,
    make_trainer,
    newest_state,
)
from training.trainer import StageTraining


def settings(data: Path, work: Path, encoder: Path, steps: int = 8) -> StageSettings:
    return StageSettings(
        data=data,
        work=work,
        init=str(encoder),
        trainer=StageTraining(Budget(steps=steps), 6e-4, 2, average_last=0.25, decay_share=0.5),
        save_minutes=0.0,
        cache=data / "cache",
        measured=8,
    )


def weights(trainer: Trainer) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in trainer.model.named_parameters()}


@pytest.mark.slow
def test_stopped_and_resumed_it_ends_like_a_run_in_one_go(
    long_data: Path, encoder: Path, tmp_path: Path
) -> None:
    whole = run_stage("long", settings(long_data, tmp_path / "whole", encoder), LONG, quiet)
    stop = threading.Event()
    apart = settings(long_data, tmp_path / "apart", encoder)

    def end(line: str) -> None:
        if line.startswith("measured") and (apart.work / WAY).read_text().count("\n") == 4:
            stop.set()  # after step 3 of 8

    part = run_stage("long", apart, LONG, end, stop)
    assert part.steps_done == 3
    rest = run_stage("long", apart, LONG, quiet)
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
    last = BertForPreTraining.from_pretrained(apart.work / "half-2")
    mean = rest.average.weights["bert.pooler.dense.weight"]
    assert torch.allclose(last.bert.pooler.dense.weight, mean, atol=1e-3)


@pytest.mark.slow
def test_two_processes_run_the_stage_of_one(long_data: Path, encoder: Path, tmp_path: Path) -> None:
    process_stage.run(long_data, tmp_path / "alone", encoder)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    folders = [str(each) for each in (long_data, tmp_path / "together", encoder)]
    done = subprocess.run(
        [*command, "-m", process_stage.__name__, *folders],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    assert done.stdout.count("step 8, 100.0 %") == 1  # one of them speaks
    logs = [
        [json.loads(line) for line in (tmp_path / name / LOG).read_text().splitlines()]
        for name in ("alone", "together")
    ]
    alone, together = ([line["loss"] for line in log] for log in logs)
    assert together == pytest.approx(alone, abs=1e-4)
    assert (tmp_path / "together" / STATE).is_file()
    assert (tmp_path / "together" / WAY).read_text().count("\n") == 3


def test_a_damaged_state_gives_way_to_the_older_one(
    long_data: Path, encoder: Path, tmp_path: Path
) -> None:
    plan = replace(settings(long_data, tmp_path / "work", encoder, steps=3), measured=1)
    run_stage("long", plan, LONG, quiet)
    newest, before = plan.work / STATE, plan.work / BEFORE
    newest.write_bytes(newest.read_bytes()[:1000])
    trainer = make_trainer(plan, long_lesson(plan, LONG, quiet))
    found = newest_state(plan.work, trainer.resume)
    assert found is not None and found[0] == before
    assert trainer.steps_done in (2, 3)
    before.replace(plan.work / "state-b.pt")  # as long trainings of version 0.1 named it
    assert newest_state(plan.work, load_state) is not None
    (plan.work / "state-b.pt").write_bytes(b"")
    with pytest.raises(CheckpointError):
        newest_state(plan.work, trainer.resume)
    for path in plan.work.glob("state*.pt"):
        path.unlink()
    assert newest_state(plan.work, trainer.resume) is None


@pytest.mark.parametrize("broken", [1, REFUSED])
def test_steps_that_are_not_finite_are_left_out_and_many_in_a_row_end_the_stage(
    broken: int,
    long_data: Path,
    encoder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step, said = Trainer.step, list[str]()

    def sometimes(trainer: Trainer) -> StepReport:
        if 4 <= trainer.steps_done + 1 < 4 + broken:  # the step at which the half is over, too
            raise NotFiniteError(f"The loss of step {trainer.steps_done + 1} is nan.")
        return step(trainer)

    monkeypatch.setattr(Trainer, "step", sometimes)
    plan = replace(settings(long_data, tmp_path / "work", encoder, steps=9), measured=2)
    if broken == REFUSED:
        with pytest.raises(NotFiniteError, match="step 8"):
            run_stage("long", plan, LONG, said.append)
    else:
        assert run_stage("long", plan, LONG, said.append).done
        logged = [json.loads(line)["step"] for line in (plan.work / LOG).read_text().splitlines()]
        assert logged == [1, 2, 3, 5, 6, 7, 8, 9]
        assert (plan.work / "half-1").is_dir() and (plan.work / "half-2").is_dir()
    assert [line for line in said if line.startswith("left out")] == [
        f"left out: The loss of step {number} is nan." for number in range(4, 4 + broken)
    ]

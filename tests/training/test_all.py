"""`all`: every stage by itself, killed at every place, and finished as if nothing had been."""

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from bert_core.errors import CheckpointError, InputError, MissingFileError
from bert_core.finetuning import Budget
from bert_core.model.heads import BertForPreTraining, BertForQuestionAnswering
from tests.training.conftest import quiet
from tests.training.whole import settings
from training.__main__ import main
from training.lessons import run_stage
from training.recipe import prepare, progress, run_recipe
from training.sources import all_sources
from training.stage import STATE

ROOT = Path(__file__).resolve().parents[2]


def killed(data: Path, work: Path, encoder: Path, where: str) -> None:
    """Run the recipe in a process of its own that is killed there."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/training/whole.py"), data, work, encoder, where],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


def files(folder: Path) -> dict[str, bytes]:
    """What a bundle says; how long its training took is its own matter."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("training.json", "README.md")
    }


@pytest.mark.slow
def test_killed_inside_and_between_stages_it_ends_like_a_run_in_one_go(
    task_data: Path, encoder: Path, tmp_path: Path
) -> None:
    work, whole = tmp_path / "apart", tmp_path / "whole"
    killed(task_data, work, encoder, "pretrain 3")
    assert progress(work / "pretrain", Budget(steps=4)) == 0.5  # of two saved steps
    killed(task_data, work, encoder, "long 3")
    assert progress(work / "long", Budget(steps=4)) == 0.5
    killed(task_data, work, encoder, "tasks: begins")
    assert progress(work / "pretrain", Budget(steps=4)) == 1.0
    assert (work / "after-long").is_dir() and not (work / "tasks" / STATE).exists()
    killed(task_data, work, encoder, "tasks 3")
    assert progress(work / "tasks", Budget(steps=4)) == 0.5
    killed(task_data, work, encoder, "everyday gaps:")
    assert (work / "bundle.part").is_dir() and not (work / "bundle").exists()
    said: list[str] = []
    assert run_recipe(settings(task_data, work, encoder), said.append) == work / "bundle"
    assert not any("begins" in line or "goes on" in line for line in said)
    run_recipe(settings(task_data, whole, encoder), quiet)
    ours, theirs = files(work / "bundle"), files(whole / "bundle")
    assert sorted(ours) == sorted(theirs)
    assert [name for name in ours if ours[name] != theirs[name]] == []
    assert not (work / "bundle.part").exists()
    # The second stage started from the mean of the first one's last weights, as float16.
    state = torch.load(whole / "pretrain" / STATE, weights_only=True)
    name = "bert.encoder.layer.1.output.dense.weight"
    start = BertForPreTraining.from_pretrained(whole / "after-pretrain").get_parameter(name)
    assert torch.equal(start, state["average"]["weights"][name].half().float())
    assert not torch.equal(start, state["model"][name].half().float())


@pytest.mark.slow
def test_the_bundle_is_complete_and_a_finished_run_is_left_alone(
    task_data: Path, encoder: Path, tmp_path: Path
) -> None:
    work, said = tmp_path / "work", list[str]()
    bundle = run_recipe(settings(task_data, work, encoder, 2), said.append)
    assert bundle == work / "bundle"
    names = {path.name for path in bundle.iterdir()}
    assert names >= {"model.safetensors", "README.md", "training.json", "curve-3.svg", "heads"}
    model = BertForQuestionAnswering.from_pretrained(bundle)
    assert model.load_report is not None and not model.load_report.missing
    stages = json.loads((bundle / "training.json").read_text())
    assert [stage["steps"] for stage in stages] == [2, 2, 2]
    assert "relations" in stages[1]["settings"]["phases"][0]["mixture"]
    way = (work / "long" / "way.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in way] == [0, 1, 2]
    assert (work / "long" / "half-2" / "model.safetensors").is_file()
    assert "### Stage 2: long pretraining" in (bundle / "README.md").read_text()
    assert str(tmp_path) not in (bundle / "training.json").read_text()
    before = (bundle / "model.safetensors").stat().st_mtime_ns
    said.clear()
    assert run_recipe(settings(task_data, work, encoder, 2), said.append) == bundle
    assert len(said) == 1 and "is finished" in said[0]
    assert (bundle / "model.safetensors").stat().st_mtime_ns == before


@pytest.mark.slow
def test_what_was_prepared_is_trained_by_the_clock_and_left_to_be_measured(
    task_data: Path, encoder: Path, tmp_path: Path
) -> None:
    said = list[str]()
    asked = replace(settings(task_data, tmp_path, encoder), minutes=0.1)
    lessons = prepare(asked, said.append)
    assert list(lessons) == ["pretrain", "long", "tasks"]
    for path in (task_data / "text").iterdir():
        path.unlink()  # nothing is read again
    bundle = run_recipe(asked, said.append, lessons=lessons, finished=False)
    assert bundle is not None and not (bundle / "figures.json").exists()
    log = [json.loads(line) for line in (tmp_path / "tasks" / "log.jsonl").read_text().splitlines()]
    assert log[-1]["progress"] == 1.0 and all(line["progress"] < 1.0 for line in log[:-1])


@pytest.mark.slow
def test_a_stop_signal_ends_after_the_step_at_hand(
    task_data: Path, encoder: Path, tmp_path: Path
) -> None:
    stop = threading.Event()

    def say(line: str) -> None:
        if line.startswith("step 1,"):
            stop.set()

    assert run_recipe(settings(task_data, tmp_path, encoder), say, stop) is None
    assert progress(tmp_path / "pretrain", Budget(steps=4)) == 0.25
    assert not (tmp_path / "after-pretrain").exists()


@pytest.mark.slow
def test_another_run_in_the_same_folder_is_refused(
    task_data: Path, encoder: Path, tmp_path: Path
) -> None:
    stop = threading.Event()
    stop.set()
    run_recipe(settings(task_data, tmp_path, encoder), quiet, stop)
    other = settings(task_data, tmp_path, tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"was started with --init .*tiny-uncased"):
        run_recipe(other, quiet)
    (tmp_path / "recipe.json").write_text('{"machine": "cpu"')
    with pytest.raises(CheckpointError, match=r"recipe\.json cannot be read"):
        run_recipe(settings(task_data, tmp_path, encoder), quiet)


def test_missing_data_are_named_before_anything_is_trained(
    data: Path, encoder: Path, tmp_path: Path
) -> None:
    with pytest.raises(MissingFileError, match="has no relations, qa, ner, sentiment, mc; "):
        run_recipe(settings(data, tmp_path / "work", encoder), quiet)
    assert not (tmp_path / "work").exists()


@pytest.mark.slow
def test_without_what_states_no_licence_it_runs_and_says_what_is_missing(
    task_data: Path, encoder: Path, tmp_path: Path
) -> None:
    gone = [
        name for each in all_sources() if each.unstated and each.piece for name in each.piece.files
    ]
    gone = [name for name in gone if not name.startswith("qa/")]  # fetched from a licensed place
    for name in gone:
        (task_data / name).unlink(missing_ok=True)
    for folder in ("sst2", "names"):
        (task_data / folder).rmdir()
    said = list[str]()
    bundle = run_recipe(settings(task_data, tmp_path / "work", encoder, 2), said.append)
    assert bundle is not None and (bundle / "README.md").is_file()
    assert said[0].startswith("not there, and left out: ")
    assert set(gone) <= set(said[0].partition(": ")[2].split(", "))
    card = (bundle / "README.md").read_text(encoding="utf-8")
    assert "sst2/test.tsv" in card and "Not measured" in card


def test_seeds_change_what_comes_out(task_data: Path, encoder: Path, tmp_path: Path) -> None:
    weights = []
    for seed in (0, 0, 1):
        work = tmp_path / str(len(weights))
        run = replace(settings(task_data, work, encoder, 1), seed=seed)
        stage = run.stage("pretrain", Budget(steps=1))
        trained = run_stage("pretrain", stage, run.plan.stages["pretrain"].sizes, quiet).model
        weights.append(trained.get_parameter("cls.seq_relationship.weight").detach().clone())
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


@pytest.mark.slow
def test_the_command_runs_by_minutes_and_says_so(
    task_data: Path, encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = tmp_path / "work"
    places = ["--data", str(task_data), "--work", str(work), "--init", str(encoder)]
    command = ["all", *places, "--machine", "cpu", "--minutes", "0.003"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "pretrain: 0 minutes of computing to go, by its budget" in shown
    assert f"the bundle is in {work / 'bundle'}" in shown
    assert (work / "pretrain" / "curve.svg").is_file() and (work / "tasks" / "log.jsonl").is_file()
    assert main([*command, "--seed", "3"]) == 1
    assert "started with --seed 0 (now 3)" in capsys.readouterr().err

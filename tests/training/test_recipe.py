"""The recipe from a data folder to a bundle: killed at every place, stopped, refused, complete."""

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch

from bert_core.errors import CheckpointError, InputError, MissingFileError
from bert_core.finetuning import Budget, NotFiniteError, StepReport, Trainer
from bert_core.model.heads import BertForMaskedLM, BertForPreTraining, BertForQuestionAnswering
from bert_core.text.tokenizer import BertTokenizer
from bert_core.verification import verify
from tests.training import conftest, whole
from tests.training.conftest import SMALL, quiet
from tests.training.whole import settings
from training.curve import write_curve
from training.export import export, finish
from training.lessons import pretraining_lesson, run_stage
from training.recipe import progress, run_recipe
from training.record import read_record
from training.stage import LOG, REFUSED, STATE

ROOT = Path(__file__).resolve().parents[2]
transformers = pytest.importorskip("transformers")


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
    work, other = tmp_path / "apart", tmp_path / "whole"
    killed(task_data, work, encoder, "pretrain 3")
    assert progress(work / "pretrain", Budget(steps=4)) == 0.5  # of two saved steps
    killed(task_data, work, encoder, "tasks: begins")
    assert progress(work / "pretrain", Budget(steps=4)) == 1.0
    assert (work / "after-pretrain").is_dir() and not (work / "tasks" / STATE).exists()
    killed(task_data, work, encoder, "tasks 3")
    assert progress(work / "tasks", Budget(steps=4)) == 0.5
    killed(task_data, work, encoder, "everyday gaps:")
    assert (work / "bundle.part").is_dir() and not (work / "bundle").exists()
    said: list[str] = []
    assert run_recipe(settings(task_data, work, encoder), said.append) == work / "bundle"
    assert not any("begins" in line or "goes on" in line for line in said)
    run_recipe(settings(task_data, other, encoder), quiet)
    ours, theirs = files(work / "bundle"), files(other / "bundle")
    assert sorted(ours) == sorted(theirs)
    assert [name for name in ours if ours[name] != theirs[name]] == []
    # The second stage started from the mean of the first one's last weights, as float16.
    state = torch.load(other / "pretrain" / STATE, weights_only=True)
    name = "bert.encoder.layer.1.output.dense.weight"
    start = BertForPreTraining.from_pretrained(other / "after-pretrain").get_parameter(name)
    assert torch.equal(start, state["average"]["weights"][name].half().float())
    assert not torch.equal(start, state["model"][name].half().float())


@pytest.mark.slow
def test_the_bundle_is_complete_and_a_finished_run_is_left_alone(
    task_data: Path, encoder: Path, tmp_path: Path
) -> None:
    for name in ("sst2/train.tsv", "sst2/phrases.tsv", "sst2/test.tsv", "mc/copa_train.jsonl"):
        (task_data / name).unlink()
    work, said = tmp_path / "work", list[str]()
    bundle = run_recipe(settings(task_data, work, encoder, 2), said.append)
    assert bundle == work / "bundle"
    assert said[0].startswith("not there, and left out: ") and "sst2/phrases.tsv" in said[0]
    names = {path.name for path in bundle.iterdir()}
    assert names >= {"model.safetensors", "README.md", "training.json", "curve-2.csv", "heads"}
    model = BertForQuestionAnswering.from_pretrained(bundle)
    assert model.load_report is not None and not model.load_report.missing
    assert verify(bundle).ok
    assert [stage.steps for stage in read_record(bundle / "training.json")] == [2, 2]
    card = (bundle / "README.md").read_text(encoding="utf-8")
    assert "- Not measured: sentiment: the data folder has no sst2/test.tsv." in card
    assert str(tmp_path) not in card + (bundle / "training.json").read_text()
    before = (bundle / "model.safetensors").stat().st_mtime_ns
    said.clear()
    assert run_recipe(settings(task_data, work, encoder, 2), said.append) == bundle
    assert len(said) == 1 and "is finished" in said[0]
    assert (bundle / "model.safetensors").stat().st_mtime_ns == before


def test_a_stop_signal_ends_after_the_step_at_hand_and_other_settings_are_refused(
    task_data: Path, encoder: Path, tmp_path: Path
) -> None:
    stop = threading.Event()

    def say(line: str) -> None:
        if line.startswith("step 1,"):
            stop.set()

    run = settings(task_data, tmp_path, encoder)
    assert run_recipe(run, say, stop) is None
    assert progress(tmp_path / "pretrain", Budget(steps=4)) == 0.25
    assert not (tmp_path / "after-pretrain").exists()
    with pytest.raises(InputError, match=r"was started with --seed 0 \(now 3\)"):
        run_recipe(replace(run, seed=3), quiet)
    (tmp_path / "recipe.json").write_text('{"machine": "cpu"')
    with pytest.raises(CheckpointError, match=r"recipe\.json cannot be read"):
        run_recipe(run, quiet)


def test_missing_data_are_named_before_anything_is_trained(
    data: Path, encoder: Path, tmp_path: Path
) -> None:
    with pytest.raises(MissingFileError, match="has no qa, ner, sentiment, mc; "):
        run_recipe(settings(data, tmp_path / "work", encoder), quiet)
    assert not (tmp_path / "work").exists()


def weights(trainer: Trainer) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in trainer.model.named_parameters()}


@pytest.mark.parametrize("builders", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_stopped_stage_goes_on_and_ends_like_one_in_one_go(
    data: Path, encoder: Path, tmp_path: Path, builders: int
) -> None:
    def say(line: str) -> None:
        if line.startswith("step 1,"):
            stop.set()

    stop, found = threading.Event(), []
    for name, more in (("apart", {"builders": builders}), ("whole", {})):
        stage = conftest.settings(data, tmp_path / name, encoder, 4, cache=data / "cache", **more)
        torch.manual_seed(0)  # the heads of both trainings start alike
        if name == "apart":
            assert run_stage("pretrain", stage, SMALL, say=say, stop=stop).steps_done == 1
        found.append(weights(run_stage("pretrain", stage, SMALL, say=quiet)))
    assert all(torch.equal(found[0][name], found[1][name]) for name in found[1])
    logged = [json.loads(line) for line in (tmp_path / "apart" / LOG).read_text().splitlines()]
    assert [line["step"] for line in logged] == [1, 2, 3, 4]
    assert all(line["parts"]["tokens"] > 0 for line in logged)


def test_a_damaged_state_is_refused(data: Path, encoder: Path, tmp_path: Path) -> None:
    stage = conftest.settings(data, tmp_path / "work", encoder, 2)
    run_stage("pretrain", stage, SMALL, quiet)
    path = stage.work / STATE
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(CheckpointError, match="cannot be read"):
        run_stage("pretrain", stage, SMALL, quiet)


@pytest.mark.parametrize("broken", [1, REFUSED])
def test_steps_that_are_not_finite_are_left_out_and_many_in_a_row_end_the_stage(
    broken: int, data: Path, encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, said = Trainer.step, list[str]()

    def sometimes(trainer: Trainer) -> StepReport:
        if 4 <= trainer.steps_done + 1 < 4 + broken:
            raise NotFiniteError(f"The loss of step {trainer.steps_done + 1} is nan.")
        return step(trainer)

    monkeypatch.setattr(Trainer, "step", sometimes)
    stage = conftest.settings(data, tmp_path / "work", encoder, 9)
    if broken == REFUSED:
        with pytest.raises(NotFiniteError, match="step 8"):
            run_stage("pretrain", stage, SMALL, said.append)
    else:
        assert run_stage("pretrain", stage, SMALL, said.append).done
    assert [line for line in said if line.startswith("left out")] == [
        f"left out: The loss of step {number} is nan." for number in range(4, 4 + broken)
    ]


@pytest.mark.slow
def test_two_processes_run_the_stage_of_one(data: Path, encoder: Path, tmp_path: Path) -> None:
    whole.alone(data, tmp_path / "alone", encoder)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    folders = [str(each) for each in (data, tmp_path / "together", encoder)]
    done = subprocess.run(
        [*command, "-m", whole.__name__, *folders],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    assert done.stdout.count("step 8, 100.0 %") == 1  # one of them speaks
    alone, together = (
        [json.loads(line)["loss"] for line in (tmp_path / name / LOG).read_text().splitlines()]
        for name in ("alone", "together")
    )
    assert together == pytest.approx(alone, abs=1e-4)


def test_a_fresh_head_starts_from_the_identity_and_word_frequencies(
    data: Path, encoder: Path, tmp_path: Path
) -> None:
    lesson = pretraining_lesson(conftest.settings(data, tmp_path, encoder), SMALL, quiet)
    model = lesson.start(str(encoder))
    weight = model.get_parameter("cls.predictions.transform.dense.weight")
    assert torch.allclose(weight, torch.eye(32), atol=0.15)
    bias, vocab = model.get_parameter("cls.predictions.bias"), lesson.tokenizer.vocab
    assert bias[vocab["the"]] > bias[vocab["teacher"]] > bias[vocab["[MASK]"]]
    with torch.no_grad():
        bias.fill_(0.5)
    model.save_pretrained(tmp_path / "trained")
    lesson.tokenizer.save_pretrained(tmp_path / "trained")
    again = lesson.start(str(tmp_path / "trained")).get_parameter("cls.predictions.bias")
    assert torch.equal(again, bias)  # not set to frequencies again


def test_the_bundle_is_float16_and_transformers_gives_the_same_scores(
    data: Path, encoder: Path, tmp_path: Path
) -> None:
    work, folder = tmp_path / "work", tmp_path / "bundle"
    trainer = run_stage("pretrain", conftest.settings(data, work, encoder, 2), SMALL, quiet)
    bundle = export(work, folder)
    finish(folder)
    parameters = sum(p.numel() for p in trainer.model.parameters())
    assert 2 * parameters < bundle.size < 2 * parameters + 20_000
    report = verify(folder)
    digests = {file.path: file.found for file in report.files}
    assert report.ok and digests["model.safetensors"] == bundle.sha256
    ours = BertForPreTraining.from_pretrained(folder)
    for name, parameter in trainer.model.named_parameters():
        assert torch.equal(parameter.half().float(), ours.get_parameter(name)), name
    theirs = transformers.BertForPreTraining.from_pretrained(folder, dtype=torch.float32).eval()
    encoding = BertTokenizer.from_pretrained(folder)(
        ["The cat sees [MASK]."], ["A dog likes bread."], return_tensors="pt"
    )
    with torch.no_grad():
        words, relation = ours(**encoding)
        expected = theirs(**encoding)
    assert torch.allclose(words, expected.prediction_logits, atol=1e-5)
    assert torch.allclose(relation, expected.seq_relationship_logits, atol=1e-5)
    assert not BertForMaskedLM.from_pretrained(folder).load_report.missing  # type: ignore[union-attr]


def test_the_curve_is_the_mean_of_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    parts = [{"words": 5 - i / 50} | ({"tags": 0.7} if i % 2 else {}) for i in range(1, 101)]
    log.write_text("".join(json.dumps({"step": i, "parts": p}) + "\n" for i, p in enumerate(parts)))
    write_curve(log, tmp_path / "curve.csv")
    found = pd.read_csv(tmp_path / "curve.csv", index_col="step")
    assert found["tags"].dropna().eq(0.7).all() and len(found) == 100
    assert found["words"].iloc[9] == pytest.approx((4.8 + 4.82) / 2)
    assert found["words"].is_monotonic_decreasing

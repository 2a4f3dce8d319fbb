"""The recipe from the command line to a bundle, end to end on made-up data."""

import json
import math
import threading
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import get_args

import pytest
import torch

from bert_core.errors import MissingFileError
from bert_core.finetuning import Budget
from bert_core.model.heads import BertForMaskedLM, BertForPreTraining
from bert_core.text.tokenizer import BertTokenizer
from tests.training.conftest import SMALL, quiet, settings
from training import curve
from training.__main__ import main
from training.curve import read_log, write_curve
from training.export import export, seal
from training.lessons import run_stage
from training.stage import StageSettings, wait_while_paused
from training.start import keep_memory, start_model
from training.task_model import Task
from training.trainer import StageTraining

transformers = pytest.importorskip("transformers")


@pytest.mark.slow
def test_training_exporting_and_evaluating_from_the_command_line(
    data: Path, encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work, bundle = tmp_path / "work", tmp_path / "bundle"
    places = ["--data", str(data), "--work", str(work)]
    assert main(["pretrain", *places, "--init", str(encoder), "--steps", "2"]) == 0
    assert {path.name for path in work.iterdir()} >= {"state.pt", "log.jsonl", "curve.svg"}
    export_to = ["export", "--work", str(work), "--target", str(bundle), "--data", str(data)]
    assert main(export_to) == 0
    capsys.readouterr()
    assert main(["evaluate", "--model", str(bundle), "--data", str(data), "--answers"]) == 0
    shown = capsys.readouterr().out
    card = (bundle / "README.md").read_text(encoding="utf-8")
    table = shown.split("\n\n")[0]
    assert table.count("\n") == 20
    assert table in card
    assert shown.removeprefix(table).count("[MASK]") == 100


@pytest.mark.slow
def test_a_card_says_licences_recipe_and_hash(data: Path, encoder: Path, tmp_path: Path) -> None:
    work, bundle = tmp_path / "work", tmp_path / "bundle"
    run_stage("pretrain", settings(data, work, encoder, 2), SMALL, say=quiet)
    main(["export", "--work", str(work), "--target", str(bundle), "--data", str(data)])
    card = (bundle / "README.md").read_text(encoding="utf-8")
    for said in ("CC BY-SA 4.0", "MIT", "Apache-2.0", "states none", "2 steps", "## Limits"):
        assert said in card
    assert seal(bundle).sha256 in card
    assert str(tmp_path) not in card
    ElementTree.fromstring((bundle / "curve-1.svg").read_text(encoding="utf-8"))  # noqa: S314 - ours


def test_the_loss_falls(data: Path, encoder: Path, tmp_path: Path) -> None:
    verse = "The cat sees the river. A dog likes the moon. My aunt hears two apples.\n"
    for path in (data / "text").glob("*.txt"):
        path.write_text((8 * verse + "\n") * 4)
    (data / "text" / "wikitext2-valid-test.txt").unlink()
    trainer = run_stage("pretrain", settings(data, tmp_path, encoder, 80), SMALL, say=quiet)
    losses = [row["masked_lm_blocks"] for row in read_log(tmp_path / "log.jsonl")]
    assert trainer.done
    assert sum(losses[-10:]) < 0.95 * sum(losses[:10])


def test_a_stopped_stage_goes_on_and_ends_like_one_in_one_go(
    data: Path, encoder: Path, tmp_path: Path
) -> None:
    def say(line: str) -> None:
        if line.startswith("step 1,"):
            stop.set()

    stop = threading.Event()
    apart, whole = tmp_path / "apart", tmp_path / "whole"
    torch.manual_seed(0)  # the heads of both trainings start alike
    stopped = run_stage("pretrain", settings(data, apart, encoder, 6), SMALL, say=say, stop=stop)
    assert stopped.steps_done == 1
    resumed = run_stage("pretrain", settings(data, apart, encoder, 6), SMALL, say=quiet)
    torch.manual_seed(0)
    straight = run_stage("pretrain", settings(data, whole, encoder, 6), SMALL, say=quiet)
    assert resumed.steps_done == straight.steps_done == 6
    ours, theirs = resumed.model.state_dict(), straight.model.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_the_bundle_is_float16_and_transformers_gives_the_same_scores(
    data: Path, encoder: Path, tmp_path: Path
) -> None:
    work, folder = tmp_path / "work", tmp_path / "bundle"
    trainer = run_stage("pretrain", settings(data, work, encoder, 3), SMALL, say=quiet)
    bundle = export(work, folder)
    parameters = sum(p.numel() for p in trainer.model.parameters())
    assert 2 * parameters < bundle.size < 2 * parameters + 20_000
    ours = BertForPreTraining.from_pretrained(folder)
    assert ours.load_report is not None
    assert not ours.load_report.missing and not ours.load_report.unexpected
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


@pytest.mark.slow
def test_a_bundle_is_a_start_for_the_next_training(
    data: Path, encoder: Path, tmp_path: Path
) -> None:
    run_stage("pretrain", settings(data, tmp_path / "one", encoder, 3), SMALL, say=quiet)
    export(tmp_path / "one", tmp_path / "bundle")
    before = BertForMaskedLM.from_pretrained(tmp_path / "bundle").cls.predictions.bias.clone()
    again = settings(data, tmp_path / "two", tmp_path / "bundle", 1)
    trainer = run_stage("pretrain", again, SMALL, say=quiet)
    after = trainer.model.get_parameter("cls.predictions.bias")
    assert torch.allclose(before, after, atol=0.01)  # not set to frequencies again


def test_a_fresh_head_starts_from_the_identity_and_word_frequencies(
    data: Path, encoder: Path, tmp_path: Path
) -> None:
    weight = start_model(encoder).cls.predictions.transform.dense.weight
    assert torch.allclose(weight, torch.eye(32), atol=0.15)
    slow = StageSettings(data, tmp_path, str(encoder), StageTraining(Budget(steps=1), 1e-9))
    trainer = run_stage("pretrain", slow, SMALL, say=quiet)
    bias = trainer.model.get_parameter("cls.predictions.bias")
    vocab = BertTokenizer.from_pretrained(encoder).vocab
    assert bias[vocab["the"]] > bias[vocab["teacher"]] > bias[vocab["[MASK]"]]


def test_a_pause_file_makes_the_stage_wait_without_losing_budget(tmp_path: Path) -> None:
    pause, said = tmp_path / "PAUSE", list[str]()
    wait_while_paused(pause, said.append)
    assert said == []
    pause.touch()
    threading.Timer(0.2, pause.unlink).start()
    began = time.monotonic()
    wait_while_paused(pause, said.append)
    assert time.monotonic() - began > 0.1
    assert said == ["paused", "goes on"]
    pause.touch()
    stop = threading.Event()
    stop.set()
    wait_while_paused(pause, said.append, stop)  # returns although the file is still there


def test_errors_are_told_in_one_line(
    data: Path, encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "nowhere"
    arguments = ["--work", str(tmp_path / "w"), "--init", str(encoder), "--steps", "1"]
    assert main(["pretrain", "--data", str(missing), *arguments]) == 1
    assert capsys.readouterr().err.startswith("error: There are no training texts")
    assert main(["export", "--work", str(missing), "--target", str(tmp_path / "b")]) == 1
    assert "Run `pretrain` first" in capsys.readouterr().err
    with pytest.raises(MissingFileError):
        export(missing, tmp_path / "b")


def test_the_curve_is_drawn_from_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    lines = [
        json.dumps({"step": i, "parts": {"masked_lm_blocks": 5 - i / 50, "next_sentence": 0.7}})
        for i in range(1, 101)
    ]
    log.write_text("\n".join(lines) + "\n")
    write_curve(log, tmp_path / "curve.svg")
    root = ElementTree.fromstring((tmp_path / "curve.svg").read_text())  # noqa: S314 - ours
    drawn = root.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(drawn) == 2
    heights = [float(point.split(",")[1]) for point in drawn[0].get("points", "").split()]
    assert heights == sorted(heights)  # a falling loss goes down on the page
    assert all(math.isfinite(height) for height in heights)
    svg = "{http://www.w3.org/2000/svg}"
    names = {text.text: float(text.get("y", "nan")) for text in root.findall(f"{svg}text")}
    lowest = max(y for name, y in names.items() if name in ("0", "step"))  # of the axes
    assert names["next sentence"] > lowest and names["masked words, running text"] > lowest


def test_every_task_of_a_step_has_a_name_and_a_line_of_its_own() -> None:
    assert set(get_args(Task)) <= set(curve._NAMES)
    assert len(set(curve._STYLES)) == len(curve._STYLES) >= len(curve._NAMES)


def test_asking_for_memory_to_be_kept_never_fails() -> None:
    assert keep_memory() in (True, False)

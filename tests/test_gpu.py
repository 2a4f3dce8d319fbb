"""`make gpu`, on machines without a card: what it says, and that its commands exist."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from benchmarks import cuda
from bert_core.config import BertConfig
from bert_core.errors import InputError
from tools import gpu
from training import __main__ as training
from training.plan import PLANS

ROOT = Path(__file__).resolve().parents[1]


def test_without_a_card_it_says_what_it_needs_and_stops() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.gpu", "--data", "."],
        cwd=ROOT,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("make gpu needs a CUDA device with 24 GB of memory; PyTorch ")
    assert done.stderr.count("\n") == 1


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A card of 80 GB, as far as anybody asks."""
    found = SimpleNamespace(total_memory=80 * 2**30, name="A card")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: found)
    return found


def test_with_a_card_it_says_what_else_is_missing(card: SimpleNamespace, tmp_path: Path) -> None:
    assert "make gpu DATA=FOLDER" in gpu.lacking(None)
    assert "has no folder text, relations, nsp" in gpu.lacking(tmp_path)
    for name in gpu._FOLDERS:
        (tmp_path / name).mkdir()
    assert gpu.lacking(tmp_path) == ""
    card.total_memory = 8 * 2**30
    assert "A card has 8" in gpu.lacking(tmp_path)


def test_every_part_runs_and_a_failure_is_told(
    card: SimpleNamespace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run: list[str] = []

    def done(command: list[str], **_: object) -> SimpleNamespace:
        run.append(command[2])
        return SimpleNamespace(returncode=int(command[2] == "pytest"))

    monkeypatch.setattr(gpu, "lacking", lambda _: "")
    monkeypatch.setattr(gpu.subprocess, "run", done)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "old").write_text("")
    asked = ["--data", str(tmp_path), "--work", str(tmp_path / "work")]
    assert gpu.main(asked) == 1
    assert run == ["pytest", "benchmarks.cuda", "training"]
    said = capsys.readouterr().out
    assert "tests on CUDA: FAILED with status 1" in said and said.count("in order") == 2
    assert not (tmp_path / "work").exists()


def test_the_commands_of_its_parts_exist() -> None:
    tests, bench, plan = gpu.parts(Path("data"), Path("work")).values()
    assert tests[:3] == ["pytest", "-m", "gpu"]
    marked = [
        path for path in (ROOT / "tests").rglob("*.py") if "mark.gpu" in path.read_text("utf-8")
    ]
    assert len(marked) >= 4
    assert bench == ["benchmarks.cuda"]
    options = training._parser().parse_args(plan[1:])
    assert (options.machine, options.share, options.minutes) == ("cuda", gpu.SHARE, None)


def test_the_plan_at_a_hundredth_has_all_stages_in_steps() -> None:
    whole, small = PLANS["cuda"], PLANS["cuda"].with_share(gpu.SHARE)
    for name, stage in whole.stages.items():
        steps, found = stage.trainer.budget.steps, small.stages[name].trainer
        assert steps is not None and found.budget.steps == max(1, round(steps / 100))
        assert found.warmup_steps <= found.budget.steps
        assert small.stages[name].sizes == stage.sizes
    assert PLANS["cpu"].with_share(1.0) == PLANS["cpu"]
    assert PLANS["cpu"].with_share(0.5).stages["pretrain"].trainer.budget.minutes == 120
    with pytest.raises(InputError, match="share is 0"):
        whole.with_share(0)


def test_the_benchmark_compares_equal_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "SIZES", {"tiny": BertConfig(1200, 32, 2, 4, 37)})
    found = list(cuda.rows(True, "cpu", shapes=[(2, 5)]))
    assert [row.work for row in found] == ["tiny (2, 5), float32", "tiny (2, 5), bfloat16"]

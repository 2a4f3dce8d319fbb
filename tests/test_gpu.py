"""`tools.gpu`, on machines without a card: what travels, what it says, that its commands exist."""

import ast
import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from benchmarks import cuda
from bert_core.config import BertConfig
from bert_core.errors import InputError
from tools import gpu

ROOT = Path(__file__).resolve().parents[1]


def test_without_a_card_it_says_what_it_needs_and_stops(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu.main(["day", "--data", "."]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("make gpu needs a CUDA device with 24 GB of memory; PyTorch ")
    assert out == "" and err.count("\n") == 1


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a line of text in it."""
    for name in gpu.FOLDERS:
        (tmp_path / "data" / name).mkdir(parents=True)
    (tmp_path / "data" / "text" / "some.txt").write_text("A cat sat there. It slept.\n")
    (tmp_path / "data" / "mc" / "codah_train.jsonl").write_text("")
    return tmp_path / "data"


def test_with_a_card_it_says_what_else_is_missing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = SimpleNamespace(total_memory=80 * 2**30, name="A card")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: card)
    gpu.check(data)
    for given, wrong in ((None, "make gpu DATA=FOLDER"), (tmp_path, "no folder text, nsp, qa")):
        with pytest.raises(InputError, match=wrong):
            gpu.check(given)
    card.total_memory = 8 * 2**30
    with pytest.raises(InputError, match="A card has 8"):
        gpu.check(data)


def test_the_data_travel_and_a_file_that_did_not_arrive_whole_is_named(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = tmp_path / "packed"
    assert gpu.main(["pack", str(data), str(packed)]) == 0
    (packed / "piece-0.bin").write_bytes(b"A cat sat ther")
    assert gpu.main(["unpack", str(packed), str(tmp_path / "there")]) == 2
    assert "piece-0.bin" in capsys.readouterr().err
    assert gpu.main(["pack", str(data), str(packed)]) == 0
    assert gpu.main(["unpack", str(packed), str(tmp_path / "there")]) == 0
    assert "tokens encoded" in capsys.readouterr().out
    assert (tmp_path / "there" / "data" / "nsp").is_dir()
    assert (tmp_path / "there" / "work" / "corpus" / "some.npz").is_file()
    assert not packed.exists()


def test_a_bundle_comes_back_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu, "PIECE", 4_000)
    bundle, out = tmp_path / "bundle", tmp_path / "out"
    (bundle / "heads").mkdir(parents=True)
    out.mkdir()
    (bundle / "model.safetensors").write_bytes(bytes(range(256)) * 40)
    (bundle / "heads" / "config.json").write_text("{}")
    gpu.split(bundle, out)
    assert len(list(out.glob("piece-*.bin"))) == 6  # with the archive's own blocks
    assert gpu.main(["join", str(out), str(tmp_path / "again")]) == 0
    for path in ("model.safetensors", "heads/config.json"):
        assert (tmp_path / "again" / path).read_bytes() == (bundle / path).read_bytes()
    (out / "piece-1.bin").write_bytes(b"")
    assert gpu.main(["join", str(out), str(tmp_path / "third")]) == 2
    assert "piece-1.bin" in capsys.readouterr().err
    assert not (tmp_path / "third").exists()


def test_every_part_runs_within_its_time_and_a_failure_is_told(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run, minutes = dict[str, float](), list[float | None]()

    def done(command: list[str], timeout: float, **_: object) -> SimpleNamespace:
        run[command[2]] = timeout
        if command[2] == "benchmarks.cuda":
            raise subprocess.TimeoutExpired(command[2:3], timeout)
        if command[2] == "pytest":
            raise subprocess.CalledProcessError(1, command[2:3])
        return SimpleNamespace()

    def trained(settings: object, *_: object, **__: object) -> Path:
        minutes.append(settings.minutes)  # type: ignore[attr-defined]
        (tmp_path / "bundle").mkdir()
        return tmp_path / "bundle"

    monkeypatch.setattr(gpu.subprocess, "run", done)
    monkeypatch.setattr("training.recipe.prepare", lambda *_: {})
    monkeypatch.setattr("training.recipe.run_recipe", trained)
    out = tmp_path / "out"
    assert gpu.day(data, tmp_path / "work", out, 600, rehearse=True) == 1
    assert list(run) == ["pytest", "benchmarks.cuda", "training"]
    assert run["pytest"] == run["benchmarks.cuda"] == 96
    assert minutes[0] is not None and 8 < minutes[0] < 8.75  # ten, less what follows the training
    said = capsys.readouterr().out
    assert "non-zero exit status 1" in said and "timed out after 96" in said
    assert "figures: in order" in said
    assert list(json.loads((out / "manifest.json").read_text())) == ["piece-0.bin"]


def test_it_runs_every_test_that_is_for_a_card() -> None:
    marked = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        if any(
            isinstance(node, ast.Attribute) and ast.unparse(node) == "pytest.mark.gpu"
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
        )
    }
    assert marked == set(gpu._GPU_TESTS)


@pytest.mark.slow
def test_the_benchmark_compares_outputs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cuda, "SIZES", {"tiny": BertConfig(1200, 32, 2, 4, 37)})
    found = [row.work for row in cuda.rows(True, "cpu", shapes=[(2, 5)])]
    kinds = ("with attentions", "without attentions")
    assert found == [
        f"tiny (2, 5), {dtype}, {kind}" for dtype in ("float32", "bfloat16") for kind in kinds
    ]
    monkeypatch.setattr(cuda, "_TYPES", {torch.float32: -1.0})
    with pytest.raises(SystemExit):
        cuda.main(["--processor"])
    assert cuda.DIFFER in capsys.readouterr().out

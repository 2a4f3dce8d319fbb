"""The command line of the library, as a terminal sees it."""

import shutil
from pathlib import Path

import pytest

from bert_core.__main__ import main
from bert_core.verification import write_verification


@pytest.fixture
def folder(tiny_folder: Path, tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(tiny_folder, tmp_path / "model"))
    write_verification(folder)
    return folder


def test_a_sound_model_is_verified(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith(f"{folder}: verified; largest difference in ")
    assert "tokens: 10 of 10 texts agree" in lines
    rows = [line for line in lines if line.startswith("Bert")]
    assert len(rows) > 10 and all(line.endswith("  ok") for line in rows)
    assert any(
        len(line.split()[0]) == 64 and line.endswith("  vocab.txt") for line in lines[1:] if line
    )


def test_a_changed_model_is_red(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = bytearray((folder / "model.safetensors").read_bytes())
    raw[-1] ^= 64
    (folder / "model.safetensors").write_bytes(raw)
    shutil.rmtree(folder / "heads" / "BertForTokenClassification")
    assert main(["verify", str(folder)]) == 1
    shown = capsys.readouterr().out
    assert shown.splitlines()[-1].startswith(f"{folder}: DIFFERS from its stored reference values")
    assert shown.count("expected  <-- DIFFERS") == 3
    assert "missing" in shown


@pytest.mark.parametrize("name", ["headless_folder", "no such model"])
def test_what_cannot_be_verified_says_so(
    name: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(request.getfixturevalue(name)) if name.endswith("folder") else name
    assert main(["verify", model]) == 2
    found = capsys.readouterr()
    assert found.out == "" and found.err.startswith("error: There is no")

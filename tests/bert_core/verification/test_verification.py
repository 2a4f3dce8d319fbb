"""Verification: a sound model is green, and nothing that was changed stays unseen."""

import json
import math
import random
import shutil
import struct
from pathlib import Path

import pytest

from bert_core import (
    BertForMaskedLM,
    BertForPreTraining,
    BertForSequenceClassification,
    BertModel,
)
from bert_core.bundled import bundled_folder, bundled_names
from bert_core.errors import CheckpointError, MissingFileError
from bert_core.model.kinds import KINDS
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.verification import VerificationReport, verify, write_verification
from tests.conftest import save_head, save_tiny

NUMBERS = "verification.safetensors"
ALL = set(KINDS) - {"BertForPreTraining"}  # its two heads are those of two other classes


@pytest.fixture(scope="module")
def sound_folder(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with every head, and what it can be verified with."""
    folder = Path(shutil.copytree(tiny_folder, tmp_path_factory.mktemp("sound") / "model"))
    base = BertForPreTraining.from_pretrained(folder)
    base.config.id2label = {0: "bad", 1: "good", 2: "mixed"}
    for kind in KINDS.values():
        model = kind.cls.from_model(base)
        report = model.load_report
        if report and report.missing and not (folder / "heads" / kind.name).is_dir():
            save_head(folder, model)
    write_verification(folder)
    return folder


@pytest.fixture
def folder(sound_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound_folder, tmp_path / "model"))


def flip(path: Path, byte: int, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(byte)
        old = file.read(1)[0]
        file.seek(byte)
        file.write(bytes([old ^ (1 << bit)]))


def changed_files(report: VerificationReport) -> list[str]:
    return [check.path for check in report.files if not check.ok]


def test_a_sound_model_is_verified_in_every_output_it_has(sound_folder: Path) -> None:
    report = verify(sound_folder)
    assert report.ok and report.failure == ""
    assert {check.class_name for check in report.outputs} == ALL
    assert len(report.texts) == 10 and all(check.ok for check in report.texts)
    assert report.difference < 3e-5 and report.compared == sum(c.compared for c in report.outputs)
    assert report.name == str(sound_folder)
    heads = sorted(path.name for path in (sound_folder / "heads").iterdir())
    wanted = ["config.json", "model.safetensors", "vocab.txt"]
    for head in heads:
        wanted += [f"heads/{head}/config.json", f"heads/{head}/model.safetensors"]
    assert [check.path for check in report.files] == wanted


def test_a_flipped_bit_anywhere_is_found(folder: Path) -> None:
    chance = random.Random(20)
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name in {"model.safetensors", "config.json", "vocab.txt"}
    ]
    assert len(files) == 3 + 2 * len(list((folder / "heads").iterdir()))
    for path in chance.sample(files, 4):
        place = chance.randrange(path.stat().st_size), chance.randrange(8)
        flip(path, *place)
        report = verify(folder)
        assert not report.ok and changed_files(report) == [path.relative_to(folder).as_posix()]
        flip(path, *place)
    assert verify(folder).ok


def places_in(path: Path) -> dict[str, tuple[int, int]]:
    """Where the numbers of each tensor of a file begin and end."""
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    header.pop("__metadata__", None)
    ends = {name: each["data_offsets"] for name, each in header.items()}
    return {name: (start + begin, start + end) for name, (begin, end) in ends.items()}


def tensors_of(folder: Path) -> list[tuple[Path, str, int, int]]:
    """Every stored tensor: its file, its name, and where its numbers begin and end."""
    paths = sorted(folder.rglob("model.safetensors"))
    return [(path, name, *place) for path in paths for name, place in places_in(path).items()]


def test_weights_that_are_not_finite_are_red_and_named(folder: Path) -> None:
    path, _, start, _ = next(t for t in tensors_of(folder) if t[1].endswith("qa_outputs.bias"))
    with path.open("r+b") as file:
        file.seek(start)
        file.write(struct.pack("<f", math.nan))
    report = verify(folder)
    red = {c.class_name: c.difference for c in report.outputs if not c.ok}
    assert red == {"BertForQuestionAnswering": None}
    assert report.difference == math.inf
    assert "qa_outputs.bias (1 of 2 values)" in report.failure


def test_a_model_that_cannot_be_loaded_is_red_and_says_why(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\x08")
    (folder / "vocab.txt").write_bytes(b"\xff\xfe\n")
    report = verify(folder)
    assert not report.ok and report.difference == math.inf
    assert all(check.difference is None for check in report.outputs)
    assert all(check.found == () for check in report.texts)
    assert "model.safetensors" in report.failure and "tokenizer" in report.failure
    assert changed_files(report) == ["model.safetensors", "vocab.txt"]


def test_another_vocabulary_shows_in_the_tokens(folder: Path) -> None:
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    first, second = lines.index("the"), lines.index("on")
    lines[first], lines[second] = lines[second], lines[first]
    (folder / "vocab.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = verify(folder)
    assert changed_files(report) == ["vocab.txt"]
    assert any(not check.ok for check in report.texts)
    assert all(check.ok for check in report.outputs)  # computed from the stored ids


def test_without_stored_numbers_there_is_nothing_to_compare_with(tiny_folder: Path) -> None:
    with pytest.raises(MissingFileError, match="nothing to compare with"):
        verify(tiny_folder)


def test_every_flipped_bit_of_the_stored_numbers_ends_in_a_sentence(folder: Path) -> None:
    chance = random.Random(22)
    for name in ("verification.json", NUMBERS):
        for _ in range(40):
            place = chance.randrange((folder / name).stat().st_size), chance.randrange(8)
            flip(folder / name, *place)
            with pytest.raises(CheckpointError, match=r"verification\."):
                verify(folder)
            flip(folder / name, *place)


@pytest.mark.parametrize("cls", [BertModel, BertForMaskedLM, BertForSequenceClassification])
def test_a_model_is_verified_in_what_it_has_and_no_more(
    tmp_path: Path, cls: type[BertPreTrainedModel]
) -> None:
    folder = save_tiny(tmp_path / "model", cls)
    write_verification(folder)
    report = verify(folder)
    assert report.ok
    outputs = {(check.class_name, check.output) for check in report.outputs}
    assert {name for name, _ in outputs} == {"BertModel", cls.__name__}
    assert (("BertModel", "pooler_output") in outputs) == (cls is not BertForMaskedLM)


@pytest.mark.parametrize("name", bundled_names())
def test_bundled_models_are_verified_with_all_they_have(name: str) -> None:
    report = verify(name)
    assert report.failure == "" and report.ok
    folder = bundled_folder(name)
    heads = {path.name for path in (folder / "heads").iterdir()}
    assert heads <= {check.class_name for check in report.outputs}
    assert {"BertForMaskedLM", "BertForNextSentencePrediction", "BertModel"} <= {
        check.class_name for check in report.outputs
    }
    stored = sum((folder / each).stat().st_size for each in (NUMBERS, "verification.json"))
    assert stored <= 1_000_000

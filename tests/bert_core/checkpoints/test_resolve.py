import os
from pathlib import Path

import pytest

from bert_core.bundled import bundled_folder, bundled_names
from bert_core.checkpoints import resolve as resolve_module
from bert_core.checkpoints.resolve import resolve
from bert_core.errors import CheckpointError, InputError, MissingFileError


def test_a_folder_stands_for_itself(tmp_path):
    assert resolve(tmp_path) == tmp_path
    assert resolve(str(tmp_path)) == tmp_path
    assert resolve(f"{tmp_path}{os.sep}") == tmp_path


def test_a_relative_folder_and_the_home_folder_are_found(tmp_path, monkeypatch):
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert resolve("model").resolve() == tmp_path / "model"
    assert resolve("~/model") == tmp_path / "model"


def test_bundled_names_stand_for_folders_of_the_package():
    for name in bundled_names():
        assert resolve(name) == bundled_folder(name)
        assert (bundled_folder(name) / "config.json").is_file()


def test_a_folder_wins_over_a_bundled_name(tmp_path, monkeypatch):
    folder = tmp_path / "explorer-mini-uncased"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    assert resolve("explorer-mini-uncased") == Path("explorer-mini-uncased")


def test_an_unknown_bundled_name_is_refused_and_the_known_ones_named():
    for name in ("giant-cased", "..", "../bundled", ""):
        with pytest.raises(MissingFileError, match="Bundled models"):
            bundled_folder(name)


@pytest.mark.parametrize("name", ["", "   ", None, 3, b"bytes", ["a"], "a\0b"])
def test_what_is_no_name_at_all_is_refused(name):
    with pytest.raises(InputError, match="Expected the name of a model"):
        resolve(name)


@pytest.mark.parametrize(
    "name", ["bert-base-uncased", "google-bert/bert-base-uncased", "/absent/folder", "./absent"]
)
def test_what_is_not_there_is_a_file_not_found_error(name):
    with pytest.raises(FileNotFoundError, match=f"no folder or bundled model '{name}'"):
        resolve(name)


def test_an_archive_says_what_to_do_with_it(tmp_path):
    for name in ("bert.tar.gz", "bert.zip", "BERT.ZIP"):
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(CheckpointError, match="unpack it"):
            resolve(tmp_path / name)


def test_a_file_is_not_a_folder(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"x")
    with pytest.raises(CheckpointError, match="not a folder"):
        resolve(tmp_path / "model.safetensors")


def test_an_address_is_not_opened():
    with pytest.raises(CheckpointError, match="address"):
        resolve("https://example.invalid/bert.tar.gz")


def test_errors_name_the_bundled_models(monkeypatch):
    monkeypatch.setattr(resolve_module, "bundled_names", lambda: ("small", "large"))
    with pytest.raises(MissingFileError, match="small, large"):
        resolve("medium")

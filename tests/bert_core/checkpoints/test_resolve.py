from pathlib import Path

import pytest

from bert_core.bundled import bundled_folder, bundled_names
from bert_core.checkpoints.sources.resolve import resolve
from bert_core.errors import CheckpointError, InputError, MissingFileError


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
    "name",
    [
        "bert-base-uncasd",
        "explorer",
        "/absent/folder",
        "./absent",
        "../absent/x",
        "~/absent",
        "a/b/c",
        "models\\bert",
        "C:/models/bert",
        Path("owner/name"),
        "weights.tar.gz",
        "no/weights.tar.gz/",
    ],
)
def test_what_can_be_nothing_is_a_file_not_found_error_without_a_request(name, loopback):
    with pytest.raises(FileNotFoundError, match="no folder or bundled model"):
        resolve(name)
    assert loopback.log == []


def test_a_file_is_not_a_folder(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"x")
    with pytest.raises(CheckpointError, match="neither a folder nor an archive"):
        resolve(tmp_path / "model.safetensors")


@pytest.mark.parametrize("scheme", ["ftp", "file", "s3", "gs", "hf", "javascript"])
def test_addresses_of_other_kinds_are_refused(scheme):
    with pytest.raises(InputError, match="not the address of an archive"):
        resolve(f"{scheme}://example.invalid/bert.tar.gz")

"""Configurations, vocabularies and indexes that are no files, have no end, or mean nothing."""

import errno
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from bert_core import BertModel, BertTokenizer
from bert_core.errors import BertError, CheckpointError, ConfigError
from bert_core.small_files import parse_json


@pytest.fixture(autouse=True)
def no_waiting() -> Iterator[None]:
    """A test that waits for a pipe ends in an error instead of never."""

    def stop(*_: object) -> None:
        raise AssertionError("still waiting after twenty seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def folder(tiny, tmp_path):
    folder = tmp_path / "sound"
    tiny.save_pretrained(folder)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##c"]
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    BertTokenizer(folder / "vocab.txt").save_pretrained(folder)
    return folder


READERS = {
    "config.json": BertModel.from_pretrained,
    "model.safetensors": BertModel.from_pretrained,
    "vocab.txt": BertTokenizer.from_pretrained,
    "tokenizer_config.json": BertTokenizer.from_pretrained,
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", ["pipe", "link to a pipe", "/dev/zero", "/dev/null", "folder"])
def test_what_is_no_file_is_refused_at_once(folder, name, kind):
    (folder / name).unlink()
    if kind == "pipe":
        os.mkfifo(folder / name)
    elif kind == "link to a pipe":
        os.mkfifo(folder / "elsewhere")
        (folder / name).symlink_to(folder / "elsewhere")
    elif kind == "folder":
        (folder / name).mkdir()
    else:
        (folder / name).symlink_to(kind)
    says = "no vocabulary file" if (folder / name).is_dir() and name == "vocab.txt" else "regular"
    with pytest.raises(BertError, match=says):
        READERS[name](folder)


@pytest.mark.parametrize("name", ["config.json", "vocab.txt", "tokenizer_config.json"])
def test_gigabytes_are_not_read(folder, name):
    with (folder / name).open("wb") as file:
        file.truncate(5 * 2**30)  # a hole: takes no room on the disk
    with pytest.raises(BertError, match=r"5,368,709,120 bytes; expected at most [\d,]+"):
        READERS[name](folder)


def refuse(monkeypatch, call, denied):
    """Let a call of the system refuse some paths, as it does where rights are missing."""
    real = getattr(os, call)

    def guarded(path, *rest, **options):
        if isinstance(path, str | os.PathLike) and denied(Path(path)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path, *rest, **options)

    monkeypatch.setattr(os, call, guarded)


def change(folder, **values):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


SIZES = {
    "vocab_size": 10**9,
    "hidden_size": 2**63,
    "num_hidden_layers": 10**400,
    "num_attention_heads": 0,
    "intermediate_size": 1e9,
    "max_position_embeddings": True,
    "type_vocab_size": [32],
}


@pytest.mark.parametrize("size", SIZES)
def test_sizes_that_cannot_be_or_are_not_those_of_the_weights_reserve_nothing(folder, size):
    change(folder, **{size: SIZES[size]})
    with pytest.raises(ConfigError, match=size) as caught:
        BertModel.from_pretrained(folder)
    assert len(str(caught.value)) < 300
    change(folder, **{size: 1_000 if size == "num_hidden_layers" else 10_000_000})
    with pytest.raises(BertError):
        BertModel.from_pretrained(folder)


@pytest.mark.parametrize(
    ("tower", "is_fine"),
    [
        ("[" * 31 + "]" * 31, True),
        ("[" * 500 + "]" * 500, False),
        ("[" * 100_000 + "]" * 100_000, False),
        ('{"a":' * 500 + "1" + "}" * 500, False),
        ('{"a":' * 100_000, False),
    ],
)
def test_deeply_nested_json_is_refused(folder, tower, is_fine):
    whole = (folder / "config.json").read_text().rstrip().removesuffix("}")
    (folder / "config.json").write_text(f'{whole}, "tower": {tower}}}')
    if is_fine:
        assert len(str(BertModel.from_pretrained(folder).config.extra["tower"])) == 62
        return
    with pytest.raises(ConfigError, match=r"nested|valid JSON"):
        BertModel.from_pretrained(folder)


def test_a_name_that_stands_twice_is_refused_where_it_must_stand_once():
    assert parse_json(b'{"a": 1, "a": 2}', "it") == {"a": 2}
    with pytest.raises(CheckpointError, match="is not valid JSON: an object has the same key"):
        parse_json(b'{"b": {"a": 1, "a": 2}}', "it", unique=True)

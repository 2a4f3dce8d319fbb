"""Archives: unpacked once, into the cache alone, and not at all where they are hostile."""

import gzip
import os
import tarfile
import zipfile
from contextlib import suppress
from io import BytesIO

import pytest

from bert_core import BertForPreTraining, BertTokenizer
from bert_core.checkpoints.sources import archive as archive_module
from bert_core.checkpoints.sources.archive import open_archive
from bert_core.errors import CheckpointError, DownloadError

FILES = {"config.json": b"{}", "vocab.txt": b"[UNK]\n", "weights.bin": os.urandom(5_000)}


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def pack_zip(path, files, **options):
    with zipfile.ZipFile(path, "w", **options) as target:
        for name, data in files.items():
            target.writestr(name, data)
    return path


def pack_tar(path, files, **options):
    with tarfile.open(path, "w:gz", **options) as target:
        for name, data in files.items():
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            if isinstance(name, str):
                info.size = len(data)
            target.addfile(info, BytesIO(data))
    return path


PACKERS = pytest.mark.parametrize(("pack", "ending"), [(pack_zip, ".zip"), (pack_tar, ".tar.gz")])


def contents(folder):
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def assert_nothing_kept(cache):
    """Nothing unpacked, nothing half-unpacked, and nothing beside the cache."""
    assert not (cache / "archives").exists() or list((cache / "archives").iterdir()) == []
    assert {path.name for path in cache.parent.iterdir() if path.is_dir()} <= {"cache"}


def refused(path, cache, says=None):
    with pytest.raises(CheckpointError, match=says):
        open_archive(path, cache)
    assert_nothing_kept(cache)


@pytest.mark.parametrize(
    ("ending", "inside"),
    [(".tar.gz", ""), (".tgz", "./"), (".zip", "uncased_L-2_H-32/"), (".ZIP", "")],
)
def test_a_model_and_its_tokenizer_are_loaded_from_an_archive(
    tiny_folder, tmp_path, cache, ending, inside
):
    pack = pack_zip if ending.lower() == ".zip" else pack_tar
    files = {inside + name: data for name, data in contents(tiny_folder).items()}
    path = pack(tmp_path / f"model{ending}", files)
    found = BertForPreTraining.from_pretrained(path, cache_dir=cache)
    expected = BertForPreTraining.from_pretrained(tiny_folder)
    assert all(value.equal(found.state_dict()[k]) for k, value in expected.state_dict().items())
    assert found.load_report.source == str(path)
    assert BertTokenizer.from_pretrained(str(path), cache_dir=cache).tokenize("cat") == ["cat"]


@PACKERS
def test_an_archive_is_unpacked_again_only_when_it_changed(
    tmp_path, cache, pack, ending, monkeypatch
):
    path = pack(tmp_path / f"model{ending}", FILES)
    old = path.stat()
    first = open_archive(path, cache)
    with monkeypatch.context() as patch:
        patch.setattr(archive_module, "_write_all", None)
        assert open_archive(path, cache) == first
    pack(path, {**FILES, "vocab.txt": b"[CLS]\n"})
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))
    second = open_archive(path, cache)
    assert (second / "vocab.txt").read_bytes() == b"[CLS]\n"
    assert (first / "vocab.txt").read_bytes() == b"[UNK]\n"


@PACKERS
@pytest.mark.parametrize(
    "name",
    [
        *("../evil.txt", "a/../../evil.txt", "..", "/evil.txt", "//evil.txt", "C:/evil.txt"),
        *("..\\evil.txt", "a\\..\\..\\evil.txt", "\\evil.txt", "a\nb", "a\x1b[31mb", "x" * 300),
    ],
)
def test_whatever_its_name_a_member_is_never_written_outside(tmp_path, cache, pack, ending, name):
    path = pack(tmp_path / f"model{ending}", {**FILES, name: b"evil"})
    with suppress(CheckpointError, DownloadError):
        assert contents(open_archive(path, cache)).items() >= FILES.items()
    assert all(each.is_relative_to(cache / "archives") for each in tmp_path.rglob("evil*"))
    assert {each.name for each in tmp_path.iterdir()} == {"cache", path.name}


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, b"V"],
)
def test_a_tar_with_anything_but_files_is_refused(tmp_path, cache, kind):
    info = tarfile.TarInfo("vocab.txt")
    info.type, info.linkname = kind, "/etc/passwd"
    path = pack_tar(tmp_path / "model.tar.gz", {"config.json": b"{}", info: b"", "out/x": b""})
    refused(path, cache, "vocab.txt.*a link or a device")


def test_other_ways_of_packing_and_encryption_are_refused(tmp_path, cache):
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        path = pack_zip(tmp_path / "model.zip", FILES, compression=method)
        refused(path, cache, "compressed by method")
    data = bytearray(pack_zip(path, FILES).read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(mark) + place] |= 1
    path.write_bytes(data)
    refused(path, cache, "encrypted")


@PACKERS
def test_bombs_are_refused_before_they_are_written(tmp_path, cache, pack, ending, monkeypatch):
    monkeypatch.setattr(archive_module, "_SMALL", 1_000_000)
    zeros = {"model.safetensors": bytes(20_000_000), **FILES}
    options = {"compression": zipfile.ZIP_DEFLATED} if pack is pack_zip else {}
    path = pack(tmp_path / f"model{ending}", zeros, **options)
    for kind in (tarfile.TarFile, zipfile.ZipFile):
        monkeypatch.setattr(kind, "extract", lambda *_, **__: pytest.fail("it was written"))
    refused(path, cache, r"would unpack to 1 files of 20\.0 MB.*at most.* MB")


@PACKERS
def test_too_many_files_or_bytes_are_refused(tmp_path, cache, pack, ending, monkeypatch):
    path = pack(tmp_path / f"model{ending}", {**FILES, **{f"{n}": b"" for n in range(30)}})
    monkeypatch.setattr(archive_module, "MAX_FILES", 20)
    refused(path, cache, "21 files.* at most 20 files")
    monkeypatch.setattr(archive_module, "MAX_BYTES", 1_000)
    refused(path, cache, r"at most 20 files and 1\.0 kB")


def test_zeros_without_end_behind_the_last_member_are_not_read(tmp_path, cache, monkeypatch):
    path = pack_tar(tmp_path / "model.tar.gz", FILES)
    raw = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(raw + bytes(50_000_000), compresslevel=1))
    monkeypatch.setattr(archive_module, "_OVERHEAD", 2**20)
    monkeypatch.setattr(archive_module, "_SMALL", 2**20)
    refused(path, cache, "larger than any model")


@PACKERS
def test_every_cut_and_what_is_no_archive_is_refused(tmp_path, cache, pack, ending):
    path = pack(tmp_path / f"model{ending}", FILES)
    whole = path.read_bytes()
    cuts = (0, 1, 2, 10, 20, 100, len(whole) // 2, len(whole) - 9, len(whole) - 1)
    for raw in (*(whole[:length] for length in cuts), b"<html>", b"Rar!\x1a\x07"):
        path.write_bytes(raw)
        refused(path, cache, "not unpacked")


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "nothing"),
        ({"readme.txt": b""}, "it has none"),
        ({"a/b/config.json": b"{}"}, "it has none"),
        ({"a/config.json": b"{}", "b/config.json": b"{}"}, "2 of its folders"),
    ],
)
@PACKERS
def test_an_archive_without_one_model_is_refused(tmp_path, cache, pack, ending, files, says):
    refused(pack(tmp_path / f"model{ending}", files), cache, says)

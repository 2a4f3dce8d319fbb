"""Archives: unpacked once, into the cache alone, and not at all where they are hostile."""

import gzip
import io
import os
import random
import shutil
import stat
import struct
import tarfile
import threading
import zipfile
import zlib
from contextlib import nullcontext, suppress

import pytest

from bert_core import BertForPreTraining, BertTokenizer
from bert_core.checkpoints.sources import archive as archive_module
from bert_core.checkpoints.sources import archive_members
from bert_core.checkpoints.sources.archive import open_archive
from bert_core.checkpoints.sources.archive_members import target_of
from bert_core.checkpoints.sources.resolve import resolve
from bert_core.errors import CheckpointError, DownloadCancelled, DownloadError

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
            if not isinstance(name, tarfile.TarInfo):
                info.size = len(data)
            target.addfile(info, io.BytesIO(data))
    return path


PACKERS = pytest.mark.parametrize(("pack", "ending"), [(pack_zip, ".zip"), (pack_tar, ".tar.gz")])


def contents(folder):
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def assert_nothing_kept(tmp_path, cache):
    """Nothing unpacked, nothing half-unpacked, and nothing beside the cache."""
    assert not (cache / "archives").exists() or list((cache / "archives").iterdir()) == []
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} <= {"cache"}
    assert not list((cache / "records").glob("*"))


def refused(path, cache, says=None):
    """An archive is refused, and nothing of it is kept."""
    with pytest.raises(CheckpointError, match=says):
        open_archive(path, cache)
    assert_nothing_kept(path.parent, cache)


# -- good archives -------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".tar.gz", ".tgz", ".zip", ".ZIP"])
@pytest.mark.parametrize("inside", ["", "uncased_L-2_H-32/", "./"])
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


@pytest.mark.parametrize(
    ("name", "inside", "lower"),
    [
        ("bert-base-cased.zip", "", False),
        ("bert-base-uncased.zip", "", True),
        ("model.zip", "cased_L-12_H-768_A-12/", False),
        ("model.zip", "multi_uncased_L-12/", True),
        ("model.zip", "", True),
    ],
)
def test_lower_case_follows_the_name_of_the_archive_or_its_folder(
    tmp_path, cache, name, inside, lower
):
    path = pack_zip(tmp_path / name, {f"{inside}vocab.txt": b"[UNK]\n[CLS]\n[SEP]\n"})
    assert BertTokenizer.from_pretrained(path, cache_dir=cache).do_lower_case is lower


@pytest.mark.parametrize("inside", ["", "model/"])
def test_an_archive_of_todays_transformers_is_read(tmp_path, cache, todays_folder, inside):
    files = {f"{inside}{path.name}": path.read_bytes() for path in todays_folder.iterdir()}
    path = pack_zip(tmp_path / "model.zip", files)
    assert BertTokenizer.from_pretrained(path, cache_dir=cache).tokenize("the cat")
    alone = {name: data for name, data in files.items() if name.endswith("tokenizer.json")}
    path = pack_zip(tmp_path / "alone.zip", alone)
    assert BertTokenizer.from_pretrained(path, cache_dir=cache).tokenize("the cat")


@pytest.mark.parametrize("style", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_every_style_of_tar_is_read(tmp_path, cache, style):
    long = "a" * 90 + "/" + "b" * 90 + "/c.txt"
    files = {**FILES, long: b"x" * 513, "naïve.txt": b"", "empty": b""}
    path = pack_tar(tmp_path / "model.tar.gz", files, format=style)
    assert contents(open_archive(path, cache)) == files


def test_gzip_in_several_members_and_padded_with_zeros_is_read(tmp_path, cache):
    pack_tar(tmp_path / "a.tar.gz", FILES)
    raw = gzip.decompress((tmp_path / "a.tar.gz").read_bytes())
    cut = len(raw) // 2
    parts = gzip.compress(raw[:cut]) + gzip.compress(raw[cut:]) + bytes(1_000)
    (tmp_path / "a.tar.gz").write_bytes(parts)
    assert contents(open_archive(tmp_path / "a.tar.gz", cache)) == FILES


def test_what_macs_leave_behind_is_left_out(tmp_path, cache):
    leftovers = {"__MACOSX/._config.json": b"x", "._vocab.txt": b"x", ".DS_Store": b"x"}
    path = pack_zip(tmp_path / "model.zip", {**FILES, **leftovers})
    assert contents(open_archive(path, cache)) == FILES


def test_file_modes_and_owners_of_an_archive_are_not_taken_over(tmp_path, cache):
    info = tarfile.TarInfo("config.json")
    info.size, info.mode, info.uid = 2, 0o6777, 4321
    path = pack_tar(tmp_path / "model.tar.gz", {info: b"{}"})
    found = (open_archive(path, cache) / "config.json").stat()
    assert not found.st_mode & (stat.S_ISUID | stat.S_ISGID | stat.S_IXUSR)
    assert found.st_uid == os.getuid() if hasattr(os, "getuid") else True


# -- the cache -----------------------------------------------------------------------------------


@PACKERS
def test_the_second_time_nothing_is_read_or_unpacked(tmp_path, cache, pack, ending, monkeypatch):
    path = pack(tmp_path / f"model{ending}", FILES)
    first = open_archive(path, cache)
    monkeypatch.setattr(archive_module, "unpack", None)
    monkeypatch.setattr(archive_module, "_sha256", None)
    assert open_archive(path, cache) == first


@PACKERS
def test_an_archive_that_changed_is_seen(tmp_path, cache, pack, ending):
    path = pack(tmp_path / f"model{ending}", FILES)
    old = path.stat()
    first = open_archive(path, cache)
    pack(path, {**FILES, "vocab.txt": b"[CLS]\n"})
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))
    second = open_archive(path, cache)
    assert (second / "vocab.txt").read_bytes() == b"[CLS]\n"
    assert (first / "vocab.txt").read_bytes() == b"[UNK]\n"


def test_the_same_archive_elsewhere_is_kept_once(tmp_path, cache):
    path = pack_zip(tmp_path / "model.zip", FILES)
    shutil.copy(path, tmp_path / "copy.zip")
    assert open_archive(path, cache) == open_archive(tmp_path / "copy.zip", cache)
    assert len(list((cache / "archives").iterdir())) == 1


def test_what_vanished_from_the_cache_is_unpacked_again(tmp_path, cache):
    path = pack_zip(tmp_path / "model.zip", FILES)
    folder = open_archive(path, cache)
    shutil.rmtree(folder)
    assert contents(open_archive(path, cache)) == FILES
    for file in open_archive(path, cache).iterdir():
        file.unlink()
    assert contents(open_archive(path, cache)) == FILES


@pytest.mark.parametrize("text", ["", "{", "[]", '{"sha256": "../../x"}', '{"sha256": 5}'])
def test_a_damaged_record_is_written_anew(tmp_path, cache, text):
    path = pack_zip(tmp_path / "model.zip", FILES)
    open_archive(path, cache)
    (record,) = (cache / "records").iterdir()
    record.write_text(text)
    assert contents(open_archive(path, cache)) == FILES


def test_threads_that_want_the_same_archive_unpack_it_once(tmp_path, cache, monkeypatch):
    path = pack_zip(tmp_path / "model.zip", FILES)
    calls, real = [], archive_module.unpack
    monkeypatch.setattr(archive_module, "unpack", lambda *a: calls.append(1) or real(*a))
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(open_archive(path, cache))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len(set(found)) == 1
    assert calls == [1]


def test_the_cache_is_where_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("BERT_CORE_CACHE", str(tmp_path / "chosen"))
    folder = resolve(pack_zip(tmp_path / "model.zip", FILES))
    assert folder.is_relative_to(tmp_path / "chosen")


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/bert_core"),
        ("linux", {"HOME": "/h"}, "/h/.cache/bert_core"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Caches/bert_core"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/bert_core"),
    ],
)
def test_every_system_has_its_place_for_caches(platform, variables, expected, monkeypatch):
    from bert_core.checkpoints.sources.cache import cache_folder

    for name in ("BERT_CORE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    assert cache_folder(None).as_posix() == expected


def test_unpacking_can_be_called_off(tmp_path, cache):
    path = pack_zip(tmp_path / "model.zip", FILES)
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(DownloadCancelled):
        open_archive(path, cache, cancel)
    assert_nothing_kept(tmp_path, cache)


# -- the disk ------------------------------------------------------------------------------------


def test_room_is_looked_for_before_a_file_is_written(tmp_path, cache, monkeypatch):
    path = pack_zip(tmp_path / "model.zip", FILES)
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1_000})())
    with pytest.raises(DownloadError, match=r"needs .*has 1.0 kB free"):
        open_archive(path, cache)
    assert_nothing_kept(tmp_path, cache)


SCRIPT = """
import sys
from pathlib import Path
from bert_core.checkpoints.sources import cache
cache._MARGIN = -10**12  # as if the disk filled up after room had been found
from bert_core.checkpoints.sources.archive import open_archive
open_archive(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@PACKERS
def test_a_quota_that_is_reached_leaves_nothing(tmp_path, cache, pack, ending, run_limited):
    path = pack(tmp_path / f"model{ending}", {**FILES, "more.bin": os.urandom(50_000)})
    result = run_limited(SCRIPT, str(path), str(cache), file_bytes=20_000)
    assert "DownloadError" in result.stderr and "is full" in result.stderr
    assert_nothing_kept(tmp_path, cache)


def test_a_full_disk_leaves_nothing(tmp_path, run_on_small_disk):
    path = pack_zip(tmp_path / "model.zip", {**FILES, "more.bin": os.urandom(3_000_000)})
    result = run_on_small_disk(SCRIPT, str(path), str(tmp_path / "disk" / "cache"))
    assert "DownloadError" in result.stderr and "is full" in result.stderr
    left = [line for line in result.stdout.splitlines() if not line.endswith(".lock")]
    assert left == []


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write anywhere")
def test_a_cache_that_cannot_be_written_is_said(tmp_path, cache):
    cache.mkdir(mode=0o500)
    with pytest.raises(DownloadError, match="cannot be stored"):
        open_archive(pack_zip(tmp_path / "model.zip", FILES), cache)


def test_a_cache_that_is_a_file_is_said(tmp_path, cache):
    cache.write_bytes(b"x")
    with pytest.raises(DownloadError, match="cannot be stored"):
        open_archive(pack_zip(tmp_path / "model.zip", FILES), cache)


# -- hostile archives ----------------------------------------------------------------------------

CLIMBING = [
    "../evil.txt",
    "a/../../evil.txt",
    "a/..",
    "..",
    "/evil.txt",
    "//evil.txt",
    "C:/evil.txt",
    "c:evil.txt",
    "..\\evil.txt",
    "a\\..\\..\\evil.txt",
    "\\evil.txt",
]
STRANGE = [
    "a\nb",
    "a\x1b[31mb",
    "a\u202eb",
    "a:b",
    "a?b",
    "a*b",
    "nul",
    "con.txt",
    "a/LPT1",
    "a.",
    "a ",
    "x" * 300,
    "a/" * 10 + "b",
]


@PACKERS
@pytest.mark.parametrize("name", CLIMBING)
def test_names_that_climb_out_are_refused(tmp_path, cache, pack, ending, name):
    path = pack(tmp_path / f"model{ending}", {**FILES, name: b"evil"})
    refused(path, cache, r"leads out of|absolute")
    assert not list(tmp_path.rglob("evil*"))


@PACKERS
@pytest.mark.parametrize("name", STRANGE)
def test_names_that_are_no_good_everywhere_are_refused(tmp_path, cache, pack, ending, name):
    path = pack(tmp_path / f"model{ending}", {**FILES, name: b"x"})
    refused(path, cache, "its member")


@pytest.mark.parametrize("name", ["a/./b", "./b", "a//b", "b.c-d_e", "ü", "..a", "a..b", "...a"])
def test_names_that_stay_inside_are_fine(name):
    target = target_of(name)
    assert target is not None and not target.is_absolute() and ".." not in target.parts


@PACKERS
@pytest.mark.parametrize(
    "names", [("a", "a"), ("a", "A"), ("a", "./a"), ("a", "a/b"), ("a/b", "a")]
)
def test_two_members_for_one_place_are_refused(tmp_path, cache, pack, ending, names):
    members = [(name, b"x") for name in ("config.json", *names)]

    class Twice(dict):
        def items(self):
            return members

    with (
        pytest.warns(UserWarning, match="Duplicate")
        if names == ("a", "a") and pack is pack_zip
        else nullcontext()
    ):
        path = pack(tmp_path / f"model{ending}", Twice())
    refused(path, cache, r"twice|as a file and as a folder")


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (tarfile.SYMTYPE, "symbolic link"),
        (tarfile.LNKTYPE, "hard link"),
        (tarfile.CHRTYPE, "device"),
        (tarfile.BLKTYPE, "device"),
        (tarfile.FIFOTYPE, "pipe"),
        (tarfile.GNUTYPE_SPARSE, "sparse"),
        (b"V", "type b'V'"),
        (b"M", "type b'M'"),
    ],
)
def test_a_tar_with_anything_but_files_is_refused(tmp_path, cache, kind, word):
    info = tarfile.TarInfo("vocab.txt")
    info.type, info.linkname = kind, "/etc/passwd"
    path = pack_tar(tmp_path / "model.tar.gz", {"config.json": b"{}", info: b""})
    refused(path, cache, word)


def test_a_file_written_through_a_link_is_refused(tmp_path, cache):
    link = tarfile.TarInfo("out")
    link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
    path = pack_tar(tmp_path / "model.tar.gz", {link: b"", "out/evil.txt": b"evil", **FILES})
    refused(path, cache, "symbolic link")
    assert not (tmp_path / "evil.txt").exists()


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO])
def test_a_zip_with_anything_but_files_is_refused(tmp_path, cache, kind):
    info = zipfile.ZipInfo("vocab.txt")
    info.create_system, info.external_attr = 3, (kind | 0o777) << 16
    path = tmp_path / "model.zip"
    with zipfile.ZipFile(path, "w") as target:
        target.writestr("config.json", "{}")
        target.writestr(info, "/etc/passwd")
    refused(path, cache, r"a link|device")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing_are_refused(tmp_path, cache, method):
    path = pack_zip(tmp_path / "model.zip", FILES, compression=method)
    refused(path, cache, "compressed by method")


def test_an_encrypted_zip_is_refused(tmp_path, cache):
    path = pack_zip(tmp_path / "model.zip", FILES)
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = -1
        while (start := data.find(mark, start + 1)) >= 0:
            data[start + place] |= 1
    path.write_bytes(data)
    refused(path, cache, "encrypted")


@PACKERS
def test_bombs_are_refused_before_they_are_written(tmp_path, cache, pack, ending, monkeypatch):
    monkeypatch.setattr(archive_members, "_SMALL", 1_000_000)
    zeros = {**FILES, "model.safetensors": bytes(20_000_000)}
    options = {"compression": zipfile.ZIP_DEFLATED} if pack is pack_zip else {}
    path = pack(tmp_path / f"model{ending}", zeros, **options)
    assert path.stat().st_size < 100_000
    monkeypatch.setattr("bert_core.checkpoints.sources.archive.write_all", small_only(100_000))
    refused(path, cache, "would unpack to")


def small_only(limit):
    def write(file, chunk):
        file.write(chunk)
        assert file.tell() <= limit

    return write


def test_a_bomb_of_headers_is_refused(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(archive_members, "_MAX_HEADERS", 50)
    files = {**FILES, **{f"__MACOSX/{number}": b"" for number in range(100)}}
    path = pack_tar(tmp_path / "model.tar.gz", files)
    refused(path, cache, "more than 50 members")


def test_a_bomb_of_zeros_behind_the_end_is_refused(tmp_path, cache):
    path = pack_tar(tmp_path / "model.tar.gz", FILES)
    raw = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(raw + bytes(50_000_000), compresslevel=1))
    refused(path, cache, "continues after the end")


@PACKERS
def test_too_many_files_are_refused(tmp_path, cache, pack, ending, monkeypatch):
    monkeypatch.setattr(archive_members, "MAX_FILES", 20)
    path = pack(tmp_path / f"model{ending}", {**FILES, **{f"{n}": b"" for n in range(30)}})
    refused(path, cache, "more than 20 files")


def test_more_bytes_than_any_model_has_are_refused(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(archive_members, "MAX_BYTES", 1_000)
    refused(pack_zip(tmp_path / "model.zip", FILES), cache, "would unpack to")


@pytest.mark.parametrize("size", [2**60, 2**63, 2**64 - 1])
def test_a_zip_that_lies_about_a_size_is_refused(tmp_path, cache, size):
    info = zipfile.ZipInfo("config.json")
    path = tmp_path / "model.zip"
    with zipfile.ZipFile(path, "w") as target:
        target.writestr(info, "{}")
        target.infolist()[0].file_size = size
        target.infolist()[0].compress_size = size
    refused(path, cache)


def header(name=b"config.json", size=b"00000000002\0", kind=b"0", magic=b"ustar\x0000"):
    block = bytearray(512)
    block[: len(name)] = name
    block[124 : 124 + len(size)] = size
    block[156:157] = kind
    block[257 : 257 + len(magic)] = magic
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


@pytest.mark.parametrize(
    "raw",
    [
        header(size=b"\x80" + b"\xff" * 11),
        header(size=b"\xff" * 12),
        header(size=b"99999999999\0"),
        header(size=b"\0" * 12),
        header(size=b"-0000000001\0"),
        header(name=b"\xff\xfe"),
        header(kind=b"x", size=b"77777777777\0"),
        header(kind=b"L", size=b"77777777777\0"),
        header(kind=b"x", size=b"00000000010\0") + b"999999 path=x\n".ljust(512, b"\0"),
        header(kind=b"x", size=b"00000000010\0") + b"8 path\n\n".ljust(512, b"\0"),
        header(kind=b"x", size=b"00000000010\0") + b"00000000".ljust(512, b"\0"),
        header(kind=b"x", size=b"00000000014\0") + b"12 size=1e9\n".ljust(512, b"\0") + header(),
        header(kind=b"x", size=b"00000000014\0") + b"12 size=-12\n".ljust(512, b"\0") + header(),
        header(kind=b"x", size=b"00000000032\0")
        + b"26 GNU.sparse.realsize=9\n\n".ljust(512, b"\0")
        + header(),
        header(kind=b"5", name=b"a/", size=b"00000001000\0") + bytes(1024),
        header()[:-1] + b"x",
        header()[:300],
    ],
)
def test_tar_headers_that_lie_are_refused(tmp_path, cache, raw):
    path = tmp_path / "model.tar.gz"
    path.write_bytes(gzip.compress(raw + b"{}".ljust(512, b"\0") + bytes(1024)))
    refused(path, cache)


@pytest.mark.parametrize("more", [b"", b"8 a=bc\n" * 2**16])
def test_headers_without_end_are_not_read(tmp_path, cache, more):
    """Maps of sparse files, or one long header: `tarfile` would read them to their end."""
    block = bytearray(header(kind=b"S" if not more else b"x", size=b"%011o\0" % len(more)))
    block[482] = 1  # the map goes on
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    path = tmp_path / "model.tar.gz"
    path.write_bytes(gzip.compress(bytes(block) + more + b"1" * 2**24, compresslevel=1))
    refused(path, cache, "a header of more than")


def test_a_table_of_contents_without_end_is_not_read(tmp_path, cache):
    path = tmp_path / "model.zip"
    table = 50_000_000
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, table, 4, 0)
    with path.open("wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(4 + table)
        file.seek(0, 2)
        file.write(end)
    refused(path, cache, "far too long")


@PACKERS
def test_every_cut_is_refused(tmp_path, cache, pack, ending):
    path = pack(tmp_path / f"model{ending}", FILES)
    whole = path.read_bytes()
    for length in (0, 1, 2, 10, 20, 100, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        path.write_bytes(whole[:length])
        refused(path, cache, "not unpacked")


@PACKERS
def test_hundreds_of_bit_flips_end_in_our_errors_or_in_the_same_files(
    tmp_path, cache, pack, ending
):
    path = pack(tmp_path / f"model{ending}", FILES)
    whole = path.read_bytes()
    chance = random.Random(5)
    number = 0
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 1, 3))):
            damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            found = contents(open_archive(path, cache))
        except CheckpointError:
            number += 1
        else:
            # Names in a zip's table have no checksum; contents have.
            assert all(data in FILES.values() for data in found.values())
        shutil.rmtree(cache)
    assert number > 300


@PACKERS
def test_hundreds_of_damaged_headers_end_in_our_errors(tmp_path, cache, pack, ending):
    """The damage is put under the compression and its checksum, where only our code sees it."""
    raw = gzip.decompress(pack_tar(tmp_path / "a.tar.gz", FILES).read_bytes())
    packed = pack_zip(tmp_path / "a.zip", FILES).read_bytes()
    chance = random.Random(6)
    path = tmp_path / f"model{ending}"
    for _ in range(300):
        whole = bytearray(raw if pack is pack_tar else packed)
        start = 0 if pack is pack_tar else packed.index(b"PK\x01\x02")
        for _ in range(chance.choice((1, 4))):
            place = (
                chance.randrange(512) if pack is pack_tar else chance.randrange(start, len(whole))
            )
            whole[place] = chance.randrange(256)
        if pack is pack_tar:
            whole[148:156] = b" " * 8
            whole[148:156] = b"%06o\0 " % sum(whole[:512])
        path.write_bytes(gzip.compress(whole, 1) if pack is pack_tar else whole)
        with suppress(CheckpointError):
            assert open_archive(path, cache).is_relative_to(cache)
        assert {each.name for each in tmp_path.iterdir()} <= {
            "cache",
            "a.zip",
            "a.tar.gz",
            path.name,
        }


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
    path = pack(tmp_path / f"model{ending}", files)
    refused(path, cache, says)


@pytest.mark.parametrize(
    "data", [b"", b"<html>", b"\x1f\x8b", b"PK", b"Rar!\x1a\x07", zlib.compress(b"x")]
)
def test_what_is_no_archive_is_refused(tmp_path, cache, data):
    path = tmp_path / "model.zip"
    path.write_bytes(data)
    refused(path, cache, "not unpacked")


def test_an_archive_that_changes_while_it_is_read_is_refused(tmp_path, cache, monkeypatch):
    path = pack_zip(tmp_path / "model.zip", FILES)
    real = archive_module.unpack

    def slow(*arguments):
        found = real(*arguments)
        path.write_bytes(path.read_bytes() + b" ")
        return found

    monkeypatch.setattr(archive_module, "unpack", slow)
    with pytest.raises(CheckpointError, match="changed while it was read"):
        open_archive(path, cache)
    assert not list((cache / "records").glob("*"))

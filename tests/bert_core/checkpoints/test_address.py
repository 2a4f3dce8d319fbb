"""Archives at an address: downloaded, resumed, revalidated; never half-written."""

import hashlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import zipfile

import pytest
import requests

from bert_core import BertForPreTraining, BertTokenizer
from bert_core.checkpoints.sources import address as address_module
from bert_core.checkpoints.sources import cache as space
from bert_core.checkpoints.sources import transfer
from bert_core.checkpoints.sources.address import Version
from bert_core.checkpoints.sources.cache import key_of, read_record, write_record
from bert_core.checkpoints.sources.resolve import resolve
from bert_core.errors import CheckpointError, DownloadCancelled, DownloadError, InputError
from tests.loopback import Fault

NAME = "model.zip"
PATH = f"/files/{NAME}"


def zipped(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name, data in {
            "vocab": b"[UNK]\n",
            "weights": random.Random(3).randbytes(300_000),
        }.items():
            target.writestr(f"{name}.txt", files.get(name, data))
    return buffer.getvalue()


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def address(loopback, monkeypatch):
    """The address of an archive; tries follow each other quickly."""
    loopback.files[NAME] = zipped()
    monkeypatch.setattr(address_module, "_PAUSE", 0.01)
    return loopback.url + PATH


def fetch(address, cache, **options):
    return resolve(address, cache_dir=cache, **options)


def assert_nothing_kept(cache):
    assert not list((cache / "parts").glob("*"))
    assert not list(cache.glob("archives/*"))
    assert not list(cache.glob("records/*"))


class Once(dict):
    """Faults that happen to the first request of a path alone."""

    def get(self, path, default=None):
        return self.pop(path, default)


def ranges(loopback):
    return [headers.get("Range") for _, path, headers in loopback.log if path == PATH]


# -- good days -----------------------------------------------------------------------------------


def test_a_model_and_its_tokenizer_are_loaded_from_an_address(loopback, tiny_folder, cache):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for path in tiny_folder.glob("*.*"):
            target.write(path, f"bert/{path.name}")
    loopback.files["bert-base-cased.zip"] = buffer.getvalue()
    address = f"{loopback.url}/files/bert-base-cased.zip"
    found = BertForPreTraining.from_pretrained(address, cache_dir=cache)
    expected = BertForPreTraining.from_pretrained(tiny_folder)
    assert all(value.equal(found.state_dict()[k]) for k, value in expected.state_dict().items())
    assert found.load_report.source == address
    assert BertTokenizer.from_pretrained(address, cache_dir=cache).tokenize("cat") == ["cat"]
    assert not list((cache / "parts").iterdir())


def test_the_second_time_only_a_question_is_asked(loopback, address, cache):
    first = fetch(address, cache)
    loopback.log.clear()
    assert fetch(address, cache) == first
    assert [headers.get("If-None-Match") is not None for _, _, headers in loopback.log] == [True]


def test_an_archive_that_changed_is_fetched_anew(loopback, address, cache):
    first = fetch(address, cache)
    loopback.files[NAME] = zipped(vocab=b"[CLS]\n")
    second = fetch(address, cache)
    assert (second / "vocab.txt").read_bytes() == b"[CLS]\n"
    assert (first / "vocab.txt").read_bytes() == b"[UNK]\n"


def test_a_server_that_names_no_version_is_read_anew(loopback, address, cache):
    loopback.faults[PATH] = Fault(nameless=True)
    assert fetch(address, cache) == fetch(address, cache)
    assert [method for method, path, _ in loopback.log] == ["GET", "GET"]


def test_progress_is_told_in_the_thread_that_asked(loopback, address, cache):
    seen, threads = [], set()

    def progress(done, total):
        seen.append((done, total))
        threads.add(threading.current_thread())

    fetch(address, cache, progress=progress)
    size = len(loopback.files[NAME])
    assert seen[-1] == (size, size)
    assert threads == {threading.current_thread()}


def test_a_bar_is_drawn_on_a_terminal_only(loopback, address, cache, capfd, monkeypatch):
    fetch(address, cache)
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    fetch(address, cache.with_name("other"))
    assert NAME in capfd.readouterr().err


def test_redirects_are_followed(loopback, address, cache):
    loopback.faults["/files/old.zip"] = Fault(redirect=address)
    assert (fetch(f"{loopback.url}/files/old.zip", cache) / "vocab.txt").is_file()


def test_a_proxy_of_the_environment_is_used(loopback, address, cache, monkeypatch):
    monkeypatch.setenv("http_proxy", loopback.url)
    with pytest.raises(DownloadError):  # the stand-in for a proxy has no such path
        fetch("http://model.invalid/files/x.zip", cache)
    assert loopback.log


def test_addresses_have_keys_of_their_own():
    long = "https://a.example/models/" + "a" * 300
    keys = {key_of(text) for text in (long, f"{long}b", f"b{long}", long.upper(), "\udc80", "")}
    assert len(keys) == 6 and all(key.isalnum() and len(key) == 40 for key in keys)


def test_a_record_is_never_seen_half_written(tmp_path, monkeypatch):
    path = tmp_path / "records" / "one.json"
    write_record(path, {"sha256": "old"})

    def full(self, text, **options):
        self.write_bytes(text[: len(text) // 2].encode())
        raise OSError("the disk is full")

    monkeypatch.setattr("pathlib.Path.write_text", full)
    with pytest.raises(OSError, match="is full"):
        write_record(path, {"sha256": "new"})
    assert read_record(path) == {"sha256": "old"}
    assert list(path.parent.iterdir()) == [path]


# -- a bad line ----------------------------------------------------------------------------------


def test_a_line_that_breaks_is_carried_on(loopback, address, cache):
    loopback.faults[PATH] = Fault(cut=3)
    folder = fetch(address, cache)
    assert (folder / "weights.txt").stat().st_size == 300_000
    starts = [int(each.removeprefix("bytes=").rstrip("-")) for each in ranges(loopback)[1:]]
    assert len(starts) == 3 and starts == sorted(starts) and starts[0] > 0
    etag = etag_of(loopback.files[NAME])
    assert {headers.get("If-Range") for _, _, headers in loopback.log[1:]} == {etag}


def test_a_line_that_breaks_again_and_again_is_carried_on_while_something_arrives(
    loopback, address, cache, monkeypatch
):
    monkeypatch.setattr(address_module, "_CHUNK", 1_000)
    loopback.faults[PATH] = Fault(cut=7)
    assert (fetch(address, cache) / "weights.txt").stat().st_size == 300_000
    assert len(ranges(loopback)) == 8


def test_a_line_that_always_breaks_is_given_up_and_nothing_kept(loopback, address, cache):
    loopback.faults[PATH] = Fault(cut=1_000, headers={"ETag": 'W/"weak"'})
    with pytest.raises(DownloadError, match="connection broke 5 times"):
        fetch(address, cache)
    assert_nothing_kept(cache)


def test_a_file_that_changes_in_between_is_begun_anew(loopback, address, cache):
    loopback.faults[PATH] = Fault(cut=1)
    changed = zipped(vocab=b"[CLS]\n")

    def progress(done, total):
        loopback.files[NAME] = changed

    folder = fetch(address, cache, progress=progress)
    assert (folder / "vocab.txt").read_bytes() in (b"[CLS]\n", b"[UNK]\n")
    with zipfile.ZipFile(io.BytesIO(changed)) as archive:
        assert (folder / "weights.txt").read_bytes() == archive.read("weights.txt")


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Range": "bytes 5-9/10"},
        {"Content-Range": "nonsense"},
        {"Content-Range": ""},
        {"ETag": '"another"'},
    ],
)
def test_a_part_that_does_not_fit_is_thrown_away(loopback, address, cache, headers):
    """The part of a process that was killed lies there; the server's answer does not fit it."""
    data = loopback.files[NAME]
    leave_part(cache, address, data[:1_000], etag_of(data))
    loopback.faults = Once({PATH: Fault(headers=headers)})
    assert (fetch(address, cache) / "weights.txt").stat().st_size == 300_000


@pytest.fixture
def run_fetch(loopback, address, tmp_path):
    """Fetch the file whose first 1,000 bytes are here; the first answer has a fault."""

    def run(fault, *, here=None, total=-1):
        data = loopback.files[NAME]
        leave_part(tmp_path, address, here or data[:1_000], etag_of(data), total)
        part = tmp_path / "parts" / f"{key_of(address)}.part"
        loopback.faults = Once({PATH: fault})
        address_module.Fetch(address, part, Version()).run(transfer.Meter())
        return part.read_bytes()

    return run


@pytest.mark.parametrize("start", [0, 500, 1_000, 1_500])
def test_the_rest_of_a_file_is_taken_only_from_where_the_part_ends(loopback, run_fetch, start):
    """Asked for bytes from 1,000 on, the server sends them from another place, and says so."""
    data = loopback.files[NAME]
    said = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"}
    found = run_fetch(Fault(headers=said, instead=bytes(1_000) + data[start:]))
    assert found == data
    assert ranges(loopback) == ["bytes=1000-"] + ([] if start == 1_000 else [None])


def test_the_rest_of_another_version_is_not_taken(loopback, run_fetch):
    fault = Fault(headers={"ETag": '"another"'})
    assert run_fetch(fault, here=bytes(1_000)) == loopback.files[NAME]
    assert ranges(loopback) == ["bytes=1000-", None]


def test_the_rest_of_a_file_of_another_length_is_not_taken(loopback, run_fetch):
    data = loopback.files[NAME]
    assert run_fetch(Fault(), here=bytes(1_000), total=len(data) + 1) == data
    assert ranges(loopback) == ["bytes=1000-", None]


@pytest.mark.parametrize("known", [True, False])
def test_less_than_the_rest_is_not_taken_for_all_of_it(loopback, run_fetch, known):
    """A server may send a range in pieces; the length of the whole is in each answer."""
    data = loopback.files[NAME]
    fault = Fault(headers={"Content-Range": f"bytes 1000-1999/{len(data)}"}, instead=data[:2_000])
    assert run_fetch(fault, total=len(data) if known else -1) == data
    assert ranges(loopback) == ["bytes=1000-", "bytes=2000-"]


def test_what_is_here_counts_towards_the_largest_size(loopback, run_fetch, monkeypatch):
    monkeypatch.setattr(address_module, "MAX_BYTES", 3_000)
    fault = Fault(headers={"Content-Range": "bytes 1000-1999/2000"}, instead=bytes(3_500))
    with pytest.raises(DownloadError, match=r"at most 3\.0 kB"):
        run_fetch(fault)
    assert ranges(loopback) == ["bytes=1000-"]


def test_only_a_strong_etag_or_a_date_vouches_for_a_part():
    for version, mark in [
        (Version('"a"', "Monday"), '"a"'),
        (Version('W/"a"', "Monday"), "Monday"),
        (Version('W/"a"'), ""),
        (Version("", "Monday"), "Monday"),
    ]:
        assert version.mark == mark


@pytest.mark.parametrize("length", [1_000, 400_000])
def test_a_part_that_was_left_behind_is_carried_on_or_begun_anew(loopback, address, cache, length):
    data = loopback.files[NAME]
    part = (data + bytes(200_000))[:length]
    leave_part(cache, address, part, etag_of(data))
    assert (fetch(address, cache) / "weights.txt").stat().st_size == 300_000
    assert ranges(loopback)[0] == f"bytes={length}-"


def test_a_part_without_a_record_is_not_trusted(loopback, address, cache):
    (cache / "parts").mkdir(parents=True)
    (cache / "parts" / f"{key_of(address)}.part").write_bytes(b"x" * 1_000)
    assert (fetch(address, cache) / "weights.txt").stat().st_size == 300_000
    assert ranges(loopback) == [None]


def etag_of(data):
    """What loopback calls this version of a file."""
    return f'"{hashlib.sha256(data).hexdigest()[:16]}"'


def leave_part(cache, address, data, etag, total=-1):
    place = cache / "parts"
    place.mkdir(parents=True)
    (place / f"{key_of(address)}.part").write_bytes(data)
    note = {"etag": etag, "modified": "", "total": total}
    (place / f"{key_of(address)}.json").write_text(json.dumps(note))


SCRIPT = """
import sys
from bert_core.checkpoints.sources.resolve import resolve
print(resolve(sys.argv[1], cache_dir=sys.argv[2]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no signals here")
def test_what_a_killed_process_left_is_carried_on(loopback, address, cache):
    loopback.faults[PATH] = Fault(drip=0.01)
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, address, str(cache)])
    part = cache / "parts" / f"{key_of(address)}.part"
    for _ in range(600):
        if part.exists() and part.stat().st_size:
            break
        time.sleep(0.1)
    process.kill()
    process.wait(timeout=60)
    size = part.stat().st_size
    assert 0 < size < len(loopback.files[NAME])
    loopback.faults.clear()
    loopback.log.clear()
    assert (fetch(address, cache) / "weights.txt").stat().st_size == 300_000
    assert ranges(loopback) == [f"bytes={size}-"]


@pytest.mark.slow
def test_two_processes_fetch_the_same_archive(loopback, address, cache):
    loopback.faults[PATH] = Fault(drip=0.0005)
    command = [sys.executable, "-c", SCRIPT, address, str(cache)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    folders = [process.communicate(timeout=120)[0].strip() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert folders[0] == folders[1]
    assert not list((cache / "parts").iterdir())
    whole = [headers for _, _, headers in loopback.log if "If-None-Match" not in headers]
    assert len(whole) == 1  # the second waited, and only asked


# -- no answer, or the wrong one -----------------------------------------------------------------


def test_with_a_dead_server_the_copy_serves(loopback, address, cache, caplog):
    folder = fetch(address, cache)
    with loopback.dead():
        assert fetch(address, cache) == folder
        assert "earlier copy" in caplog.text
        with pytest.raises(DownloadError, match="no connection"):
            fetch(address, cache.with_name("empty"))


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_with_a_troubled_server_the_copy_serves(loopback, address, cache, status):
    folder = fetch(address, cache)
    loopback.faults[PATH] = Fault(status=status)
    assert fetch(address, cache) == folder
    with pytest.raises(DownloadError, match=rf"\({status}\)"):
        fetch(address, cache.with_name("empty"))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 429])
def test_a_refusal_is_said(loopback, address, cache, status):
    loopback.faults[PATH] = Fault(status=status)
    with pytest.raises(DownloadError, match=rf"\({status}\)"):
        fetch(address, cache)
    assert_nothing_kept(cache)


def test_a_slow_server_is_not_waited_for_for_ever(loopback, address, cache, monkeypatch):
    monkeypatch.setattr(address_module, "_TIMEOUTS", (0.3, 0.3))
    loopback.faults[PATH] = Fault(wait=1.0)
    with pytest.raises(DownloadError, match="did not answer in time"):
        fetch(address, cache)
    assert_nothing_kept(cache)


def test_a_trickle_is_given_up(loopback, address, cache, monkeypatch):
    monkeypatch.setattr(address_module, "_PATIENCE", 0.5)
    loopback.faults[PATH] = Fault(drip=0.2)
    began = time.monotonic()
    with pytest.raises(DownloadError, match="no data arrived"):
        fetch(address, cache)
    assert time.monotonic() - began < 10
    assert_nothing_kept(cache)


def test_a_slow_transfer_is_no_standstill(monkeypatch):
    """Bytes come less often than they are looked for, and all in all for longer than patience."""
    monkeypatch.setattr(transfer, "_TICK", 0.01)

    def work(meter):
        for _ in range(12):
            meter.add(1)
            meter.pause(0.1)
        return meter.done

    assert transfer.watched(work, what="it", patience=0.8) == 12


def test_redirects_in_circles_are_given_up(loopback, address, cache):
    loopback.faults[PATH] = Fault(redirect=address)
    with pytest.raises(DownloadError, match="loop"):
        fetch(address, cache)
    assert len(loopback.log) <= 12
    assert_nothing_kept(cache)


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://a.invalid/x.zip", "gopher://a/b"])
def test_redirects_to_other_schemes_are_refused(loopback, address, cache, target):
    loopback.faults[PATH] = Fault(redirect=target)
    with pytest.raises(DownloadError, match="neither http nor https"):
        fetch(address, cache)
    assert_nothing_kept(cache)


@pytest.mark.parametrize("hops", [["http:"], ["https:", "http:"], ["http:", "https:"]])
def test_no_redirect_leads_from_https_to_http(tmp_path, monkeypatch, hops):
    """There is no https on loopback, so the answer is made by hand."""
    replies = []
    for scheme in ["https:", *hops]:
        replies.append(requests.Response())
        replies[-1].url, replies[-1].status_code = f"{scheme}//model.invalid/x.zip", 404
        replies[-1].raw = io.BytesIO()
    replies[-1].history = replies[:-1]
    monkeypatch.setattr(requests.Session, "get", lambda *_, **__: replies[-1])
    with pytest.raises(DownloadError, match="from https to http"):
        fetch("https://model.invalid/x.zip", tmp_path)


@pytest.mark.parametrize("body", [b"<html>log in</html>", b"", b"PK\x03\x04 cut"])
def test_what_is_no_archive_is_not_kept(loopback, address, cache, body):
    loopback.files[NAME] = body
    with pytest.raises(CheckpointError, match=r"model.zip was not unpacked"):
        fetch(address, cache)
    assert_nothing_kept(cache)


def test_a_hostile_archive_is_not_kept(loopback, address, cache, tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        target.writestr("vocab.txt", "[UNK]\n")
        target.writestr("../evil.txt", "evil")
    loopback.files[NAME] = buffer.getvalue()
    with pytest.raises(CheckpointError, match="leads out of its folder"):
        fetch(address, cache)
    assert_nothing_kept(cache)
    assert not list(tmp_path.rglob("evil*"))


def test_an_absurd_size_is_refused_before_it_is_fetched(loopback, address, cache, monkeypatch):
    monkeypatch.setattr(address_module, "MAX_BYTES", 1_000)
    with pytest.raises(DownloadError, match=r"at most 1\.0 kB"):
        fetch(address, cache)
    loopback.faults[PATH] = Fault(nameless=True)  # without a length, it is counted
    with pytest.raises(DownloadError, match=r"at most 1\.0 kB"):
        fetch(address, cache)
    assert_nothing_kept(cache)


def test_contents_are_taken_as_they_are_stored(loopback, address, cache):
    loopback.faults[PATH] = Fault(headers={"Content-Encoding": "gzip"})
    assert (fetch(address, cache) / "vocab.txt").is_file()


@pytest.mark.parametrize(
    "text",
    ["http://", "https:///x.zip", "http://:80/x.zip", "http://a:99999/x.zip", "http://[::1/x.zip"],
)
def test_what_is_no_address_is_refused(text, cache):
    with pytest.raises(InputError, match="not the address of an archive"):
        fetch(text, cache)


def test_passwords_and_keys_of_an_address_are_not_repeated(loopback, cache):
    secret = loopback.url.replace("http://", "http://me:secret@")
    with pytest.raises(DownloadError) as caught:
        fetch(f"{secret}/files/absent.zip?key=secret#secret", cache)
    assert "secret" not in str(caught.value)
    assert "absent.zip" in str(caught.value)


# -- cancelled, disk full ------------------------------------------------------------------------


def test_called_off_it_ends_at_once_and_leaves_nothing(loopback, address, cache):
    loopback.faults[PATH] = Fault(drip=0.01)
    cancel = threading.Event()
    threading.Timer(0.4, cancel.set).start()
    began = time.monotonic()
    with pytest.raises(DownloadCancelled):
        fetch(address, cache, cancel=cancel)
    assert time.monotonic() - began < 5
    assert_nothing_kept(cache)
    loopback.faults.clear()
    assert fetch(address, cache).is_dir()


def test_waiting_for_another_process_can_be_cancelled(loopback, address, cache, monkeypatch):
    monkeypatch.setattr(address_module, "_CHUNK", 1_000)
    loopback.faults[PATH] = Fault(drip=0.0005)
    first = threading.Thread(target=fetch, args=(address, cache))
    first.start()
    while not loopback.log:
        time.sleep(0.01)
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(DownloadCancelled, match="another process"):
        fetch(address, cache, cancel=cancel)
    first.join()
    assert fetch(address, cache).is_dir()


def test_an_exception_in_progress_ends_the_download(loopback, address, cache):
    loopback.faults[PATH] = Fault(drip=0.01)

    def progress(done, total):
        raise KeyError("the page was left")

    with pytest.raises(KeyError):
        fetch(address, cache, progress=progress)
    assert_nothing_kept(cache)


def test_an_interrupted_download_is_carried_on_next_time(loopback, address, cache, monkeypatch):
    monkeypatch.setattr(address_module, "_CHUNK", 1_000)
    monkeypatch.setattr(transfer, "_TICK", 0.02)
    loopback.faults[PATH] = Fault(drip=0.005)

    def progress(done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(address, cache, progress=progress)
    loopback.faults.clear()
    loopback.log.clear()
    assert fetch(address, cache).is_dir()
    assert ranges(loopback)[0] not in (None, "bytes=0-")


def test_room_is_looked_for_before_anything_is_fetched(loopback, address, cache, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1_000})())
    with pytest.raises(DownloadError, match=r"needs .*has 1.0 kB free"):
        fetch(address, cache)
    assert_nothing_kept(cache)


def test_an_archive_needs_room_for_itself_and_for_what_is_in_it(
    loopback, address, cache, monkeypatch
):
    size = len(loopback.files[NAME])
    free = space._MARGIN + int(1.9 * size)
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": free})())
    with pytest.raises(DownloadError, match="needs"):
        fetch(address, cache)
    assert_nothing_kept(cache)


def test_a_margin_is_left_free(tmp_path, monkeypatch):
    free = space._MARGIN + 1_000
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": free})())
    space.check_space(tmp_path, 1_000, "it")
    with pytest.raises(DownloadError, match=r"needs 1\.0 kB"):
        space.check_space(tmp_path, 1_001, "it")


LIMITED = """
from bert_core.checkpoints.sources import cache
cache._MARGIN = -10**12  # as if the disk filled up after room had been found
"""


def test_a_quota_that_is_reached_leaves_nothing(loopback, address, cache, run_limited):
    result = run_limited(LIMITED + SCRIPT, address, str(cache), file_bytes=100_000)
    assert "DownloadError" in result.stderr and "is full" in result.stderr
    assert_nothing_kept(cache)


def test_a_full_disk_leaves_nothing(loopback, address, tmp_path, run_on_small_disk):
    loopback.files[NAME] = zipped(weights=os.urandom(3_000_000))
    result = run_on_small_disk(LIMITED + SCRIPT, address, str(tmp_path / "disk" / "cache"))
    assert "DownloadError" in result.stderr and "is full" in result.stderr
    left = [line for line in result.stdout.splitlines() if not line.endswith(".lock")]
    assert left == []

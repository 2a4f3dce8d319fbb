"""Archives at an address: downloaded, revalidated; never half-written."""

import os
import zipfile
from io import BytesIO

import pytest
import requests

from bert_core import BertForPreTraining, BertTokenizer
from bert_core.checkpoints.sources import address as address_module
from bert_core.checkpoints.sources import cache as space
from bert_core.checkpoints.sources.resolve import resolve
from bert_core.errors import CheckpointError, DownloadError, InputError
from tests.loopback import Fault

NAME = "model.zip"
PATH = f"/files/{NAME}"
WEIGHTS = os.urandom(300_000)


def zipped(**files):
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name, data in {"vocab": b"[UNK]\n", "weights": WEIGHTS, **files}.items():
            target.writestr(f"{name}.txt", data)
    return buffer.getvalue()


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def address(loopback):
    loopback.files[NAME] = zipped()
    return loopback.url + PATH


def fetch(address, cache):
    return resolve(address, cache_dir=cache)


def assert_nothing_kept(cache):
    for place in ("parts", "archives", "records"):
        assert not list((cache / place).glob("*"))


def leave_free(monkeypatch, free):
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": free})())


# -- good days -----------------------------------------------------------------------------------


def test_a_model_and_its_tokenizer_are_loaded_from_an_address(loopback, tiny_folder, cache):
    buffer = BytesIO()
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


# -- no answer, or the wrong one -----------------------------------------------------------------


def test_with_a_dead_server_the_copy_serves(loopback, address, cache, caplog):
    folder = fetch(address, cache)
    with loopback.dead():
        assert fetch(address, cache) == folder
        assert "earlier copy" in caplog.text
        with pytest.raises(DownloadError, match="ConnectionError"):
            fetch(address, cache.with_name("empty"))


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Fault(status=500), r"\(500\)"),
        (Fault(status=503), r"\(503\)"),
        (Fault(cut=2, headers={"ETag": '"new"'}), "Error"),
        (Fault(wait=1.0), "Timeout|ConnectionError"),
    ],
)
def test_with_a_troubled_server_the_copy_serves(loopback, address, cache, fault, says, monkeypatch):
    folder = fetch(address, cache)
    monkeypatch.setattr(address_module, "_TIMEOUTS", (0.3, 0.3))
    loopback.faults[PATH] = fault
    assert fetch(address, cache) == folder
    empty = cache.with_name("empty")
    with pytest.raises(DownloadError, match=says):
        fetch(address, empty)
    assert_nothing_kept(empty)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 429])
def test_a_refusal_is_said(loopback, address, cache, status):
    loopback.faults[PATH] = Fault(status=status)
    with pytest.raises(DownloadError, match=rf"\({status}\)"):
        fetch(address, cache)
    assert_nothing_kept(cache)


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("", "TooManyRedirects"),
        ("file:///etc/passwd", "InvalidSchema"),
        ("ftp://a.invalid/x.zip", "InvalidSchema"),
    ],
)
def test_redirects_that_lead_nowhere_are_refused(loopback, address, cache, target, says):
    loopback.faults[PATH] = Fault(redirect=target or address)
    with pytest.raises(DownloadError, match=says):
        fetch(address, cache)
    assert_nothing_kept(cache)


@pytest.mark.parametrize("hops", [["http:"], ["https:", "http:"], ["http:", "https:"]])
def test_no_redirect_leads_from_https_to_http(tmp_path, monkeypatch, hops):
    """There is no https on loopback, so the answer is made by hand."""
    replies = []
    for scheme in ["https:", *hops]:
        replies.append(requests.Response())
        replies[-1].url, replies[-1].status_code = f"{scheme}//model.invalid/x.zip", 404
        replies[-1].raw = BytesIO()
    replies[-1].history = replies[:-1]
    monkeypatch.setattr(requests, "get", lambda *_, **__: replies[-1])
    with pytest.raises(DownloadError, match="from https to http"):
        fetch("https://model.invalid/x.zip", tmp_path)


def test_what_is_no_archive_or_a_hostile_one_is_not_kept(loopback, address, cache):
    for body in (b"<html>log in</html>", b"", b"PK\x03\x04 cut", zipped()[:-9]):
        loopback.files[NAME] = body
        with pytest.raises(CheckpointError, match=r"model.zip was not unpacked"):
            fetch(address, cache)
        assert_nothing_kept(cache)


@pytest.mark.parametrize(
    "text",
    ["http://", "https:///x.zip", "http://:80/x.zip", "http://a:99999/x.zip", "http://[::1/x.zip"],
)
def test_what_is_no_address_is_refused(text, cache):
    with pytest.raises(InputError, match="not the address of an archive"):
        fetch(text, cache)


def test_passwords_and_keys_of_an_address_are_not_repeated(loopback, cache):
    secret = loopback.url.replace("http://", "http://me:secret@")
    with pytest.raises(DownloadError, match=r"absent\.zip") as caught:
        fetch(f"{secret}/files/absent.zip?key=secret#secret", cache)
    assert "secret" not in str(caught.value)


# -- the disk ------------------------------------------------------------------------


def test_room_is_looked_for_before_anything_is_fetched(loopback, address, cache, monkeypatch):
    """For the archive, and for what is in it."""
    leave_free(monkeypatch, space._MARGIN + int(1.9 * len(loopback.files[NAME])))
    with pytest.raises(DownloadError, match="needs"):
        fetch(address, cache)
    assert_nothing_kept(cache)


SCRIPT = """
import sys
from bert_core.checkpoints.sources import cache
cache._MARGIN = -10**12  # as if the disk filled up after room had been found
from bert_core.checkpoints.sources.resolve import resolve
resolve(sys.argv[1], cache_dir=sys.argv[2])
"""


def test_a_full_disk_leaves_nothing(loopback, address, tmp_path, run_on_small_disk):
    loopback.files[NAME] = zipped(weights=os.urandom(3_000_000))
    result = run_on_small_disk(SCRIPT, address, str(tmp_path / "disk" / "cache"))
    assert "DownloadError" in result.stderr and "is full" in result.stderr
    assert [line for line in result.stdout.splitlines() if not line.endswith(".lock")] == []

"""Archives at an address: downloaded once, or again where asked; never half-written."""

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


def fetch(address, cache, **options):
    return resolve(address, cache_dir=cache, **options)


def assert_nothing_kept(cache):
    for place in ("parts", "archives"):
        assert not list((cache / place).glob("*"))


def leave_free(monkeypatch, free):
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": free})())


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


def test_the_second_time_nothing_is_asked_unless_it_is_wanted_again(loopback, address, cache):
    first = fetch(address, cache)
    loopback.log.clear()
    loopback.files[NAME] = zipped(vocab=b"[CLS]\n")
    assert fetch(address, cache) == first and loopback.log == []
    again = fetch(address, cache, force_download=True)
    assert (again / "vocab.txt").read_bytes() == b"[CLS]\n"


FAULTS = [
    *((Fault(status=status), rf"\({status}\)") for status in (401, 404, 429, 500, 503)),
    (Fault(cut=2), "Error"),
    (Fault(wait=1.0), "Timeout|ConnectionError"),
    (Fault(redirect="file:///etc/passwd"), "InvalidSchema"),
    (Fault(redirect="ftp://a.invalid/x.zip"), "InvalidSchema"),
]


def test_what_the_server_refuses_is_said_and_the_copy_stays(loopback, address, cache, monkeypatch):
    folder, empty = fetch(address, cache), cache.with_name("empty")
    monkeypatch.setattr(address_module, "_TIMEOUTS", (0.3, 0.3))
    for fault, says in (*FAULTS, (Fault(redirect=address), "TooManyRedirects")):
        loopback.faults[PATH] = fault
        with pytest.raises(DownloadError, match=says):
            fetch(address, empty)
        with pytest.raises(DownloadError, match=says):
            fetch(address, cache, force_download=True)
        assert_nothing_kept(empty)
        assert fetch(address, cache) == folder and list(folder.iterdir())
    with loopback.dead(), pytest.raises(DownloadError, match="ConnectionError"):
        fetch(address, empty)


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


def test_what_is_no_address_is_refused(cache):
    for text in ("http://", "https:///x.zip", "http://:80/x.zip", "http://a:99999/x.zip",
                 "http://[::1/x.zip"):  # fmt: skip
        with pytest.raises(InputError, match="not the address of an archive"):
            fetch(text, cache)


def test_passwords_and_keys_of_an_address_are_not_repeated(loopback, cache):
    secret = loopback.url.replace("http://", "http://me:secret@")
    with pytest.raises(DownloadError, match=r"absent\.zip") as caught:
        fetch(f"{secret}/files/absent.zip?key=secret#secret", cache)
    assert "secret" not in str(caught.value)


def test_room_is_looked_for_before_anything_is_fetched(loopback, address, cache, monkeypatch):
    """For the archive, and for what is in it."""
    leave_free(monkeypatch, space._MARGIN + int(1.9 * len(loopback.files[NAME])))
    with pytest.raises(DownloadError, match="needs"):
        fetch(address, cache)
    assert_nothing_kept(cache)

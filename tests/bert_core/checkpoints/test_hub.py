"""Models from the Hub: planned, fetched, verified, cached; a server on loopback takes its place."""

import gzip
import hashlib
import json
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest
from huggingface_hub.utils import WeakFileLock

from bert_core import BertForPreTraining, BertModel, BertTokenizer
from bert_core.checkpoints.sources import cache as space
from bert_core.checkpoints.sources import hub, transfer
from bert_core.checkpoints.sources.cache import check_space
from bert_core.checkpoints.sources.hub import download, plan_download, remove_leftovers
from bert_core.checkpoints.sources.hub_client import quiet_client
from bert_core.checkpoints.sources.hub_names import SHORT_NAMES, Part, checked_revision, hub_id
from bert_core.checkpoints.sources.resolve import resolve
from bert_core.errors import (
    CheckpointError,
    ConfigError,
    DownloadCancelled,
    DownloadError,
    InputError,
    MissingFileError,
)
from tests.loopback import Fault, git_sha1

NAME = "someone/tiny-bert"


@pytest.fixture
def model(loopback, tiny_folder, tmp_path):
    """A model on the Hub beside files in other libraries' formats, and a cache of its own."""
    repository = loopback.add_model(NAME, tiny_folder)
    repository.files |= {
        "pytorch_model.bin": b"p" * 5_000,
        "tf_model.h5": b"t" * 5_000,
        "flax_model.msgpack": b"f" * 5_000,
        "training_args.bin": b"a" * 3_000,
        "onnx/model.onnx": b"o" * 5_000,
    }
    return repository


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def cdn(data):
    return f"/cdn/{hashlib.sha256(data).hexdigest()}"


def weights_of(model):
    return model.files["model.safetensors"]


def leftovers(cache):
    return [
        path
        for path in cache.rglob("*")
        if "incomplete" in path.name or path.name.startswith("tmp_")
    ]


# -- what is fetched --------------------------------------------------------------------------


def test_a_model_and_its_tokenizer_are_loaded_by_their_id(model, loopback, tiny_folder, cache):
    found = BertForPreTraining.from_pretrained(NAME, cache_dir=cache)
    expected = BertForPreTraining.from_pretrained(tiny_folder)
    assert found.load_report.missing == ()
    assert found.load_report.source == NAME
    assert all(value.equal(found.state_dict()[k]) for k, value in expected.state_dict().items())
    tokenizer = BertTokenizer.from_pretrained(NAME, cache_dir=cache)
    assert tokenizer.tokenize("the cat") == ["the", "cat"]


def test_only_what_is_needed_is_fetched(model, loopback, cache):
    folder = resolve(NAME, cache_dir=cache)
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    heads = {
        "BertForMultipleChoice",
        "BertForQuestionAnswering",
        "BertForSequenceClassification",
        "BertForTokenClassification",
    }
    assert names == {"config.json", "vocab.txt", "README.md", "model.safetensors"} | {
        f"heads/{head}/{name}" for head in heads for name in ("config.json", "model.safetensors")
    }


def test_a_model_saved_by_todays_transformers_is_fetched_whole(loopback, todays_folder, cache):
    loopback.add_model("someone/new", todays_folder)
    tokenizer = BertTokenizer.from_pretrained("someone/new", cache_dir=cache)
    assert tokenizer.tokenize("the cat") == ["the", "cat"]
    files = {file.name for file in plan_download("someone/new", cache_dir=cache).files}
    tokenizers = {"tokenizer.json", "tokenizer_config.json"}
    assert files == {"config.json", "model.safetensors", *tokenizers}
    part = plan_download("someone/new", cache_dir=cache, part=Part.TOKENIZER)
    assert {file.name for file in part.files} == {"config.json", *tokenizers} and part.cached
    assert BertForPreTraining.from_pretrained("someone/new", cache_dir=cache)


def test_of_two_vocabularies_both_are_fetched(model, todays_folder, cache):
    model.files["tokenizer.json"] = (todays_folder / "tokenizer.json").read_bytes()
    tokenizer = BertTokenizer.from_pretrained(NAME, cache_dir=cache)
    assert tokenizer.contradictions == ()
    names = {file.name for file in plan_download(NAME, cache_dir=cache, part=Part.TOKENIZER).files}
    assert names == {"config.json", "tokenizer.json", "vocab.txt"}


def test_a_tokenizer_fetches_no_weights(model, loopback, cache):
    BertTokenizer.from_pretrained(NAME, cache_dir=cache)
    assert not [path for path in loopback.asked("GET") if "safetensors" in path or "cdn" in path]


def test_a_pickle_is_fetched_where_there_is_nothing_better(model, cache):
    del model.files["model.safetensors"]
    names = [file.name for file in plan_download(NAME, cache_dir=cache).files]
    assert "pytorch_model.bin" in names
    assert "tf_model.h5" not in names


def test_shards_and_tensorflow_checkpoints_are_found(model, cache):
    shards = {f"model-0000{number}-of-00002.safetensors": b"s" * 2_500 for number in (1, 2)}
    model.files |= {"model.safetensors.index.json": b"{}", **shards}
    model.files |= {"bert_model.ckpt.index": b"i", "bert_model.ckpt.data-00000-of-00001": b"d"}
    del model.files["model.safetensors"]
    names = {file.name for file in plan_download(NAME, cache_dir=cache).files}
    assert {"model.safetensors.index.json", *shards} <= names
    assert "bert_model.ckpt.index" not in names
    plan = plan_download(NAME, cache_dir=cache, part=Part.TENSORFLOW)
    names = {file.name for file in plan.files}
    assert {"bert_model.ckpt.index", "bert_model.ckpt.data-00000-of-00001"} <= names
    assert not names & shards.keys()


def test_the_plan_says_how_much_before_anything_is_fetched(model, loopback, cache):
    plan = plan_download(NAME, cache_dir=cache)
    assert loopback.asked("HEAD") == []
    assert plan.commit == model.commit
    assert plan.bytes == plan.total_bytes == sum(len(model.files[f.name]) for f in plan.files)
    assert not plan.cached
    sizes = {file.name: file.size for file in plan.files}
    assert sizes["model.safetensors"] == len(weights_of(model))
    assert download(plan) == plan.folder
    again = plan_download(NAME, cache_dir=cache)
    assert again.cached and again.bytes == 0
    assert again.total_bytes == plan.total_bytes


def test_progress_counts_every_byte_once(model, cache):
    seen = []
    plan = plan_download(NAME, cache_dir=cache)
    download(plan, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (plan.bytes, plan.bytes)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_bar_is_drawn_on_a_terminal_only(model, cache, capfd, monkeypatch):
    download(plan_download(NAME, cache_dir=cache))
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    download(plan_download(NAME, cache_dir=cache.with_name("other")))
    assert NAME in capfd.readouterr().err


# -- names and revisions -----------------------------------------------------------------------


@pytest.mark.parametrize("short", SHORT_NAMES)
def test_short_names_stand_for_canonical_ids(short, loopback, tiny_folder, cache):
    loopback.add_model(f"google-bert/{short}", tiny_folder)
    folder = resolve(short, cache_dir=cache, part=Part.TOKENIZER)
    assert folder.parent.parent.name == f"models--google-bert--{short}"


def test_lower_case_follows_the_short_name(loopback, tiny_folder, cache):
    for name in ("bert-base-cased", "bert-base-uncased"):
        repository = loopback.add_model(f"google-bert/{name}", tiny_folder)
        repository.files.pop("tokenizer_config.json", None)
        tokenizer = BertTokenizer.from_pretrained(name, cache_dir=cache)
        assert tokenizer.do_lower_case is (name == "bert-base-uncased")


def test_a_folder_wins_over_a_name(loopback, tiny_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("someone/tiny-bert", "bert-base-uncased"):
        Path(name).mkdir(parents=True)
        assert resolve(name) == Path(name)
    assert loopback.log == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "bert",
        "a/b/c",
        "../b",
        "a/..",
        "a/b..c",
        "a--b/c",
        "a/b.git",
        "/b",
        "a/",
        "-a/b",
        "a/b-",
        "a b/c",
        "a\\b",
        "a/b?c",
        "a/b#c",
        "a/b%2f",
        "a/ß",
        "a/b\n",
        "https://huggingface.co/a/b",
        "a/" + "b" * 97,
    ],
)
def test_what_is_no_id_is_refused_before_any_request(text, loopback):
    with pytest.raises(InputError, match="not an id on the Hugging Face Hub"):
        plan_download(text)
    assert loopback.log == []


@pytest.mark.parametrize("revision", ["", "../main", "a..b", "/main", "main/", "a//b", "ä", "a b"])
def test_what_is_no_revision_is_refused(revision):
    with pytest.raises(InputError, match="not a revision"):
        checked_revision(revision)


def test_ids_and_revisions_that_are_fine():
    assert hub_id("a/b_c.d-e") == "a/b_c.d-e"
    assert hub_id("a/" + "b" * 96) == "a/" + "b" * 96
    assert [checked_revision(each) for each in (None, "refs/pr/2", "v1.0")] == [
        "main",
        "refs/pr/2",
        "v1.0",
    ]


def test_a_revision_may_be_a_commit_and_needs_no_request_the_second_time(model, loopback, cache):
    folder = resolve(NAME, revision=model.commit, cache_dir=cache)
    loopback.log.clear()
    assert resolve(NAME, revision=model.commit, cache_dir=cache) == folder
    assert loopback.log == []


def test_an_unknown_revision_is_refused(model, cache):
    with pytest.raises(DownloadError, match="no revision 'absent'"):
        plan_download(NAME, "absent", cache_dir=cache)


def test_a_new_version_is_fetched_and_the_old_one_stays(model, loopback, tiny_folder, cache):
    old = resolve(NAME, cache_dir=cache)
    model.files["vocab.txt"] += b"new\n"
    model.commit = "b" * 40
    new = resolve(NAME, cache_dir=cache)
    assert new.name == "b" * 40
    assert b"new" in (new / "vocab.txt").read_bytes()
    assert b"new" not in (old / "vocab.txt").read_bytes()


# -- no answer ---------------------------------------------------------------------------------


def test_with_a_dead_server_the_cache_serves(model, loopback, cache):
    folder = resolve(NAME, cache_dir=cache)
    with loopback.dead():
        assert resolve(NAME, cache_dir=cache) == folder
        assert plan_download(NAME, cache_dir=cache).cached
        assert BertModel.from_pretrained(NAME, cache_dir=cache).load_report.missing == ()


@pytest.mark.parametrize("status", [429, 500, 503])
def test_with_a_troubled_server_the_cache_serves(model, loopback, cache, status):
    folder = resolve(NAME, cache_dir=cache)
    loopback.faults[f"/api/models/{NAME}/revision/main"] = Fault(status=status)
    assert resolve(NAME, cache_dir=cache) == folder
    with pytest.raises(DownloadError, match=rf"\({status}\)"):
        resolve(NAME, cache_dir=cache.with_name("empty"))


def test_what_another_program_left_in_the_cache_serves(model, loopback, tiny_folder, cache):
    import huggingface_hub

    for name in ("config.json", "pytorch_model.bin", "model.safetensors"):
        huggingface_hub.hf_hub_download(NAME, name, cache_dir=cache, endpoint=loopback.url)
    with loopback.dead():
        assert BertModel.from_pretrained(NAME, cache_dir=cache).load_report.missing == ()


def test_a_copy_from_the_time_without_owners_serves(loopback, tiny_folder, cache):
    place = cache / "models--bert-base-cased"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text("c" * 40)
    (place / "snapshots" / ("c" * 40)).mkdir(parents=True)
    for path in tiny_folder.glob("*.*"):
        (place / "snapshots" / ("c" * 40) / path.name).write_bytes(path.read_bytes())
    with loopback.dead():
        assert resolve("bert-base-cased", cache_dir=cache) == place / "snapshots" / ("c" * 40)


def test_a_copy_that_lacks_a_shard_does_not_serve(model, loopback, cache):
    shards = {f"model-0000{number}-of-00002.safetensors": b"s" * 2_500 for number in (1, 2)}
    model.files |= {"model.safetensors.index.json": b"{}", **shards}
    del model.files["model.safetensors"]
    folder = resolve(NAME, cache_dir=cache)
    with loopback.dead():
        assert resolve(NAME, cache_dir=cache) == folder
        (folder / "model-00002-of-00002.safetensors").unlink()
        with pytest.raises(DownloadError, match="cannot be reached"):
            resolve(NAME, cache_dir=cache)


def test_offline_sends_no_request(model, loopback, cache, monkeypatch):
    folder = resolve(NAME, cache_dir=cache)
    loopback.log.clear()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert resolve(NAME, cache_dir=cache) == folder
    with pytest.raises(DownloadError, match="HF_HUB_OFFLINE"):
        resolve(NAME, cache_dir=cache.with_name("empty"))
    assert loopback.log == []


def test_a_dead_server_without_a_copy_says_so_at_once(loopback, cache):
    began = time.monotonic()
    with loopback.dead(), pytest.raises(DownloadError, match="cannot be reached"):
        resolve(NAME, cache_dir=cache)
    assert time.monotonic() - began < 5


def test_a_slow_server_is_not_waited_for_for_ever(model, loopback, cache, monkeypatch):
    folder = resolve(NAME, cache_dir=cache)
    monkeypatch.setattr(hub, "_TIMEOUT", 0.2)
    loopback.faults[f"/api/models/{NAME}/revision/main"] = Fault(wait=1.0)
    assert resolve(NAME, cache_dir=cache) == folder
    with pytest.raises(DownloadError, match="did not answer in time"):
        resolve(NAME, cache_dir=cache.with_name("empty"))


def test_contents_that_stop_coming_are_given_up(model, loopback, cache, monkeypatch):
    monkeypatch.setattr("bert_core.checkpoints.sources.hub._PATIENCE", 0.5)
    monkeypatch.setattr(transfer, "_FAREWELL", 0.1)
    loopback.faults[model.weights_at] = Fault(wait=3.0)
    with pytest.raises(DownloadError, match="no data arrived"):
        resolve(NAME, cache_dir=cache)


# -- refusals ----------------------------------------------------------------------------------


def test_an_unknown_name_is_told_apart_from_a_folder(loopback, cache):
    with pytest.raises(DownloadError, match=r"no folder 'no/body' here.*There is no 'no/body'"):
        resolve("no/body", cache_dir=cache)


def test_a_private_and_a_gated_model_want_a_token(model, loopback, cache, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_of_this_machine")
    model.private = True
    assert plan_download(NAME, cache_dir=cache).commit == model.commit
    with pytest.raises(DownloadError, match="or it is private"):
        plan_download(NAME, cache_dir=cache, token=False)
    model.private, model.gated = False, True
    with pytest.raises(DownloadError, match="accepted its terms"):
        plan_download(NAME, cache_dir=cache, token=False)
    plan = plan_download(NAME, cache_dir=cache, token="hf_mine")
    assert download(plan).is_dir()
    assert "hf_of_this_machine" not in repr(loopback.log[1:])


def test_anonymous_requests_are_not_told_to_log_in(model, loopback, cache, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_" + "x" * 30)
    model.private = True
    with pytest.raises(DownloadError, match="private models are not downloaded here"):
        plan_download(NAME, cache_dir=cache, token=False)
    model.private, model.gated = False, True
    with pytest.raises(DownloadError, match="accepted its terms; this server"):
        plan_download(NAME, cache_dir=cache, token=False)
    assert not any("authorization" in name.lower() for *_, sent in loopback.log for name in sent)


def test_no_token_reaches_the_cdn_of_another_host(model, loopback, cache):
    plan = plan_download(NAME, cache_dir=cache, token="hf_mine")
    download(plan)
    sent = [headers for _, path, headers in loopback.log if path == model.weights_at]
    assert sent and all("authorization" not in {key.lower() for key in each} for each in sent)


def test_another_architecture_is_refused_before_its_weights_are_fetched(model, loopback, cache):
    config = json.loads(model.files["config.json"])
    model.files["config.json"] = json.dumps({**config, "model_type": "gpt2"}).encode()
    with pytest.raises(ConfigError, match="gpt2"):
        resolve(NAME, cache_dir=cache)
    assert not [path for path in loopback.asked("GET") if "cdn" in path]


def test_a_repository_without_what_is_wanted_is_refused(model, cache):
    weights = {name: model.files.pop(name) for name in ("model.safetensors", "pytorch_model.bin")}
    with pytest.raises(CheckpointError, match=r"no weights.*tf_model.h5"):
        plan_download(NAME, cache_dir=cache)
    model.files |= weights
    del model.files["config.json"], model.files["vocab.txt"]
    with pytest.raises(MissingFileError, match=r"no config.json"):
        plan_download(NAME, cache_dir=cache)
    with pytest.raises(MissingFileError, match=r"no vocab.txt"):
        plan_download(NAME, cache_dir=cache, part=Part.TOKENIZER)


@pytest.mark.parametrize("body", [b"<html>log in</html>", b"[]", b'{"id": "a/b"}', b"{}"])
def test_a_login_page_in_between_is_not_taken_for_the_hub(loopback, cache, body):
    path = f"/files/../api/models/{NAME}/revision/main"
    loopback.files["login"] = body
    loopback.faults[path.removeprefix("/files/..")] = Fault(redirect=f"{loopback.url}/files/login")
    with pytest.raises(DownloadError, match=r"not the Hub|login page|failed"):
        resolve(NAME, cache_dir=cache)


# -- contents ----------------------------------------------------------------------------------


def test_a_line_that_breaks_is_carried_on(model, loopback, cache, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1_000)
    loopback.faults[model.weights_at] = Fault(cut=1)
    folder = resolve(NAME, cache_dir=cache)
    assert (folder / "model.safetensors").read_bytes() == weights_of(model)
    ranges = [headers.get("Range") for _, path, headers in loopback.log if "cdn" in path]
    assert [each for each in ranges if each and not each.startswith("bytes=0")]
    assert leftovers(cache) == []


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
def test_wrong_bytes_of_the_right_size_are_removed(model, loopback, cache, name):
    data = model.files[name]
    wrong = bytes([data[0] ^ 1]) + data[1:]
    place = cdn(data) if len(data) >= 2_000 else f"/{NAME}/resolve/{model.commit}/{name}"
    loopback.faults[place] = Fault(instead=wrong)
    with pytest.raises(DownloadError, match=rf"{name} does not match the digest"):
        resolve(NAME, cache_dir=cache)
    assert not list(cache.rglob(f"*{name}"))
    assert all(path.read_bytes() != wrong for path in cache.rglob("*") if path.is_file())
    loopback.faults.clear()
    assert (resolve(NAME, cache_dir=cache) / name).read_bytes() == data


@pytest.mark.parametrize("change", [b"", b"longer by this"])
def test_bytes_of_the_wrong_size_are_removed(model, loopback, cache, change):
    data = weights_of(model)
    loopback.faults[cdn(data)] = Fault(instead=data + change if change else data[:-7])
    with pytest.raises(DownloadError):
        resolve(NAME, cache_dir=cache)
    assert not list(cache.rglob("model.safetensors"))
    assert leftovers(cache) == []


def test_a_file_of_the_cache_that_was_cut_is_fetched_again(model, loopback, cache):
    folder = resolve(NAME, cache_dir=cache)
    with (folder / "model.safetensors").open("r+b") as file:
        file.truncate(100)
    assert (resolve(NAME, cache_dir=cache) / "model.safetensors").read_bytes() == weights_of(model)


def test_called_off_it_ends_at_once_and_leaves_nothing(model, loopback, cache, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1_000)
    loopback.faults[model.weights_at] = Fault(drip=0.01)
    cancel = threading.Event()
    plan = plan_download(NAME, cache_dir=cache)
    small = plan.bytes - len(weights_of(model))

    def progress(done, total):
        if done > small / 2:
            cancel.set()

    with pytest.raises(DownloadCancelled):
        download(plan, progress=progress, cancel=cancel)
    assert not list(cache.rglob("model.safetensors"))
    assert leftovers(cache) == []
    loopback.faults.clear()
    assert download(plan_download(NAME, cache_dir=cache)).is_dir()


def test_an_exception_in_progress_ends_the_download(model, loopback, cache, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1_000)
    loopback.faults[model.weights_at] = Fault(drip=0.01)

    def progress(done, total):
        if done:
            raise KeyError("the page was left")

    with pytest.raises(KeyError):
        download(plan_download(NAME, cache_dir=cache), progress=progress)
    assert not list(cache.rglob("model.safetensors"))
    assert leftovers(cache) == []


SCRIPT = """
import sys
from bert_core.checkpoints.sources.resolve import resolve
print(resolve(sys.argv[1], cache_dir=sys.argv[2]))
"""


@pytest.mark.slow
def test_two_processes_fetch_the_same_model(model, loopback, cache):
    loopback.faults[model.weights_at] = Fault(drip=0.002)
    command = [sys.executable, "-c", SCRIPT, NAME, str(cache)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    folders = [process.communicate(timeout=120)[0].strip() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert folders[0] == folders[1]
    assert (Path(folders[0]) / "model.safetensors").read_bytes() == weights_of(model)
    assert leftovers(cache) == []


def begun_and_killed(model, loopback, cache):
    """Kill a process while it downloads the weights; return what it left of them."""
    loopback.faults[model.weights_at] = Fault(drip=0.05)
    quick = "import huggingface_hub.constants as c\nc.DOWNLOAD_CHUNK_SIZE = 500\n"
    command = [sys.executable, "-c", quick + SCRIPT, NAME, str(cache)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    begun = f"models--*/blobs/{hashlib.sha256(weights_of(model)).hexdigest()}*.incomplete"
    while not any(part.stat().st_size for part in cache.glob(begun)):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait(timeout=20)
    loopback.faults.clear()
    return list(cache.glob("models--*/blobs/*.incomplete"))


def test_what_a_killed_download_left_is_removed_by_the_next_one(model, loopback, cache):
    (left,) = begun_and_killed(model, loopback, cache)
    assert left.name.startswith(hashlib.sha256(weights_of(model)).hexdigest())
    folder = resolve(NAME, cache_dir=cache)
    assert (folder / "model.safetensors").read_bytes() == weights_of(model)
    assert leftovers(cache) == []


def test_a_part_that_another_process_works_on_is_kept(tmp_path):
    storage = tmp_path / "models--someone--tiny"
    (storage / "blobs").mkdir(parents=True)
    mine, dead = (storage / "blobs" / f"{name}.0123abcd.incomplete" for name in ("aa", "bb"))
    mine.touch()
    dead.touch()
    lock = tmp_path / ".locks" / storage.name / "aa.lock"
    lock.parent.mkdir(parents=True)
    with WeakFileLock(lock):
        remove_leftovers(storage)
        assert mine.exists() and not dead.exists()
    remove_leftovers(storage)
    assert not mine.exists()


# -- the disk ----------------------------------------------------------------------------------


def test_room_is_looked_for_before_anything_is_fetched(model, loopback, cache, monkeypatch):
    plan = plan_download(NAME, cache_dir=cache)
    loopback.log.clear()
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1_000})())
    with pytest.raises(DownloadError, match=r"needs .*has 1.0 kB free"):
        download(plan)
    assert loopback.log == []
    assert not cache.exists()


def test_a_full_disk_is_named_as_such_with_what_must_stay_free(tmp_path, monkeypatch):
    """61 kB are more than 403 bytes: without the reserve the sentence would contradict itself."""
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 61_400})())
    with pytest.raises(DownloadError) as refused:
        check_space(tmp_path, 403, NAME)
    assert str(refused.value).startswith(
        f"The disk is too full: {NAME} needs 403 bytes, and 16.8 MB more must stay free; "
        f"{tmp_path} has 61.4 kB free."
    )


def test_a_model_needs_room_for_what_is_not_here_yet(model, cache, monkeypatch):
    plan = plan_download(NAME, cache_dir=cache)
    assert 0 < plan.bytes == plan.total_bytes

    def leave(free):
        monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": free})())

    leave(space._MARGIN + plan.bytes - 1)
    with pytest.raises(DownloadError, match="needs"):
        download(plan)
    leave(space._MARGIN + plan.bytes)
    assert (download(plan) / "model.safetensors").read_bytes() == weights_of(model)


def test_a_quota_that_is_reached_leaves_nothing_half_written(model, cache, run_limited):
    """The limit of the process on the size of a file serves as a quota."""
    result = run_limited(SCRIPT, NAME, str(cache), file_bytes=10_000)
    assert "DownloadError" in result.stderr and "is full" in result.stderr
    assert leftovers(cache) == []
    assert not list(cache.rglob("model.safetensors"))
    assert (resolve(NAME, cache_dir=cache) / "model.safetensors").read_bytes() == weights_of(model)


# -- privacy -----------------------------------------------------------------------------------


def test_nothing_is_asked_for_but_the_model(model, loopback, cache, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", False)
    resolve(NAME, cache_dir=cache)
    for path in loopback.asked():
        assert NAME in path or path.startswith("/cdn/"), path
    for _, _, headers in loopback.log:
        agent = {key.lower(): value for key, value in headers.items()}.get("user-agent", "")
        assert "torch/" not in agent and "agent/" not in agent.replace("user-agent/", "")


def test_the_client_s_settings_are_given_back(monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", False)
    with quiet_client():
        with quiet_client():
            pass
        assert constants.HF_HUB_DISABLE_TELEMETRY and constants.HF_HUB_DISABLE_XET
    assert not constants.HF_HUB_DISABLE_TELEMETRY and not constants.HF_HUB_DISABLE_XET


def test_digests_are_those_of_git():
    # `printf 'hello' | git hash-object --stdin`
    assert git_sha1(b"hello") == "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0"


# -- listings without end -----------------------------------------------------------------------


LISTING = f"/api/models/{NAME}/revision/main"


def answer(loopback, body, **fault):
    """Answer the request for the list of files with these bytes."""
    loopback.files["list"] = body
    loopback.faults["/files/list"] = Fault(**fault)
    loopback.faults[LISTING] = Fault(redirect=f"{loopback.url}/files/list")


@pytest.mark.parametrize("nameless", [False, True])
def test_a_listing_without_end_is_not_read_to_its_end(model, loopback, cache, nameless):
    body = b'{"siblings": [' + b'{"rfilename": "a"},' * 2_000_000
    answer(loopback, body, nameless=nameless)
    tracemalloc.start()
    with pytest.raises(DownloadError, match=r"longer than 4\.0 MB.*list of a model's files"):
        plan_download(NAME, cache_dir=cache)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * 4_000_000 < len(body)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "gzip, gzip", "br"])
def test_a_compressed_listing_is_refused(model, loopback, cache, encoding):
    bomb = gzip.compress(b" " * 50_000_000)
    answer(loopback, bomb, headers={"Content-Encoding": encoding})
    with pytest.raises(DownloadError, match="compressed"):
        plan_download(NAME, cache_dir=cache)
    asked = [headers for _, path, headers in loopback.log if path == LISTING]
    assert [headers["Accept-Encoding"] for headers in asked] == ["identity"]


def test_a_long_listing_within_the_limit_is_read(model, loopback, cache):
    model.files |= {f"checkpoints/{number}/{'long' * 9}": b"x" for number in range(10_000)}
    assert plan_download(NAME, cache_dir=cache).files


def test_a_listing_without_end_leaves_the_copy_in_the_cache_usable(model, loopback, cache):
    download(plan_download(NAME, cache_dir=cache))
    answer(loopback, b" " * 5_000_000)
    assert plan_download(NAME, cache_dir=cache).cached


def test_files_and_other_threads_are_not_limited(loopback, tiny_folder, cache, monkeypatch):
    loopback.add_model(NAME, tiny_folder)
    monkeypatch.setattr(hub, "_LISTING", 5_000)
    large = (tiny_folder / "model.safetensors").stat().st_size
    assert large > 5_000
    assert (download(plan_download(NAME, cache_dir=cache)) / "model.safetensors").is_file()

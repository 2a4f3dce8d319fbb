"""Models from the Hub: planned, fetched, cached; a server on loopback takes its place."""

import json
import threading
import time

import pytest

from bert_core import BertForPreTraining, BertModel, BertTokenizer
from bert_core.checkpoints.sources import cache as space
from bert_core.checkpoints.sources import hub
from bert_core.checkpoints.sources.hub import download, plan_download
from bert_core.checkpoints.sources.hub_names import SHORT_NAMES, Part, hub_id
from bert_core.checkpoints.sources.resolve import resolve
from bert_core.errors import (
    CheckpointError,
    ConfigError,
    DownloadCancelled,
    DownloadError,
    InputError,
    MissingFileError,
)
from tests.loopback import Fault

NAME = "someone/tiny-bert"
INFO = f"/api/models/{NAME}/revision/main"


@pytest.fixture
def model(loopback, tiny_folder):
    """A model on the Hub beside files in other libraries' formats."""
    repository = loopback.add_model(NAME, tiny_folder)
    others = ("pytorch_model.bin", "tf_model.h5", "flax_model.msgpack", "onnx/model.onnx")
    repository.files |= dict.fromkeys((*others, "training_args.bin"), b"x" * 5000)
    return repository


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def names_in(plan):
    return {file.name for file in plan.files}


def leftovers(cache):
    return [each for each in cache.rglob("*") if "incomplete" in each.name or "tmp_" in each.name]


def leave_free(monkeypatch, free):
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": free})())


# -- what is fetched --------------------------------------------------------------------------


def test_only_what_is_needed_is_fetched(model, loopback, cache):
    BertTokenizer.from_pretrained(NAME, cache_dir=cache)
    assert not [path for path in loopback.asked("GET") if "safetensors" in path or "cdn" in path]
    folder = resolve(NAME, cache_dir=cache)
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    heads = ["MultipleChoice", "QuestionAnswering", "SequenceClassification", "TokenClassification"]
    assert names == {"config.json", "vocab.txt", "README.md", "model.safetensors"} | {
        f"heads/BertFor{head}/{name}"
        for head in heads
        for name in ("config.json", "model.safetensors")
    }


def test_a_model_saved_by_todays_transformers_is_fetched_whole(loopback, todays_folder, cache):
    loopback.add_model("someone/new", todays_folder)
    tokenizer = BertTokenizer.from_pretrained("someone/new", cache_dir=cache)
    assert tokenizer.tokenize("the cat") == ["the", "cat"]
    tokenizers = {"config.json", "tokenizer.json", "tokenizer_config.json"}
    plan = plan_download("someone/new", cache_dir=cache)
    assert names_in(plan) == tokenizers | {"model.safetensors"}
    part = plan_download("someone/new", cache_dir=cache, part=Part.TOKENIZER)
    assert names_in(part) == tokenizers and part.cached
    assert BertForPreTraining.from_pretrained("someone/new", cache_dir=cache)


def test_one_set_of_weights_is_chosen(model, cache):
    shards = {f"model-0000{number}-of-00002.safetensors" for number in (1, 2)}
    shards.add("model.safetensors.index.json")
    checkpoint = {"bert_model.ckpt.index", "bert_model.ckpt.data-00000-of-00001"}
    model.files |= dict.fromkeys((*shards, *checkpoint), b"x" * 2_500)
    weights = {"model.safetensors", "pytorch_model.bin", *shards, *checkpoint}
    for wanted, part in [
        ({"model.safetensors"}, Part.MODEL),
        (checkpoint, Part.TENSORFLOW),
        (shards, Part.MODEL),
        ({"pytorch_model.bin"}, Part.MODEL),
        (checkpoint, Part.MODEL),
    ]:
        assert names_in(plan_download(NAME, cache_dir=cache, part=part)) & weights == wanted
        if part is Part.MODEL:
            for name in wanted:
                del model.files[name]


def test_the_plan_says_how_much_before_anything_is_fetched(model, loopback, cache):
    plan = plan_download(NAME, cache_dir=cache)
    assert loopback.asked("HEAD") == [] and not plan.cached
    assert plan.commit == model.commit
    assert plan.bytes == plan.total_bytes == sum(len(model.files[f.name]) for f in plan.files)
    seen = []
    assert download(plan, progress=lambda *numbers: seen.append(numbers)) == plan.folder
    assert seen[-1] == (plan.bytes, plan.bytes) and seen == sorted(seen)
    again = plan_download(NAME, cache_dir=cache)
    assert again.cached and again.bytes == 0 and again.total_bytes == plan.total_bytes


# -- names and revisions -----------------------------------------------------------------------


def test_short_names_stand_for_canonical_ids(loopback, tiny_folder, cache):
    for short in ("bert-base-uncased", "bert-base-multilingual-cased", "bert-base-chinese"):
        model = loopback.add_model(f"google-bert/{short}", tiny_folder)
        model.files.pop("tokenizer_config.json", None)
        lower = BertTokenizer.from_pretrained(short, cache_dir=cache).do_lower_case
        assert lower is ("-cased" not in short)
        assert (cache / f"models--google-bert--{short}").is_dir()
    assert {hub_id(short) for short in SHORT_NAMES} == {f"google-bert/{n}" for n in SHORT_NAMES}


def test_a_folder_wins_over_a_name(loopback, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("someone/tiny-bert", "bert-base-uncased"):
        (tmp_path / name).mkdir(parents=True)
        assert resolve(name).resolve() == tmp_path / name
    assert loopback.log == []


def test_what_is_no_id_is_refused_before_any_request(loopback):
    for text in (
        *("", "bert", "a/b/c", "../b", "a/..", "a/b..c", "a--b/c", "a/b.git", "/b", "a/", "-a/b"),
        *("a/b-", "a b/c", "a\\b", "a/b?c", "a/b#c", "a/b%2f", "a/ß", "a/b\n", "a/" + "b" * 97),
        "https://huggingface.co/a/b",
    ):
        with pytest.raises(InputError, match="not an id on the Hugging Face Hub"):
            plan_download(text)
    assert loopback.log == []


def test_a_commit_needs_no_request_the_second_time(model, loopback, cache):
    folder = resolve(NAME, revision=model.commit, cache_dir=cache)
    loopback.log.clear()
    assert resolve(NAME, revision=model.commit, cache_dir=cache) == folder
    assert loopback.log == []


def test_a_new_version_is_fetched_and_the_old_one_stays(model, cache):
    old = resolve(NAME, cache_dir=cache)
    model.files["vocab.txt"] += b"new\n"
    model.commit = "b" * 40
    new = resolve(NAME, cache_dir=cache)
    assert new.name == "b" * 40
    assert [b"new" in (each / "vocab.txt").read_bytes() for each in (old, new)] == [False, True]


# -- no answer ---------------------------------------------------------------------------------


def test_with_a_dead_server_the_cache_serves_and_an_empty_one_says_so(model, loopback, cache):
    folder = resolve(NAME, cache_dir=cache)
    with loopback.dead():
        assert resolve(NAME, cache_dir=cache) == folder
        assert plan_download(NAME, cache_dir=cache).cached
        assert BertModel.from_pretrained(NAME, cache_dir=cache).load_report.missing == ()
        began = time.monotonic()
        with pytest.raises(DownloadError, match="cannot be reached"):
            resolve(NAME, cache_dir=cache.with_name("empty"))
        assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Fault(status=429), r"\(429\)"),
        (Fault(status=500), r"\(500\)"),
        (Fault(status=503), r"\(503\)"),
        (Fault(wait=1.0), "did not answer in time"),
    ],
)
def test_with_a_troubled_server_the_cache_serves(model, loopback, cache, monkeypatch, fault, says):
    folder = resolve(NAME, cache_dir=cache)
    monkeypatch.setattr(hub, "_TIMEOUT", 0.2)
    loopback.faults[INFO] = fault
    assert resolve(NAME, cache_dir=cache) == folder
    with pytest.raises(DownloadError, match=says):
        resolve(NAME, cache_dir=cache.with_name("empty"))


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


# -- refusals ----------------------------------------------------------------------------------


def test_an_unknown_name_or_revision_is_refused(model, cache):
    with pytest.raises(DownloadError, match=r"no folder 'no/body' here.*There is no 'no/body'"):
        resolve("no/body", cache_dir=cache)
    with pytest.raises(DownloadError, match="no revision 'absent'"):
        plan_download(NAME, "absent", cache_dir=cache)


@pytest.mark.parametrize(("kind", "says"), [("private", "it is private"), ("gated", "its terms")])
def test_without_a_token_on_purpose_none_is_sent_or_suggested(
    model, loopback, cache, monkeypatch, kind, says
):
    monkeypatch.setenv("HF_TOKEN", "hf_of_this_machine")
    setattr(model, kind, True)
    with pytest.raises(DownloadError, match=says) as caught:
        plan_download(NAME, cache_dir=cache, token=False)
    assert "HF_TOKEN" not in str(caught.value)
    assert not any("authorization" in name.lower() for *_, sent in loopback.log for name in sent)
    assert plan_download(NAME, cache_dir=cache).commit == model.commit
    loopback.log.clear()
    assert download(plan_download(NAME, cache_dir=cache, token="hf_mine")).is_dir()
    assert "hf_of_this_machine" not in repr(loopback.log)
    sent = [headers for _, path, headers in loopback.log if path == model.weights_at]
    assert sent and all("authorization" not in {key.lower() for key in each} for each in sent)
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(DownloadError, match="HF_TOKEN"):
        plan_download(NAME, cache_dir=cache.with_name("empty"))


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


# -- contents ----------------------------------------------------------------------------------


def test_a_file_of_the_cache_that_was_cut_is_fetched_again_and_another_where_asked(model, cache):
    path = resolve(NAME, cache_dir=cache) / "model.safetensors"
    whole = model.files["model.safetensors"]
    path.write_bytes(whole[:100])
    assert resolve(NAME, cache_dir=cache) == path.parent and path.read_bytes() == whole
    path.write_bytes(bytes(len(whole)))
    with pytest.raises(CheckpointError, match="truncated or damaged"):
        BertModel.from_pretrained(NAME, cache_dir=cache)
    found = BertModel.from_pretrained(NAME, cache_dir=cache, force_download=True)
    assert found.load_report.missing == () and path.read_bytes() == whole


def test_called_off_it_ends_at_once_and_leaves_nothing(model, loopback, cache, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1_000)
    loopback.faults[model.weights_at] = Fault(drip=0.01)
    cancel, plan = threading.Event(), plan_download(NAME, cache_dir=cache)

    def progress(done, total):
        if done > (plan.bytes - len(model.files["model.safetensors"])) / 2:
            cancel.set()

    with pytest.raises(DownloadCancelled):
        download(plan, progress=progress, cancel=cancel)
    assert not list(cache.rglob("model.safetensors")) and leftovers(cache) == []
    loopback.faults.clear()
    assert download(plan_download(NAME, cache_dir=cache)).is_dir()


def test_room_is_looked_for_before_anything_is_fetched(model, loopback, cache, monkeypatch):
    plan = plan_download(NAME, cache_dir=cache)
    loopback.log.clear()
    leave_free(monkeypatch, space._MARGIN + plan.bytes - 1)
    with pytest.raises(DownloadError, match=r"needs .*16\.8 MB more must stay free.*MB free"):
        download(plan)
    assert loopback.log == [] and not cache.exists()
    leave_free(monkeypatch, space._MARGIN + plan.bytes)
    assert download(plan).is_dir()

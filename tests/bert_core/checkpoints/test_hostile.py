"""Files that are cut, lie, want memory, climb out, or want to run code: refused, nothing run."""

import io
import json
import os
import pickle
import struct
import zipfile

import pytest
import torch
from safetensors.torch import save_file

from benchmarks.tensorflow_files import write_checkpoint
from bert_core.checkpoints.formats.mistaken import check_form
from bert_core.checkpoints.formats.safetensors_file import open_safetensors
from bert_core.checkpoints.formats.weights import open_weights
from bert_core.errors import BertError, CheckpointError, ConfigError, MissingFileError
from bert_core.model.bert import BertModel

ENTRY = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}


# -- safetensors ----------------------------------------------------------------------------------


def test_every_cut_of_a_safetensors_file_is_refused(tiny, tmp_path):
    tiny.save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    whole = path.read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    for length in (0, 1, 7, 8, 9, header - 1, header, header + 1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match=r"model.safetensors"):
            BertModel.from_pretrained(tmp_path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(CheckpointError, match=r"not fully covered"):
        BertModel.from_pretrained(tmp_path)


@pytest.mark.parametrize("length", [2**60, 2**63, 2**64 - 1, 100_000_000, 25])
def test_an_absurd_header_length_is_refused(tmp_path, write_raw, length):
    path = write_raw(tmp_path / "a.safetensors", {"a": ENTRY}, bytes(24), length)
    with pytest.raises(CheckpointError):
        open_safetensors(path)


def test_a_long_header_is_not_read(tmp_path):
    path = tmp_path / "a.safetensors"
    with path.open("wb") as file:
        file.write((50_000_000).to_bytes(8, "little"))
        file.truncate(60_000_000)
    with pytest.raises(CheckpointError, match="50,000,000"):
        open_safetensors(path)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"a": ' + b"[" * 100_000,
        b'{"a": ' + b"9" * 10_000 + b"}",
        {"a": None},
        {"a": 5},
        {"a": []},
        {"a": {"dtype": "F32", "shape": [2, 3]}},
        {"a": ENTRY | {"dtype": "F31"}},
        {"a": ENTRY | {"dtype": 7}},
        {"a": ENTRY | {"dtype": ["F32"]}},
        {"a": ENTRY | {"shape": "23"}},
        {"a": ENTRY | {"shape": None}},
        {"a": ENTRY | {"shape": [2, 3.0]}},
        {"a": ENTRY | {"shape": [True, 6]}},
        {"a": ENTRY | {"shape": [-2, -3]}},
        {"a": ENTRY | {"shape": [2, 4]}},
        {"a": ENTRY | {"shape": [2**40, 2**40]}},
        {"a": ENTRY | {"shape": [2**62, 4, 0]}},
        {"a": ENTRY | {"shape": [10**30]}},
        {"a": ENTRY | {"data_offsets": [0]}},
        {"a": ENTRY | {"data_offsets": [0, 12, 24]}},
        {"a": ENTRY | {"data_offsets": [24, 0]}},
        {"a": ENTRY | {"data_offsets": [-24, 0]}},
        {"a": ENTRY | {"data_offsets": [0, 10**30]}},
        {"a": ENTRY | {"data_offsets": ["0", "24"]}},
        {"a": ENTRY | {"data_offsets": [8, 32]}},
        {"a": ENTRY | {"data_offsets": [2**50, 2**50 + 24]}},
        {"a": ENTRY, "b": ENTRY},
        {"a": ENTRY, "b": ENTRY | {"data_offsets": [12, 36]}},
        {"a": ENTRY, "b": ENTRY | {"data_offsets": [28, 52]}},
        b'{"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "a": {}}',
    ],
)
def test_a_header_that_lies_is_refused(tmp_path, write_raw, header):
    path = write_raw(tmp_path / "a.safetensors", header, bytes(24))
    with pytest.raises(CheckpointError, match=r"a.safetensors"):
        open_safetensors(path)


# -- shards ---------------------------------------------------------------------------------------


@pytest.fixture
def shards(tiny, make_peer, tmp_path):
    folder = tmp_path / "shards"
    peer = make_peer("BertModel", tiny.config)
    peer.save_pretrained(folder, max_shard_size="20KB")
    return folder


def change_index(folder, change):
    path = folder / "model.safetensors.index.json"
    index = json.loads(path.read_text())
    change(index)
    path.write_text(json.dumps(index))


@pytest.mark.parametrize(
    "place",
    [
        "../outside.safetensors",
        "/etc/outside.safetensors",
        "sub/inside.safetensors",
        "..\\outside.safetensors",
        "C:outside.safetensors",
        "..",
        "",
        "config.json",
        "pytorch_model.bin",
        5,
        None,
        ["a.safetensors"],
        "a\0.safetensors",
    ],
)
def test_an_index_that_climbs_out_of_its_folder_is_refused(shards, place):
    save_file({"pooler.dense.bias": torch.ones(32)}, shards.parent / "outside.safetensors")
    change_index(shards, lambda index: index["weight_map"].update({"pooler.dense.bias": place}))
    with pytest.raises(CheckpointError, match=r"pooler.dense.bias.*outside|plain name"):
        BertModel.from_pretrained(shards)


def test_a_shard_that_is_not_there_is_named(shards):
    victim = sorted(shards.glob("*.safetensors"))[1]
    victim.unlink()
    with pytest.raises(MissingFileError, match=victim.name) as caught:
        BertModel.from_pretrained(shards)
    assert "without model.safetensors.index.json" not in str(caught.value)  # it is there


def test_a_shard_that_is_cut_is_refused(shards):
    victim = sorted(shards.glob("*.safetensors"))[1]
    os.truncate(victim, victim.stat().st_size - 3)
    with pytest.raises(CheckpointError, match=victim.name):
        BertModel.from_pretrained(shards)


def test_a_shard_that_lacks_what_the_index_promises_is_refused(shards):
    change_index(
        shards,
        lambda index: index["weight_map"].update(extra=next(iter(index["weight_map"].values()))),
    )
    with pytest.raises(CheckpointError, match="extra is in"):
        BertModel.from_pretrained(shards)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"weight_map": []}', '{"weight_map": {}}', "[" * 100_000, "\ud800"],
)
def test_an_index_that_is_no_index_is_refused(shards, text):
    (shards / "model.safetensors.index.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(CheckpointError, match=r"index.json"):
        BertModel.from_pretrained(shards)


# -- pickles --------------------------------------------------------------------------------------


class Runs:
    """Creates a file when an ordinary unpickler meets it."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


class Evaluates:
    def __reduce__(self):
        return eval, ("__import__('os').mkdir('ran')",)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_pickle_that_calls_functions_is_refused_and_nothing_runs(
    tiny, write_folder, tmp_path, zipped, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    folder = write_folder(tiny.config)
    for thing in (Runs(tmp_path / "ran"), Evaluates()):
        torch.save(
            {**tiny.state_dict(), "extra": thing},
            folder / "pytorch_model.bin",
            _use_new_zipfile_serialization=zipped,
        )
        with pytest.raises(CheckpointError, match=r"nothing in it was run"):
            BertModel.from_pretrained(folder)
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(thing))
        with pytest.raises(CheckpointError, match=r"pytorch_model.bin"):
            BertModel.from_pretrained(folder)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("zipped", [True, False])
def test_every_cut_of_a_pickle_is_refused(tiny, write_folder, zipped):
    folder = write_folder(tiny.config)
    path = folder / "pytorch_model.bin"
    torch.save(tiny.state_dict(), path, _use_new_zipfile_serialization=zipped)
    whole = path.read_bytes()
    for length in (0, 1, 4, 100, len(whole) // 3, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match=r"pytorch_model.bin"):
            BertModel.from_pretrained(folder)


@pytest.mark.parametrize(
    "contents",
    [
        [1, 2],
        torch.zeros(3),
        {"epoch": 3},
        {"model": {"a": torch.zeros(2)}},
        {1: torch.zeros(2)},
        {"a": torch.zeros(2).to_sparse()},
        {"a": torch.zeros(2, device="meta")},
        {"a": torch.zeros(1).expand(10**6, 10**6)},
        {},
    ],
)
def test_a_pickle_of_something_else_is_refused(tiny, write_folder, contents):
    folder = write_folder(tiny.config)
    torch.save(contents, folder / "pytorch_model.bin")
    with pytest.raises(CheckpointError):
        BertModel.from_pretrained(folder)


def test_a_packed_container_is_refused(tiny, write_folder):
    folder = write_folder(tiny.config)
    buffer = io.BytesIO()
    torch.save(tiny.state_dict(), buffer)
    with (
        zipfile.ZipFile(buffer) as source,
        zipfile.ZipFile(folder / "pytorch_model.bin", "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for entry in source.infolist():
            target.writestr(entry.filename, source.read(entry))
        target.writestr("archive/data/bomb", bytes(50_000_000))
    with pytest.raises(CheckpointError, match="unpack"):
        BertModel.from_pretrained(folder)


# -- weights and configs that do not belong together ----------------------------------------------


def test_a_config_that_promises_more_layers_is_refused(tiny, make_config, write_folder):
    folder = write_folder(make_config(num_hidden_layers=5), tiny.state_dict())
    with pytest.raises(CheckpointError, match=r"5 layers.*contain 2"):
        BertModel.from_pretrained(folder)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("hidden_size", 64, r"\(99, 32\).*\(99, 64\)"),
        ("vocab_size", 98, r"\(99, 32\).*\(98, 32\)"),
        ("intermediate_size", 38, r"\(37, 32\).*\(38, 32\)"),
        ("max_position_embeddings", 512, r"\(19, 32\).*\(512, 32\)"),
        ("type_vocab_size", 3, r"\(2, 32\).*\(3, 32\)"),
        ("vocab_size", 9_999_999, r"\(99, 32\).*\(9999999, 32\)"),
        ("hidden_size", 4_000_000, r"\(99, 32\).*\(99, 4000000\)"),
    ],
)
def test_a_config_that_lies_about_sizes_names_both_shapes(
    tiny, make_config, write_folder, key, value, says
):
    folder = write_folder(make_config(**{key: value}), tiny.state_dict())
    with pytest.raises(CheckpointError, match=says):
        BertModel.from_pretrained(folder)


def test_sizes_the_weights_do_not_hold_are_refused_before_memory_is_reserved(
    tiny, make_config, write_folder
):
    weights = dict(tiny.state_dict())
    del weights["embeddings.word_embeddings.weight"]
    folder = write_folder(make_config(vocab_size=9_000_000), weights)
    with pytest.raises(CheckpointError, match=r"lack embeddings\.word_embeddings\.weight"):
        BertModel.from_pretrained(folder)


def test_a_thousand_layers_are_refused_at_once(tiny, make_config, write_folder):
    folder = write_folder(make_config(num_hidden_layers=1000), tiny.state_dict())
    with pytest.raises(CheckpointError, match="1000 layers"):
        BertModel.from_pretrained(folder)
    weights = dict(tiny.state_dict()) | {"encoder.layer.999.output.dense.bias": torch.zeros(32)}
    folder = write_folder(make_config(num_hidden_layers=1000), weights)
    with pytest.raises(CheckpointError, match="contain 3 of them"):
        BertModel.from_pretrained(folder)


def test_weights_of_another_model_are_refused(tiny, write_folder):
    folder = write_folder(tiny.config, {"transformer.h.0.attn.weight": torch.zeros(4)})
    with pytest.raises(CheckpointError, match=r"no part of BERT's encoder.*transformer.h.0"):
        BertModel.from_pretrained(folder)


def test_quantised_weights_are_refused(tiny, write_folder):
    weights = {name: value.to(torch.int8) for name, value in tiny.state_dict().items()}
    for pickled in (True, False):
        folder = write_folder(tiny.config, weights, pickle=pickled, name=f"int8{pickled}")
        with pytest.raises(CheckpointError, match="int8"):
            BertModel.from_pretrained(folder)


# -- files that change ----------------------------------------------------------------------------


@pytest.fixture(params=["safetensors_file", "pickle_file", "tensorflow_checkpoint"])
def kind_of(request, tiny, write_folder):
    """Return the module that reads a format, a folder in it, and its file of weights."""
    folder = write_folder(tiny.config)
    if request.param == "safetensors_file":
        write_folder(tiny.config, tiny.state_dict())
    elif request.param == "pickle_file":
        write_folder(tiny.config, tiny.state_dict(), pickle=True)
    else:
        weights = {f"bert.{name}": value for name, value in tiny.state_dict().items()}
        write_checkpoint(folder / "bert_model.ckpt", weights)
    path = max(folder.iterdir(), key=lambda each: each.stat().st_size)
    return f"bert_core.checkpoints.formats.{request.param}.check_form", folder, path


def test_an_open_model_stays_as_it_is_when_its_file_changes_in_place(tiny, kind_of):
    _, folder, path = kind_of
    model, size = BertModel.from_pretrained(folder), path.stat().st_size
    path.write_bytes(b"\x7f" * size)  # in place: the same file, other bytes
    os.truncate(path, size // 3)
    for name, value in tiny.state_dict().items():
        assert torch.equal(model.state_dict()[name], value)


def test_opened_weights_are_not_views_of_the_file(kind_of):
    _, folder, path = kind_of
    found = open_weights(folder)
    before = {name: tensor.clone() for name, tensor in found.items()}
    os.truncate(path, 0)  # to read a mapped file would end the process now
    assert all(torch.equal(found[name], value) for name, value in before.items())


def test_a_file_cut_while_it_is_read_is_refused(kind_of, monkeypatch):
    check, folder, path = kind_of

    def cut_after(*arguments, **named):
        size = check_form(*arguments, **named)
        os.truncate(path, size // 3)
        return size

    monkeypatch.setattr(check, cut_after)
    with pytest.raises(CheckpointError, match=r"truncated|damaged"):
        BertModel.from_pretrained(folder)


# -- files that are no files ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin", "config.json"])
def test_folders_and_pipes_in_place_of_files_are_refused(tiny, write_folder, name):
    folder = write_folder(tiny.config)
    (folder / name).unlink(missing_ok=True)
    (folder / name).mkdir()
    with pytest.raises(BertError, match="regular file"):
        BertModel.from_pretrained(folder)
    (folder / name).rmdir()
    os.mkfifo(folder / name)
    with pytest.raises(BertError, match="regular file"):
        BertModel.from_pretrained(folder)


def test_a_refused_load_leaves_nothing_behind(tiny, write_folder):
    folder = write_folder(tiny.config)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", 2**60))
    before = sorted(os.listdir(folder))
    with pytest.raises(CheckpointError):
        BertModel.from_pretrained(folder)
    assert sorted(os.listdir(folder)) == before

"""Files that are cut, lie, want memory, climb out, or want to run code: refused, nothing run."""

import io
import json
import os
import pickle
import zipfile

import pytest
import torch
from safetensors.torch import save_file

from bert_core.checkpoints.formats.mistaken import check_form
from bert_core.checkpoints.formats.safetensors_file import open_safetensors
from bert_core.checkpoints.formats.weights import open_weights
from bert_core.errors import CheckpointError, MissingFileError
from bert_core.model.bert import BertModel
from tests.tensorflow_files import write_checkpoint

ENTRY = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}


def refused(folder, says):
    """Nothing is loaded, and nothing is left behind."""
    before = sorted(os.listdir(folder))
    with pytest.raises(CheckpointError, match=says):
        BertModel.from_pretrained(folder)
    assert sorted(os.listdir(folder)) == before


# -- safetensors ----------------------------------------------------------------------------------


def test_every_cut_of_a_safetensors_file_is_refused(tiny, tmp_path):
    tiny.save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    whole = path.read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    for length in (0, 1, 7, 8, 9, header - 1, header, header + 1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        refused(tmp_path, r"model.safetensors")
        with pytest.raises(CheckpointError, match=r"model.safetensors"):
            open_safetensors(path, values=False)
    path.write_bytes(whole + b"\0")
    refused(tmp_path, r"not fully covered")


@pytest.mark.parametrize("values", [True, False])
@pytest.mark.parametrize(
    ("header", "length"),
    [
        *(({"a": ENTRY}, length) for length in (2**60, 2**64 - 1, 50_000_000, 25)),
        *((raw, None) for raw in (b"", b"{", b"[]", b"null", b"\xff\xfe")),
        (b'{"a": ' + b"[" * 100_000, None),
        *(({"a": each}, None) for each in (None, 5, {"dtype": "F32", "shape": [2, 3]})),
        *(({"a": ENTRY | {"dtype": kind}}, None) for kind in ("F31", 7)),
        *(
            ({"a": ENTRY | {"shape": shape}}, None)
            for shape in ("23", [2, 3.0], [-2, -3], [2, 4], [2**40, 2**40], [2**62, 4, 0])
        ),
        *(
            ({"a": ENTRY | {"data_offsets": place}}, None)
            for place in ([0], [24, 0], [-24, 0], [0, 10**30], ["0", "24"], [8, 32])
        ),
        ({"a": ENTRY, "b": ENTRY}, None),
        ({"a": ENTRY, "b": ENTRY | {"data_offsets": [28, 52]}}, None),
    ],
)
def test_a_header_that_lies_is_refused(tmp_path, write_raw, header, length, values):
    path = write_raw(tmp_path / "a.safetensors", header, bytes(24), length)
    with pytest.raises(CheckpointError, match=r"a.safetensors"):
        open_safetensors(path, values=values)


def test_a_header_alone_says_what_is_in_a_file(tmp_path):
    kinds = (torch.float32, torch.bfloat16, torch.int8, torch.bool)
    tensors = {str(kind): torch.ones(2, 3).to(kind) for kind in kinds}
    tensors |= {"number": torch.tensor(2.5), "none": torch.zeros(0, 3)}
    save_file(tensors, tmp_path / "a.safetensors")
    found = open_safetensors(tmp_path / "a.safetensors", values=False)
    assert all(each.is_meta for each in found.values())
    assert {name: (each.dtype, each.shape) for name, each in found.items()} == {
        name: (each.dtype, each.shape) for name, each in tensors.items()
    }


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
    change(index["weight_map"])
    path.write_text(json.dumps(index))


@pytest.mark.parametrize(
    "place",
    [
        *("../outside.safetensors", "/etc/outside.safetensors", "sub/inside.safetensors"),
        *("..\\outside.safetensors", "C:outside.safetensors", "a\0.safetensors"),
        *("..", "", "config.json", 5, None, ["a.safetensors"]),
    ],
)
def test_an_index_that_climbs_out_of_its_folder_is_refused(shards, place):
    save_file({"pooler.dense.bias": torch.ones(32)}, shards.parent / "outside.safetensors")
    change_index(shards, lambda places: places.update({"pooler.dense.bias": place}))
    refused(shards, r"pooler.dense.bias.*outside|plain name")


def test_a_shard_that_lacks_what_the_index_promises_is_cut_or_gone_is_named(shards):
    change_index(shards, lambda places: places.update(extra=next(iter(places.values()))))
    refused(shards, "extra is in")
    victim = sorted(shards.glob("*.safetensors"))[1]
    os.truncate(victim, victim.stat().st_size - 3)
    refused(shards, victim.name)
    victim.unlink()
    with pytest.raises(MissingFileError, match=victim.name) as caught:
        BertModel.from_pretrained(shards)
    assert "without model.safetensors.index.json" not in str(caught.value)  # it is there


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"weight_map": []}', '{"weight_map": {}}'])
def test_an_index_that_is_no_index_is_refused(shards, text):
    (shards / "model.safetensors.index.json").write_text(text)
    refused(shards, r"index.json")


# -- pickles --------------------------------------------------------------------------------------


class Runs:
    """Creates a folder when an ordinary unpickler meets it."""

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
    path = folder / "pytorch_model.bin"
    for thing in (Runs(tmp_path / "ran"), Evaluates()):
        values = {**tiny.state_dict(), "extra": thing}
        torch.save(values, path, _use_new_zipfile_serialization=zipped)
        refused(folder, r"nothing in it was run")
        path.write_bytes(pickle.dumps(thing))
        refused(folder, r"pytorch_model.bin")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("zipped", [True, False])
def test_every_cut_of_a_pickle_is_refused(tiny, write_folder, zipped):
    folder = write_folder(tiny.config)
    path = folder / "pytorch_model.bin"
    torch.save(tiny.state_dict(), path, _use_new_zipfile_serialization=zipped)
    whole = path.read_bytes()
    for length in (0, 1, 4, 100, len(whole) // 3, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        refused(folder, r"pytorch_model.bin")


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
    refused(folder, "unpack")


# -- weights and configs that do not belong together ----------------------------------------------

SIZES = [
    ({"hidden_size": 64}, r"\(99, 32\).*\(99, 64\)"),
    ({"vocab_size": 98}, r"\(99, 32\).*\(98, 32\)"),
    ({"intermediate_size": 38}, r"\(37, 32\).*\(38, 32\)"),
    ({"max_position_embeddings": 512}, r"\(19, 32\).*\(512, 32\)"),
    ({"type_vocab_size": 3}, r"\(2, 32\).*\(3, 32\)"),
    ({"vocab_size": 9_999_999}, r"\(99, 32\).*\(9999999, 32\)"),
    ({"hidden_size": 4_000_000}, r"\(99, 32\).*\(99, 4000000\)"),
    ({"num_hidden_layers": 5}, r"5 layers.*contain 2"),
    ({"num_hidden_layers": 1000}, r"1000 layers.*contain 2"),
]


@pytest.mark.parametrize(("changes", "says"), SIZES)
def test_a_config_that_lies_about_sizes_names_both(tiny, make_config, write_folder, changes, says):
    refused(write_folder(make_config(**changes), tiny.state_dict()), says)


def test_sizes_the_weights_do_not_hold_are_refused_before_memory_is_reserved(
    tiny, make_config, write_folder
):
    weights = dict(tiny.state_dict())
    del weights["embeddings.word_embeddings.weight"]
    folder = write_folder(make_config(vocab_size=9_000_000), weights)
    refused(folder, r"lack embeddings\.word_embeddings\.weight")
    weights = {**tiny.state_dict(), "encoder.layer.999.output.dense.bias": torch.zeros(32)}
    refused(write_folder(make_config(num_hidden_layers=1000), weights), "contain 3 of them")


@pytest.mark.parametrize("pickled", [True, False])
def test_quantised_weights_are_refused(tiny, write_folder, pickled):
    weights = {name: value.to(torch.int8) for name, value in tiny.state_dict().items()}
    refused(write_folder(tiny.config, weights, pickle=pickled), "int8")


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


def test_an_open_model_and_opened_weights_stay_as_they_are_when_their_file_changes(tiny, kind_of):
    _, folder, path = kind_of
    found, model, size = (
        open_weights(folder),
        BertModel.from_pretrained(folder),
        path.stat().st_size,
    )
    path.write_bytes(b"\x7f" * size)  # in place: the same file, other bytes
    os.truncate(path, size // 3)  # to read a mapped file would end the process now
    for name, value in tiny.state_dict().items():
        assert torch.equal(model.state_dict()[name], value)
        assert torch.equal(found.get(name, found.get(f"bert.{name}")), value)


def test_a_file_cut_while_it_is_read_is_refused(kind_of, monkeypatch):
    check, folder, path = kind_of

    def cut_after(*arguments, **named):
        size = check_form(*arguments, **named)
        os.truncate(path, size // 3)
        return size

    monkeypatch.setattr(check, cut_after)
    refused(folder, r"truncated|damaged|outside of it")

"""`pytorch_model.bin` read by hand: the same tensors as PyTorch's own reader, and nothing run."""

import io
import pickle
import struct
import tarfile
import zipfile
from collections import OrderedDict

import pytest
import torch

from bert_core.checkpoints.formats.pickle_file import PickleFile
from bert_core.errors import CheckpointError

DTYPES = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
]


def read(path):
    with PickleFile(path) as file:
        values = {}
        for name, tensor in file.tensors.items():
            values[name] = torch.empty(tensor.shape, dtype=tensor.dtype)
            tensor.copy_to(values[name])
        return values


def views():
    """Tensors that share storages, begin in the middle, run crosswise, or are empty."""
    whole = torch.arange(60.0).reshape(5, 12)
    return {
        "whole": whole,
        "rows": whole[1:3],
        "columns": whole[:, 2:7],
        "every second": whole[::2, ::3],
        "crosswise": whole.t(),
        "cube": whole.view(3, 4, 5).permute(2, 0, 1),
        "one": whole[4, 11],
        "empty": whole[:0],
        "empty columns": torch.zeros(3, 0),
        "broadcast": torch.tensor([1.0, 2.0]).expand(1, 2),
        "wrapped": torch.nn.Parameter(torch.ones(2, 3)),
    }


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_number_type_is_read_as_pytorch_reads_it(tmp_path, zipped, dtype):
    values = {"a": (torch.arange(24) % 2).reshape(4, 6).to(dtype), "b": torch.ones(3, dtype=dtype)}
    torch.save(values, tmp_path / "a.bin", _use_new_zipfile_serialization=zipped)
    for name, value in read(tmp_path / "a.bin").items():
        assert value.dtype == dtype and torch.equal(value, values[name])


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("zipped", [True, False])
def test_views_and_shared_storages_are_read_as_pytorch_reads_them(tmp_path, zipped, protocol):
    path = tmp_path / "a.bin"
    torch.save(
        OrderedDict(views()),
        path,
        _use_new_zipfile_serialization=zipped,
        pickle_protocol=protocol,
    )
    expected = torch.load(path, weights_only=False)  # written by this test
    found = read(path)
    assert list(found) == list(expected)
    for name, value in found.items():
        torch.testing.assert_close(value, expected[name].detach(), rtol=0, atol=0)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_state_dict_keeps_its_order_and_loses_its_version_notes(tmp_path, zipped):
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    path = tmp_path / "a.bin"
    torch.save(module.state_dict(), path, _use_new_zipfile_serialization=zipped)
    found = read(path)
    assert list(found) == list(module.state_dict())
    assert all(torch.equal(found[name], value) for name, value in module.state_dict().items())


def test_a_conversion_while_reading_is_that_of_pytorch(tmp_path, monkeypatch):
    monkeypatch.setattr("bert_core.checkpoints.formats.file_tensors._CHUNK", 11)
    torch.save({"a": torch.arange(60.0).reshape(5, 12).half().t()}, tmp_path / "a.bin")
    target = torch.empty(12, 5)
    with PickleFile(tmp_path / "a.bin") as file:
        file.tensors["a"].copy_to(target)
    assert torch.equal(target, torch.arange(60.0).reshape(5, 12).t())


def stream(values, keys=None, *, magic=0x1950A86A20F9469CFC6C, little=True, parts=()):
    """Write the old container by hand, as Python 2 did: short strings, pairs, parts of storages."""
    facts = {"protocol_version": 1001, "little_endian": little, "type_sizes": {"int": 4}}
    heads = [pickle.dumps(each, 2) for each in (magic, 1001, facts)]
    tail = pickle.dumps(sorted(values) if keys is None else keys, 2)
    entries = b""
    for index, (key, numbers) in enumerate(sorted(values.items())):
        first, count = parts[index] if parts else (0, len(numbers))
        part = b"N" if not parts else b"(U\x01v" + num(first) + num(count) + b"t"
        note = b"(U\x07storagectorch\nFloatStorage\nU" + short(key) + b"U\x03cpu"
        note += num(len(numbers)) + part + b"tQ"
        strides = b"(" + num(1) + b"t"
        tensor = b"ctorch._utils\n_rebuild_tensor\n(" + note + num(0) + b"(" + num(count) + b"t"
        entries += b"]U" + short(f"name{key}") + b"a" + tensor + strides + b"tRaa"
    program = b"\x80\x02ccollections\nOrderedDict\n]" + entries + b"\x85R."
    data = b"".join(
        struct.pack(f"<q{len(numbers)}f", len(numbers), *numbers)
        for _, numbers in sorted(values.items())
    )
    return b"".join(heads) + program + tail + data


def short(text):
    return bytes([len(text)]) + text.encode()


def num(number):
    return b"J" + struct.pack("<i", number)


def test_a_stream_as_python_2_wrote_it_is_read(tmp_path):
    (tmp_path / "a.bin").write_bytes(stream({"1": [1.0, 2.0, 3.0], "2": [4.0, 5.0]}))
    assert {name: value.tolist() for name, value in read(tmp_path / "a.bin").items()} == {
        "name1": [1.0, 2.0, 3.0],
        "name2": [4.0, 5.0],
    }


def test_a_part_of_a_storage_begins_where_the_stream_says(tmp_path):
    raw = stream({"1": [1.0, 2.0, 3.0, 4.0]}, parts=[(1, 2)])
    (tmp_path / "a.bin").write_bytes(raw)
    assert read(tmp_path / "a.bin")["name1"].tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (stream({"1": [1.0]}, magic=7), "does not begin"),
        (stream({"1": [1.0]}, little=False), "big-endian"),
        (stream({"1": [1.0]}, keys=["1", "1"]), "list of storages"),
        (stream({"1": [1.0]}, keys=["2"]), "list of storages"),
        (stream({"1": [1.0]}, keys=[]), "list of storages"),
        (stream({"1": [1.0]}, keys=[1]), "no list"),
        (stream({"1": [1.0]}, keys={}), "no list"),
        (stream({"1": [1.0]}, parts=[(0, 2)]), "beyond"),
        (stream({"1": [1.0]}, parts=[(-1, 1)]), "are inconsistent"),
        (stream({"1": [1.0, 2.0]})[:-1], "ends inside the storage"),
        (stream({"1": [1.0]})[:-12] + struct.pack("<qf", 2**60, 1.0), "wrong about its length"),
        (stream({"1": [1.0]}).replace(b"FloatStorage", b"QInt8Storage"), "QInt8Storage"),
        (stream({"1": [1.0]}).replace(num(1) + b"tRaa", num(9) + b"tRaa"), None),
        (stream({"1": [1.0]}).replace(b"collections", b"collectionz"), "collectionz.OrderedDict"),
    ],
)
def test_a_stream_that_contradicts_itself_is_refused(tmp_path, raw, says):
    (tmp_path / "a.bin").write_bytes(raw)
    if says is None:  # a stride where there is one number only changes nothing
        assert read(tmp_path / "a.bin")["name1"].tolist() == [1.0]
        return
    with pytest.raises(CheckpointError, match=says):
        PickleFile(tmp_path / "a.bin")


def test_the_tar_container_of_2016_is_refused_in_words(tmp_path):
    with tarfile.open(tmp_path / "a.bin", "w:", format=tarfile.PAX_FORMAT) as container:
        for name in ("sys_info", "pickle", "storages", "tensors"):
            info = tarfile.TarInfo(name)
            info.size = 4
            container.addfile(info, io.BytesIO(b"\x80\x02N."))
    with pytest.raises(CheckpointError, match=r"2016.*convert it to model.safetensors"):
        PickleFile(tmp_path / "a.bin")


# -- programs -------------------------------------------------------------------------------------


def zipped(tmp_path, program, **entries):
    """Put a program into the new container."""
    path = tmp_path / "a.bin"
    with zipfile.ZipFile(path, "w") as container:
        container.writestr("archive/data.pkl", program)
        for name, content in entries.items():
            container.writestr(f"archive/{name}", content)
    return path


STORAGE = b"(U\x07storagectorch\nFloatStorage\nU\x010U\x03cpu" + num(6) + b"tQ"


def tensor_program(shape, strides, offset=0, storage=STORAGE):
    def row(numbers):
        return b"(" + b"".join(num(each) if each < 2**31 else wide(each) for each in numbers) + b"t"

    call = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + num(offset) + row(shape)
    return b"\x80\x02}U\x01a" + call + row(strides) + b"\x89}tRs."


def wide(number):
    raw = pickle.encode_long(number)
    return b"\x8a" + bytes([len(raw)]) + raw


def test_a_program_written_by_hand_is_read(tmp_path):
    path = zipped(
        tmp_path,
        tensor_program((2, 3), (3, 1)),
        **{"data/0": struct.pack("<6f", *b"123456")},
    )
    assert read(path)["a"].tolist() == [[49.0, 50.0, 51.0], [52.0, 53.0, 54.0]]


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (tensor_program((2, 3), (4, 1)), "needs 7 numbers; its storage has 6"),
        (tensor_program((2, 3), (3, 1), offset=1), "needs 7"),
        (tensor_program((2**40, 2**40), (0, 0)), "needs"),
        (tensor_program((100_000, 100_000), (0, 0)), "needs 10,000,000,000"),
        (tensor_program((2**62, 0), (1, 1)), "shape"),
        (tensor_program((1,) * 9, (1,) * 9), "shape"),
        (tensor_program((-2, -3), (3, 1)), "shape"),
        (tensor_program((2, 3), (-3, 1)), "shape"),
        (tensor_program((2, 3), (3,)), "are inconsistent"),
        (tensor_program((2,), (1,), offset=-1), "are inconsistent"),
        (tensor_program((2,), (1,), storage=b"N"), "are inconsistent"),
        (tensor_program((2,), (1,), storage=STORAGE.replace(num(6), num(7))), "contains 24"),
        (
            tensor_program((2,), (1,), storage=STORAGE.replace(num(6), wide(2**61))),
            "needs .* bytes",
        ),
        (tensor_program((2,), (1,), storage=STORAGE.replace(b"U\x010", b"U\x019")), "lacks"),
        (
            tensor_program((2,), (1,), storage=STORAGE.replace(b"storage", b"program")),
            "inconsistent",
        ),
        (tensor_program((2,), (1,), storage=b"(U\x06moduletQ"), "whole model"),
        (b"\x80\x02cos\nsystem\n(U\x04trueltR.", "os.system"),
        (b"\x80\x02cbuiltins\neval\n(U\x01xtR.", "builtins.eval"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.", "os.system"),
        (b"\x80\x04NN\x93.", "are inconsistent"),
        (b"\x80\x02(cos\nsystem\nU\x04trueo.", "os.system"),
        (b"\x80\x02(U\x04trueios\nsystem\n.", "instruction INST"),
        (b"\x80\x02}c__builtin__\ngetattr\n(tR.", "getattr"),
        (b"\x80\x02ccollections\nOrderedDict\n)\x81.", "instruction NEWOBJ"),
        (b"\x80\x02\x82\x01.", "instruction EXT1"),
        (b"\x80\x02Ptorch\n.", "instruction PERSID"),
        (b"\x80\x02ctorch\nFloatStorage\n)R.", "calls torch.FloatStorage"),
        (b"\x80\x02ctorch\nSize\n}b.", "sets attributes"),
        (b"\x80\x02NN\x86R.", "are inconsistent"),
        (b"\x80\x02}NNs.", None),
        (b"\x80\x02]NNs.", "are inconsistent"),
        (b"\x80\x02}])s.", "indexed with a list"),
        (b"\x80\x02}\x8b\x00\x10\x00\x00" + b"\x7f" * 4096 + b"Ns.", "huge number"),
        (b"\x80\x02}X\x03\x00\x00\x00\xed\xa0\x80Ns.", "half a character"),
        (b"\x80\x02})Ns.", "indexed with a tuple"),
        (b"\x80\x02}U\x01aNsU\x01aNs.", "entry a twice"),
        (b"\x80\x02}(NNNu.", "are inconsistent"),
        (b"\x80\x02h\x05.", "are inconsistent"),
        (b"\x80\x02t.", "are inconsistent"),
        (b"\x80\x02.", "are inconsistent"),
        (b"\x80\x02N", "are inconsistent"),
        (b"\x80\x02" + b"N" * 500_000 + b".", "more than 400,000 instructions"),
        (b"\x80\x02X\xff\xff\xff\x7fabc.", "are inconsistent"),
        (b"\x80\x05\x8d" + b"\xff" * 7 + b"\x7fabc.", "are inconsistent"),
        (b"\x80\x02\x8b\xff\xff\xff\x7f.", "are inconsistent"),
        (b"\x80\x02I" + b"9" * 5000 + b"\n.", "are inconsistent"),
    ],
)
def test_a_program_that_is_no_table_of_tensors_is_refused(tmp_path, program, says):
    path = zipped(tmp_path, program, **{"data/0": bytes(24)})
    with pytest.raises(CheckpointError, match="a.bin" if says is None else says) as caught:
        PickleFile(path)
    assert len(str(caught.value)) < 1000


def test_a_tower_of_tuples_costs_nothing(tmp_path):
    """Doubled fifty times, a tuple of tuples has 2**50 leaves to hash, compare or show."""
    tower = b"\x80\x02Nq\x00" + b"".join(
        b"h" + bytes([n]) + b"h" + bytes([n]) + b"\x86q" + bytes([n + 1]) for n in range(50)
    )
    for end in (b".", b"}h\x32Ns.", b"}U\x01ah\x32s.", b"ctorch\nSize\nh\x32\x85R."):
        with pytest.raises(CheckpointError):
            PickleFile(zipped(tmp_path, tower + end))


def test_a_table_that_holds_itself_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match=r"me is a dict; expected a tensor"):
        PickleFile(zipped(tmp_path, b"\x80\x02}q\x00U\x02meh\x00s."))


# -- containers -----------------------------------------------------------------------------------


def test_every_flipped_bit_in_a_zip_container_with_checksums_is_noticed(tmp_path):
    path = tmp_path / "a.bin"
    torch.save({"a": torch.arange(6.0)}, path)
    whole = path.read_bytes()
    begin = whole.index(torch.arange(6.0).numpy().tobytes())
    for at in range(begin, begin + 24):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :])
        with pytest.raises(CheckpointError, match="differs from its checksum"):
            PickleFile(path)


def test_a_container_written_without_checksums_is_read(tmp_path):
    torch.serialization.set_crc32_options(False)
    try:
        torch.save({"a": torch.arange(6.0)}, tmp_path / "a.bin")
    finally:
        torch.serialization.set_crc32_options(True)
    assert read(tmp_path / "a.bin")["a"].tolist() == [0, 1, 2, 3, 4, 5]


def test_numbers_that_begin_with_the_high_byte_are_refused(tmp_path):
    program = tensor_program((2, 3), (3, 1))
    path = zipped(tmp_path, program, **{"data/0": bytes(24), "byteorder": b"big"})
    with pytest.raises(CheckpointError, match="big-endian"):
        PickleFile(path)


def test_a_container_with_two_entries_of_one_name_is_refused(tmp_path):
    path = zipped(tmp_path, tensor_program((2, 3), (3, 1)), **{"data/0": bytes(24)})
    with zipfile.ZipFile(path, "a") as container, pytest.warns(UserWarning, match="Duplicate"):
        container.writestr("archive/data/0", bytes(24))
    with pytest.raises(CheckpointError, match="two entries"):
        PickleFile(path)


def test_a_directory_that_points_elsewhere_is_refused(tmp_path):
    path = zipped(tmp_path, tensor_program((2, 3), (3, 1)), **{"data/0": bytes(24)})
    whole = bytearray(path.read_bytes())
    directory = whole.index(b"PK\x01\x02")
    for offset in (1, 10, len(whole) - 10, 2**31):
        whole[directory + 42 : directory + 46] = offset.to_bytes(4, "little")
        path.write_bytes(whole)
        with pytest.raises(CheckpointError, match=r"directory is (wrong|damaged)"):
            PickleFile(path)


def test_a_directory_of_many_megabytes_is_not_read(tmp_path):
    path = zipped(tmp_path, b"\x80\x02}.")
    whole = path.read_bytes()
    end = whole.rindex(b"PK\x05\x06")
    filler = 20_000_000
    tail = bytearray(whole[end:])
    tail[12:16] = filler.to_bytes(4, "little")
    path.write_bytes(whole[:end] + bytes(filler) + tail)
    with pytest.raises(CheckpointError, match="directory is damaged"):
        PickleFile(path)


def test_a_closed_file_keeps_no_handle(tmp_path):
    torch.save({"a": torch.ones(2)}, tmp_path / "a.bin")
    with PickleFile(tmp_path / "a.bin") as file:
        tensor = file.tensors["a"]
    with pytest.raises(ValueError, match="closed"):
        tensor.copy_to(torch.empty(2))

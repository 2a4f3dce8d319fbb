"""`pytorch_model.bin` as PyTorch wrote it over the years, and what only looks like it."""

import pickle
import struct
import tarfile
import time
import tracemalloc
import zipfile
from collections import OrderedDict
from io import BytesIO

import pytest
import torch

from bert_core.checkpoints.formats.pickle_file import open_pickle
from bert_core.errors import CheckpointError

DTYPES = (
    *(torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32),
    *(torch.int16, torch.int8, torch.uint8, torch.bool),
)


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_number_type_is_read(tmp_path, zipped, dtype):
    values = {"a": (torch.arange(24) % 2).reshape(4, 6).to(dtype), "b": torch.ones(3, dtype=dtype)}
    torch.save(values, tmp_path / "a.bin", _use_new_zipfile_serialization=zipped)
    for name, value in open_pickle(tmp_path / "a.bin").items():
        assert value.dtype == dtype and torch.equal(value, values[name])


@pytest.mark.parametrize("zipped", [True, False])
def test_views_and_shared_storages_are_read(tmp_path, zipped):
    whole = torch.arange(60.0).reshape(5, 12)
    twice = torch.nn.Parameter(torch.ones(2, 3))
    views = OrderedDict(
        {"whole": whole, "rows": whole[1:3], "columns": whole[:, 2:7], "turned": whole.t()}
        | {"cube": whole.view(3, 4, 5).permute(2, 0, 1), "one": whole[4, 11], "none": whole[:0]}
        | {"wrapped": twice, "again": twice}
    )
    torch.save(views, tmp_path / "a.bin", _use_new_zipfile_serialization=zipped)
    found = open_pickle(tmp_path / "a.bin")
    assert list(found) == list(views)
    assert all(torch.equal(found[name], value) for name, value in views.items())


def short(text):
    return b"U" + bytes([len(text)]) + text.encode()


def num(number):
    if number < 2**31:
        return b"J" + struct.pack("<i", number)
    raw = pickle.encode_long(number)
    return b"\x8a" + bytes([len(raw)]) + raw


def storage(numel=6, kind="Float"):
    return (
        b"(U\x07storagectorch\n"
        + f"{kind}Storage\n".encode()
        + short("0")
        + short("cpu")
        + (num(numel) + b"NtQ")
    )


def tensor(shape, strides, offset=0, of=None):
    def row(numbers):
        return b"(" + b"".join(map(num, numbers)) + b"t"

    call = b"ctorch._utils\n_rebuild_tensor\n(" + (of or storage()) + num(offset) + row(shape)
    return b"\x80\x02}" + short("a") + call + row(strides) + b"tRs."


def container(path, program, data=bytes(24)):
    with zipfile.ZipFile(path, "w") as target:
        for name, content in {"data.pkl": program, "version": b"3\n", "data/0": data}.items():
            target.writestr(f"archive/{name}", content)
    return path


def stream(path, program):
    """Write the container that PyTorch wrote before 1.6."""
    facts = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"int": 4}}
    data = struct.pack("<q6f", 6, *range(6))
    heads = [pickle.dumps(each, 2) for each in (0x1950A86A20F9469CFC6C, 1001, facts)]
    path.write_bytes(b"".join(heads) + program + pickle.dumps(["0"], 2) + data)
    return path


def test_a_stream_as_python_2_wrote_it_is_read(tmp_path):
    path = stream(tmp_path / "a.bin", tensor((2, 3), (3, 1)))
    assert open_pickle(path)["a"].tolist() == [[0, 1, 2], [3, 4, 5]]


TUPLES = b"".join(b"h" + bytes([n, 104, n]) + b"\x86q" + bytes([n + 1]) for n in range(50))
LISTS = b"".join(b"](h" + bytes([n, 104, n]) + b"eq" + bytes([n + 1]) for n in range(50))
PROGRAMS = {
    "more than the storage": tensor((2, 3), (4, 1)),
    "a trillion numbers": tensor((10**6, 10**6), (0, 0)),
    "a trillion numbers in a row": tensor((10**12,), (1,)),
    "a storage of a trillion": tensor((10**12,), (1,), of=storage(10**12)),
    "a storage of 16 GB": tensor((2**32,), (1,), of=storage(2**32)),
    "negative sizes": tensor((-2, -3), (3, 1)),
    "an unknown kind of storage": tensor((2,), (1,), of=storage(kind="QInt8")),
    "a whole model": tensor((2,), (1,), of=b"(U\x06moduletQ"),
    "a call of os.system": b"\x80\x02cos\nsystem\n(U\x04truetR.",
    "a call by its old name": b"\x80\x02(U\x04trueios\nsystem\n.",
    "a call of protocol 4": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
    "eval": b"\x80\x02cbuiltins\neval\n(U\x01xtR.",
    "bytes without end": b"\x80\x02cbuiltins\nbytearray\n(" + num(10**11) + b"tR.",
    "a tensor without end": b"\x80\x02ctorch\nTensor\n(" + num(10**11) + b"tR.",
    "half a program": b"\x80\x02}(NN",
    "no program": b"",
    "too many instructions": b"\x80\x02" + b"N" * 500_000 + b".",
    "a string without end": b"\x80\x02X\xff\xff\xff\x7fabc.",
    "digits without end": b"\x80\x02I" + b"9" * 5000 + b"\n.",
    "a tower of tuples as a key": b"\x80\x02Nq\x00" + TUPLES + b"}h\x32Ns.",
    "a tower of tuples as a function": b"\x80\x02Nq\x00" + TUPLES + b")R.",
    "a tower of lists as a function": b"\x80\x02Nq\x00" + LISTS + b")R.",
    "a table in itself": b"\x80\x02}q\x00U\x02meh\x00s.",
    "a list": b"\x80\x02].",
    "a number as a name": b"\x80\x02}NNs.",
}


@pytest.mark.parametrize("write", [container, stream])
@pytest.mark.parametrize("kind", PROGRAMS)
def test_what_is_no_table_of_tensors_is_refused_at_once(tmp_path, write, kind):
    path = write(tmp_path / "a.bin", PROGRAMS[kind])
    began = time.process_time()
    tracemalloc.start()
    with pytest.raises(CheckpointError, match=r"a\.bin") as caught:
        open_pickle(path)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()
    assert time.process_time() - began < 5
    assert len(str(caught.value)) < 700


def test_one_storage_for_more_tensors_than_any_model_has_is_refused(tmp_path):
    torch.save({f"t{n}": torch.ones(1) for n in range(3)}, tmp_path / "a.bin")
    whole = torch.ones(5_000)
    torch.save({f"t{n}": whole.view(-1) for n in range(100)}, tmp_path / "b.bin")
    assert len(open_pickle(tmp_path / "a.bin")) == 3
    with pytest.raises(CheckpointError, match="would need 2,000,000"):
        open_pickle(tmp_path / "b.bin")


def test_the_tar_container_of_2016_is_refused(tmp_path):
    with tarfile.open(tmp_path / "a.bin", "w:") as target:
        info = tarfile.TarInfo("pickle")
        info.size = 4
        target.addfile(info, BytesIO(b"\x80\x02N."))
    with pytest.raises(CheckpointError, match=r"convert it to model.safetensors"):
        open_pickle(tmp_path / "a.bin")


def test_a_table_of_contents_of_many_megabytes_is_not_read(tmp_path):
    path = container(tmp_path / "a.bin", b"\x80\x02}.")
    whole, filler = path.read_bytes(), 20_000_000
    end = whole.rindex(b"PK\x05\x06")
    tail = bytearray(whole[end:])
    tail[12:16] = filler.to_bytes(4, "little")
    path.write_bytes(whole[:end] + bytes(filler) + tail)
    with pytest.raises(CheckpointError, match="at once"):
        open_pickle(path)

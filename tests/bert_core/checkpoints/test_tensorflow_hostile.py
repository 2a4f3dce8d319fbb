"""TensorFlow checkpoints that are cut, flipped, or lie with all their checksums right."""

import contextlib
import os
import random
import shutil
import tracemalloc
from pathlib import Path

import pytest
import torch

from benchmarks.tensorflow_files import (
    block,
    message,
    number,
    table,
    varint,
    with_trailer,
    write_bundle,
)
from bert_core import load_tf_weights_in_bert
from bert_core.checkpoints.formats import tensorflow_index
from bert_core.checkpoints.formats.tensorflow_checkpoint import TensorBundle
from bert_core.checkpoints.formats.tensorflow_index import (
    ByteReader,
    fields,
    read_index,
    read_table,
)
from bert_core.errors import BertError, CheckpointError, MissingFileError
from bert_core.model.bert import BertModel
from bert_core.model.heads import BertForPreTraining

WRITTEN = Path(__file__).parent / "tensorflow"
HEADER = number(1, 1) + message(3, number(1, 1))
MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
SHAPE = message(2, number(1, 2)) + message(2, number(1, 3))
# float32 (2, 3) at byte 0, 24 bytes; its checksum does not matter before it is read.
ENTRY = number(1, 1) + message(2, SHAPE) + number(5, 24)


def read_all(prefix):
    """Read an index and every tensor it names."""
    with TensorBundle(prefix) as bundle:
        for tensor in bundle.tensors.values():
            tensor.copy_to(torch.empty(tensor.shape, dtype=tensor.dtype))
        return len(bundle.tensors)


@pytest.fixture
def prefix(tmp_path):
    """One tensor of 24 bytes, written well."""
    write_bundle(tmp_path / "a.ckpt", {"a": torch.arange(6.0).view(2, 3)})
    return tmp_path / "a.ckpt"


@pytest.fixture
def types(tmp_path):
    """A copy of a small checkpoint that TensorFlow wrote."""
    shutil.copytree(WRITTEN / "types", tmp_path / "types")
    return tmp_path / "types" / "model.ckpt"


def index_of(prefix):
    return prefix.with_name(f"{prefix.name}.index")


def data_of(prefix):
    return prefix.with_name(f"{prefix.name}.data-00000-of-00001")


# -- kinds of checkpoint that are not read ------------------------------------------------------


def test_partitioned_variables_are_refused_in_words(tmp_path):
    shutil.copy(WRITTEN / "pretraining" / "bert_config.json", tmp_path)
    for path in (WRITTEN / "partitioned").iterdir():
        shutil.copy(path, tmp_path)
    with pytest.raises(CheckpointError, match=r"word_embeddings was saved in slices.*partition"):
        BertModel.from_pretrained(tmp_path)


def test_checkpoints_of_keras_objects_are_refused_in_words(tiny):
    with pytest.raises(CheckpointError, match=r"Keras objects.*original release"):
        load_tf_weights_in_bert(tiny, WRITTEN / "objects")


@pytest.mark.parametrize(("kind", "says"), [(1, "snappy"), (2, "kind 2"), (255, "kind 255")])
def test_compressed_blocks_are_refused_in_words(prefix, kind, says):
    raw, data = with_trailer(b"", block([(b"", HEADER)]), kind)
    raw, meta = with_trailer(raw, block([]))
    raw, index = with_trailer(raw, block([(b"\xff", data)]))
    index_of(prefix).write_bytes(raw + (meta + index).ljust(40, b"\0") + MAGIC)
    with pytest.raises(CheckpointError, match=f"compressed \\({says}\\).*Save it again"):
        read_all(prefix)


def test_big_endian_checkpoints_are_refused_in_words(prefix):
    index_of(prefix).write_bytes(table([(b"", HEADER + number(2, 1)), (b"a", ENTRY)]))
    with pytest.raises(CheckpointError, match="big-endian"):
        read_all(prefix)


def test_other_files_are_refused_in_words(prefix):
    for contents in (b"", b"\0", b"hello" * 50, b"PK\x03\x04" + bytes(100), MAGIC, MAGIC * 6):
        index_of(prefix).write_bytes(contents)
        with pytest.raises(CheckpointError, match=r"a\.ckpt\.index"):
            read_all(prefix)


@pytest.mark.parametrize("which", [index_of, data_of])
@pytest.mark.parametrize("kind", ["folder", "pipe", "link to nothing"])
def test_what_is_no_regular_file_is_refused(prefix, which, kind):
    path = which(prefix)
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(path.with_name("nowhere"))
    with pytest.raises(CheckpointError, match=path.name):
        read_all(prefix)


# -- damage -------------------------------------------------------------------------------------


def test_every_cut_of_an_index_is_refused(types):
    whole = index_of(types).read_bytes()
    for length in range(len(whole)):
        index_of(types).write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match=r"model\.ckpt\.index"):
            read_all(types)
        index_of(types).write_bytes(whole[length + 1 :])
        with pytest.raises(CheckpointError, match=r"model\.ckpt\.index"):
            read_all(types)


def test_every_cut_of_a_data_file_is_refused(types):
    whole = data_of(types).read_bytes()
    end = max(e.start + e.size for e in read_index(index_of(types))[1])
    for length in range(len(whole)):
        data_of(types).write_bytes(whole[:length])
        if length < end:
            with pytest.raises(CheckpointError, match=r"data-00000-of-00001 has"):
                read_all(types)
        else:  # the text at the end is not read
            assert read_all(types) == 12


def test_every_flipped_bit_of_an_index_is_refused_or_changes_nothing(types):
    path = index_of(types)
    whole = path.read_bytes()
    expected = read_index(path)
    unused = 0
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with contextlib.suppress(CheckpointError):
            assert read_index(path) == expected
            unused += 1
    assert unused <= 40  # the padding of the footer


def test_every_flipped_bit_of_the_data_is_refused(types):
    path = data_of(types)
    whole = path.read_bytes()
    covered = sorted(
        place
        for entry in read_index(index_of(types))[1]
        for place in range(entry.start, entry.start + entry.size)
    )
    for place in covered:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"checksum of the tensor kind/.* is wrong"):
            read_all(types)


def test_a_wrong_checksum_of_a_weight_is_refused_when_a_model_is_loaded(tmp_path):
    shutil.copytree(WRITTEN / "pretraining", tmp_path / "copy")
    path = tmp_path / "copy" / "bert_model.ckpt.data-00000-of-00001"
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 4
    path.write_bytes(damaged)
    with pytest.raises(CheckpointError, match=r"checksum of the tensor bert/.* is wrong"):
        BertForPreTraining.from_pretrained(tmp_path / "copy")


def test_a_data_file_that_shrinks_while_it_is_read_is_refused(prefix):
    with TensorBundle(prefix) as bundle:
        os.truncate(data_of(prefix), 10)
        with pytest.raises(CheckpointError, match="ends inside the tensor a"):
            bundle.tensors["a"].copy_to(torch.empty(2, 3))


# -- lies, with every checksum right ------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        b"",
        number(1, 0),
        number(1, 257),
        number(1, 2**63),
        message(1, b"one"),
        HEADER + message(2, b""),
        number(1, 1) + number(3, 5),
        number(1, 1) + message(3, number(2, 2)),
        number(1, 1) + message(3, message(2, b"x")),
        number(1, 1) + message(3, b"\xff"),
        b"\xff" * 30,
        HEADER + b"\x0b",
    ],
)
def test_a_header_that_lies_is_refused(prefix, header):
    if header == HEADER + message(2, b""):
        header = HEADER + message(2, b"\x01")
    index_of(prefix).write_bytes(table([(b"", header), (b"a", ENTRY)]))
    with pytest.raises(CheckpointError, match=r"a\.ckpt\.index"):
        read_all(prefix)


def test_an_index_without_header_is_refused(prefix):
    index_of(prefix).write_bytes(table([(b"a", ENTRY)]))
    with pytest.raises(CheckpointError, match="no header"):
        read_all(prefix)
    index_of(prefix).write_bytes(table([]))
    with pytest.raises(CheckpointError, match="no header"):
        read_all(prefix)


def dims(*sizes):
    return message(2, b"".join(message(2, varint(1 << 3) + varint(size)) for size in sizes))


@pytest.mark.parametrize(
    "entry",
    [
        b"",
        number(1, 8) + number(5, 24),
        number(1, 107) + message(2, SHAPE) + number(5, 24),
        number(1, 2**63) + message(2, SHAPE) + number(5, 24),
        message(1, b"float") + message(2, SHAPE) + number(5, 24),
        number(1, 1) + number(2, 7) + number(5, 24),
        number(1, 1) + message(2, number(2, 7)) + number(5, 24),
        number(1, 1) + message(2, message(2, message(1, b"2"))) + number(5, 24),
        number(1, 1) + message(2, number(3, 1)) + number(5, 4),
        number(1, 1) + dims(2, 4) + number(5, 24),
        number(1, 1) + dims(2**40, 2**40) + number(5, 24),
        number(1, 1) + dims(2**61, 8) + number(5, 24),
        number(1, 1) + dims(2**64 - 1, 2**64 - 6) + number(5, 24),
        number(1, 1) + dims(*[1] * 8, 6) + number(5, 24),
        number(1, 1) + dims(*[0] * 1000),
        number(1, 1) + dims(2**61) + number(5, 2**63),
        ENTRY + number(3, 1),
        ENTRY + number(3, 2**31),
        ENTRY + number(4, 1),
        ENTRY + number(4, 2**61),
        ENTRY + number(4, 2**64 - 24),
        ENTRY + number(5, 23),
        ENTRY + number(5, 2**62),
        ENTRY + message(4, b"zero"),
        ENTRY + message(6, b"sum"),
        ENTRY + message(7, b""),
        ENTRY + message(7, message(1, number(1, 1))),
        ENTRY + b"\x3b",
        ENTRY + varint(5 << 3 | 2) + varint(2**60),
        ENTRY + varint(4 << 3) + b"\xff" * 9 + b"\x02",
        ENTRY + varint(4 << 3) + b"\x80" * 5000,
        ENTRY + varint(6 << 3 | 5) + b"\0\0\0",
        ENTRY + varint(6 << 3 | 1) + b"\0\0\0\0\0\0\0",
    ],
)
def test_an_entry_that_lies_is_refused(prefix, entry):
    index_of(prefix).write_bytes(table([(b"", HEADER), (b"a", entry)]))
    with pytest.raises(CheckpointError, match=r"a\.ckpt"):
        read_all(prefix)


@pytest.mark.parametrize(
    "key", [b"\xff\xfe", b"a\0b", b"\x00\x01word", b"\n", "a\u202eb".encode(), b"k" * 1025]
)
def test_a_key_that_is_no_name_is_refused(prefix, key):
    index_of(prefix).write_bytes(table([(b"", HEADER), (key, ENTRY)]))
    with pytest.raises(CheckpointError, match=r"a\.ckpt\.index"):
        read_all(prefix)


def test_tensors_that_lie_upon_each_other_are_refused(prefix):
    index_of(prefix).write_bytes(table([(b"", HEADER), (b"a", ENTRY), (b"b", ENTRY)]))
    with pytest.raises(CheckpointError, match=r"b begins at byte 0, inside a"):
        read_all(prefix)


@pytest.mark.parametrize("keys", [(b"b", b"a"), (b"a", b"a"), (b"a", b"")])
def test_keys_out_of_order_are_refused(prefix, keys):
    index_of(prefix).write_bytes(table([(b"", HEADER), *((key, ENTRY) for key in keys)]))
    with pytest.raises(CheckpointError, match="not in order"):
        read_all(prefix)


def file_of(contents, index_value=None, footer=None):
    """A table around one block's bytes; the places in index or footer may lie."""
    raw, data = with_trailer(b"", contents)
    raw, meta = with_trailer(raw, block([]))
    raw, index = with_trailer(raw, block([(b"\xff", data if index_value is None else index_value)]))
    return raw + (meta + index if footer is None else footer).ljust(40, b"\0") + MAGIC


GOOD = block([(b"", HEADER), (b"a", ENTRY)])


@pytest.mark.parametrize(
    "raw",
    [
        file_of(b""),
        file_of(b"\0\0\0"),
        file_of(bytes(4) + b"\xff\xff\xff\xff"),
        file_of(bytes(4) + (2).to_bytes(4, "little")),
        file_of(b"\x01\x00\x00" + block([])),  # keeps a byte of a key that is not there
        file_of(b"\x00" + varint(2**60) + b"\x00" + block([])),
        file_of(b"\x00\x00" + varint(2**60) + block([])),
        file_of(varint(2**63) + varint(2**63) + b"\x00" + block([])),
        file_of(b"\x80" * 9 + b"\x02" + b"\x00\x00" + block([])),
        file_of(b"\x80" * 400 + block([])),
        file_of(b"\x00" + block([])),
        file_of(GOOD, varint(0)),
        file_of(GOOD, b""),
        file_of(GOOD, varint(0) + varint(2**63)),
        file_of(GOOD, varint(2**63) + varint(2**63)),
        file_of(GOOD, varint(2**64 - 5) + varint(len(GOOD))),
        file_of(GOOD, varint(1) + varint(len(GOOD))),
        file_of(GOOD, varint(0) + varint(len(GOOD) - 1)),
        file_of(GOOD, b"\xff" * 20),
        file_of(GOOD, footer=b""),
        file_of(GOOD, footer=b"\xff" * 40),
        file_of(GOOD, footer=varint(0) + varint(2**62) + varint(0) + varint(2**62)),
        file_of(GOOD, footer=(varint(2**62) + varint(0)) * 2),
    ],
)
def test_blocks_that_lie_are_refused(prefix, raw):
    index_of(prefix).write_bytes(raw)
    with pytest.raises(CheckpointError, match=r"a\.ckpt\.index"):
        read_all(prefix)


def test_the_file_that_these_lies_vary_is_a_good_one(prefix):
    index_of(prefix).write_bytes(file_of(GOOD))
    assert [entry.name for entry in read_index(index_of(prefix))[1]] == ["a"]


def test_one_block_that_is_named_many_times_is_read_once(prefix):
    raw, data = with_trailer(b"", block([(b"", HEADER)]))
    raw, meta = with_trailer(raw, block([]))
    names = [(index.to_bytes(4, "big"), data) for index in range(100_000)]
    raw, index = with_trailer(raw, block(names))
    index_of(prefix).write_bytes(raw + (meta + index).ljust(40, b"\0") + MAGIC)
    with pytest.raises(CheckpointError, match="before the previous block ends"):
        read_all(prefix)


def test_names_that_grow_from_almost_nothing_end_at_a_limit(prefix):
    # Three bytes an entry: each key keeps the whole key before it.
    many = b"".join(varint(min(i, 1023)) + b"\x01\x00z" for i in range(200_000))
    index_of(prefix).write_bytes(file_of(many + block([])))
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match="not in order"):
            read_all(prefix)
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


def test_too_many_entries_and_too_long_files_are_refused(prefix, monkeypatch):
    monkeypatch.setattr(tensorflow_index, "_MAX_ENTRIES", 100)
    names = [(b"%06d" % index, ENTRY) for index in range(101)]
    index_of(prefix).write_bytes(table([(b"", HEADER), *names]))
    with pytest.raises(CheckpointError, match="more than 100 tensors"):
        read_all(prefix)
    with index_of(prefix).open("r+b") as file:
        file.truncate(2**40)  # takes no room on the disk
    with pytest.raises(CheckpointError, match=r"1,099,511,627,776 bytes"):
        read_all(prefix)


def test_a_checkpoint_of_many_data_files_opens_only_those_it_needs(prefix):
    header = number(1, 256) + message(3, number(1, 1))
    index_of(prefix).write_bytes(table([(b"", header), (b"a", ENTRY + number(3, 255))]))
    with pytest.raises(MissingFileError, match=r"a\.ckpt\.data-00255-of-00256"):
        read_all(prefix)


# -- fuzz ---------------------------------------------------------------------------------------


def mutate(chance, raw):
    """Flip, cut, repeat, or put in numbers that are likely to be wrong."""
    damaged = bytearray(raw)
    for _ in range(chance.choice((1, 1, 2, 5))):
        place = chance.randrange(len(damaged) + 1)
        kind = chance.randrange(5)
        if kind == 0 and place < len(damaged):
            damaged[place] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del damaged[place : place + chance.randrange(1, 9)]
        elif kind == 2:
            damaged[place:place] = damaged[place : place + chance.randrange(1, 9)]
        elif kind == 3:
            damaged[place : place + 1] = varint(chance.choice((2**7, 2**31, 2**62, 2**64 - 1)))
        else:
            damaged[place:place] = chance.randbytes(chance.randrange(1, 9))
    return bytes(damaged)


def survives(prefix, *, watched):
    """Read everything; only our errors may come. Return whether one did.

    Args:
        watched: also measure that no more memory was asked for than small files explain. Other
            threads of the process are measured too, so the smallest of three readings counts.
    """
    if watched:
        assert any(memory_asked_for(prefix) < 1_000_000 for _ in range(3))
    try:
        read_all(prefix)
    except BertError:
        return True
    return False


def memory_asked_for(prefix):
    """Return the largest number of bytes that were held at once while everything was read."""
    tracemalloc.start()
    try:
        with contextlib.suppress(BertError):
            read_all(prefix)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_thousand_mutated_files_end_in_our_errors(types):
    chance = random.Random(21)
    whole = index_of(types).read_bytes()
    refused = 0
    for index in range(1000):
        index_of(types).write_bytes(mutate(chance, whole))
        refused += survives(types, watched=index % 5 == 0)
    assert refused > 950


def test_a_thousand_mutated_blocks_with_right_checksums_end_in_our_errors(types):
    chance = random.Random(22)
    whole = block(read_table(index_of(types)).items())
    places = varint(0) + varint(len(whole))
    refused = 0
    for index in range(1000):
        contents = mutate(chance, whole)
        lie = mutate(chance, places) if index % 4 == 0 else None
        index_of(types).write_bytes(file_of(contents, lie))
        refused += survives(types, watched=index % 5 == 0)
    assert refused > 500


@pytest.mark.slow
def test_two_thousand_mutated_entries_with_right_checksums_end_in_our_errors(types):
    chance = random.Random(23)
    entries = read_table(index_of(types))
    refused = 0
    for index in range(2000):
        changed = dict(entries)
        for key in chance.sample(sorted(entries), chance.choice((1, 1, 3))):
            changed[key] = mutate(chance, entries[key])
        index_of(types).write_bytes(table(changed.items()))
        refused += survives(types, watched=index % 5 == 0)
    assert refused > 1000


def test_names_and_entries_that_change_places_end_in_our_errors_or_in_a_model(tmp_path):
    shutil.copytree(WRITTEN / "pretraining", tmp_path / "copy")
    index = tmp_path / "copy" / "bert_model.ckpt.index"
    entries = read_table(index)
    chance = random.Random(25)
    loaded = 0
    for _ in range(80):
        changed = dict(entries)
        one, other = chance.sample(sorted(entries)[1:], 2)
        if chance.random() < 0.5:
            changed[one], changed[other] = changed[other], changed[one]
        else:
            changed[mutate(chance, one)[:200]] = changed.pop(one)
        index.write_bytes(table(sorted(changed.items())))
        try:
            model = BertForPreTraining.from_pretrained(tmp_path / "copy")
        except BertError:
            continue
        assert model.load_report is not None
        loaded += 1
    assert 0 < loaded < 80


def test_ten_thousand_random_messages_end_in_our_errors():
    chance = random.Random(24)
    read = refused = 0
    for _ in range(10_000):
        try:
            for number_of_field, value in fields(chance.randbytes(chance.randrange(40)), "it"):
                read += number_of_field >= 0 and isinstance(value, int | bytes)
        except CheckpointError:
            refused += 1
    assert read > 1000
    assert refused > 1000


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"\x00", 0),
        (b"\x7f", 127),
        (b"\x80\x01", 128),
        (b"\x80\x00", 0),
        (b"\xff" * 9 + b"\x01", 2**64 - 1),
        (b"\xff" * 9 + b"\x02", None),
        (b"\xff" * 9 + b"\x81\x00", None),
        (b"\x80", None),
        (b"", None),
    ],
)
def test_numbers_of_64_bits_are_read_and_longer_ones_refused(raw, value):
    reader = ByteReader(raw, "number")
    if value is None:
        with pytest.raises(CheckpointError, match="number has a number"):
            reader.varint()
    else:
        assert reader.varint() == value
        assert reader.left == 0

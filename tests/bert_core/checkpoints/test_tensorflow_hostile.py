"""TensorFlow checkpoints that are cut, lie, or are of another kind: refused, at little cost."""

import shutil
from pathlib import Path

import pytest
import torch

from bert_core import load_tf_weights_in_bert
from bert_core.checkpoints.formats.tensorflow_checkpoint import read_variables
from bert_core.errors import CheckpointError
from bert_core.model.bert import BertModel
from tests.tensorflow_files import (
    block,
    message,
    number,
    table,
    varint,
    with_trailer,
    write_bundle,
)

WRITTEN = Path(__file__).parent / "tensorflow"
HEADER = number(1, 1) + message(3, number(1, 1))
MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
SHAPE = message(2, number(1, 2)) + message(2, number(1, 3))
ENTRY = number(1, 1) + message(2, SHAPE) + number(5, 24)  # float32 (2, 3) at byte 0


def read_all(prefix):
    return [tensor.clone() for tensor in read_variables(prefix).values()]


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


def refused(prefix, raw, says=r"a\.ckpt"):
    index_of(prefix).write_bytes(raw)
    with pytest.raises(CheckpointError, match=says):
        read_all(prefix)


def test_partitioned_variables_are_refused_in_words(tmp_path):
    shutil.copy(WRITTEN / "pretraining" / "bert_config.json", tmp_path)
    for path in (WRITTEN / "partitioned").iterdir():
        shutil.copy(path, tmp_path)
    with pytest.raises(CheckpointError, match=r"word_embeddings was saved in slices.*partition"):
        BertModel.from_pretrained(tmp_path)


def test_checkpoints_of_keras_objects_are_refused_in_words(tiny):
    with pytest.raises(CheckpointError, match=r"Keras objects.*expected variables"):
        load_tf_weights_in_bert(tiny, WRITTEN / "objects")


def test_compressed_blocks_and_big_endian_numbers_are_refused_in_words(prefix):
    raw, data = with_trailer(b"", block([(b"", HEADER)]), 1)
    raw, meta = with_trailer(raw, block([]))
    raw, index = with_trailer(raw, block([(b"\xff", data)]))
    refused(prefix, raw + (meta + index).ljust(40, b"\0") + MAGIC, "compressed")
    refused(prefix, table([(b"", HEADER + number(2, 1)), (b"a", ENTRY)]), "big-endian")


def test_every_cut_is_refused(types):
    for path in (index_of(types), data_of(types)):
        whole = path.read_bytes()
        # The text at the end of the data is not read.
        for length in range(0, len(whole) - 40, 3):
            path.write_bytes(whole[:length])
            with pytest.raises(CheckpointError, match=r"model\.ckpt"):
                read_all(types)
        path.write_bytes(whole)


def dims(*sizes):
    return message(2, b"".join(message(2, varint(1 << 3) + varint(size)) for size in sizes))


@pytest.mark.parametrize(
    "entry",
    [
        number(1, 8) + number(5, 24),
        number(1, 107) + message(2, SHAPE) + number(5, 24),
        message(1, b"float") + message(2, SHAPE) + number(5, 24),
        number(1, 1) + number(2, 7) + number(5, 24),
        number(1, 1) + message(2, message(2, message(1, b"2"))) + number(5, 24),
        number(1, 1) + dims(2, 4) + number(5, 24),
        number(1, 1) + dims(2**40, 2**40) + number(5, 24),
        number(1, 1) + dims(2**40, 2**20) + number(5, 2**62),
        number(1, 1) + dims(2**64 - 1, 2**64 - 6) + number(5, 24),
        number(1, 1) + dims(*[1] * 8, 6) + number(5, 24),
        ENTRY + number(3, 1),
        ENTRY + number(4, 1),
        ENTRY + number(4, 2**64 - 24),
        ENTRY + number(5, 23),
        ENTRY + message(4, b"zero"),
        ENTRY + message(7, b""),
        ENTRY + b"\x3b",
        ENTRY + varint(5 << 3 | 2) + varint(2**60),
        ENTRY + varint(4 << 3) + b"\x80" * 5000,
        ENTRY + varint(6 << 3 | 5) + b"\0\0\0",
    ],
)
def test_an_entry_that_lies_is_refused(prefix, entry):
    refused(prefix, table([(b"", HEADER), (b"a", entry)]))

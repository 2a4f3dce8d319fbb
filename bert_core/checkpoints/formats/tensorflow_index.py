"""What the index of a TensorFlow checkpoint says of each tensor, checked field by field.

Under the empty key stands a header with the number of data files; under the name of each variable
its type, shape, place and checksum. Fields that hold zero are left out by those who write them.

Sources: TensorFlow, `core/protobuf/tensor_bundle.proto`, `core/framework/types.proto`,
`tensor_shape.proto` and `versions.proto`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from bert_core.checkpoints.formats.byte_reader import fields
from bert_core.checkpoints.formats.tensorflow_table import read_table
from bert_core.errors import CheckpointError

_MAX_SHARDS = 256
_MAX_RANK = 8  # BERT needs 2
_VERSION = 1  # of the format
_STRING = 7
_DTYPES = {
    1: torch.float32,
    2: torch.float64,
    3: torch.int32,
    4: torch.uint8,
    5: torch.int16,
    6: torch.int8,
    9: torch.int64,
    10: torch.bool,
    14: torch.bfloat16,
    19: torch.float16,
}
# Numbers of the fields in a tensor's entry.
_DTYPE, _SHAPE, _SHARD, _START, _SIZE, _CHECKSUM, _SLICES = range(1, 8)
_DAMAGED = "The file is damaged; get it again."


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One tensor of a checkpoint.

    Attributes:
        name: as the checkpoint calls it.
        dtype: number type in the file.
        shape: shape in the file.
        shard: number of the data file it lies in.
        start: first byte in that file.
        checksum: masked CRC-32C of its bytes.
    """

    name: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    shard: int
    start: int
    checksum: int

    @property
    def size(self) -> int:
        """Number of bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_index(path: Path) -> tuple[int, tuple[IndexEntry, ...]]:
    """Read the index of a checkpoint.

    Args:
        path: the file that ends in `.index`.

    Returns:
        the number of data files, and the tensors in the order of their names. Texts, which some
        checkpoints hold beside the numbers, are left out.

    Raises:
        CheckpointError: the file is no index, is damaged, or holds what is not read here.
    """
    table = read_table(path)
    header = table.pop(b"", None)
    if header is None:
        raise CheckpointError(f"{path.name} has no header. {_DAMAGED}")
    shards = _shards(header, path.name)
    entries = (_entry(key, value, shards, path.name) for key, value in _named(table, path.name))
    return shards, tuple(entry for entry in entries if entry is not None)


def _shards(header: bytes, name: str) -> int:
    """Return the number of data files; refuse what this reader would misread."""
    found = _last_fields(header, name)
    version = _last_fields(_message(found.get(3, b""), name), name)
    if found.get(2):
        raise CheckpointError(
            f"{name} was written with the highest byte first (big endian); expected little "
            "endian. Convert it with TensorFlow on the machine that wrote it."
        )
    needed = _count(version.get(2, 0), name)
    if needed > _VERSION:
        raise CheckpointError(
            f"{name} asks for version {needed} of the format; this package reads version "
            f"{_VERSION}."
        )
    shards = _count(found.get(1, 0), name)
    if not 0 < shards <= _MAX_SHARDS:
        raise CheckpointError(
            f"{name} announces {shards:,} data files; expected 1 to {_MAX_SHARDS}. {_DAMAGED}"
        )
    return shards


def _named(table: Mapping[bytes, bytes], name: str) -> list[tuple[str, bytes]]:
    """Return the entries by name; refuse variables that were saved in pieces.

    Such a variable has an entry that lists its pieces, and each piece one under a binary key.
    """
    found, binary = [], False
    for key, value in table.items():
        try:
            text = key.decode("utf-8")
        except UnicodeDecodeError:
            text = "\0"
        if text.isprintable():
            found.append((text, value))
        else:
            binary = True
    for text, value in found:
        if any(number == _SLICES for number, _ in fields(value, f"{name}, {text}")):
            raise CheckpointError(
                f"{name}: the variable {text} was saved in pieces (partitioned). Such checkpoints "
                "are not read here; load it with TensorFlow and save it without a partitioner."
            )
    if binary:
        raise CheckpointError(f"{name} holds keys that are no names. {_DAMAGED}")
    return found


def _entry(text: str, value: bytes, shards: int, name: str) -> IndexEntry | None:
    """Check one entry; None where it is a text."""
    where = f"{name}, {text}"
    found = _last_fields(value, where)
    kind = _count(found.get(_DTYPE, 0), where)
    if kind == _STRING:
        return None
    if kind not in _DTYPES:
        known = ", ".join(str(dtype).removeprefix("torch.") for dtype in _DTYPES.values())
        raise CheckpointError(
            f"{where}: the tensor is of TensorFlow's type number {kind}; this package reads "
            f"{known}."
        )
    shape = _shape(_message(found.get(_SHAPE, b""), where), where)
    shard, start, size, checksum = (
        _count(found.get(field, 0), where) for field in (_SHARD, _START, _SIZE, _CHECKSUM)
    )
    if shard >= shards:
        raise CheckpointError(
            f"{where}: lies in data file {shard} of {shards} (counted from 0). {_DAMAGED}"
        )
    entry = IndexEntry(text, _DTYPES[kind], shape, shard, start, checksum)
    if entry.size != size:
        raise CheckpointError(
            f"{where}: a tensor of shape {shape} and type {entry.dtype} needs {entry.size:,} "
            f"bytes; the index gives it {size:,}. {_DAMAGED}"
        )
    return entry


def _shape(raw: bytes, where: str) -> tuple[int, ...]:
    """Read a shape: field 2 is a dimension, whose field 1 is its length."""
    shape = []
    for number, value in fields(raw, where):
        if number == 2:
            dimension = _last_fields(_message(value, where), where)
            shape.append(_count(dimension.get(1, 0), where))
        elif number == 3 and value:
            raise CheckpointError(f"{where}: has no shape. {_DAMAGED}")
        if len(shape) > _MAX_RANK:
            raise CheckpointError(f"{where}: has more than {_MAX_RANK} dimensions. {_DAMAGED}")
    return tuple(shape)


def _last_fields(raw: bytes, where: str) -> dict[int, int | bytes]:
    """Return field number -> value; of a field that stands there twice the last counts."""
    return dict(fields(raw, where))


def _count(value: int | bytes, where: str) -> int:
    """Check that a field is a number, and not an absurd one."""
    if isinstance(value, int) and value < 2**62:
        return value
    raise CheckpointError(f"{where}: {value!r:.40} stands where a number should. {_DAMAGED}")


def _message(value: int | bytes, where: str) -> bytes:
    """Check that a field is a message of its own."""
    if isinstance(value, bytes):
        return value
    raise CheckpointError(f"{where}: the number {value} stands where a field should. {_DAMAGED}")

"""Read the index of a TensorFlow checkpoint: its tensors and their locations.

The file is a sorted table: data blocks; a metaindex block (empty here); an index block, whose
values are the locations of the data blocks; and a footer of 48 bytes: the locations of metaindex
and index as varints, padding, and a magic number. A block is a sequence of entries (length of the
prefix shared with the previous key, rest of the key, value), a list of restart points that only
searching needs, then one byte for the compression and four for the checksum.

The values are protocol buffers. The empty key has a header with the number of data files; the
name of each variable has its type, shape, location and checksum. Writers omit fields that are zero.
From the bytes up, the layers are `ByteReader` and `fields`, `read_table`, `read_index`.

Sources: TensorFlow, `tsl/lib/io/table_format.txt`, `format.cc` and `block.cc`,
`core/protobuf/tensor_bundle.proto`, `core/framework/types.proto`, `tensor_shape.proto` and
`versions.proto`; LevelDB, `doc/table_format.md`; the encoding page of the Protocol Buffers
documentation.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from bert_core.checkpoints.formats.crc32c import crc32c, masked
from bert_core.checkpoints.formats.file_tensors import TensorFile
from bert_core.errors import CheckpointError

# -- bytes ----------------------------------------------------------------------------------------

_MAX_VARINT_BYTES = 10  # 64 bits in groups of seven
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types; 3 and 4 are deprecated


class ByteReader:
    """Reads a range of bytes sequentially and never past its end."""

    __slots__ = ("_at", "_end", "_name", "_raw")

    def __init__(self, raw: bytes, name: str, start: int = 0, end: int | None = None) -> None:
        self._raw = raw
        self._name = name
        self._at = start
        self._end = len(raw) if end is None else end

    @property
    def left(self) -> int:
        """Number of bytes not yet read."""
        return self._end - self._at

    def take(self, count: int) -> bytes:
        """Read `count` bytes.

        Raises:
            CheckpointError: fewer bytes are left.
        """
        if count > self.left:
            raise CheckpointError(
                f"{self._name} announces {count:,} bytes where {self.left:,} are left. It is "
                "damaged; get it again."
            )
        self._at += count
        return self._raw[self._at - count : self._at]

    def fixed32(self) -> int:
        """Read a four-byte little-endian number."""
        return int.from_bytes(self.take(4), "little")

    def varint(self) -> int:
        """Read a number of up to 64 bits in groups of seven, lowest group first.

        Raises:
            CheckpointError: the number does not end, or has more bits.
        """
        number = 0
        for index in range(min(_MAX_VARINT_BYTES, self.left)):
            byte = self._raw[self._at]
            self._at += 1
            number |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                if number < 2**64:
                    return number
                break
        raise CheckpointError(
            f"{self._name} has a number that does not end or has more than 64 bits. It is "
            "damaged; get it again."
        )


def fields(raw: bytes, name: str) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields of one message in file order, as (field number, value).

    Raises:
        CheckpointError: `raw` is not a valid message.

    >>> list(fields(bytes([0x08, 0x96, 0x01, 0x12, 0x02, 0x68, 0x69]), "message"))
    [(1, 150), (2, b'hi')]
    """
    reader = ByteReader(raw, name)
    while reader.left:
        number, wire_type = divmod(reader.varint(), 8)
        if wire_type == _VARINT:
            yield number, reader.varint()
        elif wire_type == _BYTES:
            yield number, reader.take(reader.varint())
        elif wire_type == _FIXED32:
            yield number, reader.fixed32()
        elif wire_type == _FIXED64:
            yield number, int.from_bytes(reader.take(8), "little")
        else:
            raise CheckpointError(
                f"{name} has a field of the unknown kind {wire_type}. It is damaged; get it again."
            )


# -- the table ------------------------------------------------------------------------------------

_FOOTER_BYTES = 48
_MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
_TRAILER_BYTES = 5
_SNAPPY = 1
# The index of BERT large with its optimizer has 100 kB and 1,200 entries.
_MAX_FILE_BYTES = 16 * 1024 * 1024
_MAX_ENTRIES = 20_000
_MAX_KEY_BYTES = 1024


class _Place(NamedTuple):
    """Location of a block in the file, without the trailer."""

    start: int
    size: int


def read_table(path: Path) -> dict[bytes, bytes]:
    """Return all entries of a table, sorted by key.

    Raises:
        CheckpointError: the file is not a table, is damaged, or is compressed.
    """
    raw = _read_whole(path)
    if len(raw) < _FOOTER_BYTES or not raw.endswith(_MAGIC):
        raise CheckpointError(
            f"{path.name} has {len(raw):,} bytes and does not end like the index of a TensorFlow "
            "checkpoint. It is truncated, or is not an index; get it again."
        )
    footer = ByteReader(raw, path.name, len(raw) - _FOOTER_BYTES)
    metaindex, index = _place(footer), _place(footer)
    _check_block(raw, metaindex, path.name)
    found: dict[bytes, bytes] = {}
    last, behind = b"", 0
    for _, value in _entries(raw, index, path.name):
        block = _place(ByteReader(value, path.name))
        if block.start < behind:
            raise CheckpointError(
                f"{path.name}: a block begins at byte {block.start:,}, before the previous block "
                f"ends ({behind:,}). The file is damaged; get it again."
            )
        behind = block.start + block.size + _TRAILER_BYTES
        for key, contents in _entries(raw, block, path.name):
            if found and key <= last:
                raise CheckpointError(
                    f"{path.name}: the keys are not in order ({_show(key)} after {_show(last)}). "
                    "The file is damaged; get it again."
                )
            found[key] = contents
            last = key
            if len(found) > _MAX_ENTRIES:
                raise CheckpointError(
                    f"{path.name} names more than {_MAX_ENTRIES:,} tensors, more than any BERT has."
                )
    return found


def _read_whole(path: Path) -> bytes:
    with TensorFile(path) as file:
        if file.size <= _MAX_FILE_BYTES:
            return file.read(0, file.size)
    raise CheckpointError(
        f"{path.name} has {file.size:,} bytes; the index of a checkpoint has at most "
        f"{_MAX_FILE_BYTES:,}. Its weights belong in files of the same name that end in .data-..."
    )


def _place(reader: ByteReader) -> _Place:
    return _Place(reader.varint(), reader.varint())


def _check_block(raw: bytes, place: _Place, name: str) -> None:
    """Reject a block that is outside the file, damaged, or compressed.

    The checksum covers the contents and the byte after them, which states the compression.
    """
    end = place.start + place.size
    if end + _TRAILER_BYTES > len(raw) - _FOOTER_BYTES:
        raise CheckpointError(
            f"{name} says that a block is at byte {place.start:,} and has {place.size:,} bytes; "
            f"the file has {len(raw):,}. It is truncated or damaged; get it again."
        )
    covered = np.frombuffer(raw, np.uint8, place.size + 1, place.start)
    stored = int.from_bytes(raw[end + 1 : end + _TRAILER_BYTES], "little")
    if masked(crc32c(covered)) != stored:
        raise CheckpointError(
            f"{name}: the checksum of the block at byte {place.start:,} is wrong. The file is "
            "damaged; get it again."
        )
    if raw[end]:
        kind = "snappy" if raw[end] == _SNAPPY else f"kind {raw[end]}"
        raise CheckpointError(
            f"{name} is compressed ({kind}); expected an uncompressed index, as TensorFlow writes "
            "it. Save it again with TensorFlow."
        )


def _entries(raw: bytes, place: _Place, name: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the entries of a block in order."""
    _check_block(raw, place, name)
    end = place.start + place.size
    restarts = int.from_bytes(raw[end - 4 : end], "little") if place.size >= 4 else 0
    if place.size < 4 * (restarts + 1):
        raise CheckpointError(
            f"{name}: the block at byte {place.start:,} has {place.size:,} bytes but declares "
            f"{restarts:,} restart points. The file is damaged; get it again."
        )
    reader = ByteReader(raw, name, place.start, end - 4 * (restarts + 1))
    key = b""
    while reader.left:
        kept, added, length = reader.varint(), reader.varint(), reader.varint()
        if kept > len(key) or kept + added > _MAX_KEY_BYTES:
            raise CheckpointError(
                f"{name}: a key repeats {kept:,} bytes of the previous {len(key):,} and adds "
                f"{added:,}; names have at most {_MAX_KEY_BYTES:,}. The file is damaged."
            )
        key = key[:kept] + reader.take(added)
        yield key, reader.take(length)


def _show(key: bytes) -> str:
    return repr(key[:80].decode("utf-8", "backslashreplace"))


# -- the entries ----------------------------------------------------------------------------------

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
    """One tensor of a checkpoint: data file `shard` holds its bytes, from byte `start`.

    `checksum` is their masked CRC-32C.
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

    Returns:
        The number of data files, and the tensors sorted by name. String tensors, which some
        checkpoints contain, are left out.

    Raises:
        CheckpointError: the file is not an index, is damaged, or has unsupported contents.
    """
    table = read_table(path)
    header = table.pop(b"", None)
    if header is None:
        raise CheckpointError(f"{path.name} has no header. {_DAMAGED}")
    shards = _shards(header, path.name)
    entries = (_entry(key, value, shards, path.name) for key, value in _named(table, path.name))
    return shards, tuple(entry for entry in entries if entry is not None)


def _shards(header: bytes, name: str) -> int:
    """Return the number of data files; reject formats that this reader would misread."""
    found = _last_fields(header, name)
    version = _last_fields(_message(found.get(3, b""), name), name)
    if found.get(2):
        raise CheckpointError(
            f"{name} is big-endian; expected little-endian. Convert it with TensorFlow on the "
            "machine that wrote it."
        )
    needed = _count(version.get(2, 0), name)
    if needed > _VERSION:
        raise CheckpointError(
            f"{name} requires version {needed} of the format; this package reads version "
            f"{_VERSION}."
        )
    shards = _count(found.get(1, 0), name)
    if not 0 < shards <= _MAX_SHARDS:
        raise CheckpointError(
            f"{name} declares {shards:,} data files; expected 1 to {_MAX_SHARDS}. {_DAMAGED}"
        )
    return shards


def _named(table: Mapping[bytes, bytes], name: str) -> list[tuple[str, bytes]]:
    """Return the entries by name; reject variables that were saved in slices.

    Such a variable has one entry that lists its slices, and one for each slice under a binary key.
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
                f"{name}: the variable {text} was saved in slices (partitioned), which is not "
                "supported. Load it with TensorFlow and save it without a partitioner."
            )
    if binary:
        raise CheckpointError(f"{name} has keys that are not names. {_DAMAGED}")
    return found


def _entry(text: str, value: bytes, shards: int, name: str) -> IndexEntry | None:
    """Parse and check one entry; None for a string tensor."""
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
            f"{where}: is in data file {shard} of {shards} (counted from 0). {_DAMAGED}"
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
    """Return field number -> value; the last value of a repeated field counts."""
    return dict(fields(raw, where))


def _count(value: int | bytes, where: str) -> int:
    """Check that a field is a number of plausible size."""
    if isinstance(value, int) and value < 2**62:
        return value
    raise CheckpointError(f"{where}: {value!r:.40} is in place of a number. {_DAMAGED}")


def _message(value: int | bytes, where: str) -> bytes:
    """Check that a field is a nested message."""
    if isinstance(value, bytes):
        return value
    raise CheckpointError(f"{where}: the number {value} is in place of a field. {_DAMAGED}")

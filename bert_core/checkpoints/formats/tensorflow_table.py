"""The sorted table of a TensorFlow checkpoint's index file: keys and values, checksums verified.

The file is: data blocks; a metaindex block (empty here); an index block, whose values say where
the data blocks are; and a footer of 48 bytes: the places of metaindex and index as varints,
padding, and a magic number. A block is a run of entries (how much of the previous key to keep,
rest of the key, value), a list of restart points that only searching needs, and behind it one byte
for the compression and four for the checksum.

Sources: TensorFlow, `tsl/lib/io/table_format.txt`, `format.cc` and `block.cc`; LevelDB,
`doc/table_format.md`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bert_core.checkpoints.formats.byte_reader import ByteReader
from bert_core.checkpoints.formats.crc32c import crc32c, masked
from bert_core.checkpoints.formats.file_tensors import TensorFile
from bert_core.errors import CheckpointError

_FOOTER_BYTES = 48
_MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
_TRAILER_BYTES = 5
_SNAPPY = 1
# The index of BERT large with its optimizer takes 100 kB and has 1,200 entries.
_MAX_FILE_BYTES = 16 * 1024 * 1024
_MAX_ENTRIES = 20_000
_MAX_KEY_BYTES = 1024


class _Place(NamedTuple):
    """Where a block is in the file, without the trailer."""

    start: int
    size: int


def read_table(path: Path) -> dict[bytes, bytes]:
    """Return all entries of a table, in the order of their keys.

    Raises:
        CheckpointError: the file is no table, is damaged, or is compressed.
    """
    raw = _read_whole(path)
    if len(raw) < _FOOTER_BYTES or not raw.endswith(_MAGIC):
        raise CheckpointError(
            f"{path.name} has {len(raw):,} bytes and does not end like the index of a TensorFlow "
            "checkpoint. It is cut, or something else; get it again."
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
                f"{path.name}: a block begins at byte {block.start:,}, before the one in front of "
                f"it ends ({behind:,}). The file is damaged; get it again."
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
                    f"{path.name} names more than {_MAX_ENTRIES:,} tensors; that is no BERT."
                )
    return found


def _read_whole(path: Path) -> bytes:
    with TensorFile(path) as file:
        if file.size <= _MAX_FILE_BYTES:
            return file.read(0, file.size)
    raise CheckpointError(
        f"{path.name} has {file.size:,} bytes; the index of a checkpoint has at most "
        f"{_MAX_FILE_BYTES:,}. Its weights belong into files of the same name that end in .data-..."
    )


def _place(reader: ByteReader) -> _Place:
    return _Place(reader.varint(), reader.varint())


def _check_block(raw: bytes, place: _Place, name: str) -> None:
    """Refuse a block that is not in the file, is damaged, or is compressed.

    The checksum covers the contents and the byte behind them, which names the compression.
    """
    end = place.start + place.size
    if end + _TRAILER_BYTES > len(raw) - _FOOTER_BYTES:
        raise CheckpointError(
            f"{name} says that a block lies at byte {place.start:,} and has {place.size:,} bytes; "
            f"the file has {len(raw):,}. It is cut or damaged; get it again."
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
            f"{name} is compressed ({kind}). TensorFlow writes checkpoints without compression, "
            "and only such ones are read here; save it again with TensorFlow."
        )


def _entries(raw: bytes, place: _Place, name: str) -> Iterator[tuple[bytes, bytes]]:
    """Walk over the entries of a block, from the first on."""
    _check_block(raw, place, name)
    end = place.start + place.size
    restarts = int.from_bytes(raw[end - 4 : end], "little") if place.size >= 4 else 0
    if place.size < 4 * (restarts + 1):
        raise CheckpointError(
            f"{name}: the block at byte {place.start:,} has {place.size:,} bytes and announces "
            f"{restarts:,} restart points. The file is damaged; get it again."
        )
    reader = ByteReader(raw, name, place.start, end - 4 * (restarts + 1))
    key = b""
    while reader.left:
        kept, added, length = reader.varint(), reader.varint(), reader.varint()
        if kept > len(key) or kept + added > _MAX_KEY_BYTES:
            raise CheckpointError(
                f"{name}: a key keeps {kept:,} bytes of the {len(key):,} before it and adds "
                f"{added:,}; names have at most {_MAX_KEY_BYTES:,}. The file is damaged."
            )
        key = key[:kept] + reader.take(added)
        yield key, reader.take(length)


def _show(key: bytes) -> str:
    return repr(key[:80].decode("utf-8", "backslashreplace"))

"""Read `pytorch_model.bin`: a table of tensors in one of PyTorch's containers.

Since PyTorch 1.6 the container is a zip file: a pickle that describes the tensors, and one
uncompressed entry for the numbers of each. Before, it was a bare stream: a magic number, a version,
facts about the machine, the description and the keys of the storages, all as pickles, then each
storage preceded by its length. Both are read without running any code (see `pickle_program`). The
older container of 2016, a tar file, is rejected.
"""

import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import torch
from torch import Tensor

from bert_core.checkpoints.formats.file_tensors import FileTensor, TensorFile
from bert_core.checkpoints.formats.pickle_program import (
    ProgramError,
    StorageNote,
    TensorNote,
    run_program,
)
from bert_core.errors import CheckpointError

_ZIP_MAGIC = b"PK\x03\x04"
_TAR_MAGIC, _TAR_PLACE = b"ustar", 257
_STREAM_MAGIC = 0x1950A86A20F9469CFC6C
_STREAM_VERSION = 1001
# The description of BERT large has 80 kB.
_MAX_PROGRAM_BYTES = 8 * 1024 * 1024
_LOCAL_HEADER = 30  # bytes before the name in a zip entry


@dataclass(frozen=True, slots=True)
class LoadedTensor:
    """A tensor that is already in memory."""

    tensor: Tensor

    @property
    def dtype(self) -> torch.dtype:
        """Number type."""
        return self.tensor.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape."""
        return tuple(self.tensor.shape)

    def copy_to(self, target: Tensor) -> None:
        """Copy the tensor into `target` (same shape), converting to its dtype and device."""
        target.detach().copy_(self.tensor)


class PickleFile(TensorFile):
    """An open `pytorch_model.bin` whose description has been checked; a context manager.

    Raises:
        CheckpointError: the file is truncated, would run code, is not a table of tensors, or uses
            the container of 2016.
    """

    form = "a zip"

    def _list(self) -> None:
        try:
            self._read_container()
        except ProgramError as error:
            raise CheckpointError(
                f"{self.path.name} cannot be read as a table of tensors. {error} The file is "
                "damaged, or contains more than weights (nothing in it was run). Get it again, or "
                "convert it to model.safetensors where you trust it."
            ) from None

    def _read_container(self) -> None:
        head = self.read(0, _TAR_PLACE + len(_TAR_MAGIC))
        if head.startswith(_ZIP_MAGIC):
            self._read_zip()
        elif head[_TAR_PLACE:] == _TAR_MAGIC:
            raise ProgramError(
                "It is a tar file, which PyTorch wrote in 2016; this format is not supported."
            )
        else:
            self._read_stream()

    # -- the zip container ----------------------------------------------------------------------

    def _read_zip(self) -> None:
        entries = self._entries()
        programs = [name for name in entries if name.endswith("/data.pkl")]
        if len(programs) != 1:
            raise ProgramError("It is a zip file, but not one that PyTorch wrote.")
        folder = programs[0].removesuffix("data.pkl")
        order = entries.get(f"{folder}byteorder")
        if order is not None and self._content(order, 16) != b"little":
            raise ProgramError(
                "Its numbers are big-endian; only little-endian files are supported."
            )
        found = run_program(BytesIO(self._content(entries[programs[0]], _MAX_PROGRAM_BYTES)))
        starts: dict[str, int] = {}
        for storage in _storages(found):
            entry = entries.get(f"{folder}data/{storage.key}")
            if entry is None:
                raise ProgramError(f"It lacks the storage {storage.key[:80]}.")
            needed = storage.numel * storage.dtype.itemsize
            if entry.file_size < needed:
                raise ProgramError(
                    f"It needs {needed:,} bytes for the storage {storage.key[:80]} but contains "
                    f"{entry.file_size:,}."
                )
            if storage.key not in starts:
                starts[storage.key] = self._start(entry)
                self._check_sum(entry, starts[storage.key])
        self._take(found, starts)

    def _entries(self) -> dict[str, zipfile.ZipInfo]:
        """Read the directory of the container; all entries must be uncompressed."""
        try:
            with zipfile.ZipFile(_Bounded(self)) as container:
                found = container.infolist()
        except Exception as error:  # noqa: BLE001  a damaged directory can fail in any way
            raise ProgramError(f"Its directory is damaged ({str(error)[:80]}).") from None
        total = sum(entry.file_size for entry in found)
        if total > self.size or any(
            entry.compress_type or entry.file_size != entry.compress_size for entry in found
        ):
            raise ProgramError(
                f"It has {self.size:,} bytes and would unpack to {total:,}; PyTorch stores "
                "weights unpacked."
            )
        entries = {entry.filename: entry for entry in found}
        if len(entries) != len(found):
            raise ProgramError("It has two entries with the same name.")
        return entries

    def _start(self, entry: zipfile.ZipInfo) -> int:
        """Return the offset of an entry's content."""
        header = self.read(max(0, entry.header_offset), _LOCAL_HEADER)
        if entry.header_offset < 0 or len(header) < _LOCAL_HEADER or header[:4] != _ZIP_MAGIC:
            raise ProgramError(f"Its directory is wrong about the entry {entry.filename[:80]}.")
        names = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        start = entry.header_offset + _LOCAL_HEADER + names
        if start + entry.file_size > self.size:
            raise ProgramError(f"It ends inside the entry {entry.filename[:80]}.")
        return start

    def _content(self, entry: zipfile.ZipInfo, limit: int) -> bytes:
        """Return the content of a small entry."""
        if entry.file_size > limit:
            raise ProgramError(f"Its entry {entry.filename[:80]} has {entry.file_size:,} bytes.")
        start = self._start(entry)
        self._check_sum(entry, start)
        return self.read(start, entry.file_size)

    def _check_sum(self, entry: zipfile.ZipInfo, start: int) -> None:
        """Verify the checksum of an entry; 0 means that the writer did not store one."""
        if entry.CRC == 0:
            return
        found = 0
        for piece in self.pieces(start, entry.file_size):
            found = zlib.crc32(piece, found)
        if found != entry.CRC:
            raise ProgramError(f"Its entry {entry.filename[:80]} differs from its checksum.")

    # -- the stream -----------------------------------------------------------------------------

    def _read_stream(self) -> None:
        stream = BytesIO(self.read(0, _MAX_PROGRAM_BYTES))
        magic, version, machine = (run_program(stream) for _ in range(3))
        if magic != _STREAM_MAGIC or version != _STREAM_VERSION:
            raise ProgramError("It does not begin like a PyTorch file.")
        if not isinstance(machine, dict) or machine.get("little_endian") is not True:
            raise ProgramError(
                "Its numbers are big-endian; only little-endian files are supported."
            )
        found, keys = run_program(stream), run_program(stream)
        known = {storage.key: storage for storage in _storages(found)}
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise ProgramError("It has no list of its storages.")
        starts: dict[str, int] = {}
        place = stream.tell()
        for key in keys:
            storage = known.get(key)
            if storage is None or key in starts:
                raise ProgramError("Its list of storages does not match its tensors.")
            starts[key] = place + 8
            held = int.from_bytes(self.read(place, 8), "little")
            place += 8 + storage.numel * storage.dtype.itemsize
            if held != storage.numel or place > self.size:
                raise ProgramError(
                    f"It ends inside the storage {key[:80]}, or is wrong about its length."
                )
        if len(starts) < len(known):
            raise ProgramError("Its list of storages does not match its tensors.")
        self._take(found, starts)

    # -- both -----------------------------------------------------------------------------------

    def _take(self, found: object, starts: dict[str, int]) -> None:
        """Turn tensor notes into tensors of this file."""
        name = self.path.name
        for key, note in _checked_table(found, name).items():
            if not isinstance(note, TensorNote):
                raise CheckpointError(_no_tensor(name, key, note))
            storage, size = note.storage, note.storage.dtype.itemsize
            start = starts[storage.key] + (storage.first + note.offset) * size
            usual = torch.empty(note.shape, device="meta").stride()
            strides = None if note.strides == usual or 0 in note.shape else note.strides
            self.tensors[key] = FileTensor(self, key, storage.dtype, note.shape, start, strides)


class _Bounded:
    """File wrapper for `zipfile` that bounds the memory reserved for a directory."""

    def __init__(self, file: TensorFile) -> None:
        self._file = file
        self._place = 0

    def seek(self, place: int, whence: int = 0) -> int:
        """Set the position, like a file."""
        base = (0, self._place, self._file.size)[whence]
        if base + place < 0:
            raise ValueError("a place before the beginning")
        self._place = base + place
        return self._place

    def tell(self) -> int:
        """Return the position."""
        return self._place

    def read(self, count: int = -1) -> bytes:
        """Return the next bytes; reject more than a directory can have."""
        wanted = self._file.size - self._place if count < 0 else count
        if wanted > _MAX_PROGRAM_BYTES:
            raise ValueError(f"{wanted:,} bytes are asked for")
        found = self._file.read(self._place, max(0, wanted))
        self._place += len(found)
        return found

    def seekable(self) -> bool:
        """Return True: `seek` is supported."""
        return True


def _storages(found: object) -> Iterable[StorageNote]:
    """Yield the storages of the tensors in a table."""
    if isinstance(found, dict):
        yield from (note.storage for note in found.values() if isinstance(note, TensorNote))


def from_state_dict(values: object, name: str) -> dict[str, LoadedTensor]:
    """Check that `values` maps names to ordinary tensors.

    Raises:
        CheckpointError: `values` is anything else.
    """
    table = _checked_table(values, name)
    return {key: LoadedTensor(_check(key, table[key], name)) for key in table}


def _checked_table(values: object, name: str) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise CheckpointError(
            f"{name} is a {type(values).__name__}; expected a table of names and tensors."
        )
    for key in values:
        if not isinstance(key, str):
            raise CheckpointError(f"{name} has the key {key!r}; expected names of parameters.")
    return values


def _no_tensor(name: str, key: str, value: object) -> str:
    return (
        f"{name}: {key} is a {type(value).__name__}; expected a tensor. Is this a training "
        "checkpoint? Save the model's state_dict() alone."
    )


def _check(key: str, value: object, name: str) -> Tensor:
    """Reject values that are not tensors, and tensors that claim more elements than bytes."""
    if not isinstance(value, Tensor):
        raise CheckpointError(_no_tensor(name, key, value))
    if value.layout is not torch.strided or value.is_quantized or value.is_meta:
        raise CheckpointError(
            f"{name}: {key} is a sparse, quantised or meta tensor; expected an ordinary one."
        )
    needed = value.numel() * value.element_size()
    held = value.untyped_storage().nbytes()
    if needed > held:
        raise CheckpointError(
            f"{name}: {key} of shape {tuple(value.shape)} needs {needed:,} bytes; the file "
            f"gives it {held:,}."
        )
    return value

"""TensorFlow's checkpoint files, read without TensorFlow.

`<prefix>.index` says what there is (see `tensorflow_index`); the numbers lie in
`<prefix>.data-00000-of-00001` and so on, lowest byte first, in the order of rows.

No tensor is handed out before the checksum of its bytes was verified. Tensors are read one at a
time, straight into the memory they will live in or into one buffer that all share, so weights are
never resident twice.

Source: TensorFlow, `core/util/tensor_bundle/tensor_bundle.h`.
"""

import glob
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import torch
from torch import Tensor

from bert_core.checkpoints.formats.crc32c import crc32c, masked
from bert_core.checkpoints.formats.file_tensors import TensorFile
from bert_core.checkpoints.formats.tensorflow_index import IndexEntry, read_index
from bert_core.errors import CheckpointError, MissingFileError


@dataclass(frozen=True, slots=True)
class BundleTensor:
    """One tensor of an open checkpoint."""

    bundle: "TensorBundle"
    entry: IndexEntry

    @property
    def dtype(self) -> torch.dtype:
        """Number type in the file."""
        return self.entry.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape in the file."""
        return self.entry.shape

    def copy_to(self, target: Tensor) -> None:
        """Fill `target`, of the same shape, converting to its dtype and device.

        Raises:
            CheckpointError: the bytes are not those that were once written.
        """
        target = target.detach()
        if (target.dtype, target.device.type) == (self.dtype, "cpu") and target.is_contiguous():
            self.bundle.read_into(target.view(-1).view(torch.uint8), self.entry)
        else:
            target.copy_(self.borrow())

    def borrow(self) -> Tensor:
        """Return the tensor, in memory that the next one of this checkpoint will overwrite."""
        raw = self.bundle.buffer(self.entry.size)
        self.bundle.read_into(raw, self.entry)
        return raw.view(self.dtype).view(self.shape)


class TensorBundle:
    """An open checkpoint whose index has been checked; a context manager.

    Args:
        prefix: the path of its files without `.index`.

    Attributes:
        tensors: name -> tensor.

    Raises:
        MissingFileError: the index or one of the data files is not there.
        CheckpointError: they are damaged, hostile, or of a kind that is not read.
    """

    def __init__(self, prefix: Path) -> None:
        self._buffer = torch.empty(0, dtype=torch.uint8, device="cpu")
        self._files: dict[int, TensorFile] = {}
        shards, entries = read_index(_existing(prefix.with_name(f"{prefix.name}.index")))
        with ExitStack() as stack:
            for shard in sorted({entry.shard for entry in entries}):
                path = prefix.with_name(f"{prefix.name}.data-{shard:05d}-of-{shards:05d}")
                file = stack.enter_context(TensorFile(_existing(path)))
                _check_places((entry for entry in entries if entry.shard == shard), file)
                self._files[shard] = file
            self._close = stack.pop_all().close
        self.tensors = {entry.name: BundleTensor(self, entry) for entry in entries}

    def __enter__(self) -> "TensorBundle":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def buffer(self, size: int) -> Tensor:
        """Return (size,) uint8 of the buffer that all tensors share."""
        if self._buffer.numel() < size:
            self._buffer = torch.empty(size, dtype=torch.uint8, device="cpu")
        return self._buffer[:size]

    def read_into(self, raw: Tensor, entry: IndexEntry) -> None:
        """Fill `raw`, (bytes,) uint8, from the file and verify the checksum.

        Raises:
            CheckpointError: the file has become shorter, or the checksum is wrong.
        """
        file, array = self._files[entry.shard], raw.numpy()
        file.read_into(array.data, entry.start, entry.name)
        if masked(crc32c(array)) != entry.checksum:
            raise CheckpointError(
                f"{file.path.name}: the checksum of the tensor {entry.name} is wrong. The file is "
                "damaged; get it again."
            )


def bundle_files(prefix: Path) -> tuple[Path, ...]:
    """Return the files of a checkpoint that are there, the index first; nothing is read."""
    pattern = f"{glob.escape(prefix.name)}.data-[0-9]*-of-[0-9]*"
    return (prefix.with_name(f"{prefix.name}.index"), *sorted(prefix.parent.glob(pattern)))


def _existing(path: Path) -> Path:
    if not path.exists():
        raise MissingFileError(
            f"The file {path.name} is not in {path.parent}. A TensorFlow checkpoint consists of "
            "NAME.index and NAME.data-00000-of-00001 (or more of these); get all of them."
        )
    return path


def _check_places(entries: Iterable[IndexEntry], file: TensorFile) -> None:
    """Refuse tensors that lie outside their file or upon each other."""
    behind, before = 0, ""
    for entry in sorted(entries, key=lambda entry: (entry.start, entry.size)):
        end = entry.start + entry.size
        if end > file.size:
            raise CheckpointError(
                f"{file.path.name} has {file.size:,} bytes; the index puts the tensor "
                f"{entry.name} at {entry.start:,} to {end:,}. The file is cut or damaged; get it "
                "again."
            )
        if entry.start < behind and entry.size:
            raise CheckpointError(
                f"{file.path.name}: the tensor {entry.name} begins at byte {entry.start:,}, "
                f"inside {before}. The index is damaged; get it again."
            )
        behind, before = max(behind, end), entry.name

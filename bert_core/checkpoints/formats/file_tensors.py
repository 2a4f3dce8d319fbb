"""Tensors in an open file, independent of the file format.

A tensor is read into its final memory, piece by piece where it is converted, so the weights are
never resident twice. Nothing is mapped: a file that is overwritten or cut off later must not change
the answers of a model that is in memory, or end the process.
"""

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch
from torch import Tensor

from bert_core.errors import CheckpointError
from bert_core.small_files import FORM_BYTES, mistaken, open_regular

# Elements converted at a time: few enough to stay in the processor's cache, and for PyTorch not to
# split them among threads, which would wait for each other on a busy machine.
_CHUNK = 2**15
_PIECE_BYTES = 1024 * 1024  # read at a time when bytes are only inspected


@dataclass(frozen=True, slots=True)
class FileTensor:
    """One tensor of an open file: the location and meaning of its bytes.

    Attributes:
        file: the open file.
        name: name of the tensor in the file.
        dtype: number type in the file.
        shape: shape in the file.
        start: byte offset of the first element.
        strides: stride of each axis in elements; None for row-major order.
    """

    file: "TensorFile"
    name: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    start: int
    strides: tuple[int, ...] | None = None

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def copy_to(self, target: Tensor) -> None:
        """Copy the tensor into `target` (same shape), converting to its dtype and device."""
        flat = target.detach().view(-1) if target.is_contiguous() else None
        if flat is None or target.device.type != "cpu" or self.strides is not None:
            target.detach().copy_(self._whole())
        elif self.dtype == target.dtype:
            self._read(flat, 0)
        else:
            buffer = torch.empty(min(_CHUNK, flat.numel()), dtype=self.dtype, device="cpu")
            for begin in range(0, flat.numel(), _CHUNK):
                part = buffer[: min(_CHUNK, flat.numel() - begin)]
                self._read(part, begin)
                flat[begin : begin + part.numel()].copy_(part)

    def _whole(self) -> Tensor:
        """Read the whole tensor without conversion."""
        if self.strides is None or self.size == 0:
            whole = torch.empty(self.shape, dtype=self.dtype, device="cpu")
            self._read(whole.view(-1), 0)
            return whole
        flat = torch.empty(extent(self.shape, self.strides), dtype=self.dtype, device="cpu")
        self._read(flat, 0)
        return flat.as_strided(self.shape, self.strides)

    def _read(self, flat: Tensor, first: int) -> None:
        """Read `flat.numel()` elements, starting at element `first`."""
        if flat.numel() == 0:
            return
        view = flat.view(torch.uint8).numpy().data
        self.file.read_into(view, self.start + first * self.dtype.itemsize, self.name)


def extent(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Return how many elements of its storage a strided tensor spans.

    >>> extent((2, 3), (3, 1)), extent((3, 2), (1, 3)), extent((5, 5), (0, 0))
    (6, 6, 1)
    """
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))


class TensorFile:
    """An open file of tensors; a context manager.

    Attributes:
        path: the file.
        size: its length in bytes when it was opened.
        tensors: name -> tensor; filled by the subclass for the format.
        form: how `small_files.mistaken` begins for the format's own files.

    Raises:
        CheckpointError: `path` is not a regular file, or cannot be read.
    """

    form = "tensors"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tensors: dict[str, FileTensor] = {}
        self._handle = os.fdopen(open_regular(path), "rb", buffering=0)
        self.size = os.fstat(self._handle.fileno()).st_size
        try:
            says = mistaken(self.read(0, FORM_BYTES))
            if says and not says.startswith(self.form):
                raise CheckpointError(f"{path.name} is not what its name says. It is {says}")
            self._list()
        except BaseException:
            self.close()
            raise

    def _list(self) -> None:
        """Fill `tensors`, in a subclass; after an exception the file is closed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._handle.close()

    def read(self, start: int, count: int) -> bytes:
        """Return up to `count` bytes, starting at `start`."""
        self._handle.seek(start)
        return self._handle.read(count)

    def read_into(self, view: memoryview, start: int, name: str) -> None:
        """Fill `view` with the bytes of the file, starting at `start`."""
        self._handle.seek(start)
        done = 0
        while done < len(view):
            count = self._handle.readinto(view[done:])
            if not count:
                raise CheckpointError(
                    f"{self.path.name} ends inside the tensor {name}: it was truncated or changed "
                    "while it was read. Get the file again."
                )
            done += count

    def pieces(self, start: int, count: int) -> Iterator[memoryview]:
        """Yield `count` bytes from `start`, one megabyte at a time, in a reused buffer."""
        buffer = memoryview(bytearray(min(count, _PIECE_BYTES)))
        for begin in range(0, count, _PIECE_BYTES):
            piece = buffer[: min(_PIECE_BYTES, count - begin)]
            self.read_into(piece, start + begin, "that is read")
            yield piece

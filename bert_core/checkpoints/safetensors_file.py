"""The safetensors format, read straight into a model's memory.

A file is: 8 bytes little-endian length of the header; the header, a JSON object
`{name: {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__": {...}}`; the data.
Source: the format section of the safetensors project's README.

Every number of the header is checked before it is used. What needs no conversion is mapped
privately: the parameter is the file's page, read when first used and copied when first written
to. What needs one is read piece by piece into the memory it will live in. Either way the weights
are never resident twice. (A mapped file may be replaced, but must not be overwritten in place.)
"""

import json
import math
import mmap
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import torch
from torch import Tensor

from bert_core.errors import CheckpointError

# The header of BERT large takes 50 kB; the format itself allows 100 MB, which is no header of
# a model that this package can run.
_MAX_HEADER_BYTES = 8 * 1024 * 1024
_CHUNK_BYTES = 8 * 1024 * 1024  # of a tensor that is converted while it is read
_MAX_RANK = 8  # BERT needs 2
_DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


@dataclass(frozen=True, slots=True)
class SafetensorsTensor:
    """One tensor of an open file: where its bytes are and what they mean."""

    file: "SafetensorsFile"
    name: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    start: int

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def copy_to(self, target: Tensor) -> None:
        """Fill `target`, of the same shape, converting to its dtype and device."""
        flat = target.detach().view(-1) if target.is_contiguous() else None
        if flat is None or target.device.type != "cpu":
            whole = torch.empty(self.shape, dtype=self.dtype)
            self._read(whole.view(-1), 0)
            target.detach().copy_(whole)
        elif self.dtype == target.dtype:
            self._read(flat, 0)
        else:
            step = _CHUNK_BYTES // self.dtype.itemsize
            buffer = torch.empty(min(step, flat.numel()), dtype=self.dtype)
            for begin in range(0, flat.numel(), step):
                part = buffer[: min(step, flat.numel() - begin)]
                self._read(part, begin)
                flat[begin : begin + part.numel()].copy_(part)

    def _read(self, flat: Tensor, first: int) -> None:
        """Read `flat.numel()` elements, from element number `first` on."""
        if flat.numel() == 0:
            return
        view = flat.view(torch.uint8).numpy().data
        self.file.read_into(view, self.start + first * self.dtype.itemsize, self.name)


class SafetensorsFile:
    """An open safetensors file whose header has been checked; a context manager.

    Raises:
        CheckpointError: the file is cut, or its header is no header, names a type or shape
            that cannot be, or does not describe exactly the bytes that follow.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tensors: dict[str, SafetensorsTensor] = {}
        self._handle: BinaryIO = path.open("rb", buffering=0)
        self._map: mmap.mmap | None = None
        try:
            self._read_header()
        except BaseException:
            self._handle.close()
            raise

    def __enter__(self) -> "SafetensorsFile":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._handle.close()

    def read_into(self, view: memoryview, start: int, name: str) -> None:
        """Fill `view` with the bytes of the file from `start` on."""
        self._handle.seek(start)
        done = 0
        while done < len(view):
            count = self._handle.readinto(view[done:])  # type: ignore[attr-defined]
            if not count:
                raise CheckpointError(
                    f"{self.path.name} ends inside the tensor {name}: it was cut or changed "
                    "while it was read. Get the file again."
                )
            done += count

    def view(self, start: int, count: int, dtype: torch.dtype) -> Tensor:
        """Return `count` elements from byte `start` on as memory that outlives this object."""
        if self._map is None:
            self._map = mmap.mmap(self._handle.fileno(), 0, access=mmap.ACCESS_COPY)
        return torch.frombuffer(self._map, dtype=dtype, count=count, offset=start)

    def _read_header(self) -> None:
        size = self._handle.seek(0, 2)
        self._handle.seek(0)
        prefix = self._handle.read(8)
        length = int.from_bytes(prefix, "little")
        if len(prefix) < 8 or length > min(size - 8, _MAX_HEADER_BYTES):
            raise CheckpointError(
                f"{self.path.name} has {size:,} bytes and announces a header of {length:,} "
                f"(at most {_MAX_HEADER_BYTES:,} are read). It is cut or not a safetensors "
                "file; get it again."
            )
        header = self._parse(self._handle.read(length))
        header.pop("__metadata__", None)
        begin, data = 8 + length, size - 8 - length
        entries = sorted(
            (self._entry(name, value, begin) for name, value in header.items()),
            key=lambda entry: (entry[1], entry[2]),
        )
        position = 0
        for tensor, first, end in entries:
            if first != position:
                raise CheckpointError(
                    f"{self.path.name}: the tensor {tensor.name} begins at byte {first:,} of the "
                    f"data; expected {position:,}. The header lies about offsets."
                )
            position = end
            self.tensors[tensor.name] = tensor
        if position != data:
            raise CheckpointError(
                f"{self.path.name} holds {data:,} bytes of data; its header describes "
                f"{position:,}. It is cut or damaged; get it again."
            )

    def _parse(self, raw: bytes) -> dict[str, Any]:
        try:
            header = json.loads(raw.decode("utf-8"), object_pairs_hook=_no_duplicates)
        except (ValueError, RecursionError) as error:
            raise CheckpointError(
                f"{self.path.name}: the header is not valid JSON ({error}). The file is damaged "
                "or not a safetensors file."
            ) from None
        if not isinstance(header, dict):
            raise CheckpointError(f"{self.path.name}: the header is not a JSON object.")
        return header

    def _entry(self, name: str, value: Any, begin: int) -> tuple[SafetensorsTensor, int, int]:
        """Check one entry; return the tensor and its place in the data."""
        try:
            dtype, shape = value["dtype"], tuple(value["shape"])
            first, end = value["data_offsets"]
        except (KeyError, TypeError, ValueError):
            raise CheckpointError(
                f"{self.path.name}: the header entry of {name!r} lacks dtype, shape or "
                "data_offsets."
            ) from None
        if not isinstance(dtype, str) or dtype not in _DTYPES:
            raise CheckpointError(
                f"{self.path.name}: the tensor {name} is of type {dtype!r}; this package reads "
                f"{', '.join(_DTYPES)}."
            )
        if len(shape) > _MAX_RANK or not all(map(_is_count, (*shape, first, end))):
            raise CheckpointError(
                f"{self.path.name}: the tensor {name} has shape {str(shape)[:80]} and "
                f"offsets {first!r}, {end!r}; expected whole numbers of at least 0."
            )
        wanted = math.prod(shape) * _DTYPES[dtype].itemsize
        if end - first != wanted:
            raise CheckpointError(
                f"{self.path.name}: the tensor {name} of shape {shape} and type {dtype} needs "
                f"{wanted:,} bytes; the header gives it {end - first:,}."
            )
        return SafetensorsTensor(self, name, _DTYPES[dtype], shape, begin + first), first, end


def map_run(tensors: Sequence[object]) -> list[Tensor] | None:
    """Map tensors that lie one after another in one file, as views of one storage.

    Returns:
        A tensor for each, or None where they are no such run or cannot be mapped: Windows does
        not let a mapped file be replaced, and numbers must lie at multiples of their size.
    """
    first = tensors[0]
    if not isinstance(first, SafetensorsTensor) or sys.platform == "win32":
        return None
    position, run = first.start, []
    for tensor in tensors:
        if not isinstance(tensor, SafetensorsTensor) or tensor.size == 0:
            return None
        if (tensor.file, tensor.start, tensor.dtype) != (first.file, position, first.dtype):
            return None
        position += tensor.size * tensor.dtype.itemsize
        run.append(tensor)
    if first.start % first.dtype.itemsize:
        return None
    sizes = [tensor.size for tensor in run]
    parts = torch.split(first.file.view(first.start, sum(sizes), first.dtype), sizes)
    return [part.view(tensor.shape) for part, tensor in zip(parts, run, strict=True)]


def _is_count(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**62


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a name stands there twice")
    return result


def write_safetensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors to a new file, one at a time, straight from where they live.

    Args:
        path: a file that does not exist yet; what is left after an error is the caller's.
        tensors: name -> tensor of any layout and device.
    """
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}  # transformers asks for it
    position = 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [position, position + size],
        }
        position += size
    raw = json.dumps(header, separators=(",", ":")).encode("utf-8")
    raw += b" " * (-(len(raw) + 8) % 64)  # the data begins where a cache line does
    with path.open("xb") as file:
        file.write(len(raw).to_bytes(8, "little") + raw)
        for tensor in tensors.values():
            flat = tensor.detach().to("cpu").contiguous().view(-1)
            if flat.numel():
                file.write(flat.view(torch.uint8).numpy().data)
        file.flush()
        os.fsync(file.fileno())

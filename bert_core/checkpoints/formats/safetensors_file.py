"""The safetensors format, read straight into a model's memory.

A file is: 8 bytes little-endian length of the header; the header, a JSON object
`{name: {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__": {...}}`; the data.
Source: the format section of the safetensors project's README.

Every number of the header is checked before it is used; how the data get into a model's memory
is told in `file_tensors`.
"""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bert_core.checkpoints.formats.file_tensors import FileTensor, TensorFile
from bert_core.errors import CheckpointError
from bert_core.small_files import parse_json, shown

# The header of BERT large takes 50 kB; the format itself allows 100 MB, which is no header of
# a model that this package can run.
_MAX_HEADER_BYTES = 4 * 1024 * 1024
_MAX_RANK = 8  # BERT needs 2
_MAX_NAME = 500  # characters; BERT's longest have 60
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


class SafetensorsFile(TensorFile):
    """An open safetensors file whose header has been checked; a context manager.

    Raises:
        CheckpointError: the file is cut, or its header is no header, names a type or shape
            that cannot be, or does not describe exactly the bytes that follow.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        try:
            self._read_header()
        except BaseException:
            self.close()
            raise

    def _read_header(self) -> None:
        size, prefix = self.size, self.read(0, 8)
        length = int.from_bytes(prefix, "little")
        if len(prefix) < 8 or length > min(size - 8, _MAX_HEADER_BYTES):
            raise CheckpointError(
                f"{self.path.name} has {size:,} bytes and announces a header of {length:,} "
                f"(at most {_MAX_HEADER_BYTES:,} are read). It is cut or not a safetensors "
                "file; get it again."
            )
        header = self._parse(self.read(8, length))
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
        header = parse_json(raw, f"{self.path.name}: the header", unique=True)
        if not isinstance(header, dict):
            raise CheckpointError(f"{self.path.name}: the header is not a JSON object.")
        return header

    def _entry(self, name: str, value: Any, begin: int) -> tuple[FileTensor, int, int]:
        """Check one entry; return the tensor and its place in the data."""
        if len(name) > _MAX_NAME:
            raise CheckpointError(f"{self.path.name} has a name of {len(name):,} characters.")
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
                f"{self.path.name}: the tensor {name} is of type {shown(dtype)}; this package "
                f"reads {', '.join(_DTYPES)}."
            )
        if len(shape) > _MAX_RANK or not all(map(_is_count, (*shape, first, end))):
            raise CheckpointError(
                f"{self.path.name}: the tensor {name} has shape {shown(shape)} and "
                f"offsets {shown(first)}, {shown(end)}; expected whole numbers of at least 0."
            )
        wanted = math.prod(shape) * _DTYPES[dtype].itemsize
        if end - first != wanted:
            raise CheckpointError(
                f"{self.path.name}: the tensor {name} of shape {shape} and type {dtype} needs "
                f"{wanted:,} bytes; the header gives it {end - first:,}."
            )
        return FileTensor(self, name, _DTYPES[dtype], shape, begin + first), first, end


def _is_count(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**62


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

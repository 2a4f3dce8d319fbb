"""Read the safetensors format directly into a model's memory, and write it.

A file consists of: the length of the header, 8 bytes little-endian; the header, a JSON object
`{name: {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__": {...}}`; the data.
Source: the format section of the safetensors project's README.

The safetensors package reads and checks the header; `file_tensors` reads the data. Files are
written here, because the package sorts tensors by name: that would put other parameters between
query, key and value, and a model could not use the three as one matrix without copying them.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from bert_core.checkpoints.formats.file_tensors import FileTensor, TensorFile
from bert_core.errors import CheckpointError

# The header of BERT large has 50 kB. The format allows 100 MB, more than any model that this
# package can run needs.
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
        CheckpointError: the file is truncated, or its header is malformed, has an invalid type or
            shape, or does not describe exactly the bytes that follow.
    """

    def _list(self) -> None:
        """List the tensors; the package checks that they fill the data without gaps."""
        length = int.from_bytes(self.read(0, 8), "little")
        if length > _MAX_HEADER_BYTES:
            raise CheckpointError(
                f"{self.path.name} has {self.size:,} bytes and declares a header of {length:,}; "
                f"expected at most {_MAX_HEADER_BYTES:,}. It is not a safetensors file, or not a "
                "BERT; get it again."
            )
        start = 8 + length
        try:
            with safe_open(self.path, framework="numpy") as file:
                for name in file.offset_keys():
                    part = file.get_slice(name)
                    tensor = self._tensor(name, part.get_dtype(), tuple(part.get_shape()), start)
                    self.tensors[name] = tensor
                    start += tensor.size * tensor.dtype.itemsize
        except SafetensorError as error:
            raise CheckpointError(
                f"{self.path.name} ({self.size:,} bytes) is truncated, damaged or not a "
                f"safetensors file: {str(error)[:200]}. Get it again."
            ) from None

    def _tensor(self, name: str, dtype: str, shape: tuple[int, ...], start: int) -> FileTensor:
        """Return one tensor; reject what the format allows but no BERT has."""
        if dtype not in _DTYPES or len(shape) > _MAX_RANK or len(name) > _MAX_NAME:
            raise CheckpointError(
                f"{self.path.name}: the tensor {name[:_MAX_NAME]} is of type {dtype} and has "
                f"{len(shape)} dimensions; expected one of {', '.join(_DTYPES)}, at most "
                f"{_MAX_RANK} dimensions and a name of at most {_MAX_NAME} characters."
            )
        return FileTensor(self, name, _DTYPES[dtype], shape, start)


def write_safetensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors to a new file, one at a time, directly from their memory.

    Args:
        path: a file that does not exist yet; after an error the caller must remove it.
        tensors: name -> tensor, of any layout and on any device.
    """
    with path.open("xb") as file:
        write_tensors(file, tensors)
        file.flush()
        os.fsync(file.fileno())


def write_tensors(file: BinaryIO, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors to an open file; see `write_safetensors`."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}  # required by transformers
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
    raw += b" " * (-(len(raw) + 8) % 64)  # aligns the data to a cache line
    file.write(len(raw).to_bytes(8, "little") + raw)
    for tensor in tensors.values():
        flat = tensor.detach().to("cpu").contiguous().view(-1)
        if flat.numel():
            file.write(flat.view(torch.uint8).numpy().data)

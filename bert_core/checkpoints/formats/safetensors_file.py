"""Read and write safetensors files with the format's own package.

Values are read into memory and never mapped: another program may cut the file at any time, which
would end a process that has it mapped. Only while a header is read alone, the package maps the
file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save, save_file
from torch import Tensor

from bert_core.checkpoints.formats.mistaken import check_form
from bert_core.errors import CheckpointError

# The header of BERT large has 50 kB. The format allows 100 MB, more than any BERT needs.
_MAX_HEADER_BYTES = 4 * 1024 * 1024
_DAMAGE = (SafetensorError, OSError, ValueError, LookupError, AttributeError, MemoryError)
_METADATA = {"format": "pt"}  # required by transformers


def open_safetensors(path: Path, *, values: bool = True) -> dict[str, Tensor]:
    """Return the tensors of a file by name, in memory of their own.

    Without `values`, only the header is read: the tensors are on "meta".
    """
    size = check_form(path)
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > _MAX_HEADER_BYTES:
                raise CheckpointError(
                    f"{path.name} has {size:,} bytes and declares a header of {length:,}; expected "
                    f"at most {_MAX_HEADER_BYTES:,}. Get it again."
                )
            if values:
                file.seek(0)
                return dict(sorted(load(file.read()).items()))
        with safe_open(path, "pt") as tensors:
            return {name: _described(tensors.get_slice(name)) for name in sorted(tensors.keys())}
    except _DAMAGE as error:
        raise CheckpointError(
            f"{path.name} ({size:,} bytes) is truncated or damaged: {str(error)[:200]}. "
            "Get it again."
        ) from None


def _described(stored: Any) -> Tensor:
    shape = stored.get_shape()
    none = stored[:0] if shape else stored[...]
    return torch.empty(shape, dtype=none.dtype, device="meta")


def write_safetensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors of any layout and device to a file (OSError: the file cannot be written)."""
    path.touch()
    mode = path.stat().st_mode  # the package gives files to their owner alone
    try:
        save_file(_plain(tensors), path, _METADATA)
        path.chmod(mode)
    except SafetensorError as error:
        raise OSError(None, str(error)[:200]) from None


def safetensors_bytes(tensors: Mapping[str, Tensor]) -> bytes:
    """Return the file that `write_safetensors` writes."""
    return save(_plain(tensors), _METADATA)


def _plain(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors in memory of their own: the package refuses any that two of them share."""
    found, storages = {}, set[int]()
    for name, tensor in tensors.items():
        plain = tensor.detach().cpu().contiguous()
        shared = plain.untyped_storage().data_ptr() in storages
        found[name] = plain.clone() if shared else plain
        storages.add(found[name].untyped_storage().data_ptr())
    return found

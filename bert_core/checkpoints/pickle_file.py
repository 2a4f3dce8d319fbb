"""`pytorch_model.bin`: a pickle, read by PyTorch's restricted unpickler and never otherwise.

Files of PyTorch 1.6 and later are zip containers and are mapped into memory; older ones are a
bare stream of pickles and have to be read whole.
"""

import zipfile
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from bert_core.errors import CheckpointError

_ZIP_MAGIC = b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class LoadedTensor:
    """A tensor that is in memory already, or mapped."""

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
        """Fill `target`, of the same shape, converting to its dtype and device."""
        target.detach().copy_(self.tensor)


def read_pickle(path: Path) -> dict[str, LoadedTensor]:
    """Read a state dict; nothing the file names is ever called.

    Raises:
        CheckpointError: the file is cut, wants to run code, or is not a table of tensors.
    """
    with path.open("rb") as file:
        is_zip = file.read(4) == _ZIP_MAGIC
    if is_zip:
        _check_container(path)
    try:
        found = torch.load(path, map_location="cpu", weights_only=True, mmap=is_zip)
    except Exception as error:  # noqa: BLE001  a damaged pickle can fail in any way at all
        raise CheckpointError(
            f"{path.name} cannot be read as a table of tensors: {_first_line(error)} It is "
            "damaged, or holds more than weights (nothing in it was run). Get it again, or "
            "convert it to model.safetensors where you trust it."
        ) from None
    return from_state_dict(found, path.name)


def from_state_dict(values: object, name: str) -> dict[str, LoadedTensor]:
    """Check that `values` is a table name -> ordinary tensor.

    Args:
        values: what a file or a caller gave.
        name: what to call it in an error.

    Raises:
        CheckpointError: it is something else.
    """
    if not isinstance(values, dict):
        raise CheckpointError(
            f"{name} holds a {type(values).__name__}; expected a table of names and tensors."
        )
    return {_check_name(key, name): LoadedTensor(_check(key, values[key], name)) for key in values}


def _check_name(key: object, name: str) -> str:
    if not isinstance(key, str):
        raise CheckpointError(f"{name} has the key {key!r}; expected names of parameters.")
    return key


def _check(key: object, value: object, name: str) -> Tensor:
    """Refuse what is no tensor, and tensors that claim more elements than they have bytes."""
    if not isinstance(value, Tensor):
        raise CheckpointError(
            f"{name}: {key} is a {type(value).__name__}; expected a tensor. Is this a training "
            "checkpoint? Save the model's state_dict() alone."
        )
    if value.layout is not torch.strided or value.is_quantized or value.is_meta:
        raise CheckpointError(f"{name}: {key} is a sparse, quantised or empty kind of tensor.")
    needed = value.numel() * value.element_size()
    held = value.untyped_storage().nbytes()
    if needed > held:
        raise CheckpointError(
            f"{name}: {key} of shape {tuple(value.shape)} needs {needed:,} bytes; the file "
            f"gives it {held:,}."
        )
    return value


def _check_container(path: Path) -> None:
    """Refuse zip containers that would unpack to more than they are."""
    try:
        with zipfile.ZipFile(path) as container:
            entries = container.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise CheckpointError(
            f"{path.name} is a damaged zip container ({error}). Get it again."
        ) from None
    total = sum(entry.file_size for entry in entries)
    if total > path.stat().st_size or any(entry.compress_type for entry in entries):
        raise CheckpointError(
            f"{path.name} has {path.stat().st_size:,} bytes and would unpack to {total:,}; "
            "weights are stored unpacked. It is not a file that PyTorch wrote."
        )


def _first_line(error: BaseException) -> str:
    """Return the beginning of an error's text; PyTorch adds advice that would be wrong here."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    text = lines[0][:200].rstrip()
    return text if text.endswith(".") else f"{text}."

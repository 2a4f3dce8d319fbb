"""Read `pytorch_model.bin` with PyTorch's restricted unpickler, which runs no code.

The list of `torch.load(weights_only=True)` is longer than a table of tensors needs, and some of it
takes memory or time without end. So the instructions are listed first, without executing any: they
may name only what builds tensors, and are bounded in number. The container may not be compressed,
and the tensors may not have more bytes than the file accounts for.
"""

import pickletools
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from bert_core.checkpoints.formats.mistaken import check_form
from bert_core.errors import BertError, CheckpointError
from bert_core.small_files import BoundedFile, shown

_ZIP_MAGIC = b"PK\x03\x04"
_STREAM_PICKLES = 5  # before PyTorch 1.6: magic number, version, machine, tensors, storages
# BERT large needs 80 kB and 15,000 instructions.
_MAX_PROGRAM_BYTES = 8 * 1024 * 1024
_MAX_INSTRUCTIONS = 400_000
# Each may double what a table seems to hold; weights have one for a tensor that occurs twice.
_MAX_REPEATS = 20
_MAX_SHARING = 8  # bytes of all tensors to bytes of the file; tied copies double some of them
_STORAGES = ["Double", "Float", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool"]
_NAMES = {
    "collections OrderedDict",
    "torch Size",
    "torch._utils _rebuild_parameter",
    "torch._utils _rebuild_tensor",
    "torch._utils _rebuild_tensor_v2",
    *(f"torch {kind}Storage" for kind in _STORAGES),
}
_ATOMS = ("GLOBAL", "BINUNICODE", "SHORT_BINSTRING")


def open_pickle(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a file by name, read into memory and not mapped."""
    size = check_form(path, own="a zip")
    try:
        _check_programs(path)
        values = torch.load(str(path), map_location="cpu", weights_only=True, mmap=False)
    except BertError:
        raise
    except Exception as error:  # noqa: BLE001  a damaged file can fail in any way
        reason = f"{type(error).__name__}: {str(error).strip() or 'no reason given'}"
        raise CheckpointError(_refusal(path, " ".join(reason[:200].split()))) from None
    tensors = checked_table(values, path.name)
    total = sum(tensor.nbytes for tensor in tensors.values())
    if total > _MAX_SHARING * size:
        raise CheckpointError(
            f"{path.name} has {size:,} bytes; its tensors would need {total:,}. Get the file again."
        )
    return tensors


def checked_table(values: object, name: str) -> dict[str, Tensor]:
    """Check that `values` maps names to ordinary tensors."""
    if not isinstance(values, dict):
        raise CheckpointError(
            f"{name} is a {type(values).__name__}; expected a table of names and tensors."
        )
    for key, value in values.items():
        if not isinstance(key, str):
            raise CheckpointError(f"{name} has the key {shown(key)}; expected names of parameters.")
        if not isinstance(value, Tensor):
            raise CheckpointError(
                f"{name}: {key} is a {type(value).__name__}; expected a tensor. Is this a training "
                "checkpoint? Save the model's state_dict() alone."
            )
        if value.layout is not torch.strided or value.is_quantized or value.is_meta:
            raise CheckpointError(
                f"{name}: {key} is a sparse, quantised or meta tensor; expected an ordinary one."
            )
        if value.nbytes > (held := value.untyped_storage().nbytes()):
            raise CheckpointError(
                f"{name}: {key} of shape {tuple(value.shape)} needs {value.nbytes:,} bytes; there "
                f"are {held:,} for it."
            )
    return values


def _check_programs(path: Path) -> None:
    with BoundedFile(path, _MAX_PROGRAM_BYTES) as file:
        head = file.read(_MAX_PROGRAM_BYTES)
        zipped = head.startswith(_ZIP_MAGIC)
        stream = BytesIO(_program_in_zip(file, path) if zipped else head)
        for _ in range(1 if zipped else _STREAM_PICKLES):
            _check_program(stream, path)


def _program_in_zip(file: BinaryIO, path: Path) -> bytes:
    """Return the pickle of a zip container, whose entries must be stored as they are."""
    with zipfile.ZipFile(file) as container:
        entries = container.infolist()
        total, size = sum(entry.file_size for entry in entries), path.stat().st_size
        if total > size or any(entry.compress_type for entry in entries):
            raise CheckpointError(
                f"{path.name} has {size:,} bytes and would unpack to {total:,}. Get it again."
            )
        programs = [entry for entry in entries if entry.filename.endswith("/data.pkl")]
        if len(programs) != 1 or programs[0].file_size > _MAX_PROGRAM_BYTES:
            raise CheckpointError(_refusal(path, "it is a zip file, but not one of PyTorch"))
        return container.read(programs[0])


def _check_program(stream: BytesIO, path: Path) -> None:
    """List the instructions of a pickle; refuse what no table of tensors needs."""
    atoms, before, repeats = set[Any](), "", 0
    for number, (code, argument, _) in enumerate(pickletools.genops(stream)):
        if code.name in ("GLOBAL", "INST") and argument not in _NAMES:
            named = str(argument)[:80].replace(" ", ".")
            raise CheckpointError(
                _refusal(path, f"it names {named}, which builds no ordinary tensor")
            )
        if code.name in ("BINPUT", "LONG_BINPUT"):
            (atoms.add if before in _ATOMS else atoms.discard)(argument)
        elif code.name in ("BINGET", "LONG_BINGET"):
            repeats += argument not in atoms
        if number > _MAX_INSTRUCTIONS or repeats > _MAX_REPEATS:
            raise CheckpointError(
                _refusal(path, "it has more instructions or repetitions than any table of tensors")
            )
        before = code.name


def _refusal(path: Path, reason: str) -> str:
    return (
        f"{path.name} cannot be read as a table of tensors: {reason}. The file is damaged, or "
        "contains more than weights (nothing in it was run). Get it again, or convert it to "
        "model.safetensors where you trust it."
    )

"""Find the weight files of a folder and open them through a common interface.

Search order: `model.safetensors`, `model.safetensors.index.json` with its shards,
`pytorch_model.bin`, a TensorFlow checkpoint (`*.ckpt*.index` with its data files).
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from bert_core.checkpoints.formats.mistaken import ADAPTERS, instead
from bert_core.checkpoints.formats.pickle_file import PickleFile
from bert_core.checkpoints.formats.safetensors_file import SafetensorsFile
from bert_core.checkpoints.formats.tensorflow_checkpoint import (
    bundle_files,
    find_checkpoint,
    need_checkpoint,
    open_checkpoint,
)
from bert_core.errors import CheckpointError, MissingFileError
from bert_core.small_files import listed, parse_json, read_small, shown

SAFETENSORS = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLE = "pytorch_model.bin"
_MAX_INDEX_BYTES = 4 * 1024 * 1024
_MAX_SHARDS = 1_000


class StoredTensor(Protocol):
    """A tensor of a checkpoint that has not been read yet."""

    @property
    def dtype(self) -> torch.dtype:
        """Number type in the file."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape in the file."""

    def copy_to(self, target: Tensor) -> None:
        """Copy the tensor into `target` (same shape), converting to its dtype and device."""


@contextmanager
def open_weights(folder: Path, *, from_tf: bool = False) -> Iterator[Mapping[str, StoredTensor]]:
    """Open the weights of a folder as name -> tensor, readable until the context ends.

    Raises:
        MissingFileError: the folder has no weights.
        CheckpointError: the weights are damaged or malicious, or belong to an adapter.
    """
    if adapter := next((name for name in ADAPTERS if os.path.isfile(folder / name)), ""):
        raise CheckpointError(
            f"The folder {folder} has {adapter}. {instead([adapter])[1:]} If the weights beside it "
            "are merged already, remove the file."
        )
    with ExitStack() as stack:
        if from_tf:
            yield stack.enter_context(open_checkpoint(need_checkpoint(folder)))
        elif (name := _first(folder)) == SAFETENSORS:
            yield stack.enter_context(_open(folder / SAFETENSORS)).tensors
        elif name == INDEX:
            yield _open_shards(folder, stack)
        elif name == PICKLE:
            yield stack.enter_context(PickleFile(folder / PICKLE)).tensors
        elif (prefix := find_checkpoint(folder)) is not None:
            yield stack.enter_context(open_checkpoint(prefix))
        else:
            raise MissingFileError(_no_weights(folder))


def has_weights(folder: Path) -> bool:
    """Return whether `open_weights` would find a file."""
    return _first(folder) is not None or find_checkpoint(folder) is not None


def weight_files(folder: Path) -> tuple[Path, ...]:
    """Return the files that `open_weights` would read; () if there are none."""
    name = _first(folder)
    if name is None:
        prefix = find_checkpoint(folder)
        return () if prefix is None else bundle_files(prefix)
    shards = sorted(set(_read_index(folder / INDEX).values())) if name == INDEX else ()
    return (folder / name, *(folder / shard for shard in shards))


def _first(folder: Path) -> str | None:
    """Return the file of a folder that counts; None if it has none of the first three kinds."""
    return next((name for name in (SAFETENSORS, INDEX, PICKLE) if _is_file(folder / name)), None)


def list_names(folder: Path) -> str:
    """Return the names in a folder and what they are, as the end of an error message."""
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError as error:
        return f"nothing that can be read ({error.strerror})."
    return f"{listed(names)}.{instead(names)}"


def _open(path: Path) -> SafetensorsFile:
    try:
        return SafetensorsFile(path)
    except OSError as error:
        raise CheckpointError(f"{path.name} cannot be read: {error.strerror}.") from None


def _is_file(path: Path) -> bool:
    """Return whether a regular file exists; reject anything else of that name."""
    if os.path.isfile(path):
        return True
    if os.path.exists(path):
        raise CheckpointError(f"{path.name} is not a regular file; expected weights.")
    return False


def _open_shards(folder: Path, stack: ExitStack) -> dict[str, StoredTensor]:
    """Open every shard in an index; each tensor must be in the shard listed for it."""
    places = _read_index(folder / INDEX)
    shards: dict[str, SafetensorsFile] = {}
    found: dict[str, StoredTensor] = {}
    for name, shard in places.items():
        if shard not in shards:
            if not _is_file(folder / shard):
                raise MissingFileError(
                    f"{INDEX} names the shard {shard}, which is not in the folder. Get it, too."
                )
            shards[shard] = stack.enter_context(_open(folder / shard))
        tensor = shards[shard].tensors.get(name)
        if tensor is None:
            raise CheckpointError(
                f"{INDEX} says that {name} is in {shard}; it is not. The files do not "
                "belong together, get them again."
            )
        found[name] = tensor
    return found


def _read_index(path: Path) -> dict[str, str]:
    """Return tensor name -> file name of its shard; reject names with folders."""
    index = parse_json(read_small(path, _MAX_INDEX_BYTES), path.name, unique=True)
    try:
        places = index["weight_map"]
        pairs = list(places.items())
    except (KeyError, TypeError, AttributeError):
        raise CheckpointError(
            f'{path.name} is not an index: expected {{"weight_map": {{tensor: file}}}}.'
        ) from None
    for name, shard in pairs:
        if not isinstance(shard, str) or not _is_plain_name(shard):
            raise CheckpointError(
                f"{path.name} puts {name[:80]} into {shown(shard)}; expected the plain name of a "
                ".safetensors file in the same folder. Nothing outside it is opened."
            )
    if not 0 < len(set(places.values())) <= _MAX_SHARDS:
        raise CheckpointError(f"{path.name} names {len(set(places.values())):,} shards.")
    return dict(pairs)


def _is_plain_name(name: str) -> bool:
    """Return whether a name stays inside its folder on every system.

    >>> [_is_plain_name(name) for name in ("a-1.safetensors", "../a.safetensors", "C:a", "a.bin")]
    [True, False, False, False]
    """
    return name.endswith(".safetensors") and not any(sign in name for sign in "/\\:\0")


def _no_weights(folder: Path) -> str:
    return (
        f"The folder {folder} has no weights. Expected {SAFETENSORS}, {INDEX} with its shards, "
        f"{PICKLE}, or a TensorFlow checkpoint such as bert_model.ckpt.index with "
        f"bert_model.ckpt.data-00000-of-00001. Found: {list_names(folder)}"
    )

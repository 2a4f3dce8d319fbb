"""Find the weight files of a folder and open them: name -> tensor, whatever the format.

Search order: `model.safetensors`, `model.safetensors.index.json` with its shards,
`pytorch_model.bin`, a TensorFlow checkpoint (`*.ckpt*.index` with its data files).
"""

import os
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from bert_core.checkpoints.formats.mistaken import ADAPTERS, instead
from bert_core.checkpoints.formats.pickle_file import open_pickle
from bert_core.checkpoints.formats.safetensors_file import open_safetensors
from bert_core.checkpoints.formats.tensorflow_checkpoint import (
    bundle_files,
    find_checkpoint,
    open_checkpoint,
)
from bert_core.errors import CheckpointError, MissingFileError
from bert_core.small_files import listed, parse_json, read_small, shown

SAFETENSORS = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLE = "pytorch_model.bin"
HELD: dict[Path, Mapping[str, Tensor]] = {}
"""Weights of models in memory, by the folder that has their configuration and vocabulary."""

_MAX_INDEX_BYTES = 4 * 1024 * 1024
_MAX_SHARDS = 1_000


def open_weights(folder: Path, *, from_tf: bool = False, values: bool = True) -> dict[str, Tensor]:
    """Return the tensors of a folder by name, read into memory and not mapped.

    Without `values`, tensors of safetensors files have names, types and shapes alone, which takes
    milliseconds. Other formats are read as a whole.
    """
    if folder in HELD:
        return dict(HELD[folder])
    if adapter := next((name for name in ADAPTERS if os.path.isfile(folder / name)), ""):
        raise CheckpointError(
            f"The folder {folder} has {adapter}. {instead([adapter])[1:]} If the weights beside it "
            "are merged already, remove the file."
        )
    name = None if from_tf else _first(folder)
    if name == SAFETENSORS:
        return open_safetensors(folder / SAFETENSORS, values=values)
    if name == INDEX:
        return _open_shards(folder, values)
    if name == PICKLE:
        return open_pickle(folder / PICKLE)
    if (prefix := find_checkpoint(folder)) is not None:
        return open_checkpoint(prefix)
    others = "" if from_tf else f"{SAFETENSORS}, {INDEX} with its shards, {PICKLE}, or "
    raise MissingFileError(
        f"The folder {folder} has no {'TensorFlow checkpoint' if from_tf else 'weights'}. Expected "
        f"{others}files such as bert_model.ckpt.index and bert_model.ckpt.data-00000-of-00001. "
        f"Found: {list_names(folder)}"
    )


def weight_files(folder: Path) -> tuple[Path, ...]:
    """Return the files that `open_weights` would read; () if there are none."""
    name = _first(folder)
    if name is None:
        prefix = find_checkpoint(folder)
        return () if prefix is None else bundle_files(prefix)
    shards = sorted(set(_read_index(folder / INDEX).values())) if name == INDEX else ()
    return (folder / name, *(folder / shard for shard in shards))


def list_names(folder: Path) -> str:
    """Return the names in a folder and what they are, as the end of an error message."""
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError as error:
        return f"nothing that can be read ({error.strerror})."
    return f"{listed(names)}.{instead(names)}"


def _first(folder: Path) -> str | None:
    """Return the file of a folder that counts; None if it has none of the first three kinds."""
    for name in (SAFETENSORS, INDEX, PICKLE):
        if os.path.isfile(folder / name):
            return name
        if os.path.exists(folder / name):
            raise CheckpointError(f"{name} is not a regular file; expected weights.")
    return None


def _open_shards(folder: Path, values: bool) -> dict[str, Tensor]:
    places = _read_index(folder / INDEX)
    shards: dict[str, dict[str, Tensor]] = {}
    for shard in dict.fromkeys(places.values()):
        if not os.path.isfile(folder / shard):
            raise MissingFileError(
                f"{INDEX} names the shard {shard}, which is not in the folder. Get it, too."
            )
        shards[shard] = open_safetensors(folder / shard, values=values)
    for name, shard in places.items():
        if name not in shards[shard]:
            raise CheckpointError(
                f"{INDEX} says that {name} is in {shard}; it is not. Get the files again."
            )
    return {name: shards[shard][name] for name, shard in places.items()}


def _read_index(path: Path) -> dict[str, str]:
    index = parse_json(read_small(path, _MAX_INDEX_BYTES), path.name, unique=True)
    places = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(places, dict):
        raise CheckpointError(
            f'{path.name} is not an index: expected {{"weight_map": {{tensor: file}}}}.'
        )
    for name, shard in places.items():
        if not isinstance(shard, str) or not _is_plain_name(shard):
            raise CheckpointError(
                f"{path.name} puts {name[:80]} into {shown(shard)}; expected the plain name of a "
                ".safetensors file in the same folder. Nothing outside it is opened."
            )
    if not 0 < (count := len(set(places.values()))) <= _MAX_SHARDS:
        raise CheckpointError(f"{path.name} names {count:,} shards.")
    return places


def _is_plain_name(name: str) -> bool:
    """Return whether a name stays inside its folder on every system.

    >>> [_is_plain_name(name) for name in ("a-1.safetensors", "../a.safetensors", "C:a", "a.bin")]
    [True, False, False, False]
    """
    return name.endswith(".safetensors") and not any(sign in name for sign in "/\\:\0")

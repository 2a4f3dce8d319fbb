"""Read TensorFlow checkpoints without TensorFlow, under PyTorch's parameter names.

`<prefix>.index` is a sorted table: data blocks, an index block with their places, and a footer of
48 bytes with the place of the index block and a magic number. A block is a sequence of entries
(length of the prefix shared with the previous key, rest of the key, value), restart points, one
byte for the compression and four for a checksum, which is not compared. Values are protocol
buffers: that of the empty key has the number of data files, others type, shape and place of a
variable in `<prefix>.data-00000-of-00001` and so on, little-endian, in row-major order.

Sources: TensorFlow, `tsl/lib/io/table_format.txt`, `core/util/tensor_bundle/tensor_bundle.h`,
`core/protobuf/tensor_bundle.proto`, `core/framework/types.proto`; for names google-research/bert,
and `load_tf_weights_in_bert` of transformers 4.
"""

import glob
import math
import os
import re
from collections.abc import Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bert_core.checkpoints.formats.mistaken import check_form
from bert_core.errors import CheckpointError, MissingFileError
from bert_core.small_files import protobuf_fields, read_small, varint

# -- the index ------------------------------------------------------------------------------------

_FOOTER_BYTES = 48
_MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
# The index of BERT large with its optimizer has 100 kB and 1,200 entries.
_MAX_FILE_BYTES = 16 * 1024 * 1024
_MAX_ENTRIES = 20_000
_MAX_KEY_BYTES = 1024
_STRING = 7
_DTYPES = (
    {1: torch.float32, 2: torch.float64, 3: torch.int32, 4: torch.uint8, 5: torch.int16}
    | {6: torch.int8, 9: torch.int64, 10: torch.bool, 14: torch.bfloat16, 19: torch.float16}
)  # fmt: skip
# Numbers of the fields in a tensor's entry.
_DTYPE, _SHAPE, _SHARD, _START, _SIZE, _, _SLICES = range(1, 8)


# A tensor: the number of its data file, its first byte there and their number, name, type, shape.
_Entry = tuple[int, int, int, str, torch.dtype, tuple[int, ...]]


def _taken(raw: bytes, at: int, size: int) -> tuple[bytes, int]:
    if at + size > len(raw):
        raise ValueError(f"it announces {size:,} bytes where {len(raw) - at:,} are left")
    return raw[at : at + size], at + size


def _fields(raw: bytes) -> dict[int, list[Any]]:
    """Return the fields of a message: number -> values in their order."""
    found: dict[int, list[Any]] = {}
    for number, value in protobuf_fields(raw):
        found.setdefault(number, []).append(value)
    return found


def _last(fields: Mapping[int, list[Any]], number: int, default: Any = 0) -> Any:
    """Return the last value of a field; writers omit what is zero or empty."""
    value = fields.get(number, [default])[-1]
    if type(value) is not type(default):
        raise ValueError(f"field {number} is of another kind")
    return value


def _block(raw: bytes, place: bytes, at: int = 0) -> Iterator[tuple[bytes, bytes]]:
    start, at = varint(place, at)
    block, end = _taken(raw, start, varint(place, at)[0])
    if raw[end]:
        raise ValueError("it is compressed; expected an index as TensorFlow writes it")
    restarts = int.from_bytes(block[-4:], "little")
    entries = block[: max(0, len(block) - 4 * (restarts + 1))]
    key, at = b"", 0
    while at < len(entries):
        kept, at = varint(entries, at)
        added, at = varint(entries, at)
        length, at = varint(entries, at)
        more, at = _taken(entries, at, added)
        key = key[:kept] + more
        if len(key) > _MAX_KEY_BYTES:
            raise ValueError(f"a key has more than {_MAX_KEY_BYTES:,} bytes")
        value, at = _taken(entries, at, length)
        yield key, value


def _table(raw: bytes) -> dict[bytes, bytes]:
    if len(raw) < _FOOTER_BYTES or not raw.endswith(_MAGIC):
        raise ValueError(f"it has {len(raw):,} bytes and does not end like an index")
    footer = raw[-_FOOTER_BYTES:]
    at = varint(footer, varint(footer, 0)[1])[1]  # after the place of a block that is empty here
    found: dict[bytes, bytes] = {}
    places = (place for _, place in _block(raw, footer, at))
    entries = (entry for place in places for entry in _block(raw, place))
    for count, (key, value) in enumerate(entries):
        if count >= _MAX_ENTRIES:
            raise ValueError(f"it names more than {_MAX_ENTRIES:,} tensors")
        found[key] = value
    return found


def _entries(raw: bytes) -> tuple[int, list[_Entry]]:
    """Return the number of data files, and the tensors in their order; texts are left out."""
    table = {key: _fields(value) for key, value in _table(raw).items()}
    header = table.pop(b"")
    if _last(header, 2):
        raise ValueError("its numbers are big-endian; convert it where it was written")
    if sliced := next((key for key, fields in table.items() if _SLICES in fields), b""):
        raise ValueError(
            f"the variable {sliced.decode('utf-8', 'replace')[:80]} was saved in slices "
            "(partitioned); load it with TensorFlow and save it without a partitioner"
        )
    found = []
    for key, fields in table.items():
        kind = _last(fields, _DTYPE)
        if kind == _STRING:
            continue
        sizes = _fields(_last(fields, _SHAPE, b"")).get(2, [])
        shape = tuple(_last(_fields(each), 1) for each in sizes)
        shard, start, size = (_last(fields, field) for field in (_SHARD, _START, _SIZE))
        name, dtype = key.decode("utf-8"), _DTYPES[kind]
        if math.prod(shape) * dtype.itemsize != size or len(shape) > 8:
            raise ValueError(f"{name[:80]} of shape {shape[:9]} has {size:,} bytes")
        found.append((shard, start, size, name, dtype, shape))
    return _last(header, 1), sorted(found, key=itemgetter(0, 1, 2, 3))


# -- the tensors ----------------------------------------------------------------------------------


def read_variables(prefix: Path) -> dict[str, Tensor]:
    """Return the variables of a checkpoint without those of optimizers, read into memory."""
    index = _existing(prefix.with_name(f"{prefix.name}.index"))
    raw = read_small(index, _MAX_FILE_BYTES)
    try:
        shards, entries = _entries(raw)
    except (ValueError, LookupError, TypeError) as error:
        reason = f"{type(error).__name__}: {error}"[:300]
        raise CheckpointError(
            f"{index.name} is truncated, damaged or no TensorFlow index ({reason})."
        ) from None
    files: dict[int, tuple[Path, int]] = {}
    found, behind = {}, (0, 0)
    for shard, start, size, name, dtype, shape in entries:
        if shard not in files:
            path = _existing(prefix.with_name(f"{prefix.name}.data-{shard:05d}-of-{shards:05d}"))
            files[shard] = path, check_form(path)
        path, held = files[shard]
        is_used = not _OPTIMIZER.search(name)
        fits = start + size <= held and (not size or (shard, start) >= behind)
        is_read = is_used and fits and size > 0
        memory = np.fromfile(path, np.uint8, size, offset=start) if is_read else b""
        if not fits or (is_read and len(memory) < size):
            raise CheckpointError(
                f"{prefix.name}.index puts {name[:80]} at {start:,} to {start + size:,} of a file "
                f"of {held:,} bytes, outside of it or upon another tensor. Get it again."
            )
        behind = max(behind, (shard, start + size))
        if is_used:
            flat = torch.frombuffer(memory, dtype=dtype) if size else torch.empty(0, dtype=dtype)
            found[name] = flat.view(shape)
    return found


def bundle_files(prefix: Path) -> tuple[Path, ...]:
    """Return the existing files of a checkpoint, the index first; nothing is read."""
    pattern = f"{glob.escape(prefix.name)}.data-[0-9]*-of-[0-9]*"
    return (prefix.with_name(f"{prefix.name}.index"), *sorted(prefix.parent.glob(pattern)))


def _existing(path: Path) -> Path:
    if not path.exists():
        raise MissingFileError(
            f"The file {path.name} is not in {path.parent}. A TensorFlow checkpoint consists of "
            "NAME.index and NAME.data-00000-of-00001 (or more of these); get all of them."
        )
    return path


# -- names ----------------------------------------------------------------------------------------

# Optimizer variables, recognised by a part of their name.
_OPTIMIZER = re.compile(
    r"(^|/)(adam_[mv]|AdamWeightDecayOptimizer(_1)?|Adam(_1)?|beta[12]_power|global_step"
    r"|(current_)?loss_scale|(good|bad)_steps)(/|$)"
)
_LEAVES = dict.fromkeys(("kernel", "gamma", "output_weights"), "weight") | dict.fromkeys(
    ("beta", "output_bias"), "bias"
)
_OBJECTS = "/.ATTRIBUTES/VARIABLE_VALUE"


def published_name(variable: str) -> str:
    """Return the name of a variable in PyTorch checkpoints.

    >>> published_name("bert/encoder/layer_7/attention/self/query/kernel")
    'bert.encoder.layer.7.attention.self.query.weight'
    >>> published_name("cls/predictions/output_bias"), published_name("output_weights")
    ('cls.predictions.bias', 'classifier.weight')
    """
    *scopes, leaf = variable.replace("cls/squad/", "qa_outputs/").split("/")
    if leaf in ("output_weights", "output_bias"):
        scopes = scopes or ["classifier"]
    elif leaf.endswith("_embeddings"):
        scopes, leaf = [*scopes, leaf], "weight"
    parts = (re.sub(r"^layer_(\d+)$", r"layer.\1", scope) for scope in scopes)
    return ".".join((*parts, _LEAVES.get(leaf, leaf)))


def open_checkpoint(prefix: Path) -> dict[str, Tensor]:
    """Return the tensors of a checkpoint under the names and in the layout of PyTorch's.

    A dense layer's matrix is (inputs, outputs) in TensorFlow and (outputs, inputs) in PyTorch.
    """
    variables = read_variables(prefix)
    found: dict[str, Tensor] = {}
    for variable, tensor in variables.items():
        scope, _, leaf = variable.rpartition("/")
        if variable.endswith(_OBJECTS):
            raise CheckpointError(
                f"{prefix.name} was saved from Keras objects of TensorFlow 2 ({variable}); "
                "expected variables such as bert/encoder/layer_0/output/dense/kernel."
            )
        if scope in variables:  # of an optimizer, which names its own after the variable's
            continue
        name = published_name(variable)
        if name in found:
            raise CheckpointError(
                f"{prefix.name} contains {name} twice, also as {variable}; expected it once."
            )
        found[name] = tensor.mT if leaf == "kernel" and tensor.dim() == 2 else tensor
    return found


# -- folders --------------------------------------------------------------------------------------

_STATE = "checkpoint"
_MAX_STATE_BYTES = 1024 * 1024
_LATEST = re.compile(rb'(?m)^model_checkpoint_path: "([^"\n]+)"')


def find_checkpoint(folder: Path) -> Path | None:
    """Return the prefix of a folder's TensorFlow checkpoint; None if there is none."""
    names = sorted(path.name.removesuffix(".index") for path in folder.glob("*.index"))
    prefixes = [name for name in names if "ckpt" in name]
    if len(prefixes) > 1:
        latest = ""
        if os.path.isfile(folder / _STATE):
            with (folder / _STATE).open("rb") as file:
                said = _LATEST.search(file.read(_MAX_STATE_BYTES))
            latest = said[1].decode("utf-8", "replace") if said else ""  # a path elsewhere
        latest = re.split(r"[/\\]", latest)[-1]
        if latest not in prefixes:
            shown = ", ".join(prefixes[:6]) + (" ..." if len(prefixes) > 6 else "")
            raise CheckpointError(
                f"The folder {folder} contains {len(prefixes)} TensorFlow checkpoints ({shown}); "
                'expected one, or a file checkpoint with a line model_checkpoint_path: "NAME".'
            )
        prefixes = [latest]
    return folder / prefixes[0] if prefixes else None

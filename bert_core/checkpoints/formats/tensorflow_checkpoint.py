"""Read TensorFlow checkpoints without TensorFlow, under PyTorch's parameter names.

`<prefix>.index` names the tensors (see `tensorflow_index`); the numbers are in
`<prefix>.data-00000-of-00001` and so on, little-endian, in row-major order. Training writes several
checkpoints to one folder (`model.ckpt-1000.index`, `model.ckpt-2000.index`, ...), and a small text
file `checkpoint` that names the last one.

The checksum of every tensor is verified before the tensor is returned. Tensors are read one at a
time, directly into their final memory or into one shared buffer, so weights are never resident
twice. `TensorBundle` reads the files, `by_published_name` renames the variables, and the other
modules call `find_checkpoint` and `open_checkpoint`.

Sources: TensorFlow, `core/util/tensor_bundle/tensor_bundle.h`; google-research/bert,
`modeling.py`, `run_pretraining.py`, `run_classifier.py` and `run_squad.py` for the variables;
transformers (up to version 4), `load_tf_weights_in_bert`, for their later names.
"""

import glob
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from bert_core.checkpoints.formats.crc32c import crc32c, masked
from bert_core.checkpoints.formats.file_tensors import TensorFile
from bert_core.checkpoints.formats.tensorflow_index import IndexEntry, read_index
from bert_core.errors import CheckpointError, MissingFileError

# -- files ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BundleTensor:
    """One tensor of an open checkpoint.

    Attributes:
        bundle: the checkpoint.
        entry: type, shape and place of the tensor.
        transposed: whether to swap its two axes: a dense layer's matrix is (inputs, outputs) in
            TensorFlow and (outputs, inputs) in PyTorch.
    """

    bundle: "TensorBundle"
    entry: IndexEntry
    transposed: bool = False

    @property
    def dtype(self) -> torch.dtype:
        """Number type in the file."""
        return self.entry.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, after transposing."""
        return self.entry.shape[::-1] if self.transposed else self.entry.shape

    def copy_to(self, target: Tensor) -> None:
        """Fill `target`, of the same shape, converting to its dtype and device.

        Raises:
            CheckpointError: the bytes are not those originally written.
        """
        target = target.detach()
        direct = (target.dtype, target.device.type) == (self.dtype, "cpu")
        if direct and target.is_contiguous() and not self.transposed:
            self.bundle.read_into(target.view(-1).view(torch.uint8), self.entry)
            return
        raw = self.bundle.buffer(self.entry.size)
        self.bundle.read_into(raw, self.entry)
        stored = raw.view(self.dtype).view(self.entry.shape)
        target.copy_(stored.mT if self.transposed else stored)


class TensorBundle:
    """An open checkpoint whose index has been checked; a context manager.

    Attributes:
        tensors: name -> tensor.

    Raises:
        MissingFileError: the index or one of the data files is missing.
        CheckpointError: a file is damaged, malicious, or of an unsupported kind.
    """

    def __init__(self, prefix: Path) -> None:
        self._buffer = torch.empty(0, dtype=torch.uint8, device="cpu")
        self._files: dict[int, TensorFile] = {}
        shards, entries = read_index(_existing(prefix.with_name(f"{prefix.name}.index")))
        with ExitStack() as stack:
            for shard in sorted({entry.shard for entry in entries}):
                path = prefix.with_name(f"{prefix.name}.data-{shard:05d}-of-{shards:05d}")
                file = stack.enter_context(TensorFile(_existing(path)))
                _check_places((entry for entry in entries if entry.shard == shard), file)
                self._files[shard] = file
            self._close = stack.pop_all().close
        self.tensors = {entry.name: BundleTensor(self, entry) for entry in entries}

    def __enter__(self) -> "TensorBundle":
        return self

    def __exit__(self, *error: object) -> None:
        self._close()

    def buffer(self, size: int) -> Tensor:
        """Return (size,) uint8, a part of the buffer that all tensors share."""
        if self._buffer.numel() < size:
            self._buffer = torch.empty(size, dtype=torch.uint8, device="cpu")
        return self._buffer[:size]

    def read_into(self, raw: Tensor, entry: IndexEntry) -> None:
        """Fill `raw`, (bytes,) uint8, from the file and verify the checksum.

        Raises:
            CheckpointError: the file was truncated, or the checksum is wrong.
        """
        file, array = self._files[entry.shard], raw.numpy()
        file.read_into(array.data, entry.start, entry.name)
        if masked(crc32c(array)) != entry.checksum:
            raise CheckpointError(
                f"{file.path.name}: the checksum of the tensor {entry.name} is wrong. The file is "
                "damaged; get it again."
            )


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


def _check_places(entries: Iterable[IndexEntry], file: TensorFile) -> None:
    """Reject tensors that are outside their file or overlap each other."""
    behind, before = 0, ""
    for entry in sorted(entries, key=lambda entry: (entry.start, entry.size)):
        end = entry.start + entry.size
        if end > file.size:
            raise CheckpointError(
                f"{file.path.name} has {file.size:,} bytes; the index puts the tensor "
                f"{entry.name} at {entry.start:,} to {end:,}. The file is truncated or damaged; "
                "get it again."
            )
        if entry.start < behind and entry.size:
            raise CheckpointError(
                f"{file.path.name}: the tensor {entry.name} begins at byte {entry.start:,}, "
                f"inside {before}. The index is damaged; get it again."
            )
        behind, before = max(behind, end), entry.name


# -- names ----------------------------------------------------------------------------------------

# Optimizer variables, recognised by a part of their name.
_OPTIMIZER = {
    "adam_m",
    "adam_v",
    "AdamWeightDecayOptimizer",
    "AdamWeightDecayOptimizer_1",
    "Adam",
    "Adam_1",
    "beta1_power",
    "beta2_power",
    "global_step",
    "current_loss_scale",
    "loss_scale",
    "good_steps",
    "bad_steps",
}
_LEAVES = {
    "kernel": "weight",
    "gamma": "weight",
    "output_weights": "weight",
    "beta": "bias",
    "output_bias": "bias",
}
_LAYER = re.compile(r"layer_(\d+)")
_OBJECTS = "/.ATTRIBUTES/VARIABLE_VALUE"


def published_name(variable: str) -> str | None:
    """Return the name of a variable in PyTorch checkpoints; None for optimizer variables.

    >>> published_name("bert/encoder/layer_7/attention/self/query/kernel")
    'bert.encoder.layer.7.attention.self.query.weight'
    >>> published_name("cls/predictions/output_bias"), published_name("output_weights")
    ('cls.predictions.bias', 'classifier.weight')
    >>> published_name("bert/pooler/dense/bias/adam_m") is None
    True
    """
    *scopes, leaf = variable.split("/")
    if not _OPTIMIZER.isdisjoint((*scopes, leaf)):
        return None
    if scopes == ["cls", "squad"]:
        scopes = ["qa_outputs"]
    elif not scopes and leaf in ("output_weights", "output_bias"):
        scopes = ["classifier"]
    if leaf.endswith("_embeddings"):
        scopes, leaf = [*scopes, leaf], "weight"
    parts = (
        _LAYER.sub(r"layer.\1", scope) if _LAYER.fullmatch(scope) else scope for scope in scopes
    )
    return ".".join((*parts, _LEAVES.get(leaf, leaf)))


def by_published_name(tensors: Mapping[str, BundleTensor], source: str) -> dict[str, BundleTensor]:
    """Convert a checkpoint to the names and layout of published PyTorch checkpoints.

    Raises:
        CheckpointError: two variables map to one parameter, or the checkpoint contains TensorFlow 2
            objects.
    """
    found: dict[str, BundleTensor] = {}
    origin: dict[str, str] = {}
    for variable, tensor in tensors.items():
        if variable.endswith(_OBJECTS):
            raise CheckpointError(
                f"{source} was saved from Keras objects of TensorFlow 2 ({variable}). Expected "
                "the variables of the original release, such as "
                "bert/encoder/layer_0/output/dense/kernel."
            )
        name = published_name(variable)
        if name is None or variable.rpartition("/")[0] in tensors:
            continue  # an optimizer's variables are named after the variable that they belong to
        if name in origin:
            raise CheckpointError(
                f"{source} contains {name} twice, as {origin[name]} and as {variable}; expected "
                "it once."
            )
        origin[name] = variable
        is_kernel = variable.rpartition("/")[2] == "kernel" and len(tensor.shape) == 2
        found[name] = replace(tensor, transposed=is_kernel)
    return found


# -- folders --------------------------------------------------------------------------------------

_STATE = "checkpoint"
_MAX_STATE_BYTES = 1024 * 1024
_LATEST = re.compile(rb'(?m)^model_checkpoint_path: "([^"\n]+)"')


def find_checkpoint(folder: Path) -> Path | None:
    """Return the prefix of a folder's TensorFlow checkpoint; None if there is none.

    Raises:
        CheckpointError: there are several, and no `checkpoint` file names one of them.
    """
    names = sorted(path.name.removesuffix(".index") for path in folder.glob("*.index"))
    prefixes = [name for name in names if "ckpt" in name]
    if len(prefixes) > 1:
        latest = _latest(folder)
        if latest not in prefixes:
            shown = ", ".join(prefixes[:6]) + (" ..." if len(prefixes) > 6 else "")
            raise CheckpointError(
                f"The folder {folder} contains {len(prefixes)} TensorFlow checkpoints ({shown}). "
                "Expected one, or a file called checkpoint with the line "
                'model_checkpoint_path: "NAME" to say which.'
            )
        prefixes = [latest]
    return folder / prefixes[0] if prefixes else None


def need_checkpoint(folder: Path) -> Path:
    """Return the result of `find_checkpoint`, which must exist.

    Raises:
        MissingFileError: the folder has no TensorFlow checkpoint.
    """
    prefix = find_checkpoint(folder)
    if prefix is None:
        raise MissingFileError(
            f"The folder {folder} has no TensorFlow checkpoint. Expected files such as "
            "bert_model.ckpt.index and bert_model.ckpt.data-00000-of-00001."
        )
    return prefix


@contextmanager
def open_checkpoint(prefix: Path) -> Iterator[Mapping[str, BundleTensor]]:
    """Open a checkpoint as published name -> tensor, readable until the context ends.

    Raises:
        MissingFileError: one of its files is missing.
        CheckpointError: a file is damaged, malicious, or of an unsupported kind.
    """
    with TensorBundle(prefix) as bundle:
        yield by_published_name(bundle.tensors, prefix.name)


def _latest(folder: Path) -> str:
    """Return the name given in the file `checkpoint`, without leading folders."""
    path = folder / _STATE
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        found = _LATEST.search(file.read(_MAX_STATE_BYTES))
    return re.split(r"[/\\]", found[1].decode("utf-8", "replace"))[-1] if found else ""

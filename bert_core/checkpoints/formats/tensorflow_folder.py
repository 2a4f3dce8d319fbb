"""Which TensorFlow checkpoint of a folder is meant, and its weights under today's names.

Training leaves several in one folder (`model.ckpt-1000.index`, `model.ckpt-2000.index`, ...) and a
small text file called `checkpoint` that names the last one.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bert_core.checkpoints.formats.tensorflow_bundle import BundleTensor, TensorBundle
from bert_core.checkpoints.formats.tensorflow_names import TransposedTensor, by_published_name
from bert_core.errors import CheckpointError, MissingFileError

_STATE = "checkpoint"
_MAX_STATE_BYTES = 1024 * 1024
_LATEST = re.compile(rb'(?m)^model_checkpoint_path: "([^"\n]+)"')


def find_checkpoint(folder: Path) -> Path | None:
    """Return the prefix of a folder's TensorFlow checkpoint; None where there is none.

    Raises:
        CheckpointError: there are several, and no file `checkpoint` names one of them.
    """
    names = sorted(path.name.removesuffix(".index") for path in folder.glob("*.index"))
    prefixes = [name for name in names if "ckpt" in name]
    if len(prefixes) > 1:
        latest = _latest(folder)
        if latest not in prefixes:
            shown = ", ".join(prefixes[:6]) + (" ..." if len(prefixes) > 6 else "")
            raise CheckpointError(
                f"The folder {folder} holds {len(prefixes)} TensorFlow checkpoints ({shown}). "
                "Which one is meant cannot be told: expected one, or a file called checkpoint "
                'that says model_checkpoint_path: "NAME".'
            )
        prefixes = [latest]
    return folder / prefixes[0] if prefixes else None


def need_checkpoint(folder: Path) -> Path:
    """Return what `find_checkpoint` finds.

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
def open_checkpoint(prefix: Path) -> Iterator[Mapping[str, BundleTensor | TransposedTensor]]:
    """Open a checkpoint: published name -> tensor, readable until the context ends.

    Args:
        prefix: the path of its files without `.index`.

    Raises:
        MissingFileError: one of its files is not there.
        CheckpointError: they are damaged, hostile, or of a kind that is not read.
    """
    with TensorBundle(prefix) as bundle:
        yield by_published_name(bundle.tensors, prefix.name)


def _latest(folder: Path) -> str:
    """Return the name that the file `checkpoint` gives, without any folders before it."""
    path = folder / _STATE
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        found = _LATEST.search(file.read(_MAX_STATE_BYTES))
    return re.split(r"[/\\]", found[1].decode("utf-8", "replace"))[-1] if found else ""

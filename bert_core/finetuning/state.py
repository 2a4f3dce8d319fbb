"""The file from which a training is resumed."""

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from bert_core.errors import CheckpointError, MissingFileError
from bert_core.small_files import replacing


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write a state; an interruption leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with replacing(path) as draft, draft.open("wb") as stream:
            torch.save(dict(state), stream)
            stream.flush()
            os.fsync(stream.fileno())
    except RuntimeError as error:
        # PyTorch's writer complains about its position in a file that could not be written.
        raise (error.__context__ if isinstance(error.__context__, OSError) else error) from None


def load_state(path: Path) -> dict[str, Any]:
    """Read a state without a model and without running code.

    Raises:
        MissingFileError: the file does not exist.
        CheckpointError: the file is damaged.
    """
    if not path.is_file():
        raise MissingFileError(f"There is no training state at {path}. Start without resuming.")
    try:
        with warnings.catch_warnings(action="ignore"):  # PyTorch warns about damaged files
            return dict(torch.load(path, map_location="cpu", weights_only=True))
    except Exception as error:  # noqa: BLE001  a damaged pickle can raise anything
        raise CheckpointError(
            f"The training state {path} cannot be read ({str(error)[:200]}). Remove it."
        ) from None

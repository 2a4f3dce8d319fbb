"""The file a training is resumed from: parameters, optimizer, random state, position.

One file, written beside its final name and moved there, so that a kill leaves either the old one
or the new one. Read with `weights_only=True`: opening such a file never runs code.
"""

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from bert_core.errors import CheckpointError, MissingFileError
from bert_core.model import BertPreTrainedModel

_FORMAT = 1


def write_state(
    path: Path,
    model: BertPreTrainedModel,
    optimizer: torch.optim.Optimizer,
    record: Mapping[str, Any],
) -> None:
    """Write a resumable state atomically.

    Args:
        path: the file; its folder is made where needed.
        model: its parameters are stored.
        optimizer: its moments are stored.
        record: plain values (numbers, texts, lists, dicts) to hand back on reading.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {
        "format": _FORMAT,
        "model": {name: value.detach().clone() for name, value in model.named_parameters()},
        "optimizer": optimizer.state_dict(),
        "random": torch.get_rng_state(),
        "cuda_random": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "record": dict(record),
    }
    beside = path.with_name(path.name + ".part")
    with beside.open("wb") as stream:
        torch.save(state, stream)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(beside, path)


def read_state(
    path: Path, model: BertPreTrainedModel, optimizer: torch.optim.Optimizer
) -> dict[str, Any]:
    """Restore model, optimizer and random state in place; return the record.

    Raises:
        MissingFileError: there is no such file.
        CheckpointError: the file is damaged or belongs to another model.
    """
    if not path.is_file():
        raise MissingFileError(f"There is no training state at {path}. Start without resuming.")
    try:
        with warnings.catch_warnings(action="ignore"):  # of PyTorch, about what damage looks like
            state = dict(torch.load(path, map_location="cpu", weights_only=True))
        stored = {str(name): torch.as_tensor(value) for name, value in state["model"].items()}
        moments, record = dict(state["optimizer"]), dict(state["record"])
        random, cuda_random = state["random"], list(state["cuda_random"])
    except Exception as error:  # noqa: BLE001  a damaged pickle can fail in any way at all
        raise CheckpointError(
            f"The training state {path} cannot be read ({str(error)[:200]}). Remove it to start "
            "again."
        ) from None
    parameters = dict(model.named_parameters())
    wrong = sorted(set(parameters) ^ set(stored)) or [
        name for name, value in stored.items() if value.shape != parameters[name].shape
    ]
    if wrong:
        raise CheckpointError(
            f"The training state {path} belongs to another model: {', '.join(wrong[:3])} "
            f"differ{'s' if len(wrong) == 1 else ''}. Build the model it was saved from."
        )
    try:
        optimizer.load_state_dict(moments)
        torch.set_rng_state(random)
    except Exception as error:  # noqa: BLE001  as above
        raise CheckpointError(
            f"The training state {path} does not fit this training ({str(error)[:200]}). Remove "
            "it to start again."
        ) from None
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(stored[name])
    if cuda_random and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(cuda_random)
    return record

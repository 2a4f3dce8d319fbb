"""Saving and restoring the state of a training: parameters, optimizer, average, random state, step.

The file is written under a temporary name and then renamed, so that an interruption leaves either
the old or the new file. It is read with `weights_only=True`, so opening it never runs code.
"""

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bert_core.errors import CheckpointError, MissingFileError
from bert_core.finetuning.averaging import WeightAverage
from bert_core.finetuning.optimizer import Optimizer
from bert_core.model.pretrained import BertPreTrainedModel

_FORMAT = 1


def write_state(
    path: Path,
    model: BertPreTrainedModel,
    optimizer: Optimizer,
    record: Mapping[str, Any],
    average: WeightAverage | None = None,
) -> None:
    """Write a resumable state atomically.

    `record` has plain values (numbers, strings, lists, dicts), which `read_state` returns.

    Raises:
        OSError: the file cannot be written; nothing of it is left.
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
    if average is not None and average.count:
        state["average"] = average.state()
    draft = path.with_name(path.name + ".part")
    try:
        with draft.open("wb") as stream:
            torch.save(state, stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(draft, path)
    except RuntimeError as error:
        # PyTorch's writer complains about its position in a file that could not be written.
        raise (error.__context__ if isinstance(error.__context__, OSError) else error) from None
    finally:
        draft.unlink(missing_ok=True)


def read_state(
    path: Path,
    model: BertPreTrainedModel,
    optimizer: Optimizer,
    average: WeightAverage | None = None,
) -> dict[str, Any]:
    """Restore model, optimizer, average and random state in place; return the record.

    Raises:
        MissingFileError: the file does not exist.
        CheckpointError: the file is damaged or belongs to another model.
    """
    state = load_state(path)
    try:
        stored = _tensors(state["model"])
        kept = dict(state.get("average", {"count": 0, "weights": {}}))
        count, means = int(kept["count"]), _tensors(kept["weights"])
        moments, record = dict(state["optimizer"]), dict(state["record"])
        random, cuda_random = state["random"], list(state["cuda_random"])
    except Exception as error:  # noqa: BLE001  a damaged pickle can raise anything
        raise _unreadable(path, error) from None
    parameters = dict(model.named_parameters())
    for weights in (stored, means) if count else (stored,):
        _check_names(path, parameters, weights)
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
    if average is not None:
        average.restore(count, means)
    if cuda_random and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(cuda_random)
    return record


def load_state(path: Path) -> dict[str, Any]:
    """Load a state as it was saved, without a model.

    Raises:
        MissingFileError: the file does not exist.
        CheckpointError: the file is damaged.
    """
    if not path.is_file():
        raise MissingFileError(f"There is no training state at {path}. Start without resuming.")
    try:
        with warnings.catch_warnings(action="ignore"):  # PyTorch warns about damaged files
            return dict(torch.load(path, map_location="cpu", weights_only=True))
    except Exception as error:  # noqa: BLE001  as in read_state
        raise _unreadable(path, error) from None


def trained_weights(state: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the trained weights: the mean of the last weights if there is one, else the last."""
    average = state.get("average")
    return _tensors(state["model"] if average is None else average["weights"])


def _tensors(values: Mapping[Any, Any]) -> dict[str, Tensor]:
    return {str(name): torch.as_tensor(value) for name, value in values.items()}


def _check_names(path: Path, own: Mapping[str, Tensor], stored: Mapping[str, Tensor]) -> None:
    """Reject the weights of another model."""
    wrong = sorted(set(own) ^ set(stored)) or [
        name for name, value in stored.items() if value.shape != own[name].shape
    ]
    if wrong:
        raise CheckpointError(
            f"The training state {path} belongs to another model: {', '.join(wrong[:3])} "
            f"differ{'s' if len(wrong) == 1 else ''}. Build the model it was saved from."
        )


def _unreadable(path: Path, error: Exception) -> CheckpointError:
    return CheckpointError(
        f"The training state {path} cannot be read ({str(error)[:200]}). Remove it to start again."
    )

"""Choose the device that models compute on, and move their outputs back to the CPU."""

from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor

from app.settings import settings
from bert_core.errors import ConfigError
from bert_core.model.outputs import ModelOutputs


def chosen_device() -> torch.device:
    """Return the device that the operator chose with BERT_EXPLORER_DEVICE.

    Raises:
        ConfigError: this machine has no such device.
    """
    name = settings().device
    if name == "auto":
        name = "cuda" if _has("cuda") else "mps" if _has("mps") else "cpu"
    if not _has(name):
        raise ConfigError(
            f"BERT_EXPLORER_DEVICE is {name!r}; this installation of PyTorch sees no such device. "
            "Choose cpu or auto, or install a PyTorch that supports it."
        )
    return torch.device(name)


def _has(name: str) -> bool:
    """Return whether PyTorch can compute on the named device."""
    if name.startswith("cuda"):
        number = int(name.partition(":")[2] or 0)
        return torch.cuda.is_available() and number < torch.cuda.device_count()
    return name != "mps" or torch.backends.mps.is_available()


def on_processor(outputs: ModelOutputs) -> ModelOutputs:
    """Return the outputs with all tensors on the CPU; tensors already there are not copied."""
    found = {each.name: getattr(outputs, each.name) for each in fields(outputs)}
    return replace(outputs, **{name: _moved(value) for name, value in found.items()})


def _moved(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(part.cpu() for part in value)
    return value.cpu() if isinstance(value, Tensor) else value

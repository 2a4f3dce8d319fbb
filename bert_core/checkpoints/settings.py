"""Settings of the model to build, from the caller and the folder: config, options, dtype."""

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import torch
from torch import Tensor

from bert_core.checkpoints.formats.weights import list_names
from bert_core.config import BertConfig
from bert_core.errors import ConfigError, InputError, MissingFileError
from bert_core.families import FAMILIES
from bert_core.small_files import shown

CONFIG_NAME = "config.json"
CONFIG_NAMES = (CONFIG_NAME, "bert_config.json")  # the second is from the original release
_DTYPES = ("float32", "float16", "bfloat16", "float64")
_LABELS = ("id2label", "label2id", "num_labels", "problem_type")
_OF_LOADING = {
    "config": "config",
    "ignore_mismatched_sizes": "ignore_mismatched_sizes",
    "dtype": "dtype",
    "torch_dtype": "dtype",
}


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """The caller's options for loading."""

    config: Annotated[BertConfig | None, "configuration to use instead of the files'"] = None
    overrides: Annotated[Mapping[str, Any], "fields of the files' configuration to replace"] = (
        field(default_factory=dict)
    )
    inputs: Annotated[Sequence[Any], "positional arguments of the class, after the config"] = ()
    arguments: Annotated[Mapping[str, Any], "keyword arguments of the class"] = field(
        default_factory=dict
    )
    dtype: Annotated[Any, "number type to load as; see `wanted_dtype`"] = None
    ignore_mismatched_sizes: Annotated[bool, "tensors of another shape count as missing"] = False
    is_chosen: Annotated[bool, "the caller chose the class; False: every class is tried"] = False

    @property
    def chooses_layers(self) -> bool:
        """Whether the caller chose the number of layers."""
        return self.config is not None or "num_hidden_layers" in self.overrides


def chosen_options(
    cls: type[Any], inputs: Sequence[Any], options: Mapping[str, Any]
) -> LoadOptions:
    """Sort the arguments of `from_pretrained` into those of class, config and loading."""
    names = list(inspect.signature(cls.__init__).parameters)[2:]  # after self and config
    of_config = {name for name in vars(BertConfig(1)) if not name.startswith("_")} - {"extra"}
    arguments: dict[str, Any] = {}
    overrides: dict[str, Any] = {}
    load: dict[str, Any] = {}
    for name, value in options.items():
        if name in _OF_LOADING:
            load[_OF_LOADING[name]] = value
        elif name in names:
            arguments[name] = value
        elif name in of_config or name in _LABELS:
            overrides[name] = value
        else:
            raise InputError(
                f"{cls.__name__}.from_pretrained does not know the option {name!r}. Its own are "
                f"{', '.join(sorted(names))}, config, dtype and "
                "ignore_mismatched_sizes; fields of the config can be given too."
            )
    config = load.get("config")
    if config is not None and not isinstance(config, BertConfig):
        raise ConfigError(f"config= is a {type(config).__name__}; expected a BertConfig.")
    if config is not None and overrides:
        raise InputError(
            f"config= was given together with {', '.join(sorted(overrides))}. Set these on it."
        )
    return LoadOptions(
        overrides=overrides, inputs=inputs, arguments=arguments, is_chosen=True, **load
    )


def read_config(folder: Path, overrides: Mapping[str, Any]) -> BertConfig:
    """Read the configuration of a folder and apply the caller's overrides.

    Raises:
        MissingFileError: the folder has none.
        ConfigError: the file is not a configuration, or is of another architecture.
    """
    path = next((folder / name for name in CONFIG_NAMES if os.path.exists(folder / name)), None)
    if path is None:
        raise MissingFileError(
            f"The folder {folder} has no {' or '.join(CONFIG_NAMES)}. Found: {list_names(folder)}"
        )
    config = BertConfig.from_json_file(path)
    names = config.architectures
    untold = config.extra.get("model_type") is None  # old BERT files state neither type nor class
    if untold and names and not any(name.startswith("Bert") for name in names):
        raise ConfigError(
            f"{path.name} names no model_type, and the class {shown(', '.join(names))}; expected a "
            f"model_type, one of {', '.join(FAMILIES)}."
        )
    if not overrides:
        return config
    overrides = dict(overrides)
    number = None if "id2label" in overrides else overrides.pop("num_labels", None)
    config = config.changed(overrides)
    if number is not None:
        config.num_labels = number
    return config


def wanted_dtype(choice: Any, tensors: Iterable[Tensor]) -> torch.dtype:
    """Return the number type to load as: float32 unless the caller chose another.

    "auto" is the type of `tensors`, which fill parameters and are of floating-point types.
    """
    if choice is None:
        return torch.float32
    if choice == "auto":
        return next((tensor.dtype for tensor in tensors), torch.float32)
    name = str(choice).removeprefix("torch.")
    if name not in _DTYPES or not isinstance(choice, str | torch.dtype):
        raise InputError(f"dtype is {choice!r}; expected 'auto' or one of {', '.join(_DTYPES)}.")
    found: torch.dtype = getattr(torch, name)
    return found

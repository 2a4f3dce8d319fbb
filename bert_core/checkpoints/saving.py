"""Save a model to a folder that both this package and `transformers` can load.

Parameters, keys and classes get the names of the model's family (`bert_core.families`).
"""

import copy
from pathlib import Path

from torch import Tensor

from bert_core.checkpoints.fillable import Fillable
from bert_core.checkpoints.formats.safetensors_file import safetensors_bytes, write_safetensors
from bert_core.checkpoints.formats.weights import SAFETENSORS
from bert_core.checkpoints.keys import name_in_file
from bert_core.config import BertConfig
from bert_core.errors import CheckpointError
from bert_core.small_files import replacing


def save_model(model: Fillable, folder: Path) -> None:
    """Write `config.json` and `model.safetensors` into `folder`, creating it if needed.

    Each file is written under a temporary name and then renamed, so readers never see a partial
    file. Tied parameters are written once, under the name of the original.
    """
    tensors, config = _tensors_to_save(model), _config_to_save(model)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / SAFETENSORS) as draft:
            write_safetensors(draft, tensors)
        with replacing(folder / "config.json") as draft:
            config.to_json_file(draft)
    except OSError as error:
        raise CheckpointError(f"{folder} cannot be written: {error.strerror}.") from None


def saved_files(model: Fillable) -> dict[str, bytes]:
    """Return the files that `save_model` writes, by name, without touching the disk."""
    config = _config_to_save(model).to_json_string().encode("utf-8")
    return {"config.json": config, SAFETENSORS: safetensors_bytes(_tensors_to_save(model))}


def _tensors_to_save(model: Fillable) -> dict[str, Tensor]:
    state = model.state_dict()
    for name in model.tied_keys():
        del state[name]
    return {name_in_file(name, model.config, state): value for name, value in state.items()}


def _config_to_save(model: Fillable) -> BertConfig:
    config = copy.deepcopy(model.config)
    config.extra["model_type"] = config.model_type
    config.extra["architectures"] = [config.family.class_name(type(model).__name__)]
    config.extra["dtype"] = str(next(model.parameters()).dtype).removeprefix("torch.")
    config.extra.pop("torch_dtype", None)  # its old name
    config.extra.pop("tie_word_embeddings", None)  # they are tied, whatever the source said
    heads = ("qa_outputs", "cls.seq_relationship")
    two = not config.label_fault and config.num_labels == 2
    if not two and any(f"{head}.weight" in model.state_dict() for head in heads):
        config.num_labels = 2  # transformers reads the width of these heads from here
    return config

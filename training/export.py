"""Export a saved training state as a bundle: config, vocabulary, float16 weights, model card."""

import copy
import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from bert_core.analysis.fitting import NAME as FITTED
from bert_core.analysis.fitting import write_fitted
from bert_core.analysis.statistics_file import ATLAS_NAME as HEAD_ATLAS
from bert_core.analysis.statistics_file import NAME as HEAD_STATISTICS
from bert_core.analysis.statistics_file import write_head_atlas, write_head_statistics
from bert_core.bundled.figures import FIGURES, write_figures
from bert_core.bundled.leanings import BIAS, write_bias
from bert_core.checkpoints.formats.safetensors_file import write_safetensors
from bert_core.config import BertConfig
from bert_core.errors import MissingFileError
from bert_core.finetuning.state import load_state
from bert_core.model.heads import BertForPreTraining
from bert_core.text.tokenizer import BertTokenizer
from bert_core.verification import write_verification
from bert_core.verification.stored import JSON_NAME, TENSORS_NAME
from training.calibration import calibrate
from training.card import READING, write_card
from training.curve import write_curve
from training.evaluation import Measured, measure
from training.learned import describe_training
from training.record import RECORD, model_folder, read_record, stage_record, write_record
from training.stage import LOG, SETTINGS, STATE, Say
from training.task_model import HEADS, LABELS
from training.trainer import trained_weights

# Fields a bundle's config takes from the encoder's; the rest are our own or defaults.
_SIZES = (
    *("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "hidden_act"),
    *("intermediate_size", "max_position_embeddings", "type_vocab_size", "layer_norm_eps"),
)
# Left over from older weights in the same folder.
_OF_OLDER = (
    *(FIGURES, BIAS, READING, "README.md", HEAD_STATISTICS, HEAD_ATLAS, FITTED),
    *(JSON_NAME, TENSORS_NAME),
)
_DROPOUT = 0.1  # BERT's value, for further training; pretraining used none


@dataclass(frozen=True, slots=True)
class Bundle:
    """A written bundle: its folder, and hash and size in bytes of `model.safetensors`."""

    folder: Path
    sha256: str
    size: int


def export(work: Path, folder: Path) -> Bundle:
    """Write the weights of a training, finished or not, as a bundle that `finish` completes.

    The root holds the encoder and the pretraining heads; every trained task head gets a folder of
    its own with its config and only its own tensors. An older bundle there is replaced. If the
    training averaged its last weights, their mean is written.
    """
    if not (work / STATE).is_file():
        raise MissingFileError(
            f"There is no saved training in {work}. Run `all`, `pretrain` or `tasks` first."
        )
    parameters = trained_weights(load_state(work / STATE))
    init = json.loads((work / SETTINGS).read_text(encoding="utf-8"))["init"]
    root, config = model_folder(init), _config(init)
    earlier = read_record(root / RECORD) if (root / RECORD).is_file() else []
    curves = {path.name: path.read_text(encoding="utf-8") for path in root.glob("curve-*")}
    tokenizer = BertTokenizer.from_pretrained(init)
    for name in _OF_OLDER:
        (folder / name).unlink(missing_ok=True)
    model = BertForPreTraining(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(parameters[name])
    model.half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    shutil.rmtree(folder / "heads", ignore_errors=True)
    if any(name.startswith("qa_outputs.") for name in parameters):
        _write_heads(parameters, config, folder)
    stages = [*earlier, stage_record(work)]
    write_record(folder / RECORD, stages)
    describe_training(folder, stages)
    for name, text in curves.items():
        (folder / name).write_text(text, encoding="utf-8")
    write_curve(work / LOG, folder / f"curve-{len(stages)}.csv")
    return seal(folder)


def _config(init: str) -> BertConfig:
    """Return the bundle's config, with the sizes of the model the training started from."""
    started = BertForPreTraining.from_pretrained(init).config
    size, *names = _SIZES
    return BertConfig(
        getattr(started, size),
        **{name: getattr(started, name) for name in names},
        hidden_dropout_prob=_DROPOUT,
        attention_probs_dropout_prob=_DROPOUT,
    )


def _write_heads(parameters: Mapping[str, torch.Tensor], config: BertConfig, folder: Path) -> None:
    """Write the task heads of a TaskModel, each under the names of its class."""
    for cls, own, theirs in HEADS:
        head = copy.deepcopy(config)
        if labels := LABELS.get(own):
            head.id2label = dict(enumerate(labels))
        head.extra.update({"architectures": [cls.__name__], "model_type": "bert"})
        target = folder / "heads" / cls.__name__
        target.mkdir(parents=True)
        head.to_json_file(target / "config.json")
        tensors = {
            f"{theirs}.{leaf}": parameters[f"{own}.{leaf}"].half() for leaf in ("weight", "bias")
        }
        write_safetensors(target / "model.safetensors", tensors)


def finish(folder: Path, data: Path | None = None, device: str = "cpu", say: Say = print) -> None:
    """Complete a bundle that `export` has written; with a data folder, measure it, too.

    Everything is computed from the bundle itself, in an order that leaves nothing out of date:
    temperatures go into the configuration, whose hash is then recorded for verification.
    """
    if data is not None:
        calibrate(folder, data, device, say=say)
    write_fitted(folder)
    write_verification(folder)
    write_head_statistics(folder)
    write_head_atlas(folder)
    if data is not None:
        describe_bundle(folder, measure(folder, data, device, say=say))


def describe_bundle(folder: Path, measured: Measured) -> None:
    """Write figures, bias and the model card into a bundle, measured on exactly these weights."""
    write_figures(folder, measured.figures)
    if measured.bias is None:
        (folder / BIAS).unlink(missing_ok=True)
    else:
        write_bias(folder, measured.bias)
    model, bundle = BertForPreTraining.from_pretrained(folder), seal(folder)
    weights = {
        "parameters": sum(parameter.numel() for parameter in model.parameters()) / 1e6,
        "size": bundle.size,
        "sha256": bundle.sha256,
    }
    write_card(folder, read_record(folder / RECORD), measured, weights)


def seal(folder: Path) -> Bundle:
    """Return a bundle's folder with the hash and size of its weights."""
    weights = folder / "model.safetensors"
    with weights.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Bundle(folder, digest, weights.stat().st_size)

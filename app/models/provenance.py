"""Where a model came from and what it is made of, in words a visitor can read."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import torch

from app.models.shelf import Kind, Offer
from bert_core import BertConfig, BertTokenizer
from bert_core.checkpoints.formats.weights import weight_files
from bert_core.errors import BertError
from bert_core.small_files import open_regular

_CARD = "README.md"
_CARD_BYTES = 65_536  # the front matter stands at the very top
_LICENCE_CHARS = 60  # the longest short names of licences have half of that
_CHUNK = 1 << 20
_PROCESSOR = "processor"


@dataclass(frozen=True, slots=True)
class Provenance:
    """The identity card of one loaded model.

    Attributes:
        name: what a person calls it; never a path of the server.
        origin: how it got here, one phrase.
        licence: as its model card states it, or "" where it states none.
        fingerprint: first 12 hexadecimal digits of the SHA-256 of its weights, all heads included.
        layers: L.
        heads: H, per layer.
        hidden: D.
        vocabulary: V, entries.
        max_length: longest input in tokens.
        parameters: trained numbers, each counted once.
        lower_case: True when the text is lower-cased before it is cut.
        commit: version on the Hub, 40 hexadecimal digits; "" for models that are not from there.
        device: what computes, for example "processor".
    """

    name: str
    origin: str
    licence: str
    fingerprint: str
    layers: int
    heads: int
    hidden: int
    vocabulary: int
    max_length: int
    parameters: int
    lower_case: bool
    commit: str = ""
    device: str = _PROCESSOR


def describe(
    offer: Offer,
    folder: Path,
    config: BertConfig,
    tokenizer: BertTokenizer,
    *,
    parameters: int,
    device: torch.device | None = None,
) -> Provenance:
    """Collect the provenance of a model that was loaded from a folder."""
    return Provenance(
        name=offer.name,
        origin=offer.kind.value,
        licence=_licence(folder / _CARD),
        fingerprint=fingerprint(folder),
        layers=config.num_hidden_layers,
        heads=config.num_attention_heads,
        hidden=config.hidden_size,
        vocabulary=config.vocab_size,
        max_length=config.max_position_embeddings,
        parameters=parameters,
        lower_case=tokenizer.do_lower_case,
        commit=folder.name if offer.kind is Kind.HUB_COPY else "",
        device=_device(device),
    )


def _device(device: torch.device | None) -> str:
    """Say what computes, as people call it."""
    if device is None or device.type == "cpu":
        return _PROCESSOR
    if device.type == "cuda":
        return f"GPU, {torch.cuda.get_device_name(device)}"
    return f"GPU ({device.type})"


def _licence(card: Path) -> str:
    """Read `license:` from the front matter of a model card; "" where there is none."""
    try:
        with os.fdopen(open_regular(card), "rb") as file:
            head = file.read(_CARD_BYTES).decode("utf-8", errors="replace")
    except (OSError, BertError):
        return ""
    lines = [line.rstrip() for line in head.splitlines()]
    front = lines[1 : lines.index("---", 1)] if lines[:1] == ["---"] and "---" in lines[1:] else []
    stated = [line.removeprefix("license:") for line in front if line.startswith("license:")]
    return stated[0].strip().strip("\"'")[:_LICENCE_CHARS] if stated else ""


def fingerprint(folder: Path) -> str:
    """Hash the weight files of a folder, then those of its heads by their names.

    The same as `cat model.safetensors heads/*/model.safetensors | sha256sum`.
    """
    digest = hashlib.sha256()
    heads = sorted(path for path in folder.glob("heads/*") if path.is_dir())
    for path in [path for each in (folder, *heads) for path in weight_files(each)]:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    return digest.hexdigest()[:12]

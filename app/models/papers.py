"""What a model's folder says about the model, for people to read.

First its identity (`Provenance`), then what lies beside the weights (`Papers`): card, figures,
bias, learning curves. All of it may come from strangers: it is bounded in size, read as text, and
never followed.
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import torch

from app.models.shelf import Kind, Offer
from bert_core import BertConfig, BertTokenizer
from bert_core.analysis.head_statistics import HeadStatistics
from bert_core.analysis.statistics_file import read_head_statistics, stale_because
from bert_core.bundled.figures import Figure, read_figures
from bert_core.bundled.leanings import Bias, read_bias
from bert_core.checkpoints.formats.weights import weight_files
from bert_core.errors import BertError, CheckpointError, MissingFileError
from bert_core.small_files import open_regular, read_small
from bert_core.verification.stored import JSON_NAME, TENSORS_NAME

T = TypeVar("T")

CARD = "README.md"
CARD_BYTES = 200_000  # the longest cards on the Hub have about half of that
_FENCE = "---"
_LICENCE_CHARS = 60  # the longest short names of licences have half of that
_CHUNK = 1 << 20
_PROCESSOR = "processor"
_CURVES = "curve-*.svg"
_MOST_CURVES = 6
_CURVE_BYTES = 500_000


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
        licence=_licence(folder / CARD),
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
        front, _ = split_card(_read_card(card)[0])
    except BertError:
        return ""
    stated = [line.removeprefix("license:") for line in front if line.startswith("license:")]
    return stated[0].strip().strip("\"'")[:_LICENCE_CHARS] if stated else ""


def split_card(card: str) -> tuple[list[str], str]:
    r"""Part a card from what stands between two lines of dashes at its very top, for programs.

    >>> split_card("---\nlicense: mit\n---\nA card.")
    (['license: mit'], 'A card.')
    """
    lines = card.removeprefix("\ufeff").splitlines()
    dashes = [at for at, line in enumerate(lines) if line.rstrip() == _FENCE]
    if dashes[:1] != [0] or len(dashes) < 2:
        return [], "\n".join(lines)
    return lines[1 : dashes[1]], "\n".join(lines[dashes[1] + 1 :])


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


@dataclass(frozen=True, slots=True)
class Papers:
    """What was found beside the weights.

    Attributes:
        card: the model card without its front matter, of its first `CARD_BYTES` bytes; "" where
            there is none.
        card_bytes: what the whole card has.
        figures: what was measured; () where nothing was.
        bias: towards which words the model leans; None where that was not measured.
        curves: learning curves as SVG: name and content.
        verifiable: there is something that the weights can be compared with.
        problems: what is there and cannot be read; paths not yet taken out.
    """

    card: str
    card_bytes: int
    figures: tuple[Figure, ...]
    bias: Bias | None
    curves: tuple[tuple[str, bytes], ...]
    verifiable: bool
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StatisticsOnFile:
    """Where heads usually look.

    Attributes:
        statistics: the numbers.
        stale: why they are not those of the model they lie beside; "" where they are.
    """

    statistics: HeadStatistics
    stale: str


def read_papers(folder: Path) -> Papers:
    """Read what lies beside the weights of a folder; what is missing or damaged stops nothing."""
    problems: list[str] = []
    card, card_bytes = _try(lambda: _read_card(folder / CARD), ("", 0), problems)
    curves = sorted(folder.glob(_CURVES))[:_MOST_CURVES]
    reads = [(path.name, partial(read_small, path, _CURVE_BYTES)) for path in curves]
    drawn = [(name, _try(read, b"", problems)) for name, read in reads]
    return Papers(
        card=split_card(card)[1],
        card_bytes=card_bytes,
        figures=_try(lambda: read_figures(folder), (), problems),
        bias=_try(lambda: read_bias(folder), None, problems),
        curves=tuple((name, svg) for name, svg in drawn if svg),
        verifiable=(folder / JSON_NAME).exists() and (folder / TENSORS_NAME).exists(),
        problems=tuple(problems),
    )


def read_statistics(folder: Path, size: tuple[int, int]) -> StatisticsOnFile | None:
    """Read where the heads of a folder's model usually look; None where there is no such file.

    Args:
        folder: the model's folder; its weights are hashed.
        size: layers, and heads in each.

    Raises:
        CheckpointError: the file is damaged, or about a model of another size.
    """
    try:
        found = read_head_statistics(folder)
    except MissingFileError:
        return None
    if (found.layers, found.heads) != size:
        raise CheckpointError(
            f"The statistics of its heads are about {found.layers} layers of {found.heads} heads; "
            f"the model has {size[0]} of {size[1]}. Measure them again."
        )
    return StatisticsOnFile(found, stale_because(found, folder))


def _try(read: Callable[[], T], otherwise: T, problems: list[str]) -> T:
    """Read one thing; what is not there is no problem."""
    try:
        return read()
    except MissingFileError:
        return otherwise
    except BertError as error:
        problems.append(str(error))
        return otherwise


def _read_card(path: Path) -> tuple[str, int]:
    """Return the beginning of a card as text, and the bytes of all of it."""
    with os.fdopen(open_regular(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        return file.read(CARD_BYTES).decode("utf-8", errors="replace"), size

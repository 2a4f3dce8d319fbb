"""Read what a model's folder says about the model, for people to read.

`Provenance` is its identity; `Papers` are the files next to the weights: card, figures, bias.
All of it is untrusted: it is bounded in size, read as text, and links in it are never followed.
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeVar

import torch

from app.engine.models.shelf import Kind, Offer
from bert_core.analysis.head_atlas import HeadAtlas
from bert_core.analysis.head_statistics import HeadStatistics
from bert_core.analysis.statistics_file import read_head_atlas, read_head_statistics, stale_because
from bert_core.bundled.figures import Figure, read_figures
from bert_core.bundled.leanings import Bias, read_bias
from bert_core.checkpoints.formats.weights import weight_files
from bert_core.errors import BertError, CheckpointError, MissingFileError, count
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.small_files import open_regular
from bert_core.text.batches import TextTokenizer
from bert_core.verification import VerificationReport
from bert_core.verification.stored import JSON_NAME, TENSORS_NAME

T = TypeVar("T")

CARD = "README.md"
CARD_BYTES = 200_000  # about twice as long as the longest cards on the Hub
_FENCE = "---"
_LICENCE_CHARS = 60  # twice as long as the longest short licence names
_CHUNK = 1 << 20
_PROCESSOR = "processor"
_PARTS, _PART_CHARS = 3, 60  # of what was left out, in a line


@dataclass(frozen=True, slots=True)
class Provenance:
    """The identity card of one loaded model."""

    name: Annotated[str, "the name shown to people; never a path on the server"]
    origin: Annotated[str, "how it got here, in one phrase"]
    licence: Annotated[str, 'the licence stated in its model card; "" if there is none']
    fingerprint: Annotated[str, "first 12 hexadecimal digits of the SHA-256 of all its weights"]
    layers: Annotated[int, "L"]
    heads: Annotated[int, "H, per layer"]
    hidden: Annotated[int, "D"]
    vocabulary: Annotated[int, "V, the number of entries"]
    max_length: Annotated[int, "longest input in tokens"]
    parameters: Annotated[int, "number of trained parameters, each counted once"]
    lower_case: Annotated[bool, "whether the text is lower-cased before it is tokenized"]
    commit: Annotated[str, 'version on the Hub, 40 hexadecimal digits; "": not from there'] = ""
    device: Annotated[str, 'the device that computes, for example "processor"'] = _PROCESSOR
    signs: Annotated[str, 'what are [CLS], [SEP] and [MASK] in it, as a sentence; "": these'] = ""
    left_out: Annotated[tuple[str, ...], "names of weights that nothing here computes with"] = ()

    @property
    def remark(self) -> str:
        """What is different about it, in sentences after its name; "" if nothing is."""
        if not self.left_out:
            return self.signs
        parts = [*dict.fromkeys(name.rpartition(".")[0] or name for name in self.left_out)]
        more = f" and {len(parts) - _PARTS} more" if len(parts) > _PARTS else ""
        named = ", ".join(part[-_PART_CHARS:] for part in parts[:_PARTS])
        weights = count(len(self.left_out), "weight")
        return f"{self.signs} Left out of its files: {named}{more} ({weights}).".lstrip()


def describe(
    offer: Offer,
    folder: Path,
    model: BertPreTrainedModel,
    tokenizer: TextTokenizer,
    left_out: tuple[str, ...],
) -> Provenance:
    """Collect the provenance of a model that was loaded from a folder."""
    config = model.config
    return Provenance(
        name=offer.name,
        origin=offer.kind.value,
        licence=_licence(folder / CARD),
        fingerprint="" if offer.kind is Kind.IN_MEMORY else fingerprint(folder),
        layers=config.num_hidden_layers,
        heads=config.num_attention_heads,
        hidden=config.hidden_size,
        vocabulary=config.vocab_size,
        max_length=config.max_length,
        parameters=sum(each.numel() for each in model.parameters()),
        lower_case=tokenizer.do_lower_case,
        commit=folder.name if offer.kind is Kind.HUB_COPY else "",
        device=_device(model.device),
        signs=_signs(tokenizer),
        left_out=left_out,
    )


def _signs(tokenizer: TextTokenizer) -> str:
    """Say which tokens play the parts of [CLS], [SEP] and [MASK]."""
    own = (tokenizer.cls_token, tokenizer.sep_token, tokenizer.mask_token)
    other = [
        f"{name} is {token}"
        for name, token in zip(("[CLS]", "[SEP]", "[MASK]"), own, strict=True)
        if name != token
    ]
    return f"In this model {', '.join(other)}." if other else ""


def _device(device: torch.device) -> str:
    """Return the name of the computing device, as shown to people."""
    if device.type == "cpu":
        return _PROCESSOR
    if device.type == "cuda":
        return f"GPU, {torch.cuda.get_device_name(device)}"
    return f"GPU ({device.type})"


def _licence(card: Path) -> str:
    """Read `license:` from the front matter of a model card; "" if there is none."""
    try:
        front, _ = split_card(_read_card(card)[0])
    except BertError:
        return ""
    stated = [line.removeprefix("license:") for line in front if line.startswith("license:")]
    return stated[0].strip().strip("\"'")[:_LICENCE_CHARS] if stated else ""


def split_card(card: str) -> tuple[list[str], str]:
    r"""Split a card into its front matter (between two lines of dashes at the top) and its text.

    >>> split_card("---\nlicense: mit\n---\nA card.")
    (['license: mit'], 'A card.')
    """
    lines = card.removeprefix("\ufeff").splitlines()
    dashes = [at for at, line in enumerate(lines) if line.rstrip() == _FENCE]
    if dashes[:1] != [0] or len(dashes) < 2:
        return [], "\n".join(lines)
    return lines[1 : dashes[1]], "\n".join(lines[dashes[1] + 1 :])


def fingerprint(folder: Path) -> str:
    """Hash the weight files of a folder, then those of its heads in order of name.

    The result is the first 12 digits of
    `cat model.safetensors heads/*/model.safetensors | sha256sum`.
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
    """What was found in the files next to the weights."""

    card: Annotated[str, 'first `CARD_BYTES` bytes of the card, without front matter; "": none']
    card_bytes: Annotated[int, "size of the whole card"]
    figures: Annotated[tuple[Figure, ...], "measured figures; () if there are none"]
    bias: Annotated[Bias | None, "its bias by occupation; None if not measured"]
    verifiable: Annotated[bool, "whether there is a reference to compare the weights with"]
    problems: Annotated[tuple[str, ...], "what cannot be read; may still contain paths"]


@dataclass(frozen=True, slots=True)
class StatisticsOnFile:
    """Statistics of where the attention heads usually look."""

    statistics: Annotated[HeadStatistics, "the numbers"]
    stale: Annotated[str, 'why they do not belong to the weights in the same folder; "" if they do']


@dataclass(frozen=True, slots=True)
class Verification:
    """A comparison of a model's files with the reference stored next to them."""

    report: Annotated[VerificationReport, "what was compared"]
    fingerprint: Annotated[str, "fingerprint of the weights now in the folder; see `Provenance`"]
    began: Annotated[datetime, "when reading the files began"]
    seconds: Annotated[float, "how long it took"]


def read_papers(folder: Path) -> Papers:
    """Read the files next to the weights; missing or damaged files do not raise."""
    problems: list[str] = []
    card, card_bytes = read_or(lambda: _read_card(folder / CARD), ("", 0), problems)
    return Papers(
        card=split_card(card)[1],
        card_bytes=card_bytes,
        figures=read_or(lambda: read_figures(folder), (), problems),
        bias=read_or(lambda: read_bias(folder), None, problems),
        verifiable=(folder / JSON_NAME).exists() and (folder / TENSORS_NAME).exists(),
        problems=tuple(problems),
    )


def read_statistics(folder: Path, size: tuple[int, int]) -> StatisticsOnFile | None:
    """Read the head statistics from a model's folder; None if there is no such file.

    `size` is the number of layers, and of heads per layer. The weights are hashed.

    Raises:
        CheckpointError: the file is damaged, or describes a model of a different size.
    """
    try:
        found = read_head_statistics(folder)
    except MissingFileError:
        return None
    layers, heads = found.entropy.shape
    if (layers, heads) != size:
        raise CheckpointError(
            f"The statistics of its heads are about {layers} layers of {heads} heads; "
            f"the model has {size[0]} of {size[1]}. Measure them again."
        )
    return StatisticsOnFile(found, stale_because(found, folder))


def read_atlas(folder: Path) -> HeadAtlas | None:
    """Read the atlas of heads from a model's folder; None if there is none for these weights.

    Raises:
        CheckpointError: a file is damaged.
    """
    try:
        found = read_head_atlas(folder)
    except MissingFileError:
        return None
    return None if stale_because(found.statistics, folder) else found


def read_or(read: Callable[[], T], otherwise: T, problems: list[str]) -> T:
    """Read one file: `otherwise` if it is missing or unreadable; the latter is a problem."""
    try:
        return read()
    except MissingFileError:
        return otherwise
    except BertError as error:
        problems.append(str(error))
        return otherwise


def _read_card(path: Path) -> tuple[str, int]:
    """Return the beginning of a card as text, and the size of the whole card in bytes."""
    with os.fdopen(open_regular(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        return file.read(CARD_BYTES).decode("utf-8", errors="replace"), size

"""Reading (without trusting them) and writing the two files of reference values.

`verification.json` contains the texts, the SHA-256 of every file that affects the model's
computations, the description of each stored tensor, and a digest of itself.
`verification.safetensors` contains the ids of the texts, and the outputs in float32.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import torch
from safetensors.torch import load, save_file
from torch import Tensor

from bert_core.errors import CheckpointError, MissingFileError
from bert_core.model.kinds import ALL_KINDS
from bert_core.small_files import file_digest, parse_json, read_small, replacing

JSON_NAME = "verification.json"
TENSORS_NAME = "verification.safetensors"
_FORMAT = 1
_LARGEST_JSON = 1024 * 1024
_LARGEST_TENSORS = 64 * 1024 * 1024  # BERT large with a vocabulary of 250,000 needs 6 MB
_ENDINGS = (".safetensors", ".safetensors.index.json", ".bin", ".model", "vocab.txt", "merges.txt")
_NAMES = frozenset(
    ("config", "vocab", "tokenizer", "tokenizer_config", "special_tokens_map", "added_tokens")
)


@dataclass(frozen=True, slots=True)
class Row:
    """One text as input for a model."""

    ids: Annotated[tuple[int, ...], "T vocabulary ids, including [CLS] and [SEP]"]
    types: Annotated[tuple[int, ...], "T segment ids"]


@dataclass(frozen=True, slots=True)
class Item:
    """Description of one stored output."""

    class_name: Annotated[str, "the class that computes it"]
    output: Annotated[str, "its name in `ModelOutputs`"]
    texts: Annotated[tuple[int, ...], "indices of the texts in the batch"]
    places: Annotated[
        tuple[tuple[int, ...], ...] | None, "positions stored of each text; None: all"
    ]
    tensor: Annotated[str, "its name in `verification.safetensors`"]


@dataclass(frozen=True, slots=True)
class Stored:
    """The reference values of a model."""

    files: Annotated[Mapping[str, str], "path within the folder -> SHA-256"]
    texts: Annotated[tuple[tuple[str, str | None], ...], "each with its second text or None"]
    rows: Annotated[tuple[Row, ...], "the ids of these texts"]
    items: Annotated[tuple[Item, ...], "descriptions of the stored outputs"]
    outputs: Annotated[Mapping[str, Tensor], "tensor name -> (N,) float32"]


def digests_of_files(folder: Path) -> dict[str, str]:
    """Return path within the folder -> SHA-256, of every file that affects the computations.

    Weight files that this package does not use are included: another program may use them.
    """
    return {
        path.relative_to(folder).as_posix(): file_digest(path)
        for path in (*sorted(folder.glob("*")), *sorted(folder.glob("heads/*/*")))
        if path != folder / TENSORS_NAME and not path.name.startswith(".") and path.is_file()
        if path.name.endswith(_ENDINGS) or ".ckpt" in path.name
        or (path.suffix == ".json" and path.stem in _NAMES)
    }  # fmt: skip


def read_stored(folder: Path) -> Stored:
    """Read the reference values in a model's folder."""
    for name in (JSON_NAME, TENSORS_NAME):
        if not (folder / name).exists():
            raise MissingFileError(
                f"There is nothing to compare with: the folder has no {name}. Bundled models "
                "include it; `bert_core.verification.write_verification` writes it for any other."
            )
    record = parse_json(read_small(folder / JSON_NAME, _LARGEST_JSON), JSON_NAME, unique=True)
    if not isinstance(record, dict) or record.pop("digest", "") != digest(record):
        raise CheckpointError(
            f"{JSON_NAME} is damaged: its content does not match its own digest. Get it again."
        )
    raw = read_small(folder / TENSORS_NAME, _LARGEST_TENSORS)
    if hashlib.sha256(raw).hexdigest() != record.get("tensors"):
        raise CheckpointError(
            f"{TENSORS_NAME} is not the file that {JSON_NAME} describes: one of the two is damaged "
            "or belongs to another model. Get both files again; nothing was compared."
        )
    try:
        return _understand(record, load(raw))
    except Exception:  # noqa: BLE001  what strangers write can raise anything
        raise CheckpointError(
            f"{JSON_NAME} was written by another version of this package or is damaged; expected "
            f"format {_FORMAT}. Get the model again, or update the package."
        ) from None


def digest(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record."""
    raw = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(raw.encode()).hexdigest()


def _understand(record: dict[str, Any], tensors: dict[str, Tensor]) -> Stored:
    texts = tuple((str(text), pair and str(pair)) for text, pair in record["texts"])
    ids = ([tensors[f"texts.{n}.{part}"] for part in ("ids", "types")] for n in range(len(texts)))
    rows = tuple(Row(*(tuple(each.tolist()) for each in both)) for both in ids)
    items = []
    for found in record["outputs"]:
        places = found["places"] and tuple(map(tuple, found["places"]))
        item = Item(**{**found, "texts": tuple(found["texts"]), "places": places})
        lengths = [len(rows[number].ids) for number in item.texts]
        each = zip(lengths, places or [()] * len(lengths), strict=True)
        inside = all(0 <= place < length for length, own in each for place in own)
        if item.output not in ALL_KINDS[item.class_name].outputs or not lengths or not inside:
            raise ValueError(found)
        items.append(item)
    outputs = {item.tensor: tensors[item.tensor].flatten().float() for item in items}
    if record["format"] != _FORMAT or not items or not all(map(Tensor.numel, outputs.values())):
        raise ValueError(record["format"])
    return Stored(dict(record["files"]), texts, rows, tuple(items), outputs)


def write_stored(folder: Path, stored: Stored) -> None:
    """Write both files, each under a temporary name that is then renamed."""
    tensors = dict(stored.outputs)
    for number, row in enumerate(stored.rows):
        tensors[f"texts.{number}.ids"] = torch.tensor(row.ids, dtype=torch.int32)
        tensors[f"texts.{number}.types"] = torch.tensor(row.types, dtype=torch.int8)
    with replacing(folder / TENSORS_NAME) as draft:
        save_file(tensors, draft)
        sha256 = file_digest(draft)
    record: dict[str, Any] = {
        "format": _FORMAT,
        "files": dict(stored.files),
        "tensors": sha256,
        "texts": stored.texts,
        "outputs": [asdict(item) for item in stored.items],
    }
    text = json.dumps({**record, "digest": digest(record)}, indent=1, ensure_ascii=False) + "\n"
    with replacing(folder / JSON_NAME) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")

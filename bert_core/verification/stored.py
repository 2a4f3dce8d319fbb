"""Reading (without trusting them) and writing the two files of reference values.

`verification.json` contains the texts, the SHA-256 of every file that affects the model's
computations, the description of each stored tensor, and a digest of itself.
`verification.safetensors` contains the ids of the texts, and the outputs in float32.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bert_core.checkpoints.formats.safetensors_file import open_safetensors, write_safetensors
from bert_core.checkpoints.sources.hub_names import MERGES, SENTENCEPIECE
from bert_core.errors import CheckpointError, MissingFileError
from bert_core.model.kinds import ALL_KINDS
from bert_core.small_files import file_digest, parse_json, read_small, replacing
from bert_core.verification.texts import Item, Row

JSON_NAME = "verification.json"
TENSORS_NAME = "verification.safetensors"
_FORMAT = 1
_LARGEST_JSON = 1024 * 1024
_LARGEST_TENSORS = 64 * 1024 * 1024  # BERT large with a vocabulary of 250,000 needs 6 MB
_NAMES = (
    "config.json",
    "vocab.txt",
    "tokenizer.json",
    *MERGES,
    *SENTENCEPIECE,
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "pytorch_model.bin",
)
_ENDINGS = (".safetensors", ".safetensors.index.json")


@dataclass(frozen=True, slots=True)
class Stored:
    """The reference values of a model.

    Attributes:
        files: path within the folder -> SHA-256.
        texts: the texts, each with its second text or None.
        rows: the ids of these texts.
        items: descriptions of the stored outputs.
        outputs: tensor name -> (N,) float32.
    """

    files: Mapping[str, str]
    texts: tuple[tuple[str, str | None], ...]
    rows: tuple[Row, ...]
    items: tuple[Item, ...]
    outputs: Mapping[str, Tensor]


def deciding_files(folder: Path) -> dict[str, Path]:
    """Return path within the folder -> file, for every file that affects a model's computations.

    These are configurations, vocabulary and all weights, of the root and of every head. Weight
    files that this package does not use are included, because another program may use them.

    Raises:
        CheckpointError: a folder cannot be read.
    """
    try:
        heads = sorted(path for path in (folder / "heads").glob("*") if path.is_dir())
        paths = [path for place in (folder, *heads) for path in sorted(place.iterdir())]
    except OSError as refusal:
        raise CheckpointError(f"A folder cannot be read: {refusal.strerror}.") from None
    return {path.relative_to(folder).as_posix(): path for path in paths if _decides(path, folder)}


def _decides(path: Path, folder: Path) -> bool:
    name = path.name
    if path == folder / TENSORS_NAME or name.startswith("."):
        return False
    return name in _NAMES or name.endswith(_ENDINGS) or ".ckpt" in name


def read_stored(folder: Path) -> Stored:
    """Read the reference values in a model's folder.

    Raises:
        MissingFileError: there are none.
        CheckpointError: one of the two files is damaged.
    """
    for name in (JSON_NAME, TENSORS_NAME):
        if not os.path.exists(folder / name):
            raise MissingFileError(
                f"There is nothing to compare with: the folder has no {name}. Bundled models "
                "include it; `bert_core.verification.write_verification` writes it for any other."
            )
    record = _read_record(folder / JSON_NAME)
    if file_digest(folder / TENSORS_NAME) != record.get("tensors"):
        raise CheckpointError(
            f"{TENSORS_NAME} is not the file that {JSON_NAME} describes: one of the two is damaged "
            "or belongs to another model. Get both files again; nothing was compared."
        )
    if (size := (folder / TENSORS_NAME).stat().st_size) > _LARGEST_TENSORS:
        raise CheckpointError(
            f"{TENSORS_NAME} has {size:,} bytes; expected at most {_LARGEST_TENSORS:,}. "
            "Get the file again; nothing was compared."
        )
    tensors = {name: each.clone() for name, each in open_safetensors(folder / TENSORS_NAME).items()}
    try:
        return _understand(record, tensors)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise CheckpointError(
            f"{JSON_NAME} was written by another version of this package or is damaged; expected "
            f"format {_FORMAT}. Get the model again, or update the package."
        ) from None


def _read_record(path: Path) -> dict[str, Any]:
    """Read the JSON and check it against the digest it contains."""
    record = parse_json(read_small(path, _LARGEST_JSON), path.name, unique=True)
    if not isinstance(record, dict) or record.pop("digest", "") != _digest(record):
        raise CheckpointError(
            f"{path.name} is damaged: its content does not match its own digest. Get the file "
            "again; nothing was compared."
        )
    return record


def _digest(record: Mapping[str, Any]) -> str:
    raw = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(raw.encode()).hexdigest()


def _understand(record: dict[str, Any], tensors: dict[str, Tensor]) -> Stored:
    """Convert the record to its types; raise a built-in exception if something does not fit."""
    if record["format"] != _FORMAT:
        raise ValueError
    texts = tuple(
        (str(text), None if pair is None else str(pair)) for text, pair in record["texts"]
    )
    rows = tuple(
        Row(*(tuple(tensors[f"texts.{n}.{part}"].tolist()) for part in ("ids", "types")))
        for n in range(len(texts))
    )
    items = tuple(_item(found, rows) for found in record["outputs"])
    outputs = {item.tensor: tensors[item.tensor].flatten().float() for item in items}
    if not items or any(each.numel() == 0 for each in outputs.values()):
        raise ValueError
    return Stored(dict(record["files"]), texts, rows, items, outputs)


def _item(found: dict[str, Any], rows: tuple[Row, ...]) -> Item:
    places = found["places"]
    item = Item(
        found["class_name"],
        found["output"],
        tuple(found["texts"]),
        None if places is None else tuple(tuple(each) for each in places),
        found["tensor"],
    )
    lengths = [len(rows[number].ids) for number in item.texts]
    fits = item.output in ALL_KINDS[item.class_name].outputs and bool(lengths)
    for length, each in zip(lengths, item.places or [()] * len(lengths), strict=True):
        fits &= all(0 <= place < length for place in each)
    if not fits:
        raise ValueError
    return item


def write_stored(folder: Path, stored: Stored) -> None:
    """Write both files, each under a temporary name that is then renamed."""
    tensors = dict(stored.outputs)
    for number, row in enumerate(stored.rows):
        tensors[f"texts.{number}.ids"] = torch.tensor(row.ids, dtype=torch.int32)
        tensors[f"texts.{number}.types"] = torch.tensor(row.types, dtype=torch.int8)
    with replacing(folder / TENSORS_NAME) as draft:
        write_safetensors(draft, tensors)
        digest = file_digest(draft)
    record: dict[str, Any] = {
        "format": _FORMAT,
        "files": dict(stored.files),
        "tensors": digest,
        "texts": [list(each) for each in stored.texts],
        "outputs": [asdict(item) for item in stored.items],
    }
    # Tuples become lists, as when reading: the digest must be over the same content.
    record = json.loads(json.dumps(record))
    record["digest"] = _digest(record)
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    with replacing(folder / JSON_NAME) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")

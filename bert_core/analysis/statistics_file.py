"""Reading and writing what was measured on the heads of a model, stored in its folder.

`head-statistics.json` says where heads look, `head-atlas.json` contains what takes long to measure.
"""

import json
import math
import os
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import numpy as np

from bert_core.analysis.forward import Floats
from bert_core.analysis.head_atlas import TYPICAL, HeadAtlas, head_atlas
from bert_core.analysis.head_statistics import (
    MEASURES,
    HeadStatistics,
    fixed_texts,
    head_statistics,
    text_digest,
)
from bert_core.checkpoints.formats.weights import weight_files
from bert_core.checkpoints.sources.hub_names import MERGES, SENTENCEPIECE, VOCABULARIES
from bert_core.errors import CheckpointError
from bert_core.model.bert import BertModel
from bert_core.model.heads import BertForMaskedLM
from bert_core.small_files import file_digest, parse_json, read_small, replacing
from bert_core.text.family import load_tokenizer
from bert_core.text.vocabulary import VOCABULARY_NAME

Found = TypeVar("Found", HeadStatistics, HeadAtlas)
NAME = "head-statistics.json"
ATLAS_NAME = "head-atlas.json"
_LARGEST = 4 * 1024 * 1024  # bytes; of BERT large, with 384 heads, the atlas needs 600 kB
_UNITS = {"shares": "of the attention a token gives away, 0 to 1", "entropy": "bits"}
_SOURCE = 'Clark et al. 2019, "What Does BERT Look At?", section 3'
_TABLES = ("effects", "errors", "sep_to_sep", "cls_entropy", "gradients")
_ATLAS_UNITS = {
    "effects": "growth of the loss without the head, nats",
    "errors": "half of the 95 % interval of the effects, nats",
    "sep_to_sep": "share of attention, 0 to 1",
    "cls_entropy": "bits",
    "gradients": "nats for an attention weight of 1; to [CLS], [SEP], text",
    "typical": "numbers of texts, from 0",
    "distances": "Jensen-Shannon distance of each head to those before it, 0 to 1",
}


# -- measuring and writing, on the fixed texts ----------------------------------------------------
# Both raise a BertError if the folder contains no model, or it cannot be read.


def write_head_statistics(folder: str | os.PathLike[str]) -> HeadStatistics:
    """Measure where the heads of a model look, and write that to its folder."""
    model = BertModel.from_pretrained(Path(folder), add_pooling_layer=False)
    found = _signed(head_statistics(model, load_tokenizer(folder)), Path(folder))
    _write(Path(folder) / NAME, to_json(found))
    return found


def write_head_atlas(folder: str | os.PathLike[str]) -> HeadAtlas:
    """Measure everything about the heads of a model, and write that to its folder."""
    words = BertForMaskedLM.from_pretrained(Path(folder))
    trained = words.load_report is not None and not words.load_report.missing
    found = head_atlas(words if trained else words.encoder_model, load_tokenizer(folder))
    found = replace(found, statistics=_signed(found.statistics, Path(folder)))
    _write(Path(folder) / ATLAS_NAME, _atlas_json(found))
    return found


def _signed(found: HeadStatistics, folder: Path) -> HeadStatistics:
    weights, vocabulary = _digests(folder)
    return replace(found, weights_sha256=weights, vocabulary_sha256=vocabulary)


def _write(path: Path, text: str) -> None:
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")


def to_json(statistics: HeadStatistics) -> str:
    """Format statistics as JSON: six decimals, null for pruned heads."""
    values = {each.name: getattr(statistics, each.name) for each in fields(statistics)}
    return _laid_out({"units": _UNITS, "measures_of": _SOURCE, **values}, digits=6)


def _atlas_json(atlas: HeadAtlas) -> str:
    record = {
        "units": _ATLAS_UNITS,
        "weights_sha256": atlas.statistics.weights_sha256,
        "text_sha256": atlas.statistics.text_sha256,
        "words": atlas.words,
        "loss": atlas.loss,
        **{name: getattr(atlas, name) for name in _TABLES},
        "typical": atlas.typical.reshape(-1, TYPICAL),
        "distances": [row[:number] for number, row in enumerate(atlas.distances)],
    }
    return _laid_out(record, digits=4)


def _laid_out(record: dict[str, Any], digits: int) -> str:
    """Format a record with a line for each value; a table gets one per row."""
    lines = []
    for name, value in record.items():
        found = _plain(value, digits)
        text = json.dumps(found)
        if isinstance(found, list):
            text = "[\n  " + ",\n  ".join(json.dumps(row) for row in found) + "\n ]"
        lines.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _plain(value: Any, digits: int) -> Any:
    if isinstance(value, np.ndarray | list):
        return [_plain(each, digits) for each in value]
    if isinstance(value, float):
        return None if math.isnan(value) else round(float(value), digits)
    return int(value) if isinstance(value, np.integer) else value


def read_head_statistics(folder: str | os.PathLike[str]) -> HeadStatistics:
    """Read the statistics in a model's folder; `stale_because` checks that they belong to it.

    Raises:
        MissingFileError: the folder has no statistics.
        CheckpointError: the file is damaged.
    """
    return _read(Path(folder) / NAME, _statistics, "write_head_statistics")


def read_head_atlas(folder: str | os.PathLike[str]) -> HeadAtlas:
    """Read the atlas in a model's folder; `stale_because` of its statistics checks that both belong
    to the model.

    Raises:
        MissingFileError: the folder has no atlas, or no statistics.
        CheckpointError: a file is damaged, or the two belong to different weights or texts.
    """
    known = read_head_statistics(folder)
    return _read(
        Path(folder) / ATLAS_NAME, lambda record: _atlas(record, known), "write_head_atlas"
    )


def stale_because(statistics: HeadStatistics, folder: str | os.PathLike[str]) -> str:
    """Return one sentence on why statistics do not match the model in a folder; "" if they do.

    Reads all weights to hash them.
    """
    weights, vocabulary = _digests(Path(folder))
    if statistics.weights_sha256 != weights:
        return "They were measured on other weights."
    if statistics.vocabulary_sha256 != vocabulary:
        return "They were measured with another vocabulary."
    if statistics.text_sha256 != text_digest(fixed_texts()):
        return "They were measured on other texts than this version of the package uses."
    return ""


def _digests(folder: Path) -> tuple[str, str]:
    """Return the SHA-256 of the root's weight files, concatenated, and of the vocabulary."""
    groups = *([name] for name in VOCABULARIES), [*MERGES, *SENTENCEPIECE]
    found = ([folder / name for name in each if (folder / name).exists()] for each in groups)
    files = next(filter(None, found), [folder / VOCABULARY_NAME])  # named if it is missing
    return file_digest(*weight_files(folder)), file_digest(*files)


def _read(path: Path, understand: Callable[[Any], Found], writer: str) -> Found:
    """Read a file; `understand` raises a built-in exception if the record is damaged."""
    record = parse_json(read_small(path, _LARGEST), path.name, unique=True)
    try:
        return understand(record)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise CheckpointError(
            f"{path.name} is damaged, or of other files. Write it again with `{writer}`."
        ) from None


def _statistics(record: dict[str, Any]) -> HeadStatistics:
    values: dict[str, Any] = {}
    for name, kind in get_type_hints(HeadStatistics).items():
        value = record[name]
        values[name] = _table(value) if name in MEASURES else value
        _need(name in MEASURES or (type(value) is kind and (kind is str or value >= 0)))
    found = HeadStatistics(**values)
    for name in MEASURES:
        table, most = values[name], found.entropy_limit if name == "entropy" else 1.0
        _need(table.shape == found.entropy.shape)
        _need(not ((table < -1e-3) | (table > most + 1e-3)).any())  # NaN, not measured, is neither
    return found


def _atlas(record: dict[str, Any], statistics: HeadStatistics) -> HeadAtlas:
    _need(record["weights_sha256"] == statistics.weights_sha256)
    _need(record["text_sha256"] == statistics.text_sha256)
    layers, heads = statistics.entropy.shape
    tables = {name: _table(record[name]) for name in _TABLES}
    for name, table in tables.items():
        _need(table.shape == (layers, 3 if name == "gradients" else heads))
    typical = np.array(record["typical"]).reshape(layers, heads, TYPICAL)
    _need(typical.dtype.kind == "i" and -1 <= typical.min() <= typical.max() < statistics.texts)
    _need([len(row) for row in record["distances"]] == list(range(layers * heads)))
    distances = np.zeros((layers * heads, layers * heads))
    for head, row in enumerate(record["distances"][1:], 1):
        distances[head, :head] = distances[:head, head] = _table([row])
    _need(not ((distances < 0) | (distances > 1)).any())
    words, loss = record["words"], record["loss"]
    _need(type(words) is int and words >= 0)
    return HeadAtlas(
        statistics=statistics,
        distances=distances,
        loss=math.nan if loss is None else float(loss),
        words=words,
        typical=typical,
        **tables,
    )


def _need(fits: object) -> None:
    if not fits:
        raise ValueError


def _table(rows: Any) -> Floats:
    table = np.array([[math.nan if n is None else n for n in row] for row in rows])
    _need(table.dtype.kind in "if" and table.ndim == 2 and table.size)
    table = table.astype(np.float64)
    table.setflags(write=False)
    return table

"""Reading and writing what was measured on the heads of a model, stored in its folder.

`head-statistics.json` says where heads look, `head-atlas.json` contains what takes long to measure.
`python -m bert_core head-statistics MODEL --json` and `... head-atlas MODEL` print them again.
"""

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bert_core.analysis.head_atlas import TYPICAL, HeadAtlas, head_atlas
from bert_core.analysis.head_statistics import (
    MEASURES,
    HeadStatistics,
    Shares,
    fixed_texts,
    head_statistics,
    text_digest,
)
from bert_core.checkpoints.formats.weights import weight_files
from bert_core.checkpoints.sources.hub_names import MERGES, SENTENCEPIECE
from bert_core.errors import CheckpointError
from bert_core.model.bert import BertModel
from bert_core.model.heads import BertForMaskedLM, BertForPreTraining
from bert_core.small_files import file_digest, parse_json, read_small, replacing
from bert_core.text.family import load_tokenizer
from bert_core.text.stored import vocabulary_file
from bert_core.text.vocabulary import VOCABULARY_NAME

Found = TypeVar("Found", HeadStatistics, HeadAtlas)
NAME = "head-statistics.json"
ATLAS_NAME = "head-atlas.json"
_LARGEST = 4 * 1024 * 1024  # bytes; of BERT large, with 384 heads, the atlas needs 600 kB
_MOST_HEADS = 65_536
_DIGITS, _ATLAS_DIGITS = 6, 4
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


# -- measuring and writing ------------------------------------------------------------------------


def measure_folder(folder: Path) -> HeadStatistics:
    """Measure where the heads of the model in a folder look, on the fixed texts.

    Raises:
        BertError: the folder contains no model, or it cannot be read.
    """
    model = BertForPreTraining.from_pretrained(folder)
    return _signed(head_statistics(model, load_tokenizer(folder)), folder)


def measure_atlas(folder: Path) -> HeadAtlas:
    """Measure everything about the heads of the model in a folder, on the fixed texts.

    Raises:
        BertError: the folder contains no model, or it cannot be read.
    """
    words = BertForMaskedLM.from_pretrained(folder)
    trained = words.load_report is not None and not words.load_report.missing
    model = words if trained else BertModel.from_pretrained(folder)
    found = head_atlas(model, load_tokenizer(folder))
    return replace(found, statistics=_signed(found.statistics, folder))


def _signed(found: HeadStatistics, folder: Path) -> HeadStatistics:
    """Add the digests of the files that were measured."""
    weights, vocabulary = _digests(folder)
    return replace(found, weights_sha256=weights, vocabulary_sha256=vocabulary)


def write_head_statistics(folder: str | os.PathLike[str]) -> HeadStatistics:
    """Measure a model on the fixed texts and write its head statistics to its folder.

    Raises:
        BertError: the folder contains no model, or it cannot be read.
    """
    statistics = measure_folder(Path(folder))
    _write(Path(folder) / NAME, to_json(statistics))
    return statistics


def write_head_atlas(folder: str | os.PathLike[str]) -> HeadAtlas:
    """Measure a model on the fixed texts and write the atlas of its heads to its folder.

    Raises:
        BertError: the folder contains no model, or it cannot be read.
    """
    found = measure_atlas(Path(folder))
    _write(Path(folder) / ATLAS_NAME, atlas_json(found))
    return found


def to_json(statistics: HeadStatistics) -> str:
    """Format statistics as JSON: six decimals, null for pruned heads."""
    record: dict[str, Any] = {"units": _UNITS, "measures_of": _SOURCE}
    for each in fields(statistics):
        value = getattr(statistics, each.name)
        if each.name in MEASURES:
            value = _rounded(value.tolist(), _DIGITS)
        record[each.name] = _as_number(value, _DIGITS) if isinstance(value, float) else value
    return _laid_out(record)


def atlas_json(atlas: HeadAtlas) -> str:
    """Format an atlas as JSON: four decimals, null for what was not measured."""
    distances = [row[:number] for number, row in enumerate(atlas.distances.tolist())]
    return _laid_out(
        {
            "units": _ATLAS_UNITS,
            "weights_sha256": atlas.statistics.weights_sha256,
            "text_sha256": atlas.statistics.text_sha256,
            "words": atlas.words,
            "loss": _as_number(atlas.loss, _ATLAS_DIGITS),
            **{name: _rounded(getattr(atlas, name).tolist(), _ATLAS_DIGITS) for name in _TABLES},
            "typical": atlas.typical.reshape(-1, TYPICAL).tolist(),
            "distances": _rounded(distances, _ATLAS_DIGITS),
        }
    )


def _as_number(value: float, digits: int) -> float | None:
    """Round a number for a file; NaN becomes None."""
    return None if math.isnan(value) else round(value, digits)


def _rounded(rows: list[list[float]], digits: int) -> list[list[float | None]]:
    return [[_as_number(each, digits) for each in row] for row in rows]


def _laid_out(record: Mapping[str, Any]) -> str:
    """Format a record with a line for each value; a table gets one per row."""
    lines = []
    for name, value in record.items():
        text = json.dumps(value)
        if isinstance(value, list):
            text = "[\n  " + ",\n  ".join(json.dumps(row) for row in value) + "\n ]"
        lines.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _write(path: Path, text: str) -> None:
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")


# -- reading --------------------------------------------------------------------------------------


def read_head_statistics(folder: str | os.PathLike[str]) -> HeadStatistics:
    """Read the statistics in a model's folder; `stale_because` checks that they belong to it.

    Raises:
        MissingFileError: the folder has no statistics.
        CheckpointError: the file is damaged.
    """
    return _read(
        Path(folder) / NAME,
        _statistics,
        f"{NAME} is damaged or was written by another version of this package: expected a "
        "table of numbers, layers by heads, for each measure. Write it again with "
        "`write_head_statistics`.",
    )


def read_head_atlas(folder: str | os.PathLike[str]) -> HeadAtlas:
    """Read the atlas in a model's folder, with the statistics beside it.

    `stale_because` checks that the statistics belong to the model.

    Raises:
        MissingFileError: the folder has no atlas, or no statistics.
        CheckpointError: a file is damaged, or the two belong to different weights or texts.
    """
    statistics = read_head_statistics(folder)
    return _read(
        Path(folder) / ATLAS_NAME,
        lambda record: _atlas(record, statistics),
        f"{ATLAS_NAME} is damaged, or does not belong to the {NAME} beside it. Write it again "
        "with `write_head_atlas`.",
    )


def _read(path: Path, understand: Callable[[Any], Found], damaged: str) -> Found:
    """Read a file; `understand` raises a built-in exception if the record is damaged."""
    record = parse_json(read_small(path, _LARGEST), path.name, unique=True)
    try:
        return understand(record)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise CheckpointError(damaged) from None


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
    own, others = vocabulary_file(folder), (folder / name for name in (*MERGES, *SENTENCEPIECE))
    files = [own] if own is not None else [path for path in others if path.is_file()]
    files = files or [folder / VOCABULARY_NAME]  # named if it is missing
    return file_digest(*weight_files(folder)), file_digest(*files)


def _statistics(record: dict[str, Any]) -> HeadStatistics:
    values = {each.name: record[each.name] for each in fields(HeadStatistics)}
    found = HeadStatistics(**values | {name: _table(values[name]) for name in MEASURES})
    pruned = np.isnan(found.entropy)
    for measure in MEASURES:
        table = getattr(found, measure)
        most = 1.0 if measure != "entropy" else found.entropy_limit
        _need(table.shape == pruned.shape and (np.isnan(table) == pruned).all())
        _need((table[~pruned] >= -1e-3).all() and (table[~pruned] <= most + 1e-3).all())
    counts = (found.texts, found.pairs, found.tokens, found.repeats, found.truncated)
    digests = (found.text_sha256, found.weights_sha256, found.vocabulary_sha256)
    _need(all(type(each) is int and each >= 0 for each in counts))
    _need(all(isinstance(each, str) for each in digests) and found.entropy_limit >= 0)
    return found


def _atlas(record: dict[str, Any], statistics: HeadStatistics) -> HeadAtlas:
    digests = (record["weights_sha256"], record["text_sha256"])
    _need(digests == (statistics.weights_sha256, statistics.text_sha256))
    layers, heads = statistics.layers, statistics.heads
    tables = {name: _table(record[name]) for name in _TABLES}
    for name, table in tables.items():
        _need(table.shape == (layers, 3 if name == "gradients" else heads))
    typical = np.array(record["typical"])
    _need(typical.shape == (layers * heads, TYPICAL) and typical.dtype.kind == "i")
    _need(typical.min() >= -1 and typical.max() < statistics.texts)
    words, loss = record["words"], record["loss"]
    _need(type(words) is int and words >= 0)
    return HeadAtlas(
        statistics=statistics,
        distances=_square(record["distances"], layers * heads),
        loss=float("nan") if loss is None else float(loss),
        words=words,
        typical=typical.reshape(layers, heads, TYPICAL),
        **tables,
    )


def _need(fits: object) -> None:
    if not fits:
        raise ValueError


def _table(rows: Any) -> Shares:
    """Read a table of numbers, null for NaN; a built-in exception if it is none."""
    table = np.array([[math.nan if n is None else n for n in row] for row in rows])
    _need(table.dtype.kind in "if" and table.ndim == 2 and 0 < table.size <= _MOST_HEADS)
    table = table.astype(np.float64)
    table.setflags(write=False)
    return table


def _square(rows: Any, heads: int) -> Shares:
    """Return the distances (N, N) of rows that contain those before the diagonal."""
    found = np.zeros((heads, heads))
    _need([len(row) for row in rows] == list(range(heads)))
    for head, row in enumerate(rows[1:], 1):
        values = _table([row])[0]
        # NaN, for a pruned head, is neither.
        _need(not ((values < 0).any() or (values > 1).any()))
        found[head, :head] = found[:head, head] = values
    return found

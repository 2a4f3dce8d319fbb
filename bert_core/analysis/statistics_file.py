"""Reading and writing `head-statistics.json`, the head statistics stored in a model's folder."""

import hashlib
import json
import math
import os
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from bert_core.analysis.head_statistics import (
    MEASURES,
    HeadStatistics,
    Shares,
    fixed_texts,
    head_statistics,
    text_digest,
)
from bert_core.checkpoints.formats.weights import weight_files
from bert_core.errors import CheckpointError
from bert_core.model.heads import BertForPreTraining
from bert_core.small_files import open_regular, parse_json, read_small, replacing
from bert_core.text.stored import vocabulary_file
from bert_core.text.tokenizer import BertTokenizer
from bert_core.text.vocabulary import VOCABULARY_NAME

NAME = "head-statistics.json"
_LARGEST = 4 * 1024 * 1024  # bytes; BERT large, with 24 layers of 16 heads, needs 40 kB
_MOST_HEADS = 65_536
_DIGITS = 6
_UNITS = {"shares": "of the attention a token gives away, 0 to 1", "entropy": "bits"}
_SOURCE = 'Clark et al. 2019, "What Does BERT Look At?", section 3'


def to_json(statistics: HeadStatistics) -> str:
    """Format statistics as JSON: six decimals, null for pruned heads."""
    record: dict[str, Any] = {"units": _UNITS, "measures_of": _SOURCE}
    for each in fields(statistics):
        value = getattr(statistics, each.name)
        if each.name in MEASURES:
            value = [[as_number(share) for share in row] for row in value.tolist()]
        record[each.name] = as_number(value) if isinstance(value, float) else value
    lines = [f" {json.dumps(name)}: {laid_out(value)}" for name, value in record.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def as_number(value: float, digits: int = _DIGITS) -> float | None:
    """Round a number for a file; NaN becomes None."""
    return None if math.isnan(value) else round(value, digits)


def laid_out(value: Any) -> str:
    """Format one value; a table gets one line per row."""
    if not isinstance(value, list):
        return json.dumps(value)
    return "[\n  " + ",\n  ".join(json.dumps(row) for row in value) + "\n ]"


def write_head_statistics(folder: str | os.PathLike[str]) -> HeadStatistics:
    """Measure a model on the fixed texts and write the result to its folder.

    Raises:
        BertError: the folder contains no model, or it cannot be read.
    """
    place = Path(folder)
    statistics = measure_folder(place)
    with replacing(place / NAME) as draft:
        draft.write_text(to_json(statistics), encoding="utf-8", newline="\n")
    return statistics


def measure_folder(folder: Path) -> HeadStatistics:
    """Measure the model in a folder on the fixed texts.

    Raises:
        BertError: the folder contains no model, or it cannot be read.
    """
    model = BertForPreTraining.from_pretrained(folder)
    found = head_statistics(model, BertTokenizer.from_pretrained(folder))
    weights, vocabulary = digests(folder)
    return replace(found, weights_sha256=weights, vocabulary_sha256=vocabulary)


def read_head_statistics(folder: str | os.PathLike[str]) -> HeadStatistics:
    """Read the statistics in a model's folder; `stale_because` checks that they belong to it.

    Raises:
        MissingFileError: the folder has no statistics.
        CheckpointError: the file is damaged.
    """
    path = Path(folder) / NAME
    record = parse_json(read_small(path, _LARGEST), NAME, unique=True)
    try:
        values = {each.name: record[each.name] for each in fields(HeadStatistics)}
        for measure in MEASURES:
            values[measure] = read_table(values[measure])
        statistics = HeadStatistics(**values)
        _check(statistics)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise CheckpointError(
            f"{NAME} is damaged or was written by another version of this package: expected a "
            "table of numbers, layers by heads, for each measure. Write it again with "
            "`write_head_statistics`."
        ) from None
    return statistics


def stale_because(statistics: HeadStatistics, folder: str | os.PathLike[str]) -> str:
    """Return one sentence on why statistics do not match the model in a folder; "" if they do.

    Reads all weights to hash them.
    """
    weights, vocabulary = digests(Path(folder))
    if statistics.weights_sha256 != weights:
        return "They were measured on other weights."
    if statistics.vocabulary_sha256 != vocabulary:
        return "They were measured with another vocabulary."
    if statistics.text_sha256 != text_digest(fixed_texts()):
        return "They were measured on other texts than this version of the package uses."
    return ""


def read_table(rows: Any) -> Shares:
    """Read a table of numbers, null for NaN; a built-in exception if it is none."""
    table = np.array([[math.nan if n is None else n for n in row] for row in rows])
    if table.dtype.kind not in "if" or table.ndim != 2 or not 0 < table.size <= _MOST_HEADS:
        raise ValueError
    table = table.astype(np.float64)
    table.setflags(write=False)
    return table


def _check(found: HeadStatistics) -> None:
    """Raise a built-in exception for impossible values."""
    pruned = np.isnan(found.entropy)
    for measure in MEASURES:
        table = getattr(found, measure)
        most = 1.0 if measure != "entropy" else found.entropy_limit
        if table.shape != pruned.shape or (np.isnan(table) != pruned).any():
            raise ValueError
        if (table[~pruned] < -1e-3).any() or (table[~pruned] > most + 1e-3).any():
            raise ValueError
    counts = (found.texts, found.pairs, found.tokens, found.repeats, found.truncated)
    digests = (found.text_sha256, found.weights_sha256, found.vocabulary_sha256)
    if any(type(each) is not int or each < 0 for each in counts):
        raise ValueError
    if not all(isinstance(each, str) for each in digests) or not found.entropy_limit >= 0:
        raise ValueError


def digests(folder: Path) -> tuple[str, str]:
    """Return the SHA-256 of the root's weight files, concatenated, and of the vocabulary."""
    vocabulary = vocabulary_file(folder) or folder / VOCABULARY_NAME  # named if it is missing
    return _digest(weight_files(folder)), _digest((vocabulary,))


def _digest(paths: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with os.fdopen(open_regular(path), "rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()

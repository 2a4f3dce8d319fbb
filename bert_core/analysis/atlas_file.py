"""Reading and writing `head-atlas.json`, the atlas of its heads stored in a model's folder.

It contains what takes long to measure; where heads look is in `head-statistics.json` beside it.
`python -m bert_core head-atlas MODEL` prints the file again.
"""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bert_core.analysis.head_atlas import TYPICAL, Floats, HeadAtlas, head_atlas
from bert_core.analysis.head_statistics import HeadStatistics
from bert_core.analysis.statistics_file import (
    as_number,
    digests,
    laid_out,
    read_head_statistics,
    read_table,
)
from bert_core.errors import CheckpointError
from bert_core.model.bert import BertModel
from bert_core.model.heads import BertForMaskedLM
from bert_core.small_files import parse_json, read_small, replacing
from bert_core.text.tokenizer import BertTokenizer

NAME = "head-atlas.json"
_LARGEST = 4 * 1024 * 1024  # bytes; BERT large, with 384 heads, needs 600 kB
_DIGITS = 4
_TABLES = ("effects", "errors", "sep_to_sep", "cls_entropy", "gradients")
_UNITS = {
    "effects": "growth of the loss without the head, nats",
    "errors": "half of the 95 % interval of the effects, nats",
    "sep_to_sep": "share of attention, 0 to 1",
    "cls_entropy": "bits",
    "gradients": "nats for an attention weight of 1; to [CLS], [SEP], text",
    "typical": "numbers of texts, from 0",
    "distances": "Jensen-Shannon distance of each head to those before it, 0 to 1",
}


def measure_atlas(folder: Path) -> HeadAtlas:
    """Measure the model in a folder on the fixed texts.

    Raises:
        BertError: the folder contains no model, or it cannot be read.
    """
    words = BertForMaskedLM.from_pretrained(folder)
    trained = words.load_report is not None and not words.load_report.missing
    model = words if trained else BertModel.from_pretrained(folder)
    found = head_atlas(model, BertTokenizer.from_pretrained(folder))
    weights, vocabulary = digests(folder)
    return replace(
        found,
        statistics=replace(found.statistics, weights_sha256=weights, vocabulary_sha256=vocabulary),
    )


def write_head_atlas(folder: str | os.PathLike[str]) -> HeadAtlas:
    """Measure a model on the fixed texts and write the result to its folder.

    Raises:
        BertError: the folder contains no model, or it cannot be read.
    """
    place = Path(folder)
    found = measure_atlas(place)
    with replacing(place / NAME) as draft:
        draft.write_text(atlas_json(found), encoding="utf-8", newline="\n")
    return found


def atlas_json(atlas: HeadAtlas) -> str:
    """Format an atlas as JSON: four decimals, null for what was not measured."""
    distances = [row[:number] for number, row in enumerate(atlas.distances.tolist())]
    record: dict[str, Any] = {
        "units": _UNITS,
        "weights_sha256": atlas.statistics.weights_sha256,
        "text_sha256": atlas.statistics.text_sha256,
        "words": atlas.words,
        "loss": as_number(atlas.loss, _DIGITS),
        **{name: _rounded(getattr(atlas, name).tolist()) for name in _TABLES},
        "typical": atlas.typical.reshape(-1, TYPICAL).tolist(),
        "distances": _rounded(distances),
    }
    lines = [f" {json.dumps(name)}: {laid_out(value)}" for name, value in record.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _rounded(rows: list[list[float]]) -> list[list[float | None]]:
    return [[as_number(each, _DIGITS) for each in row] for row in rows]


def read_head_atlas(folder: str | os.PathLike[str]) -> HeadAtlas:
    """Read the atlas in a model's folder, with the statistics beside it.

    `stale_because` checks that the statistics belong to the model.

    Raises:
        MissingFileError: the folder has no atlas, or no statistics.
        CheckpointError: a file is damaged, or the two belong to different weights or texts.
    """
    statistics = read_head_statistics(folder)
    record = parse_json(read_small(Path(folder) / NAME, _LARGEST), NAME, unique=True)
    try:
        return _read(record, statistics)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise CheckpointError(
            f"{NAME} is damaged, or does not belong to the head-statistics.json beside it. Write "
            "it again with `write_head_atlas`."
        ) from None


def _read(record: dict[str, Any], statistics: HeadStatistics) -> HeadAtlas:
    """Read a record; a built-in exception if it is damaged."""
    digests_ = (record["weights_sha256"], record["text_sha256"])
    if digests_ != (statistics.weights_sha256, statistics.text_sha256):
        raise ValueError
    layers, heads = statistics.layers, statistics.heads
    tables = {name: read_table(record[name]) for name in _TABLES}
    wide = {name: 3 if name == "gradients" else heads for name in _TABLES}
    if any(table.shape != (layers, wide[name]) for name, table in tables.items()):
        raise ValueError
    typical = np.array(record["typical"])
    if typical.shape != (layers * heads, TYPICAL) or typical.dtype.kind != "i":
        raise ValueError
    if not (typical.min() >= -1 and typical.max() < statistics.texts):
        raise ValueError
    words, loss = record["words"], record["loss"]
    if type(words) is not int or words < 0:
        raise ValueError
    return HeadAtlas(
        statistics=statistics,
        distances=_square(record["distances"], layers * heads),
        loss=float("nan") if loss is None else float(loss),
        words=words,
        typical=typical.reshape(layers, heads, TYPICAL),
        **tables,
    )


def _square(rows: Any, heads: int) -> Floats:
    """Return the distances (N, N) of rows that contain those before the diagonal."""
    found = np.zeros((heads, heads))
    if [len(row) for row in rows] != list(range(heads)):
        raise ValueError
    for head, row in enumerate(rows[1:], 1):
        values = read_table([row])[0]
        if (values < 0).any() or (values > 1).any():
            raise ValueError
        found[head, :head] = found[:head, head] = values
    return found

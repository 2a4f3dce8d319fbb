"""The atlas of heads on the texts of a file: sums for each chunk, and at the end a row a head."""

import base64
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import torch

from app.declared import Declared, declared
from app.engine.calls import refused
from app.engine.compute.processor import PROCESSOR
from app.engine.compute.visitor import check_text
from app.engine.models import Engine
from app.faces.batch.writing import WRITERS
from bert_core import BertForMaskedLM, BertModel
from bert_core.analysis.head_atlas import AtlasSums, HeadAtlas
from bert_core.analysis.head_statistics import MEASURES, name_heads
from bert_core.analysis.similarity import multidimensional_scaling
from bert_core.errors import InputError

Line = Mapping[str, Any]

_TABLES = ("effects", "errors", "sep_to_sep", "cls_entropy")
_COLUMNS = {
    **dict.fromkeys(("layer", "head"), pa.int64()),
    "name": pa.string(),
    **dict.fromkeys(("score", "x", "y", *_TABLES, *MEASURES), pa.float64()),
    **dict.fromkeys(("typical_rows", "distances")),
}


def of_texts() -> Declared:
    """Return the task as it is asked about a row: for a text, or two."""
    return replace(declared("atlas"), parameters=declared("attention").parameters[:2])


def measured(
    engine: Engine, rows: Sequence[tuple[Mapping[str, object], str]]
) -> Iterator[dict[str, Any]]:
    """Measure a chunk: yield `{}` or `{"error": …}` for each row, the last one with `sums`."""
    sums, found, places = _sums(engine), of_texts(), list[int]()
    for place, (given, wrong) in enumerate(rows):
        line: dict[str, Any] = {"error": wrong} if wrong else {}
        try:
            if not wrong:
                _add(sums, found.read(given))
                places.append(place)
        except Exception as error:  # noqa: BLE001 - this row's; a bug gets a number, as elsewhere
            line = {"error": refused(error).message}
        if place == len(rows) - 1 and places:
            line["sums"] = _packed(sums, places)
        yield line


def write_heads(
    file: BinaryIO, kind: str, engine: Engine, chunks: Iterable[Sequence[Line]]
) -> tuple[int, str]:
    """Write the table.

    Args:
        file: where.
        kind: of `WRITERS`.
        engine: the model.
        chunks: what `measured` has yielded, in the order of the rows.

    Returns:
        The number of rows with an error, and a line on what was measured.

    Raises:
        InputError: no row has a text.
    """
    sums, row, wrong = _sums(engine), 0, list[str]()
    errors = 0
    for lines in chunks:
        for number, line in enumerate(lines, row + 1):
            if "error" in line:
                errors += 1
                wrong = wrong or [
                    f"; the first error is in row {number:,}: {line['error'].rstrip('.')}"
                ]
            if "sums" in line:
                with np.load(io.BytesIO(base64.b64decode(line["sums"]))) as totals:
                    sums.merge(totals, first=row + 1)
        row += len(lines)
    found = sums.finished()
    WRITERS[kind](file, _COLUMNS, [list(_rows(found))])
    about = f"{len(found.distances):,} heads on {found.statistics.texts:,} texts, "
    return errors, f"{about}{found.words:,} words hidden, loss {found.loss:.3f}{''.join(wrong)}"


def _sums(engine: Engine) -> AtlasSums:
    words = not engine.missing("BertForMaskedLM")
    return AtlasSums(engine.model(BertForMaskedLM if words else BertModel), engine.tokenizer)


def _add(sums: AtlasSums, given: Mapping[str, Any]) -> None:
    text, pair = str(given["text"]), str(given.get("text_pair", ""))
    if not text.strip():
        raise InputError("text: found nothing; expected a text.")
    check_text(text + pair)
    PROCESSOR.run(lambda: sums.add((text, pair) if pair else text), tokens=1)


def _packed(sums: AtlasSums, places: Sequence[int]) -> str:
    """Write sums as a text; typical texts are then numbered as the rows of the chunk."""
    values, numbers = sums.totals["typical"]
    places = [*places, -1]  # the last, for none
    typical = np.stack([values, np.array(places)[numbers.astype(int)]])
    data = io.BytesIO()
    np.savez(data, allow_pickle=False, **{**sums.totals, "typical": typical})
    return base64.b64encode(data.getvalue()).decode()


def _rows(found: HeadAtlas) -> Iterator[list[Any]]:
    """Yield a row for each head; nothing is known of a pruned one."""
    names, shape = name_heads(found.statistics), found.effects.shape
    kept = np.flatnonzero(~np.isnan(found.statistics.entropy.reshape(-1)))
    layout = multidimensional_scaling(torch.from_numpy(found.distances[np.ix_(kept, kept)]))
    places = dict(zip(kept.tolist(), layout.coordinates.tolist(), strict=True))
    tables = [getattr(found, name) for name in _TABLES]
    tables += [getattr(found.statistics, name) for name in MEASURES]
    for number, place in enumerate(np.ndindex(shape)):
        name = names[place[0]][place[1]]
        numbers = (
            name.score,
            *places.get(number, (math.nan,) * 2),
            *(each[place] for each in tables),
        )
        typical = [int(row) for row in found.typical[place] if row >= 0]
        yield [
            *place, name.name, *map(_known, numbers), typical,
            [*map(_known, found.distances[number])],
        ]  # fmt: skip


def _known(number: float) -> float | None:
    return None if math.isnan(number) else float(number)

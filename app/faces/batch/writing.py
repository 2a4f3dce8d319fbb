"""The answers as one table: a row for each row of the input, in its order."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, BinaryIO, Literal, Union, get_args, get_origin

import pyarrow as pa
import pyarrow.parquet as pq

from app.faces.paper.json import as_json, hint, keys

_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
_GROUP_ROWS, _GROUP_BYTES = 2**16, 2**25  # of a Parquet file, held in memory until written

# Columns in order, with their types; None for lists and objects, which tables have as JSON.
Types = Mapping[str, pa.DataType | None]

Rows = Iterable[Sequence[Sequence[Any]]]  # chunks of rows, each with a value for each column


def columns(given: Types, result: type) -> Types:
    """Return the columns: the row's number, the input's, those of the answer, the error.

    "input_" comes before a name that is taken; the class of the answers alone decides their types.
    """
    answer = {**answer_types(result), "error": pa.string()}
    found: dict[str, pa.DataType | None] = {}
    for name, type_ in (("row", pa.int64()), *given.items()):
        new = name
        while new in answer or new in found or (new != name and new in given):
            new = f"input_{new}"
        found[new] = type_
    return found | answer


def answer_types(result: type) -> dict[str, pa.DataType | None]:
    """Return the type of each key of an answer's JSON."""
    found = {key: _type(hint(result, key)) for key in keys(result)}
    found.pop("provenance", None)
    return {**found, "provenance": None}


def _type(hint: Any) -> pa.DataType | None:
    parts = set(get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,)) - {NoneType}
    one: Any = parts.pop() if len(parts) == 1 else None
    return pa.string() if get_origin(one) is Literal else _TYPES.get(one)


def write_jsonl(file: BinaryIO, columns: Types, chunks: Rows) -> None:
    """Write a JSON object for each row."""
    for rows in chunks:
        for cells in rows:
            row = dict(zip(columns, map(_plain, cells), strict=True))
            file.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode())


def write_csv(file: BinaryIO, columns: Types, chunks: Rows) -> None:
    """Write a line for each row; a cell is empty where there is no value."""
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(columns)
    for rows in chunks:
        for cells in rows:
            plain = (cell if isinstance(cell, float) else _plain(cell) for cell in cells)
            writer.writerow(
                cell if isinstance(cell, str | float) else _json(cell) for cell in plain
            )
    text.detach()


def write_parquet(file: BinaryIO, columns: Types, chunks: Rows) -> None:
    """Write typed columns."""
    schema = pa.schema([(name, type_ or pa.string()) for name, type_ in columns.items()])
    waiting, count, held = list[pa.RecordBatch](), 0, 0
    with pq.ParquetWriter(file, schema) as writer:
        for rows in chunks:
            arrays = [
                pa.array(cells if type_ else map(_json, cells), type_ or pa.string())
                for type_, cells in zip(columns.values(), zip(*rows, strict=True), strict=True)
            ]
            waiting.append(pa.record_batch(arrays, schema=schema))
            count, held = count + len(rows), held + waiting[-1].nbytes
            if held >= _GROUP_BYTES or count >= _GROUP_ROWS:
                writer.write_table(pa.Table.from_batches(waiting))
                waiting, count, held = [], 0, 0
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting))


WRITERS: dict[str, Callable[[BinaryIO, Types, Rows], None]] = {
    ".parquet": write_parquet,
    ".csv": write_csv,
    ".jsonl": write_jsonl,
}


def _plain(value: Any) -> Any:
    """Turn a value into what JSON has; what it has no word for, such as a date, is a text."""
    try:
        return as_json(value)
    except TypeError:
        return str(value)


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(_plain(value), ensure_ascii=False)

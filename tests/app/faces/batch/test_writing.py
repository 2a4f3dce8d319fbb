"""The answers as tables."""

import csv
import datetime
import io
import json
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.declared import all_declared, declared
from app.faces.batch.reading import Source
from app.faces.batch.writing import (
    WRITERS,
    Types,
    answer_types,
    columns,
    write_csv,
    write_jsonl,
    write_parquet,
)
from app.faces.paper.answers import Written
from app.features.tokenizer.result import TokenizerResult

NAMES = [each.feature.slug for each in all_declared() if each.typed]
TYPES: Types = {"n": pa.int64(), "share": pa.float64(), "yes": pa.bool_(), "text": pa.string(),
                "parts": None, "day": pa.date32()}  # fmt: skip
ROWS: list[list[Any]] = [
    [1, 0.1 + 0.2, True, 'a,"b"\r\n\x00海', [{"x": 1e-300}], datetime.date(2026, 8, 1)],
    [2**60, 1e22, False, "=1+1\r", {"deep": None}, None],
    [None, None, None, None, None, None],
]


def written(ending: str) -> bytes:
    file = io.BytesIO()
    WRITERS[ending](file, TYPES, [ROWS[:1], ROWS[1:]])
    return file.getvalue()


def test_csv_loses_nothing() -> None:
    header, *rows = csv.reader(io.StringIO(written(".csv").decode(), newline=""))
    assert header == list(TYPES)
    assert [float(row[1]) for row in rows[:2]] == [0.1 + 0.2, 1e22]
    assert rows[0][2:] == ["true", ROWS[0][3], '[{"x": 1e-300}]', "2026-08-01"]
    assert rows[1] == [str(2**60), "1e+22", "false", "=1+1\r", '{"deep": null}', ""]
    assert rows[2] == [""] * len(TYPES)


def test_json_lines_have_parts_as_they_are() -> None:
    rows = [json.loads(line) for line in written(".jsonl").decode().split("\n")[:-1]]
    assert [list(row.values()) for row in rows] == [
        [*ROWS[0][:5], "2026-08-01"], ROWS[1], ROWS[2]
    ]  # fmt: skip
    not_a_number = io.BytesIO()
    write_jsonl(not_a_number, {"share": pa.float64()}, [[[float("nan")]]])
    assert not_a_number.getvalue() == b'{"share": null}\n'


def test_parquet_is_typed_even_if_nothing_is_there_yet() -> None:
    table = pq.read_table(io.BytesIO(written(".parquet")))
    assert {each.name: each.type for each in table.schema} == {
        name: type_ or pa.string() for name, type_ in TYPES.items()
    }
    rows = [list(row.values()) for row in table.to_pylist()]
    assert rows[0] == [*ROWS[0][:4], '[{"x": 1e-300}]', ROWS[0][5]]
    assert rows[1][4] == '{"deep": null}' and rows[2] == [None] * len(TYPES)
    empty = io.BytesIO()
    write_parquet(empty, TYPES, [ROWS[2:]])
    assert pq.read_schema(empty) == table.schema


def test_columns_of_parquet_keep_their_types(tmp_path: Path) -> None:
    moment = datetime.datetime(2026, 8, 1, 12, tzinfo=datetime.UTC)
    table = pa.table(
        {
            "moment": pa.array([moment, None], pa.timestamp("ns", "UTC")),
            "span": pa.array([datetime.timedelta(seconds=1), None], pa.duration("us")),
            "exact": pa.array([Decimal("1.10"), None], pa.decimal128(8, 2)),
            "bytes": pa.array([b"\xff", None]),
            "kind": pa.array(["a", None]).dictionary_encode(),
            "half": pa.array([0.5, None], pa.float16()),
            "map": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int8())),
            "deep": pa.array([[{"a": [moment.date()]}], None]),
            "id": pa.array([uuid.UUID(int=1).bytes, None], pa.uuid()),
            "nothing": pa.nulls(2),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    source = Source(tmp_path / "in.parquet", "")
    types = source.types({})
    rows = [[[*values.values()]] for values, _ in source.rows()]
    file = io.BytesIO()
    write_parquet(file, types, rows)
    assert pq.read_table(file).equals(pq.read_table(tmp_path / "in.parquet"))
    lines = io.BytesIO()
    write_jsonl(lines, types, rows)
    first = json.loads(lines.getvalue().splitlines()[0])
    assert first["exact"] == "1.10" and first["map"] == [["a", 1]] and "12:00" in first["moment"]
    write_csv(io.BytesIO(), types, rows)


def test_groups_of_a_parquet_file_do_not_depend_on_the_chunks() -> None:
    file = io.BytesIO()
    write_parquet(file, {"n": pa.int64()}, [[[n] for n in range(200)]] * 400)
    found = pq.ParquetFile(file).metadata
    assert (found.num_rows, found.num_row_groups) == (80_000, 2)


def test_names_that_are_taken_are_extended() -> None:
    given = {"text": pa.string(), "input_text": pa.int8(), "row": pa.int64(), "own": None}
    found = columns(given, declared("fill_mask").result)
    assert list(found)[:5] == ["row", "input_input_text", "input_text", "input_row", "own"]
    assert found["input_text"] == pa.int8() and found["text"] == pa.string()
    assert list(found)[-2:] == ["provenance", "error"]
    assert next(iter(columns({}, declared("attention_cell").result))) == "input_row"


def test_types_are_those_of_the_class() -> None:
    found = answer_types(TokenizerResult)
    assert found["words"] == pa.int64() and found["lower_case"] == pa.bool_()
    assert found["columns"] is None
    assert answer_types(declared("qa").result)["probability"] == pa.float64()


@pytest.mark.parametrize("slug", NAMES)
def test_every_task_answers_in_columns(slug: str, answered: Callable[..., Written]) -> None:
    answer = answered(slug).json()
    types = answer_types(declared(slug).result)
    assert answer.keys() <= types.keys()
    file = io.BytesIO()
    write_parquet(file, types, [[[answer.get(name) for name in types]]])
    (row,) = pq.read_table(file).to_pylist()
    for name, value in answer.items():
        read = row[name] if types[name] or row[name] is None else json.loads(row[name])
        assert read == value, name
    write_csv(io.BytesIO(), types, [[[answer.get(name) for name in types]]])

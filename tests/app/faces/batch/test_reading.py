"""Rows of files: well-formed ones, and strange ones."""

import datetime
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.data.tables import LONGEST
from app.declared import declared
from app.faces.batch.reading import Source
from bert_core.errors import InputError


def source(folder: Path, name: str, content: bytes) -> Source:
    (folder / name).write_bytes(content)
    return Source(folder / name, "text")


def parquet(folder: Path, **columns: Any) -> Source:
    pq.write_table(pa.table(columns), folder / "in.parquet", row_group_size=2)
    return Source(folder / "in.parquet", "")


def told(rows: Sequence[tuple[dict[str, Any], str]]) -> list[Any]:
    """What was read of each row, or the beginning of why it was not."""
    return [wrong.split(";")[0] or values for values, wrong in rows]


def test_lines_of_a_text_are_rows(tmp_path: Path) -> None:
    found = source(tmp_path, "in.txt", b"\xef\xbb\xbfone\r\n\n two \x00\n\xfftwo\nlast")
    assert told(list(found.rows())) == [
        {"text": "one"},
        {"text": ""},
        "Line 3: found a NUL byte at 5",
        "Line 4: found byte 0xff at 0, which is not UTF-8",
        {"text": "last"},
    ]
    assert found.survey() == (5, {"text": ["str"]})


ROWS = "text,n\nnaïve “café” in München,1\nplain,2\n"


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (ROWS.encode("utf-16"), "UTF-16"),
        (ROWS.encode("utf-16-le"), "UTF-16"),
        (ROWS.encode("utf-16-be"), "UTF-16"),
        ("text\n你好，世界\n再见\n".encode("utf-16-le"), "UTF-16"),
        (ROWS.encode("utf-32"), "UTF-32"),
        (gzip.compress(ROWS.encode(), mtime=0), "gzip"),
        (b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0[Content_Types].xml", r"Excel .*\.xlsx"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(40), r"Excel .*\.xls"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:9\nsize 9\n", "git lfs pull"),
    ],
)
@pytest.mark.parametrize("name", ["in.csv", "in.tsv", "in.jsonl", "in.txt"])
def test_a_file_that_is_something_else_is_named(
    tmp_path: Path, name: str, content: bytes, named: str
) -> None:
    with pytest.raises(InputError, match=rf"{name} is .*{named}.*; expected rows of text in UTF-8"):
        source(tmp_path, name, content).survey()


@pytest.mark.parametrize(
    ("coding", "looks"),
    [("cp1252", "like Windows-1252,"), ("latin-1", "like Windows-1252 or Latin-1,")],
)
def test_a_line_in_another_encoding_says_which_it_looks_like(
    tmp_path: Path, coding: str, looks: str
) -> None:
    rows = ROWS if coding == "cp1252" else ROWS.replace("“", "'").replace("”", "'")
    (_, wrong), (values, _) = source(tmp_path, "in.csv", rows.encode(coding)).rows()
    assert wrong.startswith("Line 2: ") and looks in wrong and values == {"text": "plain", "n": "2"}
    cyrillic = source(tmp_path, "in.txt", "Привет, мир\n".encode("cp1251"))
    assert "Windows-1251" in next(cyrillic.rows())[1]


def test_a_line_without_end_is_one_bad_row_and_never_held(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes(b"first\n" + b"x" * (LONGEST - 1) + b"\n")
    with (tmp_path / "in.txt").open("ab") as file:
        file.truncate(file.tell() + 100 * LONGEST)  # zeros
    with (tmp_path / "in.txt").open("ab") as file:
        file.write(b"\nlast\n")
    found = told(list(Source(tmp_path / "in.txt", "text").rows()))
    assert found[0] == {"text": "first"} and found[1] == {"text": "x" * (LONGEST - 1)}
    assert found[2:] == ["Line 3: found 1,048,576 bytes or more", {"text": "last"}]


def test_cells_of_a_table_are_columns(tmp_path: Path) -> None:
    content = (
        b'text,n\nA,1\n\n"two\r\nlines, ""quoted""",2\nB\nC,3,4\n\xff,5\nD"x,6\nE,7\n"open,8\nF,9\n'
    )
    found = list(source(tmp_path, "in.csv", content).rows())
    assert told(found) == [
        {"text": "A", "n": "1"},
        {"text": 'two\r\nlines, "quoted"', "n": "2"},
        "Line 6: found 1 value",
        "Line 7: found 3 values",
        "Line 8: found byte 0xff at 0, which is not UTF-8",
        {"text": 'D"x', "n": "6"},
        {"text": "E", "n": "7"},
        "Lines 11 to 12: found unexpected end of data.",
    ]
    assert found[2][0] == {"text": "B"}  # what there is of a bad row is kept
    tabs = source(tmp_path, "in.tsv", b"text\tn\nA, B\t1\n")
    assert told(list(tabs.rows())) == [{"text": "A, B", "n": "1"}]


def test_objects_are_rows(tmp_path: Path) -> None:
    lines = [
        '{"text": "A", "n": 1}', "", '{"text": null, "deep": {"a": [1]}}', "[1]", "{", '{"n": NaN}',
        '{"text": "\\ud800"}', "[" * 100_000, f'{{"n": {"9" * 5_000}}}', '{"n": 2.5}',
    ]  # fmt: skip
    found = source(tmp_path, "in.jsonl", "\n".join(lines).encode())
    assert told(list(found.rows())) == [
        {"text": "A", "n": 1},
        {"text": None, "deep": {"a": [1]}},
        "Line 4: found no object",
        "Line 5: found no JSON",
        "Line 6: found no JSON",
        "Line 7: found no JSON",
        "Line 8: found no JSON",
        "Line 9: found no JSON",
        {"n": 2.5},
    ]
    count, kinds = found.survey()
    assert (count, kinds) == (9, {"text": ["str"], "n": ["float", "int"], "deep": ["dict"]})
    assert found.types(kinds) == {"text": pa.string(), "n": pa.float64(), "deep": None}


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([1, None, 2**62], pa.int64()),
        ([1, 0.5], pa.float64()),
        ([True, False], pa.bool_()),
        ([2**53 + 1, 0.5], None),  # as a float it would be another number
        ([2**64], None),
        (["a", 1], None),
        ([True, 1], None),
        ([None], pa.string()),
    ],
)
def test_all_rows_decide_the_type_of_a_column(
    tmp_path: Path, values: list[Any], type_: pa.DataType | None
) -> None:
    lines = "\n".join(json.dumps({"n": value}) for value in values)
    found = source(tmp_path, "in.jsonl", lines.encode())
    assert found.types(json.loads(json.dumps(found.survey()[1])))["n"] == type_


def test_parquet_is_read_with_its_types(tmp_path: Path) -> None:
    day = datetime.datetime(2026, 8, 1, tzinfo=datetime.UTC)
    deep = [{"a": [1]}, None, {"a": []}]
    found = parquet(tmp_path, text=["a", None, "c"], day=[day] * 3, deep=deep)
    assert [values["deep"] for values, _ in found.rows()] == deep
    assert [values["day"] for values, _ in found.rows()] == [day] * 3
    count, kinds = found.survey()
    assert count == 3 and list(kinds) == ["text", "day", "deep"]
    assert found.types(kinds)["day"] == pa.timestamp("us", "UTC")


def test_a_value_of_parquet_that_is_no_text_is_a_bad_row(tmp_path: Path) -> None:
    broken = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff")]
    )
    found = told(list(parquet(tmp_path, text=broken).rows()))
    assert found == [{"text": "a"}, "Row 2: found a value that cannot be read."]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("in.txt", b"", r"in\.txt has no rows"),
        ("in.csv", b"text\n", r"in\.csv has no rows"),
        ("in.csv", b"", r"in\.csv has no rows"),
        ("in.csv", b"text,n,text\na,1,b\n", "two columns with the same name in 'text, n, text'"),
        ("in.csv", b"te\xffxt\na\n", "The header cannot be read: found byte 0xff"),
        ("in.csv", b",".join(b"%d" % n for n in range(1_001)), "1,001 columns"),
        ("in.jsonl", b"".join(b'{"%d": 1}\n' % n for n in range(1_001)), "1,001 columns"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        source(tmp_path, name, content).survey()


def test_cells_become_what_a_task_is_given(tmp_path: Path) -> None:
    parameters = declared("tokenizer").parameters
    table = source(tmp_path, "in.csv", b"")
    cells = {"text": "", "text_pair": "", "cased": "True", "length": "8", "other": "x"}
    assert table.given(cells, parameters) == {"text": "", "cased": True, "length": 8}
    assert table.given({"cased": "maybe", "length": "8.5"}, parameters) == {
        "cased": "maybe", "length": "8.5"  # which the declaration refuses in words
    }  # fmt: skip
    objects = source(tmp_path, "in.jsonl", b"")
    assert objects.given({"text": None, "text_pair": "", "cased": None}, parameters) == {
        "text": None, "text_pair": ""
    }  # fmt: skip


def test_chunks_are_the_same_each_time_and_smaller_where_texts_are_long(tmp_path: Path) -> None:
    lines = [b"a"] * 10 + [b"b" * 40_000] * 3 + [b"c"] * 4
    found = source(tmp_path, "in.txt", b"\n".join(lines))
    sizes = [len(chunk) for chunk in found.chunks(8)]
    assert sizes == [8, 4, 5] == [len(chunk) for chunk in found.chunks(8)]

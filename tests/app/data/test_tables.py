"""Tables: pasted and as files; what is bad is named and left out."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.data import tables
from app.data.samples import SAMPLES, sample
from app.data.tables import MOST_BYTES, read_pasted, read_table
from bert_core.errors import InputError
from tests.conftest import NASTY


def parquet(**columns: object) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


ROW = {"text": "a, b", "label": "x"}


@pytest.mark.parametrize(
    ("pasted", "rows"),
    [
        ('text,label\n"a, b",x\n', [ROW]),
        ("\ufefftext\tlabel\r\na, b\tx\r\n", [ROW]),
        ('{"text": "a, b", "label": "x"}\n', [ROW]),
        ('[{"text": "a, b", "label": "x"}]', [ROW]),
        ("Ada\tB-PER\nsat\tO\n\nRome B-LOC\n", [
            {"tokens": ["Ada", "sat"], "tags": ["B-PER", "O"]},
            {"tokens": ["Rome"], "tags": ["B-LOC"]},
        ]),
        ("-DOCSTART- -X- O O\n\nAda NNP B-NP B-PER\n", [{"tokens": ["Ada"], "tags": ["B-PER"]}]),
    ],
)  # fmt: skip
def test_pasted_rows_are_read_by_their_looks(pasted: str, rows: list[object]) -> None:
    assert [row for _, row in read_pasted(pasted, most=9).rows] == rows


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (".csv", b'text,label\n"a, b",x\n'),
        (".tsv", b"text\tlabel\na, b\tx\n"),
        (".jsonl", b'{"text": "a, b", "label": "x"}\n'),
        (".parquet", parquet(text=["a, b"], label=["x"])),
    ],
)
def test_files_of_every_kind_have_the_same_rows(kind: str, content: bytes) -> None:
    found = read_table(content, kind)
    assert found.rows == ((1, ROW),) and found.columns == ("text", "label")


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_any_text_is_kept_as_it_is(text: str) -> None:
    found = read_table(parquet(text=[text]), ".parquet")
    assert found.rows[0][1]["text"] == text


def test_bad_rows_are_named_by_number_and_left_out() -> None:
    found = read_pasted("text,label\nfine,x\nno label\nfine too,y\n", most=9)
    assert [number for number, _ in found.rows] == [1, 3]
    assert found.bad == ("Line 3: found 1 value; expected 2, one for each column.",)
    mixed = read_pasted('[{"a": 1}, 3]', most=9)
    assert len(mixed.rows) == 1 and mixed.bad == ("Row 2: found no object.",)


def test_rows_beyond_the_most_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "text\n" + "row\n" * 7
    assert not read_pasted(text, most=7).cut
    found = read_pasted(text, most=5)
    assert found.cut and len(found.rows) == 5


@pytest.mark.parametrize(
    ("content", "kind", "named"),
    [
        (b"x" * (MOST_BYTES + 1), ".csv", r"5\.0 MiB; expected at most 5"),
        (b"", ".csv", "no rows"),
        (b"text,label\n", ".csv", "no rows"),
        (b"PK\x03\x04rest", ".csv", "zip archive"),
        (b"PAR1 and nothing else", ".parquet", "cannot be read as Parquet"),
        (b"a,a\n1,2\n", ".csv", "two columns with the same name"),
        (b"{}\nnonsense\n", ".parquet", "cannot be read as Parquet"),
    ],
)
def test_what_is_no_table_is_refused(content: bytes, kind: str, named: str) -> None:
    with pytest.raises(InputError, match=named):
        read_table(content, kind)


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "_MOST_UNPACKED", 10_000)
    content = parquet(text=[f"{n}" * 300 for n in range(300)])
    with pytest.raises(InputError, match="when it is unpacked"):
        read_table(content, ".parquet")
    with pytest.raises(InputError, match="more than 10,000 characters"):
        read_pasted("text\n" + "x" * 10_001 + "\n", most=9)


def test_our_samples_can_be_read_whole() -> None:
    found = {name: sample(name) for name in SAMPLES}
    assert not any(each.bad or each.cut for each in found.values())
    assert len(found["reviews"].rows) == 200 and len(found["names"].rows) == 60
    kinds = {row["kind"] for _, row in found["reviews"].rows}
    assert {"negation", "contrast", "irony"} <= kinds

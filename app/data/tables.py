"""Rows of text, CSV, TSV, JSONL and Parquet, one after the other; what is no row says why."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, BinaryIO, NoReturn

import pyarrow as pa
import pyarrow.parquet as pq

from bert_core.errors import InputError, count
from bert_core.small_files import HEAD, encoding_of_line, kind_of_bytes

LONGEST = 2**20
"""Bytes of a line; a longer one is a bad row."""

DELIMITERS = {".csv": ",", ".tsv": "\t"}
KINDS = (".txt", *DELIMITERS, ".jsonl", ".parquet")
MOST_ROWS, MOST_BYTES = 5_000, 5 * 2**20
"""Of a table that is held in memory."""

Row = tuple[dict[str, Any], str]
"""Values by column, and why it cannot be asked; "" if it can."""

_MOST_COLUMNS = 1_000
_MOST_UNPACKED = 64 * 2**20  # bytes of a Parquet file in memory, which may be far more than on disk
_TAGGED = re.compile(r"\S+[ \t]+(?:\S+[ \t]+)*(?:O|[BIMELSUW][-_]\S+|\S+[-_][BIMELSUW])")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows in memory."""

    columns: Annotated[tuple[str, ...], "their names"]
    rows: Annotated[
        tuple[tuple[int, Mapping[str, Any]], ...],
        "values by column, each with the number that a person finds the row by",
    ]
    bad: Annotated[tuple[str, ...], "what was left out, each with its number"]
    cut: Annotated[bool, "whether there were more rows"] = False

    @property
    def size(self) -> int:
        """Approximate bytes in memory."""
        cells = (value for _, row in self.rows for value in row.values())
        return sum(100 + 2 * len(str(value)) for value in cells)


def read_table(content: bytes, kind: str, *, most: int = MOST_ROWS) -> Table:
    """Read a file.

    Raises:
        InputError: it is something else, too large, or has no row.
    """
    if len(content) > MOST_BYTES:
        raise InputError(
            f"The file has {len(content) / 2**20:.1f} MiB; expected at most "
            f"{MOST_BYTES / 2**20:.0f}. Split it, or use `python -m app batch`."
        )
    try:
        rows = rows_of(io.BytesIO(content), kind, "The file", whole=False)
        return _table_of(enumerate(rows, start=1), most)
    except pa.ArrowException as error:
        raise InputError(f"It cannot be read as Parquet ({type(error).__name__}).") from None


def read_pasted(text: str, *, most: int) -> Table:
    """Read pasted rows: JSON objects, tagged words one a line, or a table with a head.

    Raises:
        InputError: there is no row.

    >>> read_pasted("text,label\\nGood.,pos", most=9).rows
    ((1, {'text': 'Good.', 'label': 'pos'}),)
    """
    start = text.lstrip("\ufeff \r\n\t")
    if start.startswith("["):
        return _table_of(enumerate(_objects(start), start=1), most)
    lines = [each for each in start.splitlines() if each.strip()]
    if lines and all(_TAGGED.fullmatch(each.strip()) for each in lines[:50]):
        return _table_of(_sentences(start), most)
    first = lines[0] if lines else ""
    kind = ".jsonl" if first.startswith("{") else ".tsv" if "\t" in first else ".csv"
    content = start.encode("utf-8", "replace")
    return _table_of(enumerate(rows_of(io.BytesIO(content), kind, "The text"), start=1), most)


def _table_of(numbered: Iterator[tuple[int, Row]], most: int) -> Table:
    rows: list[tuple[int, Mapping[str, Any]]] = []
    bad, columns, chars = list[str](), dict[str, None](), 0
    for number, (values, wrong) in islice(numbered, most):
        if wrong:
            bad.append(wrong)
            continue
        rows.append((number, values))
        columns.update(dict.fromkeys(values))
        checked(columns)
        chars += sum(len(str(each)) for each in values.values())
        if chars > _MOST_UNPACKED:
            raise InputError(f"The rows have more than {_MOST_UNPACKED:,} characters. Split them.")
    if not rows:
        more = f" {bad[0]}" if bad else " The first line has the names of the columns."
        raise InputError(f"Found no rows.{more}")
    return Table(tuple(columns), tuple(rows), tuple(bad), next(numbered, None) is not None)


def _objects(text: str) -> Iterator[Row]:
    try:
        found = read_json(text)
    except (ValueError, RecursionError):
        raise InputError("Found “[” and then no JSON; expected a list of objects.") from None
    for number, each in enumerate(found, start=1):
        wrong = "" if isinstance(each, dict) else f"Row {number:,}: found no object."
        yield (each if isinstance(each, dict) else {}), wrong


def _sentences(text: str) -> Iterator[tuple[int, Row]]:
    """Yield sentences of tagged words, with the number of their first line: CoNLL's format."""
    words, first, wrong = list[tuple[str, str]](), 1, ""
    for number, line in enumerate((*text.splitlines(), ""), start=1):
        columns = line.split()
        if not columns or columns[0] == "-DOCSTART-":  # of a document in CoNLL-2003 files
            if words or wrong:
                tokens, tags = zip(*words, strict=True) if words else ((), ())
                yield first, ({"tokens": list(tokens), "tags": list(tags)}, wrong)
            words, wrong = [], ""
            continue
        first = first if words or wrong else number
        if _TAGGED.fullmatch(line.strip()):
            words.append((columns[0], columns[-1]))
        else:
            wrong = f"Line {number:,}: found {line.strip()[:40]!r}; expected a word and its tag."


def rows_of(
    file: BinaryIO, kind: str, name: str, *, line: str = "text", whole: bool = True
) -> Iterator[Row]:
    """Yield the rows of a file.

    Args:
        file: at its beginning.
        kind: one of `KINDS`.
        name: of the file, for messages.
        line: the column that the lines of a text file are.
        whole: whether a Parquet file may be of any size.

    Raises:
        InputError: the file is something else, or its header cannot be used.
    """
    if kind == ".parquet":
        yield from _parquet(pq.ParquetFile(file), 64 if whole else 1)
        return
    if found := kind_of_bytes(file.read(HEAD)):
        raise InputError(f"{name} is {found}; expected rows of text in UTF-8. Convert it.")
    file.seek(0)
    lines = _Lines(file)
    read = _reader(lines, kind, line)
    while True:
        first = lines.number + 1
        try:
            values, wrong = read()
        except StopIteration:
            return
        except (InputError, csv.Error) as error:
            values, wrong = {}, str(error)
        last = lines.number
        where = f"Line {last:,}" if last == first else f"Lines {first:,} to {last:,}"
        yield values, wrong and f"{where}: found {wrong}."


def _reader(lines: "_Lines", kind: str, line: str) -> Callable[[], Row]:
    if kind in DELIMITERS:
        return _table(lines, DELIMITERS[kind])
    if kind == ".jsonl":
        return lambda: (_object(next(filter(str.strip, lines))), "")
    return lambda: ({line: next(lines).rstrip("\r\n")}, "")


class _Lines:
    """The lines of a file, numbered; one that is no text is an error, and the next one follows."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.number = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = rest = self._file.readline(LONGEST)
        if not line:
            raise StopIteration
        self.number += 1
        while rest and not rest.endswith(b"\n"):  # the rest of a line that is too long
            rest = self._file.readline(LONGEST)
        if len(line) == LONGEST and not line.endswith(b"\n"):
            raise InputError(f"{LONGEST:,} bytes or more; expected a shorter line")
        if b"\0" in line:
            raise InputError(f"a NUL byte at {line.index(0)}; expected text, so remove it")
        try:
            return line.decode("utf-8-sig" if self.number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            byte = f"byte {error.object[error.start]:#04x} at {error.start}"
            looks = f"it looks like {encoding_of_line(line)}"
            raise InputError(
                f"{byte}, which is not UTF-8; {looks}, so save the file as UTF-8"
            ) from None


def _table(lines: _Lines, delimiter: str) -> Callable[[], Row]:
    csv.field_size_limit(LONGEST)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        header = next(reader, [])
    except (InputError, csv.Error) as error:
        raise InputError(f"The header cannot be read: found {error}.") from None
    checked(header)

    def read() -> Row:
        cells = next(filter(None, reader))
        wrong = f"{count(len(cells), 'value')}; expected {len(header)}, one for each column"
        found = dict(zip(header, cells, strict=False))
        return found, "" if len(cells) == len(header) else wrong

    return read


def _object(line: str) -> dict[str, Any]:
    try:
        found = read_json(line)
        json.dumps(found, ensure_ascii=False).encode()  # halves of characters cannot be written
    except (ValueError, RecursionError):
        raise InputError("no JSON; expected an object on one line") from None
    if not isinstance(found, dict):
        raise InputError("no object; expected names with values in braces")
    return found


def _parquet(file: pq.ParquetFile, together: int) -> Iterator[Row]:
    about = file.metadata
    unpacked = sum(about.row_group(n).total_byte_size for n in range(about.num_row_groups))
    if together == 1 and unpacked > _MOST_UNPACKED:
        raise InputError(
            f"The file has {unpacked / 2**20:,.0f} MiB when it is unpacked; expected at most "
            f"{_MOST_UNPACKED / 2**20:.0f}. Split it, or use `python -m app batch`."
        )
    count = 0
    for batch in file.iter_batches(together, use_threads=False):
        for place in range(len(batch)):
            count += 1
            try:
                cells = [column[place].as_py() for column in batch.columns]
                row = dict(zip(batch.schema.names, cells, strict=True)), ""
            except ValueError:  # such as bytes that are not UTF-8
                row = {}, f"Row {count:,}: found a value that cannot be read."
            yield row


def checked(names: Sequence[str] | Mapping[str, object]) -> Sequence[str] | Mapping[str, object]:
    """Return names of columns; refuse what cannot be a table."""
    if len(names) > _MOST_COLUMNS:
        raise InputError(f"Found {len(names):,} columns; expected at most {_MOST_COLUMNS:,}.")
    if len(set(names)) < len(names):
        raise InputError(f"Found two columns with the same name in {', '.join(names)[:200]!r}.")
    return names


def read_json(text: str) -> Any:
    """Read JSON; numbers that it does not have, such as NaN, are an error."""
    return json.loads(text, parse_constant=_no_number)


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)

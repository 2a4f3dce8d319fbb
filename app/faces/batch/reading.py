"""Rows of a file, one after the other; what cannot be read is a row that says why."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from app.declared import Parameter
from app.faces.paper.arguments import number
from app.faces.paper.json import read_json
from bert_core.errors import InputError, count
from bert_core.small_files import HEAD, encoding_of_line, kind_of_bytes

LONGEST = 2**20
"""Bytes of a line; a longer one is a bad row."""

DELIMITERS = {".csv": ",", ".tsv": "\t"}
KINDS = (".txt", *DELIMITERS, ".jsonl", ".parquet")

Row = tuple[dict[str, Any], str]
"""Values by column, and why it cannot be asked; "" if it can."""

_MOST_COLUMNS = 1_000
_CHARS = 2**16  # of a chunk: bounds what its answers occupy
_TYPES: tuple[tuple[set[str], pa.DataType], ...] = (  # the first that has all kinds of a column
    ({"str"}, pa.string()),
    ({"bool"}, pa.bool_()),
    ({"int", "long"}, pa.int64()),
    ({"int", "float"}, pa.float64()),
)


@dataclass(frozen=True, slots=True)
class Source:
    """A file of rows, read from its beginning whenever they are wanted.

    Attributes:
        path: of a kind of `KINDS`.
        line: the column that the lines of a text file are.
    """

    path: Path
    line: str

    def rows(self) -> Iterator[Row]:
        """Yield the rows.

        Raises:
            InputError: the file is something else, or its header cannot be used.
        """
        if self.path.suffix == ".parquet":
            yield from _parquet(pq.ParquetFile(self.path))
            return
        with self.path.open("rb") as file:
            if kind := kind_of_bytes(file.read(HEAD)):
                raise InputError(
                    f"{self.path.name} is {kind}; expected rows of text in UTF-8. Save it so."
                )
            file.seek(0)
            lines = _Lines(file)
            read = self._reader(lines)
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

    def _reader(self, lines: "_Lines") -> Callable[[], Row]:
        """Return what reads the next row."""
        if self.path.suffix in DELIMITERS:
            return _table(lines, DELIMITERS[self.path.suffix])
        if self.path.suffix == ".jsonl":
            return lambda: (_object(next(filter(str.strip, lines))), "")
        return lambda: ({self.line: next(lines).rstrip("\r\n")}, "")

    def chunks(self, size: int) -> Iterator[list[Row]]:
        """Yield the rows by at most so many; fewer if they are long."""
        chunk: list[Row] = []
        chars = 0
        for values, wrong in self.rows():
            chunk.append((values, wrong))
            chars += sum(len(str(value)) for value in values.values())
            if len(chunk) == size or chars >= _CHARS:
                yield chunk
                chunk, chars = [], 0
        if chunk:
            yield chunk

    def survey(self) -> tuple[int, dict[str, list[str]]]:
        """Return how many rows there are, and the kinds of values by column.

        Raises:
            InputError: there are no rows, too many columns, or a header that cannot be used.
        """
        count, kinds = 0, dict[str, set[str]]()
        if self.path.suffix == ".parquet":
            count = pq.ParquetFile(self.path).metadata.num_rows
            kinds = {name: set() for name in _checked(pq.read_schema(self.path).names)}
        for values, _ in () if kinds else self.rows():
            count += 1
            for name, value in values.items():
                kinds.setdefault(name, set()).add(_kind(value))
            _checked(kinds)
        if not count:
            raise InputError(f"{self.path.name} has no rows.")
        return count, {name: sorted(found - {"NoneType"}) for name, found in kinds.items()}

    def types(self, kinds: Mapping[str, Sequence[str]]) -> dict[str, pa.DataType | None]:
        """Return the types of the columns; None for values that are written as JSON."""
        if self.path.suffix == ".parquet":
            return {each.name: each.type for each in pq.read_schema(self.path)}
        return {
            name: next((type_ for having, type_ in _TYPES if having >= set(found)), None)
            for name, found in kinds.items()
        }

    def given(self, values: Mapping[str, Any], parameters: Sequence[Parameter]) -> dict[str, Any]:
        """Return what a task is given for a row: the columns named like its parameters.

        Cells of a table are texts: numbers are read, and an empty one is as if it were not there.
        """
        texts, found = self.path.suffix in DELIMITERS, {}
        for each in parameters:
            value: Any = values.get(each.name)
            nothing = value is None or (texts and value == "")
            if each.name in values and (each.required or not nothing):
                found[each.name] = _cell(each.kind, value) if texts else value
        return found


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
    """Read the header; return what reads the next row."""
    csv.field_size_limit(LONGEST)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        header = next(reader, [])
    except (InputError, csv.Error) as error:
        raise InputError(f"The header cannot be read: found {error}.") from None
    _checked(header)

    def read() -> Row:
        cells = next(filter(None, reader))
        wrong = f"{count(len(cells), 'value')}; expected {len(header)}, one for each column"
        found = dict(zip(header, cells, strict=False))
        return found, "" if len(cells) == len(header) else wrong

    return read


def _object(line: str) -> dict[str, Any]:
    """Read a line of JSON."""
    try:
        found = read_json(line)
        json.dumps(found, ensure_ascii=False).encode()  # halves of characters cannot be written
    except (ValueError, RecursionError):
        raise InputError("no JSON; expected an object on one line") from None
    if not isinstance(found, dict):
        raise InputError("no object; expected names with values in braces")
    return found


def _parquet(file: pq.ParquetFile) -> Iterator[Row]:
    count = 0
    for batch in file.iter_batches(64, use_threads=False):
        for place in range(len(batch)):
            count += 1
            try:
                cells = [column[place].as_py() for column in batch.columns]
                row = dict(zip(batch.schema.names, cells, strict=True)), ""
            except ValueError:  # such as bytes that are not UTF-8
                row = {}, f"Row {count:,}: found a value that cannot be read."
            yield row


def _checked(names: Sequence[str] | Mapping[str, object]) -> Sequence[str] | Mapping[str, object]:
    """Return names of columns; refuse what cannot be a table."""
    if len(names) > _MOST_COLUMNS:
        raise InputError(f"Found {len(names):,} columns; expected at most {_MOST_COLUMNS:,}.")
    if len(set(names)) < len(names):
        raise InputError(f"Found two columns with the same name in {', '.join(names)[:200]!r}.")
    return names


def _kind(value: object) -> str:
    """Return the kind of a value, for the type of its column."""
    if type(value) is int and abs(value) > 2**53:  # no float has its last digit
        return "long" if abs(value) < 2**63 else "large"
    return type(value).__name__


def _cell(kind: type, text: str) -> object:
    truth = {"true": True, "false": False}
    return truth.get(text.lower(), text) if kind is bool else number(kind.__name__, text)

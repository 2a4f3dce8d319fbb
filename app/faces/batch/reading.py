"""Rows of a file, one after the other; what cannot be read is a row that says why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.parquet as pq

from app.data.tables import DELIMITERS, Row, checked, rows_of
from app.declared import Parameter
from app.faces.paper.arguments import number
from bert_core.errors import InputError

_CHARS = 2**16  # of a chunk: bounds what its answers occupy
_TYPES: tuple[tuple[set[str], pa.DataType], ...] = (  # the first that has all kinds of a column
    ({"str"}, pa.string()),
    ({"bool"}, pa.bool_()),
    ({"int", "long"}, pa.int64()),
    ({"int", "float"}, pa.float64()),
)


@dataclass(frozen=True, slots=True)
class Source:
    """A file of rows, read from its beginning whenever they are wanted."""

    path: Annotated[Path, "of a kind of `KINDS`"]
    line: Annotated[str, "the column that the lines of a text file are"]

    def rows(self) -> Iterator[Row]:
        """Yield the rows.

        Raises:
            InputError: the file is something else, or its header cannot be used.
        """
        with self.path.open("rb") as file:
            yield from rows_of(file, self.path.suffix, self.path.name, line=self.line)

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
            kinds = {name: set() for name in checked(pq.read_schema(self.path).names)}
        for values, _ in () if kinds else self.rows():
            count += 1
            for name, value in values.items():
                kinds.setdefault(name, set()).add(_kind(value))
            checked(kinds)
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


def _kind(value: object) -> str:
    if type(value) is int and abs(value) > 2**53:  # no float has its last digit
        return "long" if abs(value) < 2**63 else "large"
    return type(value).__name__


def _cell(kind: type, text: str) -> object:
    truth = {"true": True, "false": False}
    return truth.get(text.lower(), text) if kind is bool else number(kind.__name__, text)

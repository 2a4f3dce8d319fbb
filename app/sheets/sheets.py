"""A sheet as cells: read from its source, written as a notebook, read from what a student gives.

A source is Python whose cells begin with `# %%`, as many editors know them: `# %% [markdown]`,
`# %% blank NAME POINTS` (a function to be written) and `# %% check NAME` (what tests it). In a
notebook the same words are the first line of a cell.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from app.settings import ASSETS
from bert_core.errors import InputError

FOLDER = ASSETS / "sheets"
_MARK = re.compile(r"^# (?:%% ?)?(\[markdown\]|blank|check)(?: (\w+))?(?: (\d+))?.*$")
_CELL = re.compile(r"^# %%", re.MULTILINE)
_MOST_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell."""

    kind: Annotated[str, '"text", "code", "blank" or "check"']
    source: Annotated[str, "what is in it, without its mark"]
    name: Annotated[str, 'the function that is to be written, or that is checked; "" for none'] = ""
    points: Annotated[int, "what it is worth"] = 0

    @property
    def marked(self) -> str:
        """What a notebook has in the cell."""
        marks = {"blank": f"# blank {self.name} {self.points} points\n",
                 "check": f"# check {self.name}\n"}  # fmt: skip
        return marks.get(self.kind, "") + self.source


@dataclass(frozen=True, slots=True)
class Sheet:
    """A problem sheet."""

    number: Annotated[int, "from 1"]
    slug: Annotated[str, "the name of its files"]
    cells: Annotated[tuple[Cell, ...], "in order; the first one says what it is about"]

    @property
    def title(self) -> str:
        """Its first line."""
        return self.cells[0].source.splitlines()[0].lstrip("# ")

    @property
    def blanks(self) -> tuple[Cell, ...]:
        """The functions to be written."""
        return tuple(each for each in self.cells if each.kind == "blank")

    @property
    def points(self) -> int:
        """All points together."""
        return sum(each.points for each in self.blanks)

    def solved(self) -> "Sheet":
        """Return the sheet with its solutions.

        Raises:
            InputError: this copy is one without them.
        """
        path = FOLDER / "solutions" / f"{self.slug}.py"
        if not path.is_file():
            raise InputError(f"This copy has no solution of sheet {self.number}: {path.name}.")
        found = {each.name: each.source for each in _cells(path.read_text(encoding="utf-8"))}
        return self.answered({name: source for name, source in found.items() if name})

    def answered(self, answers: Mapping[str, str]) -> "Sheet":
        """Return the sheet with other functions in its blanks."""
        cells = (
            replace(each, source=answers[each.name])
            if each.kind == "blank" and each.name in answers
            else each
            for each in self.cells
        )
        return replace(self, cells=tuple(cells))

    def notebook(self) -> bytes:
        """Write the sheet as a notebook (nbformat 4.5)."""
        cells = [_json(number, each) for number, each in enumerate(self.cells)]
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4,
                 "nbformat_minor": 5}  # fmt: skip
        return json.dumps(whole, ensure_ascii=False, indent=1).encode() + b"\n"


@cache
def sheets() -> dict[int, Sheet]:
    """Return all sheets by their numbers."""
    found = {}
    for path in sorted(FOLDER.glob("[0-9]_*.py")):
        number = int(path.name[0])
        found[number] = Sheet(number, path.stem, _cells(path.read_text(encoding="utf-8")))
    return found


def sheet(number: int) -> Sheet:
    """Return a sheet.

    Raises:
        InputError: there is none of this number.
    """
    if number not in sheets():
        known = ", ".join(map(str, sheets()))
        raise InputError(f"There is no sheet {number}. Sheets are: {known}.")
    return sheets()[number]


def read_given(path: Path) -> tuple[Cell, ...]:
    """Read what a student gives: a notebook, or Python whose cells begin with `# %%`.

    Raises:
        InputError: it cannot be read, or is too large.
    """
    try:
        data = path.read_bytes()
        if len(data) > _MOST_BYTES:
            raise InputError(
                f"{path}: found {len(data):,} bytes; expected at most {_MOST_BYTES:,}. Clear the "
                "outputs of the notebook."
            )
        text = data.decode("utf-8-sig")
        return _cells(text) if path.suffix == ".py" else _of_notebook(json.loads(text))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(
            f"{path} is neither a notebook (.ipynb) nor a text in UTF-8 (.py). Save it as one."
        ) from None


def _of_notebook(read: Any) -> tuple[Cell, ...]:
    """Return the cells of code of a notebook, as it was read."""
    found = []
    for each in read["cells"]:
        if each["cell_type"] == "code":
            source = each["source"]  # one text, or its lines
            found.append(_cell(source if isinstance(source, str) else "".join(source)))
    return tuple(found)


def _cells(text: str) -> tuple[Cell, ...]:
    """Divide Python at its marks; what is before the first one is a docstring."""
    starts = [each.start() for each in _CELL.finditer(text)]
    first, *_ = starts or [len(text)]
    cells = []
    if about := text[:first].strip():
        is_text = about.startswith('"""') and about.endswith('"""')
        cells.append(Cell("text", about[3:-3].strip()) if is_text else Cell("code", about))
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        cells.append(_cell(text[start:end].strip()))
    return tuple(cells)


def _cell(source: str) -> Cell:
    """Read one cell by its first line."""
    first, _, rest = source.partition("\n")
    mark = _MARK.match(first)
    if mark is None:
        return Cell("code", rest.strip("\n") if first.startswith("# %%") else source)
    if mark[1] == "[markdown]":
        lines = (line.removeprefix("#").removeprefix(" ") for line in rest.splitlines())
        return Cell("text", "\n".join(lines).strip())
    return Cell(mark[1], rest.strip("\n"), mark[2] or "", int(mark[3] or 0))


def _json(number: int, cell: Cell) -> dict[str, Any]:
    found: dict[str, Any] = {"id": f"cell-{number}", "metadata": {}, "source": cell.marked}
    if cell.kind == "text":
        return {"cell_type": "markdown", **found}
    return {"cell_type": "code", **found, "execution_count": None, "outputs": []}

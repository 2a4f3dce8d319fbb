"""A file becomes a lesson, claims or terms; or a sentence about what is wrong with it.

Keys are the fields of the records, and values have their types. What a text names (quantities,
claims, terms) is looked up when the text is shown.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from app.declared import declared
from app.lessons.quantities import QUANTITIES
from app.lessons.records import Claim, Lesson, Look, Step, Term
from bert_core.errors import InputError, count

TERM = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]\]")
"""A word with an entry in the glossary: `[[piece]]`, or `[[pieces|piece]]` in another form."""

_MOST_STEPS = 6
_LOOK = "values", "beside", "words"  # fields of a look, which files have beside those of its record
_OWN = {"is": "is_", "from": "from_"}  # keys that are words of Python
_WRONG = {
    "missing": "this key is missing",
    "unexpected_keyword_argument": "no such key is known here",
}
T = TypeVar("T")
Table = dict[str, Any]
_reader = cache(TypeAdapter)  # of a record


def read_file(path: Path) -> Table:
    """Read a file of TOML.

    Raises:
        InputError: it is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name}: this is not TOML: {error}.") from None


def record(kind: type[T], value: object, place: str) -> T:
    """Read what a file has into a record: each field under its name, and of its type.

    Raises:
        InputError: a value is missing or of another type, or there is one too many.
    """
    try:
        text = json.dumps(_fields(value), default=str)
        reader: TypeAdapter[T] = _reader(kind)  # type: ignore[arg-type]
        return reader.validate_json(text, strict=True)
    except ValidationError as error:
        wrong = error.errors()[0]
        names = [place, *(str(at + 1 if isinstance(at, int) else at) for at in wrong["loc"])]
        expected = wrong["msg"].replace("Input should be", "expected")
        says = _WRONG.get(wrong["type"], f"found {wrong['input']!r:.60}; {expected}")
        raise InputError(f"{', '.join(names)}: {says}.") from None


def _fields(value: Any) -> Any:
    """Name the fields as records do."""
    if isinstance(value, list):
        return [_fields(each) for each in value]
    if isinstance(value, dict):
        return {
            _OWN.get(key, key): each if key in _LOOK else _fields(each)
            for key, each in value.items()
        }
    return value


def read_lesson(path: Path, *, own: bool = False) -> Lesson:
    """Read a lesson.

    Raises:
        InputError: something is wrong with it; the message names the place.
    """
    table = read_file(path)
    rows = record(list[Table], table.pop("step", []), f"{path.name}, step")
    steps = [_step(row, f"{path.name}, step {n}") for n, row in enumerate(rows, 1)]
    lesson = record(Lesson, table | {"slug": path.stem, "steps": [], "own": own}, path.name)
    if not 1 <= len(steps) <= _MOST_STEPS:
        found = count(len(steps), "step")
        raise InputError(f"{path.name}: found {found}; expected 1 to {_MOST_STEPS}.")
    return replace(lesson, steps=tuple(steps))


def _step(row: Table, place: str) -> Step:
    step = record(Step, _with_look(row), place)
    look = _look(step.look, step.page, place)
    _check_names(step.page, step.change.edits if step.change else (), place)
    return replace(step, look=look)


def _with_look(row: Table) -> Table:
    """Put what is looked at into a table of its own."""
    look = {key: row[key] for key in _LOOK if key in row}
    return {key: each for key, each in row.items() if key not in _LOOK} | {"look": look}


def _look(found: Look, task: str, place: str) -> Look:
    """Name the values of a look as the task's parameters are named."""
    if task not in QUANTITIES:
        expected = ", ".join(QUANTITIES)
        raise InputError(f"{place}: found the page {task[:60]!r}; expected one of {expected}.")
    by_name = declared(task).by_name
    beside = {name: by_name(values) for name, values in found.beside.items()}
    look = Look(by_name(found.values), beside, found.words)
    for values in (look.values, *beside.values()):
        _check_names(task, values, place)
    return look


def _check_names(task: str, names: Iterable[str], place: str) -> None:
    known = [each.name for each in declared(task).parameters]
    for name in names:
        if name not in known:
            raise InputError(
                f"{place}: found the parameter {name[:60]!r}; expected one of {', '.join(known)}."
            )


def read_claims(paths: Sequence[Path]) -> dict[str, Claim]:
    """Read files of claims; `items_of` names an earlier claim with the same items."""
    found: dict[str, Claim] = {}
    for path in paths:
        for name, row in read_file(path).items():
            place, shared = f"{path.name}, {name}", row.pop("items_of", "")
            row |= {"name": name, **({"items": found[shared].items} if shared else {})}
            claim = record(Claim, _with_look(row), place)
            found[name] = replace(claim, look=_look(claim.look, claim.task, place))
    return found


def read_glossary(path: Path) -> dict[str, Term]:
    """Read the terms; of each, what it means and where it can be seen."""
    rows = read_file(path)
    return {name: record(Term, row, f"{path.name}, {name}") for name, row in rows.items()}

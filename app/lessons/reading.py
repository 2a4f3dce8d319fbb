"""A file becomes a lesson, claims or terms; or a sentence about what is wrong with it.

Keys are the fields of the records, and values have their types. What a text names (quantities,
claims, terms) is looked up when the text is shown.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from app.declared import declared
from app.lessons.quantities import QUANTITIES
from app.lessons.records import Claim, Lesson, Look, Step, Term, Values
from bert_core.errors import InputError, count

TERM = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]\]")
"""A word with an entry in the glossary: `[[piece]]`, or `[[pieces|piece]]` in another form."""

_MOST_STEPS = 6
_TYPES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false",
          list: "a list", dict: "a table"}  # fmt: skip
T = TypeVar("T")


@dataclass(slots=True)
class Table:
    """A table of a file, read key by key."""

    place: Annotated[str, "the file and where in it"]
    rest: Annotated[dict[str, Any], "what has not been read"]

    def wrong(self, says: str) -> InputError:
        """Say where something is wrong."""
        return InputError(f"{self.place}: {says}.")

    def take(self, key: str, kind: Any, default: object = MISSING) -> Any:
        """Return a value.

        Raises:
            InputError: it is missing, or of another type.
        """
        if key in self.rest:
            value = self._value(key, kind, self.rest.pop(key))
            return " ".join(value.split()) if kind is str else value
        if default is MISSING:
            raise self.wrong(f"{key} is missing; expected {_TYPES[_in_file(kind)]}")
        return default

    def _value(self, key: str, kind: Any, value: Any) -> Any:
        if get_origin(kind) is UnionType:
            (kind,) = (each for each in get_args(kind) if each is not NoneType)
        if get_origin(kind) is Literal:
            if value not in get_args(kind):
                among = ", ".join(get_args(kind))
                raise self.wrong(f"{key}: found {str(value)[:60]!r}; expected one of {among}")
            return value
        if get_origin(kind) is tuple and type(value) is str:  # a list of one
            value = [value]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not (wanted := _in_file(kind)):
            found = _TYPES.get(type(value), type(value).__name__)
            raise self.wrong(f"{key}: found {found}; expected {_TYPES[wanted]}")
        if is_dataclass(kind) and isinstance(value, dict):
            return Table(f"{self.place}, {key}", value).record(kind)  # type: ignore[arg-type]
        if isinstance(value, list):
            (each, _) = get_args(kind)
            return tuple(self._value(f"{key} {n}", each, row) for n, row in enumerate(value, 1))
        if kind in (Mapping[str, str], Mapping[str, Values]) and isinstance(value, dict):
            inner = get_args(kind)[1]
            return {name: self._value(f"{key}, {name}", inner, row) for name, row in value.items()}
        return value

    def record(self, kind: type[T], /, *, is_part: bool = False, **given: Any) -> T:
        """Read into a record: each field under its name, and of its type.

        Args:
            kind: a dataclass; a field with a default can be missing.
            is_part: whether other keys are left for another record.
            given: fields that have been read.

        Raises:
            InputError: a value is missing or of another type, or there is one too many.
        """
        hints = get_type_hints(kind)
        for each in fields(kind):  # type: ignore[arg-type]
            if each.name not in given:
                made = each.default_factory
                default = each.default if made is MISSING else made()
                given[each.name] = self.take(each.name.rstrip("_"), hints[each.name], default)
        if self.rest and not is_part:
            raise self.wrong(f"found {', '.join(sorted(self.rest))}; no such key is known here")
        return kind(**given)


def _in_file(kind: Any) -> type:
    """Return as what a file has values of a type."""
    if kind in _TYPES:
        return kind  # type: ignore[no-any-return]
    return list if get_origin(kind) is tuple else dict


def read_file(path: Path) -> Table:
    """Read a file of TOML.

    Raises:
        InputError: it is no TOML.
    """
    try:
        return Table(path.name, tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name}: this is not TOML: {error}.") from None


def read_lesson(path: Path, *, own: bool = False) -> Lesson:
    """Read a lesson.

    Raises:
        InputError: something is wrong with it; the message names the place.
    """
    table = read_file(path)
    rows = table.take("step", tuple[dict[str, Any], ...], ())
    steps = tuple(_step(Table(f"{path.name}, step {n}", row)) for n, row in enumerate(rows, 1))
    lesson = table.record(Lesson, slug=path.stem, steps=steps, own=own)
    if not 1 <= len(steps) <= _MOST_STEPS:
        raise table.wrong(f"found {count(len(steps), 'step')}; expected 1 to {_MOST_STEPS}")
    return lesson


def _step(table: Table) -> Step:
    task = table.take("page", str)
    step = table.record(Step, page=task, look=_look(table, task))
    _check_names(table, task, step.change.edits if step.change else ())
    return step


def _look(table: Table, task: str) -> Look:
    """Read what is looked at, with the names of the task's parameters."""
    if task not in QUANTITIES:
        raise table.wrong(f"found the page {task[:60]!r}; expected one of {', '.join(QUANTITIES)}")
    found = table.record(Look, is_part=True)
    by_name = declared(task).by_name
    beside = {name: by_name(values) for name, values in found.beside.items()}
    look = Look(by_name(found.values), beside, found.words)
    for values in (look.values, *beside.values()):
        _check_names(table, task, values)
    return look


def _check_names(table: Table, task: str, names: Sequence[str] | Mapping[str, object]) -> None:
    known = [each.name for each in declared(task).parameters]
    for name in names:
        if name not in known:
            among = ", ".join(known)
            raise table.wrong(f"found the parameter {name[:60]!r}; expected one of {among}")


def read_claims(paths: Sequence[Path]) -> dict[str, Claim]:
    """Read files of claims; `items_of` names an earlier claim with the same items."""
    found: dict[str, Claim] = {}
    for path in paths:
        file = read_file(path)
        for name, row in file.rest.items():
            table = Table(f"{path.name}, {name}", row)
            task = table.take("task", str)
            more: dict[str, Any] = {"look": _look(table, task)}
            if shared := table.take("items_of", str, ""):
                more["items"] = found[shared].items
            found[name] = table.record(Claim, name=name, task=task, **more)
    return found


def read_glossary(path: Path) -> dict[str, Term]:
    """Read the terms; of each, what it means and where it can be seen."""
    rows = read_file(path).rest
    return {name: Table(f"{path.name}, {name}", row).record(Term) for name, row in rows.items()}

"""Reading and writing records as JSON files in a model's folder; what is read is not trusted."""

import json
import math
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from bert_core.errors import CheckpointError
from bert_core.small_files import parse_json, read_small, shown

T = TypeVar("T")
_LIMIT = 1_000_000  # bytes; the bundled model's files have a few thousand
_WORDS = {str: "a text", int: "a whole number", float: "a finite number", bool: "true or false"}


def read_json(folder: str | Path, name: str) -> Any:
    """Read a file of a model's folder.

    Raises:
        MissingFileError: there is no such file.
        CheckpointError: it is not JSON, or too large.
    """
    return parse_json(read_small(Path(folder) / name, _LIMIT), name)


def write_json(folder: str | Path, name: str, text: str) -> None:
    """Write a file of a model's folder."""
    (Path(folder) / name).write_text(text + "\n", encoding="utf-8")


def as_json(value: object) -> str:
    """Format a value as JSON of many lines."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)


def built(kind: type[T], value: object, where: str) -> T:
    """Build a dataclass from an object with exactly its fields, or a list of their values."""
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    if isinstance(value, list) and len(value) == len(names):
        value = dict(zip(names, value, strict=True))
    if not isinstance(value, dict):
        raise _refusal(where, value, f"a {kind.__name__.lower()}")
    if set(value) != set(names):
        wrong = ", ".join(sorted(map(str, set(names) ^ set(value))))
        raise CheckpointError(
            f"{where}: a {kind.__name__.lower()} has missing or extra keys: {shown(wrong)}."
        )
    return kind(**{name: _read(hints[name], value[name], f"{where}: {name}") for name in names})


def _read(hint: Any, value: Any, where: str) -> Any:
    if is_dataclass(hint):
        return built(hint, value, where)  # type: ignore[arg-type]
    kinds = get_args(hint) or (hint,)
    if get_origin(hint) is tuple:
        count = len(value) if isinstance(value, list) else -1
        kinds = kinds[:1] * count if kinds[-1] is ... else kinds
        if len(kinds) != count:
            raise _refusal(where, value, f"a list of {len(kinds) or 'values'}")
        return tuple(_read(kind, each, where) for kind, each in zip(kinds, value, strict=True))
    if float in kinds and type(value) in (int, float) and math.isfinite(value):
        return float(value)
    if type(value) in kinds and type(value) is not float:
        return value
    raise _refusal(where, value, " or ".join(_WORDS.get(kind, "null") for kind in kinds))


def _refusal(where: str, value: object, expected: str) -> CheckpointError:
    return CheckpointError(f"{where} is {shown(value)}; expected {expected}.")

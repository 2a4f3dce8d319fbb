"""A result as plain values for JSON: small, with the names of its fields.

An object has a key for each field of the dataclass, without the fields that are arrays: those are
for pictures. A class whose answer is something else lists it, as names of fields and properties,
in `ANSWER`. Positions count from 0, probabilities and shares go from 0 to 1, and a number that is
not defined is null.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from inspect import getdoc
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from bert_core import Encoding
from bert_core.reading.passage import Answer as SpanAnswer

_FOREIGN: dict[type, tuple[str, ...]] = {  # the answers of classes of `bert_core`
    Encoding: ("tokens", "input_ids", "offsets"),
    SpanAnswer: ("text", "best", "count", "probability"),  # its places may be a hundred
}


def as_json(value: Any) -> Any:
    """Turn a result, or any part of one, into what `json.dumps(allow_nan=False)` can write.

    Raises:
        TypeError: a value that JSON has no word for; its class should list an `ANSWER` without it.
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): as_json(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [as_json(each) for each in value]
    return {key: as_json(getattr(value, key)) for key in keys(type(value))}


def keys(kind: type) -> tuple[str, ...]:
    """Return the keys that an object of a class has in JSON.

    Raises:
        TypeError: it is no part of an answer.
    """
    listed: tuple[str, ...] | None = getattr(kind, "ANSWER", None)
    for each in getattr(kind, "__mro__", ()):  # every kind of encoding has the same keys
        listed = _FOREIGN.get(each, listed)
    if listed is not None:
        return listed
    if not is_dataclass(kind):
        raise TypeError(f"{kind.__name__} has no form in JSON")
    hints = get_type_hints(kind)
    return tuple(each.name for each in fields(kind) if "ndarray" not in str(hints[each.name]))


def meanings(kind: type) -> dict[str, str]:
    """Return what each key of a result means, as its fields say it."""
    told: dict[str, str] = {}
    for key, each in get_type_hints(kind, include_extras=True).items():
        if notes := [note for note in getattr(each, "__metadata__", ()) if isinstance(note, str)]:
            told[key] = f"{notes[0]}."
    found = {key: told.get(key) or _first(getattr(kind, key, None)) for key in keys(kind)}
    return {
        key: re.sub(r"\bNone\b", "null", says).replace("()", "[]") for key, says in found.items()
    }


def all_meanings(kind: type) -> dict[str, str]:
    """Return what each key means, those of parts included, as `slots[].candidates[].rank`."""
    found = {}
    for key, says in meanings(kind).items():
        found[key] = says
        for part, way in _parts(hint(kind, key), key):
            found |= {f"{way}.{name}": told for name, told in all_meanings(part).items()}
    return found


def hint(kind: type, key: str) -> Any:
    """Return the type of a field or a property."""
    member = getattr(kind, key, None)
    get = getattr(member, "fget", None) or getattr(member, "func", None)
    return get_type_hints(get)["return"] if get else get_type_hints(kind)[key]


def _parts(hint: Any, way: str) -> Iterator[tuple[type, str]]:
    """Yield the classes in a type that have keys of their own, with the way to them."""
    if is_dataclass(hint) or hint in _FOREIGN:
        yield hint, way
    several = get_origin(hint) in {tuple, list, Sequence}
    for each in get_args(hint):
        yield from _parts(each, f"{way}[]" if several else way)


def _first(member: object) -> str:
    return " ".join((getdoc(member) or "").split("\n\n")[0].split())

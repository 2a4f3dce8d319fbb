"""Frozen results as bytes and back: JSON, and behind it the arrays' own bytes; never a pickle.

A number, a text and a flag are written as JSON has them, which keeps every bit of a float. Whatever
holds others is a list that begins with its kind: a letter, or the number of a class of ours. Many
of one kind are written by columns. Only the classes that can be in the result of the task that was
asked are ever made.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Any, Literal, get_args, get_type_hints

import numpy as np

from bert_core.reading.tagging import TagScheme

Classes = Mapping[str, type]

_OWN: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    TagScheme: lambda given: (given.names,),
}
"""What is given to classes that are no dataclasses."""

_DTYPE = re.compile(r"[<>|][biufUS]\d{1,6}")
_ALIGNED = 64  # bytes
_MANY = 64
_PLAIN = frozenset({str, int, float, bool, type(None)})
_SEQUENCES: dict[type, str] = {tuple: "t", list: "l", frozenset: "s"}
_MADE = {letter: kind for kind, letter in _SEQUENCES.items()}


@cache
def classes_of(result: type) -> Classes:
    """Return the classes that a result of this class may contain, by their names."""
    found: dict[str, type] = {}
    waiting = [result]
    while waiting:
        kind = waiting.pop()
        if _name(kind) in found:
            continue
        found[_name(kind)] = kind
        if kind in _OWN:
            continue
        waiting += kind.__subclasses__() if is_dataclass(kind) else []
        waiting += chain.from_iterable(map(_classes_in, get_type_hints(kind).values()))
    return found


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _classes_in(hint: Any) -> Iterator[type]:
    """Yield the classes of ours in a type."""
    if isinstance(hint, type) and (is_dataclass(hint) or hint in _OWN):
        yield hint
    for each in get_args(hint):
        yield from _classes_in(each)


def pack(value: Any, classes: Classes) -> bytes:
    """Write a value.

    Args:
        value: a result, or plain values with results in them.
        classes: see `classes_of`.

    Raises:
        TypeError: something in it has no form here.
    """
    writer = _Writer(classes)
    tree = json.dumps([writer.names, writer.node(value)]).encode()
    return b"".join([len(tree).to_bytes(8, "big"), tree, *writer.parts])


def unpack(data: bytes, classes: Classes) -> Any:
    """Read what `pack` has written; arrays are read-only views of the bytes.

    Raises:
        ValueError: it is something else, or has a class that is not among those given.
    """
    try:
        end = 8 + int.from_bytes(data[:8], "big")
        names, tree = json.loads(data[8:end])
        return _Reader([classes[name] for name in names], memoryview(data)[end:]).value(tree)
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError) as error:
        raise ValueError(f"the bytes are no packed result ({type(error).__name__})") from None


class _Writer:
    """Turns values into what JSON can write; the bytes of arrays go into `parts`."""

    def __init__(self, classes: Classes) -> None:
        self.parts: list[bytes] = []
        self.names: list[str] = []
        self._length = 0
        self._numbers: dict[type, int] = {}
        self._classes = classes

    def node(self, value: Any) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is tuple and len(value) >= _MANY and len({*map(type, value)}) == 1:
            many = self._many(value)
            if many is not None:
                return many
        if kind in _SEQUENCES:
            return self._of(_SEQUENCES[kind], value)
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value)
        if kind is bytes:
            return ["b", self._put(value), len(value)]
        if kind is range:
            return ["r", value.start, value.stop, value.step]
        if isinstance(value, Mapping):
            return self._of("d", chain.from_iterable(value.items()))
        return self._of(self._number(kind), _given(value))

    def _of(self, kind: str | int, held: Iterable[Any]) -> list[Any]:
        node = self.node
        return [kind, *(each if type(each) in _PLAIN else node(each) for each in held)]

    def _many(self, value: tuple[Any, ...]) -> list[Any] | None:
        """Write many of one kind by columns, which is faster; None if that is not possible."""
        kind = type(value[0])
        if kind is tuple:
            rows = _rows(value)
            return None if rows is None else ["p", self._put(rows.tobytes()), *rows.shape]
        if not is_dataclass(kind) or not fields(kind):
            return None
        columns = zip(*map(_getter(kind), value), strict=True)
        return ["m", self._number(kind), *map(self.node, columns)]

    def _array(self, value: "np.ndarray[Any, Any] | np.generic[Any]") -> list[Any]:
        turned = value.flags.f_contiguous and not value.flags.c_contiguous
        order: Literal["F", "C"] = "F" if turned else "C"
        if not _DTYPE.fullmatch(value.dtype.str):
            raise TypeError(f"an array of {value.dtype} has no form as bytes")
        letter = "a" if isinstance(value, np.ndarray) else "n"
        return [letter, value.dtype.str, order, self._put(value.tobytes(order)), *value.shape]

    def _put(self, data: bytes) -> int:
        """Keep bytes for the end; return where they begin."""
        start = self._length
        self.parts += [data, bytes(-len(data) % _ALIGNED)]
        self._length += len(data) + len(self.parts[-1])
        return start

    def _number(self, kind: type) -> int:
        if kind not in self._numbers:
            if self._classes.get(_name(kind)) is not kind:
                raise TypeError(f"{kind.__qualname__} has no form as bytes")
            self._numbers[kind] = len(self.names)
            self.names.append(_name(kind))
        return self._numbers[kind]


def _rows(value: tuple[Any, ...]) -> "np.ndarray[Any, Any] | None":
    """Return many tuples of whole numbers, such as places in a long text, as one array."""
    same = len({*map(len, value)}) == 1
    if not same or {*map(type, chain.from_iterable(value))} != {int}:
        return None
    try:
        return np.array(value, "<i8")
    except OverflowError:
        return None


def _given(value: Any) -> Iterable[Any]:
    """Return what the class of a value is called with to make it again."""
    own = _OWN.get(type(value))
    if own is not None:
        return own(value)
    kind: type = type(value)
    found: tuple[Any, ...] = _getter(kind)(value)
    return found


@cache
def _getter(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that reads all fields of a dataclass."""
    names = [each.name for each in fields(kind)]
    read = attrgetter(*names) if names else lambda _: ()
    return read if len(names) != 1 else lambda value: (read(value),)


class _Reader:
    """Makes values from what JSON has read."""

    def __init__(self, classes: list[type], data: memoryview) -> None:
        self._classes, self._data = classes, data

    def value(self, node: Any) -> Any:
        if not isinstance(node, list):
            return node
        kind, *rest = node
        if kind in ("a", "n"):
            return self._array(kind, *rest)
        if kind == "b":
            return bytes(self._bytes(*rest))
        if kind == "r":
            return range(*rest)
        if kind == "p":
            start, *shape = rest
            return tuple(map(tuple, self._array("a", "<i8", "C", start, *shape).tolist()))
        value = self.value
        if kind == "m":
            number, *columns = rest
            return tuple(map(self._classes[number], *map(value, columns)))
        held = iter([each if type(each) is not list else value(each) for each in rest])
        if kind == "d":
            return dict(zip(held, held, strict=True))
        return _MADE[kind](held) if isinstance(kind, str) else self._classes[kind](*held)

    def _bytes(self, start: int, length: int) -> memoryview:
        if not 0 <= start <= start + length <= len(self._data):
            raise ValueError("beyond the end")
        return self._data[start : start + length]

    def _array(self, kind: str, dtype: str, order: Any, start: int, *shape: int) -> Any:
        if not _DTYPE.fullmatch(dtype) or min(shape, default=0) < 0:
            raise ValueError("no array")
        type_ = np.dtype(dtype)
        count = int(np.prod(shape, dtype=object))
        held = np.frombuffer(self._bytes(start, count * type_.itemsize), type_, count)
        made = held.reshape(shape, order=order)
        return made[()] if kind == "n" else made

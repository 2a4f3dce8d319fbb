"""Read the pickles in `pytorch_model.bin` without calling anything that they name.

A pickle is a small program. Python's unpickler imports and calls whatever the program names, so
opening an untrusted file means running its code. This reader supports only the instructions and
the few names that a table of tensors needs, and constructs no objects: for a tensor it only records
where its numbers are in the file. `pickletools` splits the bytes into instructions; it constructs
no objects either.

Sources: the standard library's documentation of `pickle` and `pickletools`; the serialization
notes in PyTorch's documentation for what it writes.
"""

import math
import pickletools
import struct
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import torch

from bert_core.checkpoints.formats.file_tensors import extent
from bert_core.small_files import is_text

# BERT large needs 15,000 instructions.
_MAX_INSTRUCTIONS = 400_000
_MAX_RANK = 8  # BERT needs 2
_MAX_NAME = 500  # characters; BERT's longest have 60
_LIMIT = 2**62
_STORAGES = {
    "torch.DoubleStorage": torch.float64,
    "torch.FloatStorage": torch.float32,
    "torch.HalfStorage": torch.float16,
    "torch.BFloat16Storage": torch.bfloat16,
    "torch.LongStorage": torch.int64,
    "torch.IntStorage": torch.int32,
    "torch.ShortStorage": torch.int16,
    "torch.CharStorage": torch.int8,
    "torch.ByteStorage": torch.uint8,
    "torch.BoolStorage": torch.bool,
}
_KEYS = str | int | float | None  # allowed table keys: cheap to hash and to print


class ProgramError(Exception):
    """The bytes are not a table of tensors; the message gives the reason in one sentence."""


@dataclass(frozen=True, slots=True)
class StorageNote:
    """A range of numbers in the file.

    Attributes:
        key: name of the storage in the container.
        dtype: number type.
        numel: number of elements in the whole storage.
        first: first element of the part in use.
        count: number of elements in that part.
    """

    key: str
    dtype: torch.dtype
    numel: int
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class TensorNote:
    """A tensor described by the program; its bounds have been checked against its storage."""

    storage: StorageNote
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Name:
    """A function or class that the program names."""

    path: str


def run_program(stream: BytesIO) -> object:
    """Interpret one pickle and leave the stream at its end.

    Returns:
        Plain values; a table is a dict, a tensor a `TensorNote`.

    Raises:
        ProgramError: the pickle is damaged, or has an instruction or name that no table of tensors
            needs.
    """
    machine = _Machine()
    try:
        for number, (code, argument, _) in enumerate(pickletools.genops(stream)):
            if number > _MAX_INSTRUCTIONS:
                raise ProgramError(f"It has more than {_MAX_INSTRUCTIONS:,} instructions.")
            machine.do(code.name, argument)
        return machine.stack.pop()
    except (LookupError, ValueError, TypeError, struct.error, OverflowError, MemoryError, Warning):
        # Warning: `pickletools` warns about bad strings, and warnings may be set to raise.
        raise ProgramError("Its instructions are inconsistent.") from None


class _Machine:
    """The stack machine of a pickle."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def do(self, name: str, argument: Any) -> None:
        """Execute one instruction."""
        if name in _VALUES:
            self.stack.append(argument)
        elif name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in _TUPLES:
            size = _TUPLES[name]
            self.stack[-size:] = [tuple(self._last(size))]
        elif name in _ACTIONS:
            _ACTIONS[name](self, argument)
        elif name not in _NOTHING:
            raise ProgramError(f"It has the instruction {name}, which no table of tensors needs.")

    def _last(self, count: int) -> list[Any]:
        if len(self.stack) < count:
            raise LookupError
        return self.stack[-count:]

    def _since_mark(self) -> list[Any]:
        found, self.stack = self.stack, self.marks.pop()
        return found

    # -- instructions ---------------------------------------------------------------------------

    def mark(self, _: object) -> None:
        self.marks.append(self.stack)
        self.stack = []

    def tuple_(self, _: object) -> None:
        found = tuple(self._since_mark())
        self.stack.append(found)

    def empty_list(self, _: object) -> None:
        self.stack.append([])

    def empty_dict(self, _: object) -> None:
        self.stack.append({})

    def append(self, _: object) -> None:
        item = self.stack.pop()
        self._list().append(item)

    def appends(self, _: object) -> None:
        items = self._since_mark()
        self._list().extend(items)

    def _list(self) -> list[Any]:
        if type(self.stack[-1]) is not list:
            raise TypeError
        found: list[Any] = self.stack[-1]
        return found

    def set_item(self, _: object) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        _put(self.stack[-1], key, value)

    def set_items(self, _: object) -> None:
        items = self._since_mark()
        for key, value in zip(items[::2], items[1::2], strict=True):
            _put(self.stack[-1], key, value)

    def put(self, place: Any) -> None:
        self.memo[len(self.memo) if place is None else place] = self.stack[-1]

    def get(self, place: Any) -> None:
        self.stack.append(self.memo[place])

    def name(self, words: Any) -> None:
        self.stack.append(_known(words.replace(" ", ".", 1)))

    def name_on_stack(self, _: object) -> None:
        attribute, module = self.stack.pop(), self.stack.pop()
        if not isinstance(attribute, str) or not isinstance(module, str):
            raise TypeError
        self.stack.append(_known(f"{module}.{attribute}"))

    def reduce(self, _: object) -> None:
        arguments, function = self.stack.pop(), self.stack.pop()
        if not isinstance(function, _Name) or not isinstance(arguments, tuple):
            raise TypeError
        if function.path not in _MAKERS:
            raise ProgramError(
                f"It calls {function.path}, which builds neither a table nor a tensor."
            )
        self.stack.append(_MAKERS[function.path](*arguments))

    def build(self, _: object) -> None:
        """Ignore the state attached to a table: versions of modules."""
        self.stack.pop()
        if type(self.stack[-1]) is not dict:
            raise ProgramError("It sets attributes of something that is not a table.")

    def storage(self, _: object) -> None:
        self.stack.append(_storage(self.stack.pop()))


_VALUES = frozenset(
    {"BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "BINUNICODE"}
    | {"SHORT_BINUNICODE", "BINUNICODE8", "BINSTRING", "SHORT_BINSTRING"}
)
_CONSTANTS: dict[str, object] = {
    "NONE": None,
    "NEWTRUE": True,
    "NEWFALSE": False,
    "EMPTY_TUPLE": (),
}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_NOTHING = frozenset({"PROTO", "FRAME", "STOP"})
_ACTIONS: dict[str, Callable[[_Machine, Any], None]] = {
    "MARK": _Machine.mark,
    "TUPLE": _Machine.tuple_,
    "EMPTY_LIST": _Machine.empty_list,
    "EMPTY_DICT": _Machine.empty_dict,
    "APPEND": _Machine.append,
    "APPENDS": _Machine.appends,
    "SETITEM": _Machine.set_item,
    "SETITEMS": _Machine.set_items,
    "BINPUT": _Machine.put,
    "LONG_BINPUT": _Machine.put,
    "MEMOIZE": _Machine.put,
    "BINGET": _Machine.get,
    "LONG_BINGET": _Machine.get,
    "GLOBAL": _Machine.name,
    "STACK_GLOBAL": _Machine.name_on_stack,
    "REDUCE": _Machine.reduce,
    "BUILD": _Machine.build,
    "BINPERSID": _Machine.storage,
}


def _put(table: object, key: object, value: object) -> None:
    """Set an entry; keys must be plain, as nested tuples can take forever to hash."""
    if type(table) is not dict:
        raise TypeError
    if not isinstance(key, _KEYS):
        raise ProgramError(f"It has a table indexed with a {type(key).__name__}.")
    if isinstance(key, int) and abs(key) >= _LIMIT:
        raise ProgramError("It has a table indexed with a huge number.")
    if isinstance(key, str) and (len(key) > _MAX_NAME or not is_text(key)):
        raise ProgramError(
            "It has a name that is too long or contains half a character (a lone surrogate)."
        )
    if key in table:
        raise ProgramError(f"It sets the entry {str(key)[:80]} twice.")
    table[key] = value


def _known(path: str) -> _Name:
    if path not in _STORAGES and path not in _MAKERS:
        raise ProgramError(
            f"It names {path[:80]}, which is neither a table nor an ordinary tensor."
        )
    return _Name(path)


def _table(pairs: Any = ()) -> dict[Any, Any]:
    """Build an ordered table; Python 2 passes the entries as a list of pairs."""
    table: dict[Any, Any] = {}
    for key, value in pairs:
        _put(table, key, value)
    return table


def _size(sizes: Any = ()) -> tuple[Any, ...]:
    return tuple(sizes)


def _tensor(storage: Any, offset: Any, shape: Any, strides: Any, *_: object) -> TensorNote:
    """Record a tensor; the remaining arguments (requires_grad, hooks) are ignored."""
    if not isinstance(storage, StorageNote) or not _are_counts(offset):
        raise TypeError
    if not isinstance(shape, tuple) or not isinstance(strides, tuple):
        raise TypeError
    if len(shape) > _MAX_RANK or not _are_counts(*shape, *strides):
        raise ProgramError(f"It has a tensor with the shape {str(shape[:9])[:80]}.")
    needed = max(extent(shape, strides), math.prod(shape))
    if offset + needed > storage.count:
        raise ProgramError(
            f"It has a tensor of shape {shape} that needs {offset + needed:,} numbers; its "
            f"storage has {storage.count:,}."
        )
    return TensorNote(storage, offset, shape, strides)


def _parameter(tensor: Any, *_: object) -> TensorNote:
    if not isinstance(tensor, TensorNote):
        raise TypeError
    return tensor


_MAKERS: dict[str, Callable[..., Any]] = {
    "collections.OrderedDict": _table,
    "torch.Size": _size,
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
}


def _storage(note: Any) -> StorageNote:
    """Parse PyTorch's description of a storage: type, key, device, length and part."""
    if isinstance(note, tuple) and note[:1] == ("module",):
        raise ProgramError("It contains a whole model with its code, not only weights.")
    kind, of, key, _, numel, *rest = note
    if kind != "storage" or not isinstance(of, _Name) or of.path not in _STORAGES:
        raise TypeError
    first, count = 0, numel
    if rest and rest[0] is not None:
        _, first, count = rest[0]
    if not isinstance(key, str) or not _are_counts(numel, first, count):
        raise TypeError
    if first + count > numel:
        raise ProgramError(f"It has a part of a storage beyond its {numel:,} numbers.")
    return StorageNote(key, _STORAGES[of.path], numel, first, count)


def _are_counts(*numbers: object) -> bool:
    return all(type(number) is int and 0 <= number < _LIMIT for number in numbers)

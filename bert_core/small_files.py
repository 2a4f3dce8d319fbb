"""Small files from strangers: a configuration, an index, a vocabulary.

Whatever a file of that name is – a pipe that never answers, a device that never ends, gigabytes, a
tower of brackets – reading it ends at once, in an error of this package.
"""

import json
import os
import reprlib
import stat
from pathlib import Path
from typing import Any

from bert_core.errors import BertError, CheckpointError, MissingFileError

# Not waiting is unknown to Windows, which in turn translates line ends where it is not told.
_MODE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxlist, _SHORT.maxdict = 3, 4, 3
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80
_MAX_DEPTH = 32  # brackets inside brackets; a configuration has three or four


def open_regular(path: Path, *, error: type[BertError] = CheckpointError) -> int:
    """Open a regular file for reading, without waiting for anybody; return its descriptor.

    Args:
        path: the file; links are followed.
        error: what to raise where it is no file that can be read.

    Raises:
        MissingFileError: there is nothing.
    """
    try:
        descriptor = os.open(path, _MODE)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(f"There is no file {path}.") from None
    except (OSError, ValueError) as refusal:
        reason = getattr(refusal, "strerror", None) or str(refusal)
        raise error(f"{path.name} cannot be read: {reason}.") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise error(f"{path.name} in {path.parent} is not a regular file.")
    return descriptor


def read_small(path: Path, limit: int, *, error: type[BertError] = CheckpointError) -> bytes:
    """Return the bytes of a file that must be small.

    Args:
        path: the file.
        limit: the most bytes it may have.
        error: what to raise where it has more, or is no file that can be read.

    Raises:
        MissingFileError: there is nothing.
    """
    with os.fdopen(open_regular(path, error=error), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            raw = file.read(limit + 1) if size <= limit else b""
        except OSError as refusal:
            raise error(f"{path.name} cannot be read: {refusal.strerror}.") from None
    if max(size, len(raw)) > limit:
        raise error(
            f"{path.name} has {max(size, len(raw)):,} bytes; at most {limit:,} are read. "
            "This is another kind of file."
        )
    return raw


def parse_json(
    raw: bytes, name: str, *, error: type[BertError] = CheckpointError, unique: bool = False
) -> Any:
    """Return what JSON text says.

    Args:
        raw: UTF-8, with or without a byte order mark.
        name: what to call it in an error.
        error: what to raise where it is no JSON, or JSON that nobody means.
        unique: refuse an object with two values under one name.
    """
    try:
        found = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_once if unique else None)
    except (ValueError, RecursionError) as refusal:
        raise error(f"{name} is not valid JSON: {str(refusal)[:200]}.") from None
    _check(found, name, error)
    return found


def shown(value: object) -> str:
    """Write a value for an error message, in a few words however large it is.

    >>> shown("absolute"), shown(12_000_000), shown([[[[[1]]]]] * 9)
    ("'absolute'", '12,000,000', '[[[[...]]], [[[...]]], [[[...]]], [[[...]]], ...]')
    """
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**30:
        return f"{value:,}"
    return _SHORT.repr(value)


def is_text(text: str) -> bool:
    r"""Tell whether a string consists of whole characters; JSON can write halves.

    >>> is_text("straße"), is_text("\ud83d")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a name stands there twice")
    return result


def _check(found: Any, name: str, error: type[BertError]) -> None:
    """Refuse brackets inside brackets without end, and halves of characters."""
    level, depth = [found], 0
    while level:
        depth += 1
        if depth > _MAX_DEPTH:
            raise error(f"{name} has more than {_MAX_DEPTH} brackets inside one another.")
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below += value
                below += value.values()
            elif isinstance(value, list):
                below += value
            elif isinstance(value, str) and not is_text(value):
                raise error(f"{name} holds half a character (a lone surrogate).")
        level = below

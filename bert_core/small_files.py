"""Safe reading of small untrusted files (configurations, indexes, vocabularies), and replacing.

Pipes, devices, files of gigabytes and deeply nested JSON raise an error of this package instead of
blocking or exhausting memory.
"""

import hashlib
import io
import json
import os
import reprlib
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from bert_core.errors import BertError, CheckpointError, InputError, MissingFileError

# O_NONBLOCK: opening a pipe must not wait (Windows has no such flag). O_BINARY: without it Windows
# translates line ends.
_MODE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxlist, _SHORT.maxdict = 3, 4, 3
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80
HEAD = 4_096
"""Bytes at the beginning of a file that tell what it is."""

_MAX_DEPTH = 32  # levels of nesting; a configuration has three or four


def open_regular(path: Path, *, error: type[BertError] = CheckpointError) -> int:
    """Open a regular file for reading without blocking; return its descriptor.

    Raises:
        MissingFileError: the file does not exist.
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


class BoundedFile(io.FileIO):
    """A file whose single reads are bounded, for readers that believe what it says of itself."""

    def __init__(self, path: Path, most: int) -> None:
        super().__init__(path)
        self._most = most

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes; a ValueError if more are asked for than the bound."""
        if size is None or size < 0:
            size = os.fstat(self.fileno()).st_size - self.tell()
        if size > self._most:
            raise ValueError(f"{size:,} bytes of it are asked for at once")
        return super().read(max(0, size)) or b""


# What a file begins with, in small letters -> what it is, whatever its name; what to do, if such a
# file is never what is read.
_PAGE = "Download the file itself; on the Hugging Face Hub, its address has /resolve/, not /blob/."
_TEXTS = (
    (b"/annex/objects/", "a git-annex pointer", "Run `git annex get`."),
    (b"<!doctype html", "a web page", _PAGE),
    (b"<html", "a web page", _PAGE),
    (b"<?xml", "an XML document, often a server's error", "Get the file again."),
    (b"entry not found", "a server's message", "Check the address."),
    (b"repository not found", "a server's message", "Check the address."),
    (b"invalid username or password", "a server's message", "Log in, and get the file again."),
    (b"access to model", "a server's refusal", "Accept the model's terms there."),
)
_FORMS = (
    (
        b"version https://git-lfs",
        "a Git LFS pointer (`git lfs pull` fetches the file)",
        "Run that.",
    ),
    (b"pk\x03\x04", "a zip archive, as an Excel workbook (.xlsx) is one", "Unpack it."),
    (b"\x1f\x8b", "a gzip archive", "Unpack it."),
    (b"\x89hdf", "an HDF5 file of TensorFlow 2", "Convert it with transformers before version 5."),
    (b"gguf", "a GGUF file, for llama.cpp", "Get the original weights."),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook (.xls)", ""),
    (b"par1", "a Parquet file", ""),
    (b"bzh91ay&sy", "a bzip2 archive", ""),
    (b"\xfd7zxz", "an xz archive", ""),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", ""),
    (b"7z\xbc\xaf", "a 7z archive", ""),
    (b"%pdf-", "a PDF", ""),
    (b"\xff\xfe\0\0", "text in UTF-32", ""),
    (b"\xff\xfe", "text in UTF-16", ""),
    (b"\xfe\xff", "text in UTF-16", ""),
)
FORM_BYTES = 512
"""How many of the first bytes of a file `mistaken` looks at."""


def mistaken(head: bytes) -> str:
    """Return what the first bytes of a file say it is, if that is never what is read here.

    >>> mistaken(b"version https://git-lfs.github.com/spec/v1")[:17], mistaken(b"[PAD]")
    ('a Git LFS pointer', '')
    """
    start = head[:FORM_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    found = (
        f"{name}. {advice}"
        for form, name, advice in (*_TEXTS, *_FORMS)
        if advice and start.startswith(form)
    )
    return next(found, "")


def read_small(path: Path, limit: int, *, error: type[BertError] = CheckpointError) -> bytes:
    """Return the bytes of a file that must be small (MissingFileError: the file does not exist)."""
    with os.fdopen(open_regular(path, error=error), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            raw = file.read(limit + 1) if size <= limit else b""
        except OSError as refusal:
            raise error(f"{path.name} cannot be read: {refusal.strerror}.") from None
    if max(size, len(raw)) > limit:
        raise error(f"{path.name} has {max(size, len(raw)):,} bytes; expected at most {limit:,}.")
    if says := mistaken(raw):
        raise error(f"{path} is not what its name says. It is {says}")
    return raw


def file_digest(*paths: Path) -> str:
    """Return the SHA-256 of regular files, one after another, as 64 hexadecimal digits.

    Raises:
        MissingFileError: one does not exist.
        CheckpointError: one is not a regular file or cannot be read.
    """
    digest = hashlib.sha256()
    for path in paths:
        with os.fdopen(open_regular(path), "rb") as file:
            try:
                hashlib.file_digest(file, lambda: digest)
            except OSError as refusal:
                raise CheckpointError(f"{path.name} cannot be read: {refusal.strerror}.") from None
    return digest.hexdigest()


def parse_json(
    raw: bytes, name: str, *, error: type[BertError] = CheckpointError, unique: bool = False
) -> Any:
    """Parse JSON in UTF-8; raise `error` if it is invalid, nested deeply, or has lone surrogates.

    `unique` rejects objects with duplicate keys; `name` is the file's, for messages.
    """
    try:
        found = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_once if unique else None)
    except (ValueError, RecursionError) as refusal:
        raise error(f"{name} is not valid JSON: {str(refusal)[:200]}.") from None
    _check(found, name, error)
    return found


def kind_of_bytes(head: bytes) -> str:
    """Name what a file is that is no text in UTF-8, by its beginning; "" if nothing tells.

    >>> kind_of_bytes(b"\\x1f\\x8b\\x08"), kind_of_bytes("a;b".encode("utf-16-le"))
    ('a gzip archive', 'text in UTF-16')
    """
    for form, name, _ in _FORMS:
        if head.lower().startswith(form):
            return name
    even, odd = head[::2].count(0), head[1::2].count(0)
    # Every letter of ASCII has a NUL beside it in UTF-16, always on the same side.
    return "text in UTF-16" if min(even, odd) == 0 and even + odd > 1 else ""


def encoding_of_line(line: bytes) -> str:
    """Name what the encoding of a line that is not UTF-8 looks like.

    >>> encoding_of_line("“naïve”".encode("cp1252")), encoding_of_line("Привет".encode("cp1251"))
    ('Windows-1252', 'an encoding of another script, such as GB18030, Shift-JIS or Windows-1251')
    """
    foreign = sum(byte >= 0x80 for byte in line)
    if foreign > sum(chr(byte).isalpha() for byte in line if byte < 0x80):
        return "an encoding of another script, such as GB18030, Shift-JIS or Windows-1251"
    control = any(0x80 <= byte < 0xA0 for byte in line)  # letters and quotes in Windows-1252 alone
    return "Windows-1252" if control else "Windows-1252 or Latin-1"


def read_text(raw: bytes, name: str) -> str:
    """Decode a text in UTF-8, with or without a byte order mark.

    Raises:
        InputError: it is something else, which the message names with its first line.
    """
    if kind := kind_of_bytes(raw[:HEAD]):
        raise InputError(f"{name} is {kind}; expected text in UTF-8. Save it so.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        line = raw[before.rfind(b"\n") + 1 :].split(b"\n", 1)[0]
        raise InputError(
            f"{name} is not UTF-8 in line {before.count(10) + 1:,} (byte "
            f"{raw[error.start]:#04x}); it looks like {encoding_of_line(line)}. Save it as UTF-8."
        ) from None


def text_of(path: object) -> str | None:
    """Return a name or path given by a caller as text; None if it is neither, or blank."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    return text if isinstance(text, str) and text.strip() and "\0" not in text else None


def shown(value: object) -> str:
    """Format a value for an error message; large values are shortened.

    >>> shown("absolute"), shown(12_000_000), shown([[[[[1]]]]] * 9)
    ("'absolute'", '12,000,000', '[[[[...]]], [[[...]]], [[[...]]], [[[...]]], ...]')
    """
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**30:
        return f"{value:,}"
    return _SHORT.repr(value)


def listed(names: Iterable[str]) -> str:
    """Return up to twelve names in order, for an error message.

    >>> listed(["b", "a"]), listed([]), listed(map(str, range(14)))[-12:]
    ('a, b', 'nothing', '7 and 2 more')
    """
    ordered = sorted(names)
    more = f" and {len(ordered) - 12} more" if len(ordered) > 12 else ""
    return (", ".join(ordered[:12]) or "nothing") + more


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` at the end, or is removed after an error.

    Readers, also after an interruption, find the old file or the new one.
    """
    draft = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        yield draft
        with draft.open("r+b") as file:
            os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def is_text(text: str) -> bool:
    r"""Return whether a string has no lone surrogates, which JSON escapes can produce.

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
        raise ValueError("an object has the same key twice")
    return result


def _check(found: Any, name: str, error: type[BertError]) -> None:
    """Reject JSON nested deeper than `_MAX_DEPTH`, and strings with lone surrogates."""
    level, depth = [found], 0
    while level:
        depth += 1
        if depth > _MAX_DEPTH:
            raise error(f"{name} is nested more than {_MAX_DEPTH} levels deep.")
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below += value
                below += value.values()
            elif isinstance(value, list):
                below += value
            elif isinstance(value, str) and not is_text(value):
                raise error(f"{name} contains half a character (a lone surrogate).")
        level = below


# -- protocol buffers -----------------------------------------------------------------------------


def protobuf_fields(data: int | bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields of a protocol buffer: number, and an integer or the bytes of anything else.

    See protobuf.dev, "Encoding". A damaged one is a ValueError, a TypeError or an IndexError.

    >>> list(protobuf_fields(bytes([0x08, 0x96, 0x01, 0x12, 0x02]) + b"ab"))
    [(1, 150), (2, b'ab')]
    """
    if isinstance(data, int):
        raise TypeError("a number in place of a message")
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
            yield number, value
            continue
        size = {1: 8, 5: 4}.get(wire, 0)
        if wire == 2:
            size, at = varint(data, at)
        elif not size:
            raise ValueError(f"a field of the unknown wire type {wire}")
        if at + size > len(data):
            raise ValueError("cut off in the middle of a field")
        yield number, data[at : at + size]
        at += size


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the integer at a place, seven bits a byte, lowest first, and the place after it."""
    result = shift = 0
    while shift < 64:
        byte = data[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, at
        shift += 7
    raise ValueError("a number of more than ten bytes")

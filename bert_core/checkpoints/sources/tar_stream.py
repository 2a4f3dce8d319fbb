"""`.tar.gz`, read front to back in one pass and never taken at its word.

A reader of our own instead of `tarfile`: this one keeps no table of members, reserves memory for
headers of bounded length only, knows plain files and folders and refuses everything else.

Source: POSIX.1-2017, pax interchange format (its ustar part too); GNU tar's long names (type L)
and base-256 sizes; RFC 1952 for gzip, whose checksums are verified.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from bert_core.errors import CheckpointError

_BLOCK = 512
_INPUT = 128 * 1024
_OUTPUT = 1024 * 1024
_MAX_HEADER = 256 * 1024  # bytes of one extended header; a long path and some times fit in 1 kB
_MAX_HEADERS = 10_000
_OVERHEAD = 32 * 2**20  # what headers and padding may add to the members
_MAX_PADDING = 16 * 2**20  # zeros after the last member, which tape formats round up
_FILES = frozenset(b"0\x007")
_KINDS = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device file",
    b"4": "a device file",
    b"6": "a named pipe",
    b"S": "a sparse file",
}


@dataclass(frozen=True, slots=True)
class TarMember:
    """A plain file in an archive.

    Attributes:
        name: as the archive gives it; may be anything.
        size: in bytes.
        chunks: its contents, to be read to the end before the next member is asked for.
    """

    name: str
    size: int
    chunks: Iterator[memoryview]


def read_tar_gz(file: BinaryIO, limit: int) -> Iterator[TarMember]:
    """Read the plain files of a gzip-compressed tar archive; folders are left out.

    Args:
        file: open for reading, at its beginning.
        limit: bytes that its members may have together.

    Raises:
        CheckpointError: it is cut, damaged, or holds anything but files and folders.
    """
    stream = _Inflated(file, limit + _OVERHEAD)
    extended: dict[str, str] = {}
    headers = 0
    while (block := stream.take(_BLOCK, at_end=True)) and any(block):
        header = _Header.of(block, extended)
        headers += 1
        if headers > _MAX_HEADERS:
            raise CheckpointError(f"it holds more than {_MAX_HEADERS:,} members.")
        if header.kind in (b"x", b"L", b"g", b"K"):
            extended = _extend(extended, header.kind, stream.take(header.size))
            stream.skip(-header.size % _BLOCK)
            continue
        extended = {}
        if header.kind == b"5" or (header.kind == b"\0" and header.name.endswith("/")):
            if header.size:
                raise CheckpointError(f"its folder {header.name[:100]!r} claims to have contents.")
            continue
        if header.kind[0] not in _FILES:
            kind = _KINDS.get(header.kind, f"something of type {header.kind!r}")
            raise CheckpointError(
                f"it holds {kind}, {header.name[:100]!r}. Only plain files and folders are "
                "unpacked; pack the files themselves."
            )
        member = TarMember(header.name, header.size, stream.chunks(header.size))
        yield member
        for _ in member.chunks:  # whatever the caller left
            pass
        stream.skip(-header.size % _BLOCK)
    stream.finish()


@dataclass(frozen=True, slots=True)
class _Header:
    """What the 512 bytes before a member say, extended headers put in."""

    name: str
    size: int
    kind: bytes

    @classmethod
    def of(cls, block: bytes, extended: dict[str, str]) -> "_Header":
        stated = _number(block[148:156], "checksum")
        plain = block[:148] + b" " * 8 + block[156:]
        # Some old programs summed signed bytes.
        if stated != sum(plain) and stated != sum(b - 256 if b > 127 else b for b in plain):
            raise CheckpointError("a header in it is damaged (its checksum is wrong).")
        kind = block[156:157]
        name = _text(block[:100])
        if block[257:263] == b"ustar\0" and (prefix := _text(block[345:500])):
            name = f"{prefix}/{name}"
        size = _number(block[124:136], "size")
        if kind not in (b"x", b"L", b"g", b"K"):
            name = extended.get("path", name)
            if "size" in extended:
                size = _decimal(extended["size"])
        elif size > _MAX_HEADER:
            raise CheckpointError(f"it has a header of {size:,} bytes; far too many.")
        return cls(name, size, kind)


def _extend(extended: dict[str, str], kind: bytes, data: bytes) -> dict[str, str]:
    """Return what the next member's headers say, with one more of them read."""
    if kind == b"L":
        return {**extended, "path": _text(data)}
    if kind != b"x":  # a link's long target, and defaults for all members: nothing we go by
        return extended
    return {**extended, **_pax_records(data)}


def _pax_records(data: bytes) -> dict[str, str]:
    """Read records of the form `27 path=some/long/name\\n`, the number being their length."""
    found: dict[str, str] = {}
    while data:
        digits, blank, _ = data[:12].partition(b" ")
        length = int(digits) if blank and digits.isdigit() else 0
        record = data[len(digits) + 1 : length]
        key, equals, value = record[:-1].partition(b"=")
        if not equals or record[-1:] != b"\n" or length > len(data):
            raise CheckpointError("an extended header in it is damaged.")
        if key.startswith(b"GNU.sparse"):
            raise CheckpointError("it holds a sparse file. Pack the files themselves.")
        if key in (b"path", b"size"):
            found[key.decode()] = _text(value)
        data = data[length:]
    return found


def _number(field: bytes, what: str) -> int:
    """Read an octal number, or one in base 256 where the first bit is set."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \0")
    if not digits or digits.strip(b"01234567"):
        raise CheckpointError(f"a header in it is damaged (its {what} is no number).")
    return int(digits, 8)


def _decimal(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise CheckpointError("an extended header in it is damaged (its size is no number).")
    return int(text)


def _text(field: bytes) -> str:
    try:
        return field.partition(b"\0")[0].decode("utf-8")
    except UnicodeDecodeError:
        raise CheckpointError("a file name in it is not UTF-8.") from None


class _Inflated:
    """The uncompressed bytes of a gzip file, a bounded number of them in memory at a time."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self._file = file
        self._left = limit
        self._gzip = zlib.decompressobj(wbits=31)
        self._input = b""
        self._ready = memoryview(b"")

    def take(self, count: int, *, at_end: bool = False) -> bytes:
        """Return exactly so many bytes; at the end none at all, where that is allowed."""
        found = bytearray()
        while len(found) < count:
            part = self._some(count - len(found))
            if not part:
                if at_end and not found:
                    return b""
                raise CheckpointError("it is cut: it ends inside a member.")
            found += part
        return bytes(found)

    def chunks(self, count: int) -> Iterator[memoryview]:
        """Return so many bytes in pieces of any length."""
        while count:
            part = self._some(count)
            if not part:
                raise CheckpointError("it is cut: it ends inside a member.")
            count -= len(part)
            yield part

    def skip(self, count: int) -> None:
        """Pass over so many bytes."""
        for _ in self.chunks(count):
            pass

    def finish(self) -> None:
        """Read to the end, so that the checksum at the very end is verified."""
        passed = 0
        while part := self._some(_OUTPUT):
            passed += len(part)
            if passed > _MAX_PADDING or any(part):
                raise CheckpointError("it goes on after the end of its last member.")

    def _some(self, count: int) -> memoryview:
        """Return between 1 and `count` bytes; none at the end."""
        if not self._ready:
            self._ready = memoryview(self._inflate())
        part = self._ready[:count]
        self._ready = self._ready[len(part) :]
        return part

    def _inflate(self) -> bytes:
        """Return the next bytes, at most _OUTPUT of them, whatever they unpack to."""
        while True:
            if self._gzip.eof and not self._next_member():
                return b""
            data = self._input or self._file.read(_INPUT)
            if not data:
                raise CheckpointError("it is cut: the compressed data end too early.")
            try:
                found = self._gzip.decompress(data, _OUTPUT)
            except zlib.error as error:
                raise CheckpointError(f"the compressed data in it are damaged ({error}).") from None
            self._input = self._gzip.unconsumed_tail
            if found:
                self._left -= len(found)
                if self._left < 0:
                    raise CheckpointError("it would unpack to far more than weights of its size.")
                return found

    def _next_member(self) -> bool:
        """Go on to the next gzip stream in the file, if one follows."""
        rest = self._gzip.unused_data or self._file.read(_INPUT)
        while rest and not rest.strip(b"\0"):  # tapes and some disks pad with zeros
            rest = self._file.read(_INPUT)
        if not rest:
            return False
        self._gzip, self._input = zlib.decompressobj(wbits=31), rest
        return True

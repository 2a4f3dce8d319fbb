"""Read archives safely: plain files only, with safe names and bounded number and size."""

import gzip
import io
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from bert_core.checkpoints.sources.cache import size_text
from bert_core.errors import CheckpointError

MAX_FILES = 1_000
MAX_BYTES = 8 * 2**30  # the largest BERT release, with optimizer state, has 4 GB
MAX_RATIO = 100  # unpacked to packed; trained weights shrink by a tenth
_SMALL = 64 * 2**20  # below this the ratio does not matter
_MAX_DEPTH = 6
_MAX_READ = 2 * 2**20
_CHUNK = 2**20
_GZIP, _ZIP = b"\x1f\x8b", b"PK"
_WINDOWS = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


@dataclass(frozen=True, slots=True)
class Member:
    """A plain file of an archive.

    Attributes:
        name: name in the archive; not validated.
        size: in bytes.
        chunks: its contents; must be read to the end before requesting the next member.
    """

    name: str
    size: int
    chunks: Iterator[bytes]


@dataclass(slots=True)
class Limits:
    """Counts members and rejects archives that would unpack to more than any model.

    Attributes:
        archive_bytes: size of the archive itself.
    """

    archive_bytes: int
    files: int = field(default=0, init=False)
    bytes: int = field(default=0, init=False)

    @property
    def most(self) -> int:
        """Largest number of bytes the archive may unpack to."""
        return min(MAX_BYTES, max(_SMALL, MAX_RATIO * self.archive_bytes))

    def count(self, member: Member) -> None:
        """Count one more member, before it is read.

        Raises:
            CheckpointError: there are too many members, or this one is too large.
        """
        self.files += 1
        self.bytes += member.size
        if self.files > MAX_FILES:
            raise CheckpointError(f"it contains more than {MAX_FILES:,} files.")
        if self.bytes > self.most:
            raise CheckpointError(
                f"its {size_text(self.archive_bytes)} would unpack to {size_text(self.bytes)} or "
                f"more; {size_text(self.most)} is the most that weights of its size can need."
            )


def archive_members(path: Path) -> Iterator[Member]:
    """Read the plain files of an archive in order; the first bytes determine the format.

    Raises:
        CheckpointError: the file is not an archive, is truncated or damaged, or contains
            anything other than files and folders.
    """
    with path.open("rb", buffering=0) as file:
        start = file.read(16)
        file.seek(0)
        if start.startswith(_GZIP):
            yield from _read_tar_gz(file, Limits(path.stat().st_size).most)
        elif start.startswith(_ZIP):
            yield from _read_zip(path)
        else:
            found = "nothing" if not start else repr(start)
            raise CheckpointError(f"expected a .tar.gz or .zip archive; it begins with {found}.")


def target_of(name: str) -> Path | None:
    """Return the relative path of a member; None for folders and macOS metadata files.

    Raises:
        CheckpointError: the name leads out of the folder, or is not valid on every system.

    >>> target_of("./model/config.json").as_posix()
    'model/config.json'
    """
    parts = [part for part in name.split("/") if part not in ("", ".")]
    refusal = None
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        refusal = "is an absolute path"
    elif ".." in parts or "\\" in name:
        refusal = "leads out of its folder"
    elif len(parts) > _MAX_DEPTH or len(name) > 1_000 or any(len(part) > 200 for part in parts):
        refusal = "is too long or too deep"
    elif not name.isprintable() or re.search(r'[:*?"<>|]', name):
        refusal = "has characters that are not allowed in file names"
    elif any(_WINDOWS.fullmatch(part) or part.endswith((" ", ".")) for part in parts):
        refusal = "is not a valid file name on every system"
    if refusal:
        raise CheckpointError(f"its member {name[:100]!r} {refusal}.")
    leftover = "__MACOSX" in parts or any(p.startswith("._") or p == ".DS_Store" for p in parts)
    if not parts or leftover or name.endswith("/"):
        return None
    return Path(PurePosixPath(*parts))


# -- tar.gz -----------------------------------------------------------------------------------


_MAX_HEADER = 256 * 1024  # bytes before a member; a long path and timestamps fit in 1 kB
_MAX_HEADERS = 10_000
_OVERHEAD = 32 * 2**20  # for headers and padding
_MAX_PADDING = 16 * 2**20  # zeros after the last member (tar rounds up)
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_KINDS = {
    tarfile.LNKTYPE: "a hard link",
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.CHRTYPE: "a device file",
    tarfile.BLKTYPE: "a device file",
    tarfile.FIFOTYPE: "a named pipe",
    tarfile.GNUTYPE_SPARSE: "a sparse file",
}


def _read_tar_gz(file: BinaryIO, limit: int) -> Iterator[Member]:
    """Read a tar archive in one pass; `tarfile` parses only the headers.

    Its data filter is not used: it keeps links and changes absolute names; here both are rejected.
    """
    stream = _Inflated(file, limit + _OVERHEAD)
    headers = _headers(stream)
    for number, info in enumerate(headers):
        if number >= _MAX_HEADERS:
            raise CheckpointError(f"it contains more than {_MAX_HEADERS:,} members.")
        if info.size < 0 or (info.isdir() and info.size):
            raise CheckpointError(f"its member {info.name[:100]!r} has an impossible size.")
        if info.isdir():
            continue
        if info.type not in _FILES:
            kind = _KINDS.get(info.type, f"something of type {info.type!r}")
            raise _no_plain_file(kind, info.name)
        if info.issparse() or any(key.startswith("GNU.sparse") for key in info.pax_headers):
            raise _no_plain_file("a sparse file", info.name)
        chunks = stream.chunks(info.size)
        yield Member(info.name, info.size, chunks)
        for _ in chunks:  # skip what the caller did not read
            pass
    stream.finish()


def _headers(stream: "_Inflated") -> Iterator[tarfile.TarInfo]:
    """Yield the headers; the caller reads the contents in between."""
    try:
        archive = tarfile.TarFile(fileobj=stream, encoding="utf-8", errors="strict")  # type: ignore[arg-type]
        while (info := archive.next()) is not None:
            yield info
            stream.left_for_header = _MAX_HEADER
    except UnicodeDecodeError:
        raise CheckpointError("a file name in it is not UTF-8.") from None
    except (tarfile.TarError, ValueError, OverflowError, RecursionError) as error:
        raise CheckpointError(f"a header in it is damaged ({str(error)[:100]}).") from None
    if any(stream.last):  # `tarfile` treats an invalid header as the end
        raise CheckpointError("a header in it is damaged.")


class _Inflated:
    """Uncompressed bytes of a gzip file for `tarfile`, read forward only and within limits.

    Attributes:
        left_for_header: bytes that `tarfile` may still read before the next member.
        last: the bytes of its last read.
    """

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self._gzip = gzip.GzipFile(fileobj=file)
        self._limit = limit
        self._place = 0
        self.left_for_header = _MAX_HEADER
        self.last = b""

    def tell(self) -> int:
        """Return the number of bytes read so far."""
        return self._place

    def seek(self, place: int) -> None:
        """Skip forward to a position."""
        if place < self._place:
            raise CheckpointError("a header in it is damaged (its size is impossible).")
        for _ in self.chunks(place - self._place):
            pass

    def read(self, count: int) -> bytes:
        """Return the next bytes of a header; fewer at the end."""
        self.left_for_header -= count
        if self.left_for_header < 0:
            raise CheckpointError(f"it has a header of more than {_MAX_HEADER:,} bytes.")
        self.last = self._some(count)
        return self.last

    def chunks(self, count: int) -> Iterator[bytes]:
        """Yield `count` bytes in chunks."""
        while count:
            part = self._some(min(count, _CHUNK))
            if not part:
                raise CheckpointError("it is truncated: it ends inside a member.")
            count -= len(part)
            yield part

    def finish(self) -> None:
        """Read to the end, which verifies the checksum stored there."""
        passed = 0
        while part := self._some(_CHUNK):
            passed += len(part)
            if passed > _MAX_PADDING or any(part):
                raise CheckpointError("it continues after the end of its last member.")

    def _some(self, count: int) -> bytes:
        """Return `count` bytes; fewer only at the end."""
        try:
            found = self._gzip.read(count)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise CheckpointError(f"it is truncated or damaged ({error}).") from None
        self._place += len(found)
        if self._place > self._limit:
            raise CheckpointError("it would unpack to far more than any model of its size.")
        return found


def _no_plain_file(found: str, name: str) -> CheckpointError:
    return CheckpointError(
        f"it contains {found}, {name[:100]!r}. Only plain files and folders are unpacked; pack the "
        "files themselves."
    )


# -- zip --------------------------------------------------------------------------------------


class _Guarded(io.FileIO):
    """A file that limits each read to what a valid table of contents can need."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:  # the rest of the file
            here = self.tell()
            size = self.seek(0, io.SEEK_END) - here
            self.seek(here)
        if size > _MAX_READ:
            raise CheckpointError("its table of contents is far too long.")
        return super().read(size) or b""


_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, NotImplementedError)


def _read_zip(path: Path) -> Iterator[Member]:
    """Read a zip archive; its table of contents is checked before any file is read."""
    with _Guarded(path) as file:
        try:
            # A damaged offset in the table makes zipfile seek to a negative position: an OSError.
            archive = zipfile.ZipFile(file)
        except (*_DAMAGE, OSError) as error:
            raise CheckpointError(f"it is truncated or damaged ({error}).") from None
        with archive:
            infos = archive.infolist()
            if len(infos) > MAX_FILES:
                raise CheckpointError(f"it contains more than {MAX_FILES:,} files.")
            for info in infos:
                _check_kind(info)
            for info in infos:
                if not info.is_dir():
                    yield Member(info.filename, info.file_size, _contents(archive, info))


def _check_kind(info: zipfile.ZipInfo) -> None:
    """Reject entries other than plain files and folders, and unusual compression methods."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        found = "a link" if kind == stat.S_IFLNK else "a device file, pipe or the like"
        raise _no_plain_file(found, info.filename)
    if info.flag_bits & 1:
        raise CheckpointError(f"its member {info.filename[:100]!r} is encrypted.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise CheckpointError(
            f"its member {info.filename[:100]!r} is compressed by method {info.compress_type}; "
            "expected stored or deflated."
        )
    if "\0" in info.orig_filename:
        raise CheckpointError(f"its member {info.filename[:100]!r} has a name with a NUL in it.")


def _contents(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield a member in chunks; its checksum is verified at the end."""
    left = info.file_size
    try:
        with archive.open(info) as member:
            while chunk := member.read(_CHUNK):
                left -= len(chunk)
                yield chunk
    except (*_DAMAGE, OSError) as error:
        raise CheckpointError(f"its member {info.filename!r} is damaged ({error}).") from None
    if left:
        raise CheckpointError(
            f"its member {info.filename!r} is truncated: {left:,} bytes are missing."
        )

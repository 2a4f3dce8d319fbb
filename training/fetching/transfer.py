"""Read files of public repositories: archives at a pinned commit, or single files.

An archive names its commit, which is compared with the pinned one. Nothing is unpacked onto the
disk: the members that are wanted are read into memory, within limits, and their names lead nowhere.
"""

import gzip
import hashlib
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from bert_core.checkpoints.sources.address import Unreachable, fetch
from bert_core.errors import CheckpointError, MissingFileError

ARCHIVES = "https://codeload.github.com"  # also takes abbreviated commits
LARGEST, KEPT, PASSED = 128 * 2**20, 2**30, 16 * 2**30  # bytes: of a member, of all wanted, of all
_TRIES = 3  # of a download
_HEADER = 2**20  # bytes of a header that goes before a member
_DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(EOFError, ValueError, OSError, IndexError, RecursionError),
)
Files = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Got:
    """What was read: the files by their paths, and the full commit or the digest of a file."""

    files: Files
    version: str


def archive(repository: str, commit: str, paths: Sequence[str], base: str, part: Path) -> Got:
    """Return the files of a repository whose paths match one of the patterns.

    Args:
        repository: owner/name.
        commit: full or abbreviated.
        paths: patterns below the root of the repository.
        base: address that `/owner/name/tar.gz/commit` is appended to.
        part: where the download is kept until it is complete; removed at the end.

    Raises:
        DownloadError: it could not be had.
        CheckpointError: the archive is damaged, too large, or of another commit.
        MissingFileError: it has none of the files.
    """
    _download(f"{base}/{repository}/tar.gz/{commit}", part)
    try:
        with gzip.open(part) as plain:
            files, found = _members(plain, paths, inside=True)
    finally:
        part.unlink()
    if not found.startswith(commit):
        raise CheckpointError(f"the archive is of commit {found or 'unknown'}, not of {commit}.")
    if missing := [each for each in paths if not any(fnmatchcase(name, each) for name in files)]:
        raise MissingFileError(f"the repository has no {', '.join(missing)} at {commit}.")
    return Got({f"{repository}/{name}": data for name, data in files.items()}, found)


def single(address: str, sha256: str, part: Path) -> Got:
    """Return the one file at an address by its name; `sha256` is checked unless it is empty."""
    _download(address, part)
    with part.open("rb") as stream:
        data = stream.read(LARGEST + 1)
    part.unlink()
    if len(data) > LARGEST:
        raise CheckpointError(f"it has more than {LARGEST:,} bytes.")
    found = hashlib.sha256(data).hexdigest()
    if sha256 not in ("", found):
        raise CheckpointError(f"its SHA-256 is {found}, not {sha256}.")
    return Got({address.rpartition("/")[2]: data}, found)


def _download(address: str, part: Path) -> None:
    """Download to `part`; a connection that breaks is tried again."""
    part.parent.mkdir(parents=True, exist_ok=True)
    for left in reversed(range(_TRIES)):
        try:
            fetch(address, part)
            return
        except Unreachable:
            part.unlink(missing_ok=True)
            if not left:
                raise


class _Forward:
    """A tar file for `tarfile`, read forward only, with headers that memory has room for."""

    def __init__(self, plain: io.BufferedIOBase) -> None:
        self._plain, self.place = plain, 0
        self.header = 0  # bytes read of what goes before the next member

    def tell(self) -> int:
        """Return the number of bytes read so far."""
        return self.place

    def seek(self, place: int) -> None:
        """Skip forward to a position."""
        while place > self.place:
            self.content(min(place - self.place, _HEADER))
        if place < self.place:
            raise tarfile.ReadError("a size in it is impossible")

    def read(self, count: int) -> bytes:
        """Return the next bytes of a header; fewer at the end."""
        self.header += count
        if self.header > _HEADER:
            raise CheckpointError(f"a header in it has {self.header:,} bytes.")
        found = self._plain.read(count)
        self.place += len(found)
        return found

    def content(self, count: int) -> bytes:
        """Return the next bytes of a member."""
        found = self._plain.read(count)
        self.place += len(found)
        if len(found) < count:
            raise tarfile.ReadError("it ends inside a member")
        return found


def _members(
    plain: io.BufferedIOBase, paths: Sequence[str], *, inside: bool
) -> tuple[dict[str, bytes], str]:
    """Return wanted members and the commit; `inside`: names begin with a folder of the archive."""
    kept: dict[str, bytes] = {}
    total = 0
    try:
        forward = _Forward(plain)
        tar = tarfile.TarFile(fileobj=forward)  # type: ignore[arg-type]
        for member in tar:
            forward.header = 0
            name = member.name.partition("/")[2] if inside else member.name
            wanted = member.isreg() and any(fnmatchcase(name, each) for each in paths)
            total += member.size if wanted else 0
            passed = forward.place + member.size
            if passed > PASSED or total > KEPT or (wanted and member.size > LARGEST):
                raise CheckpointError(f"it is too large at {member.name[:100]!r}.")
            if wanted:
                forward.seek(member.offset_data)
                kept[name] = forward.content(member.size)
        return kept, tar.pax_headers.get("comment", "")
    except CheckpointError:
        raise
    except _DAMAGE as error:
        raise CheckpointError(f"the archive is damaged ({str(error)[:100]}).") from None


def debian(data: bytes, paths: Sequence[str]) -> Files:
    """Return files of a Debian package: an `ar` file with a tar file in it."""
    place = 8  # after the magic bytes
    while place + 60 <= len(data):
        name, size = data[place : place + 16].strip(b" /"), data[place + 48 : place + 58].strip()
        if not size.isdigit():
            break
        if name == b"data.tar.xz":
            inner = io.BytesIO(data[place + 60 : place + 60 + int(size)])
            return _members(lzma.LZMAFile(inner), paths, inside=False)[0]
        place += 60 + int(size) + int(size) % 2
    raise CheckpointError("it is no Debian package with a data.tar.xz.")


def zipped(data: bytes, paths: Sequence[str]) -> Files:
    """Return the files of a zip archive whose paths match one of the patterns, in their order."""
    kept: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as found:
            wanted = [
                each
                for each in found.infolist()
                if not each.is_dir() and any(fnmatchcase(each.filename, path) for path in paths)
            ]
            if sum(each.file_size for each in wanted) > KEPT:
                raise CheckpointError("it is too large.")
            for each in wanted:  # reads no more than the size it states
                kept[each.filename] = found.read(each)
    except CheckpointError:
        raise
    except (*_DAMAGE, RuntimeError, NotImplementedError) as error:
        raise CheckpointError(f"the zip archive is damaged ({str(error)[:100]}).") from None
    return kept


def digest(files: Files) -> str:
    """Return a SHA-256 of names and contents that does not depend on how they were packed."""
    whole = hashlib.sha256()
    for name, data in sorted(files.items()):
        whole.update(f"{name}\n{hashlib.sha256(data).hexdigest()}\n".encode())
    return whole.hexdigest()

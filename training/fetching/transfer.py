"""Read files of public repositories: archives at a pinned commit, or single files.

An archive names its commit, which is compared with the pinned one. Nothing is unpacked onto the
disk: the members that are wanted are read into memory, within limits, and their names lead nowhere.
"""

import hashlib
import io
import tarfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO

from bert_core.checkpoints.sources.address import Fetch, Version
from bert_core.checkpoints.sources.transfer import watched
from bert_core.errors import CheckpointError, MissingFileError
from bert_core.small_files import read_small

ARCHIVES = "https://codeload.github.com"  # also takes abbreviated commits
LARGEST, KEPT, PASSED = 128 * 2**20, 2**30, 16 * 2**30  # bytes: of a member, of all wanted, of all
_HEADER = 2**20  # bytes of a header that goes before a member
_PATIENCE = 60.0  # seconds without data
_DAMAGE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError)
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
        files, found = _members(part.open("rb"), "r|gz", paths, inside=True)
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
    try:
        data = read_small(part, LARGEST)
    finally:
        part.unlink()
    found = hashlib.sha256(data).hexdigest()
    if sha256 not in ("", found):
        raise CheckpointError(f"its SHA-256 is {found}, not {sha256}.")
    return Got({address.rpartition("/")[2]: data}, found)


def _download(address: str, part: Path) -> None:
    """Download to `part`; an interrupted download goes on where the server allows it."""
    part.parent.mkdir(parents=True, exist_ok=True)
    fetch = Fetch(address, part, Version())
    watched(fetch.run, what=address, patience=_PATIENCE, unblock=fetch.unblock)
    part.with_suffix(".json").unlink(missing_ok=True)


class _Header(tarfile.TarInfo):
    """A header of an archive; those that would be read into memory are bounded."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_Header":
        """Read a header, see `tarfile.TarInfo`."""
        found = super().frombuf(buf, encoding, errors)
        if found.size > _HEADER and found.type in b"xgXLK":  # pax and GNU headers
            raise CheckpointError(f"a header in it has {found.size:,} bytes.")
        return found


def _members(
    stream: IO[bytes], mode: str, paths: Sequence[str], *, inside: bool
) -> tuple[dict[str, bytes], str]:
    """Return wanted members and the commit; `inside`: names begin with a folder of the archive."""
    kept: dict[str, bytes] = {}
    passed = total = 0
    try:
        with stream, tarfile.open(fileobj=stream, mode=mode, tarinfo=_Header) as tar:  # type: ignore[call-overload]
            for member in tar:
                passed += member.size
                name = member.name.partition("/")[2] if inside else member.name
                wanted = member.isreg() and any(fnmatchcase(name, each) for each in paths)
                total += member.size if wanted else 0
                if passed > PASSED or total > KEPT or (wanted and member.size > LARGEST):
                    raise CheckpointError(f"it is too large at {member.name[:100]!r}.")
                if wanted:
                    kept[name] = tar.extractfile(member).read()
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
            return _members(inner, "r|xz", paths, inside=False)[0]
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

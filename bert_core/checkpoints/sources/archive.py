"""Unpack archives into the cache with the standard library, within bounds on number and size.

Files are written to a temporary folder, which is renamed once it is complete. Nothing is written
outside of it: `tarfile`'s data filter and `zipfile` see to the names, and a tar file may contain
only files and folders.
"""

import errno
import gzip
import platform
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from secrets import token_hex

from bert_core.checkpoints.settings import CONFIG_NAMES
from bert_core.checkpoints.sources.cache import check_space, disk_error, key_of, locked, size_text
from bert_core.checkpoints.sources.hub_names import VOCABULARIES
from bert_core.errors import CheckpointError, DownloadError
from bert_core.small_files import BoundedFile

MAX_FILES = 1_000
MAX_BYTES = 8 * 2**30  # the largest BERT release, with optimizer state, has 4 GB
MAX_RATIO = 100  # unpacked to packed; trained weights shrink by a tenth
_SMALL = 64 * 2**20  # below this the ratio does not matter
_OVERHEAD = 32 * 2**20  # for headers and padding of a tar file
_MAX_READ = 2 * 2**20  # at once: a header or a table of contents
_GZIP, _ZIP = b"\x1f\x8b", b"PK"
_MARKS = (*CONFIG_NAMES, *VOCABULARIES)  # any of these marks the folder of a model
_DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError),
    *(ValueError, OverflowError, RuntimeError, LookupError),
)


def open_archive(path: Path, cache: Path) -> Path:
    """Return the folder of a local archive, unpacking it if that was not done yet."""
    path = path.resolve()
    try:
        found = path.stat()  # ctime cannot be set back
        version = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        return unpack(path, cache, key_of(f"{path} {version}"), path.name)
    except (CheckpointError, DownloadError):
        raise
    except OSError as error:
        raise disk_error(error, cache, path.name) from None


def unpack(path: Path, cache: Path, key: str, what: str) -> Path:
    """Return the model's folder in an archive, unpacking it unless the cache has it as `key`."""
    with locked(cache, key):
        if held := unpacked(cache, key):
            return held
        folder = cache / "archives" / key
        shutil.rmtree(folder, ignore_errors=True)
        fresh = folder.with_name(f".{token_hex(8)}")
        try:
            fresh.mkdir(parents=True)
            _write_all(path, fresh)
            model_folder(fresh)
            fresh.rename(folder)
        except CheckpointError as error:
            raise CheckpointError(f"{what} was not unpacked: {error}") from None
        except _DAMAGE as error:
            raise CheckpointError(f"{what} was not unpacked: it is damaged ({error}).") from None
        except OSError as error:
            if error.errno != errno.EINVAL:  # that one is for an impossible place in the file
                raise
            raise CheckpointError(f"{what} was not unpacked: it is damaged.") from None
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return model_folder(folder)


def unpacked(cache: Path, key: str) -> Path | None:
    """Return the model folder of an archive that the cache has; None if it has none."""
    folder = cache / "archives" / key
    try:
        return model_folder(folder) if folder.is_dir() else None
    except CheckpointError:  # files were removed from outside
        return None


def model_folder(folder: Path) -> Path:
    """Return the folder that contains the model: `folder` itself or its only model subfolder.

    Raises:
        CheckpointError: no folder, or more than one, looks like a model.
    """
    if _is_model(folder):
        return folder
    inner = [path for path in sorted(folder.iterdir()) if path.is_dir() and _is_model(path)]
    if len(inner) == 1:
        return inner[0]
    names = ", ".join(sorted(path.name for path in folder.iterdir())[:8]) or "nothing"
    found = f"{len(inner)} of its folders have one" if inner else "it has none"
    raise CheckpointError(
        f"expected {' or '.join(_MARKS)} at its root or in one folder, but {found}. Found: {names}."
    )


def _is_model(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _MARKS)


def _write_all(path: Path, folder: Path) -> None:
    """Write the members of an archive into a folder; its first bytes say which kind it is."""
    size, files, total = path.stat().st_size, 0, 0
    most = min(MAX_BYTES, max(_SMALL, MAX_RATIO * size))
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(_GZIP):
        members = _tar_members(path, folder, most + _OVERHEAD)
    elif start.startswith(_ZIP):
        members = _zip_members(path, folder)
    else:
        raise CheckpointError(f"expected a .tar.gz or .zip archive; it begins with {start!r}.")
    for member_bytes, extract in members:
        files, total = files + 1, total + member_bytes
        if files > MAX_FILES or total > most:
            raise CheckpointError(
                f"its {size_text(size)} would unpack to {files:,} files of {size_text(total)} or "
                f"more; expected at most {MAX_FILES:,} files and {size_text(most)}."
            )
        check_space(folder, member_bytes, "unpacking it")
        extract()


def _zip_members(path: Path, folder: Path) -> Iterator[tuple[int, Callable[[], object]]]:
    with BoundedFile(path, _MAX_READ) as file, zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise CheckpointError(
                    f"{info.filename[:100]!r} is compressed by method {info.compress_type}."
                )
            yield info.file_size, partial(archive.extract, info, folder)


def _tar_members(
    path: Path, folder: Path, limit: int
) -> Iterator[tuple[int, Callable[[], object]]]:
    """Yield the size of each member and what writes it; at the end, compare the checksum."""
    if not hasattr(tarfile, "data_filter"):  # before Python 3.11.4, unless a distribution added it
        raise CheckpointError(
            f"Python {platform.python_version()} cannot unpack it safely; expected 3.11.4 or newer."
        )
    with _Inflated(path, limit) as plain, tarfile.open(fileobj=plain, mode="r:") as archive:
        for info in archive:
            if not (info.isreg() or info.isdir()):
                raise CheckpointError(
                    f"it contains {info.name[:100]!r}, a link or a device; expected files."
                )
            yield max(0, info.size), partial(archive.extract, info, folder, filter="data")
        while plain.read(_MAX_READ):
            pass


class _Inflated(gzip.GzipFile):
    """The contents of a gzip file: a read is bounded, and so is all that is read."""

    def __init__(self, path: Path, limit: int) -> None:
        super().__init__(path)
        self._limit = limit

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= _MAX_READ or self.tell() > self._limit:
            raise CheckpointError("it has a header, or an end, larger than any model needs.")
        return super().read(size)

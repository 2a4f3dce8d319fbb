"""The cache for archives and their contents: its folder, inter-process locks, free space.

The folder is `cache_dir=` if given, otherwise the environment variable `BERT_CORE_CACHE`,
otherwise the operating system's cache folder. Files from the Hugging Face Hub are not kept here
but in the Hub's shared cache, see `hub`.

    archives/<sha256 of the archive>/   contents of an archive
    records/<sha256 of a name>.json     the archive that a path or an address last resolved to
    parts/<sha256 of an address>.part   a download in progress
    locks/<sha256 of a name>.lock       held by the process that works on it
"""

import errno
import io
import json
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from bert_core.errors import DownloadCancelled, DownloadError
from bert_core.small_files import replacing

if TYPE_CHECKING:
    from filelock import FileLock

CACHE_VARIABLE = "BERT_CORE_CACHE"
_NAME = "bert_core"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
_MARGIN = 16 * 2**20  # kept free in addition to what a download needs
_TICK = 0.05


def cache_folder(cache_dir: str | os.PathLike[str] | None) -> Path:
    """Return the cache folder for archives; it may not exist yet."""
    named = os.fspath(cache_dir) if cache_dir is not None else os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser().absolute()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or "~/AppData/Local").expanduser() / _NAME
    if sys.platform == "darwin":
        return Path("~/Library/Caches").expanduser() / _NAME
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / _NAME


def key_of(text: str) -> str:
    """Return a safe file name for a path or an address with arbitrary characters."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def read_record(path: Path) -> dict[str, Any]:
    """Return a record; an empty one if it is missing, damaged or not ours."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def write_record(path: Path, values: dict[str, Any]) -> None:
    """Write a record atomically: a reader sees either the old or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as draft:
        draft.write_text(json.dumps(values, sort_keys=True), encoding="utf-8")


def write_all(file: IO[bytes] | io.FileIO, chunk: bytes | memoryview) -> None:
    """Write a whole chunk: an unbuffered file may accept only part of it at a time."""
    rest = memoryview(chunk)
    while rest:
        rest = rest[file.write(rest) :]


@contextmanager
def locked(folder: Path, key: str, cancel: threading.Event | None = None) -> Iterator[None]:
    """Hold the lock of a key; other threads and processes wait for it.

    Raises:
        DownloadCancelled: the caller cancelled while waiting.
    """
    place = folder / "locks"
    place.mkdir(parents=True, exist_ok=True)
    from filelock import FileLock

    lock = FileLock(place / f"{key}.lock")
    while not _acquired(lock):
        if cancel is not None and cancel.is_set():
            raise DownloadCancelled("Cancelled while another process was doing the same work.")
    try:
        yield
    finally:
        lock.release()


def _acquired(lock: "FileLock") -> bool:
    """Wait briefly for a lock; return whether the caller may proceed."""
    try:
        lock.acquire(timeout=_TICK, poll_interval=_TICK)
    except TimeoutError:
        return False
    except OSError as error:
        # The file system has no locks. Files are renamed into place, so at worst two processes do
        # the same work twice.
        if error.errno not in _NO_LOCKS:
            raise
    return True


def check_space(folder: Path, needed: int, what: str) -> None:
    """Check for enough free disk space before writing.

    Raises:
        DownloadError: there is not enough space.
    """
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    free = shutil.disk_usage(place).free
    if needed + _MARGIN > free:
        raise DownloadError(
            f"The disk is too full: {what} needs {size_text(needed)}, and {size_text(_MARGIN)} "
            f"more must stay free; {folder} has {size_text(free)} free. Make room, or choose "
            f"another folder with cache_dir= or {CACHE_VARIABLE}."
        )


def disk_error(error: OSError, folder: Path, what: str) -> DownloadError:
    """Return an error that explains why something could not be written."""
    if error.errno in _FULL:
        return DownloadError(
            f"{what} does not fit: the disk of {folder}, or your share of it, is full. What was "
            f"written has been removed. Make room, or choose another folder with cache_dir= "
            f"or {CACHE_VARIABLE}."
        )
    reason = error.strerror or type(error).__name__
    return DownloadError(
        f"{what} cannot be stored in {folder}: {reason}. Choose another folder with cache_dir= or "
        f"{CACHE_VARIABLE}."
    )


def size_text(count: int) -> str:
    """Format a number of bytes for display.

    >>> size_text(512), size_text(440_473_133)
    ('512 bytes', '440.5 MB')
    """
    if count < 1000:
        return f"{count} bytes"
    if count < 1_000_000:
        return f"{count / 1_000:,.1f} kB"
    if count < 1_000_000_000:
        return f"{count / 1_000_000:,.1f} MB"
    return f"{count / 1_000_000_000:,.1f} GB"

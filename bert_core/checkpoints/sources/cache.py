"""The cache for archives and their contents: its folder, inter-process locks, free space.

The folder is `cache_dir=`, else the environment variable `BERT_CORE_CACHE`, else the operating
system's: `archives/<key>/` has contents, `parts/<key>.part` a download in progress,
`locks/<key>.lock` is held meanwhile.
"""

import errno
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from bert_core.errors import DownloadError

CACHE_VARIABLE = "BERT_CORE_CACHE"
_NAME = "bert_core"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_MARGIN = 16 * 2**20  # kept free in addition to what a download needs


def cache_folder(cache_dir: str | os.PathLike[str] | None) -> Path:
    """Return the cache folder for archives; it may not exist yet."""
    named = os.fspath(cache_dir) if cache_dir is not None else os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser().absolute()
    variable, default = {
        "win32": ("LOCALAPPDATA", "~/AppData/Local"),
        "darwin": ("", "~/Library/Caches"),
    }.get(sys.platform, ("XDG_CACHE_HOME", "~/.cache"))
    return Path(os.environ.get(variable) or default).expanduser() / _NAME


def key_of(text: str) -> str:
    """Return a safe file name for a path or an address with arbitrary characters."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]


@contextmanager
def locked(folder: Path, key: str) -> Iterator[None]:
    """Hold the lock of a key; other threads and processes wait for it."""
    from filelock import FileLock

    (folder / "locks").mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "locks" / f"{key}.lock"):
        yield


def check_space(folder: Path, needed: int, what: str) -> None:
    """Check for enough free disk space before writing.

    Raises:
        DownloadError: there is not enough space.
    """
    place = next(each for each in (folder, *folder.parents) if each.exists())
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
        reason = "the disk, or your share of it, is full; what was written has been removed"
    else:
        reason = error.strerror or type(error).__name__
    return DownloadError(
        f"{what} cannot be stored in {folder}: {reason}. Make room, or choose another folder with "
        f"cache_dir= or {CACHE_VARIABLE}."
    )


def size_text(count: int) -> str:
    """Format a number of bytes for display.

    >>> size_text(512), size_text(440_473_133)
    ('512 bytes', '440.5 MB')
    """
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count} bytes"

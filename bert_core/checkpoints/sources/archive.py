"""Unpack archives into the cache, each into a folder named by the archive's sha256.

An archive is unpacked only once, whatever its path, and a changed archive is detected. Files are
written only to a temporary folder next to the final one. It is renamed once everything is complete
and every checksum has been verified, and removed on any failure.
"""

import hashlib
import os
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from secrets import token_hex

from bert_core.checkpoints.settings import CONFIG_NAMES
from bert_core.checkpoints.sources.archive_members import Limits, Member, archive_members, target_of
from bert_core.checkpoints.sources.cache import (
    check_space,
    disk_error,
    key_of,
    locked,
    read_record,
    write_all,
    write_record,
)
from bert_core.checkpoints.sources.hub_names import VOCABULARIES
from bert_core.errors import CheckpointError, DownloadCancelled, DownloadError

_MARKS = (*CONFIG_NAMES, *VOCABULARIES)  # any of these marks the folder of a model


def open_archive(path: Path, cache: Path, cancel: threading.Event | None = None) -> Path:
    """Return the folder of a local archive, unpacking it if that was not done yet.

    Raises:
        CheckpointError: the archive is damaged, malicious, or contains no model.
        DownloadError: there is not enough disk space, or the cache is not writable.
    """
    path = path.resolve()
    key = key_of(os.fspath(path))
    record = cache / "records" / f"{key}.json"
    try:
        seen = _identity(path)
        if folder := _known(record, seen, cache):
            return folder
        with locked(cache, key, cancel):
            if folder := _known(record, seen, cache):
                return folder
            folder, digest = unpack(path, cache, path.name, cancel)
            if _identity(path) != seen:
                raise CheckpointError(f"{path.name} changed while it was read. Try again.")
            write_record(record, {**seen, "sha256": digest})
            return folder
    except (CheckpointError, DownloadError):
        raise
    except OSError as error:
        raise disk_error(error, cache, path.name) from None


def unpack(
    path: Path, cache: Path, what: str, cancel: threading.Event | None = None
) -> tuple[Path, str]:
    """Unpack an archive into the cache.

    The format is detected from the contents. `what` is the archive's name in messages.

    Returns:
        The model's folder, and the sha256 of the archive.

    Raises:
        CheckpointError: the archive is damaged, malicious, or contains no model.
        OSError: the cache is not writable.
    """
    place = cache / "archives"
    place.mkdir(parents=True, exist_ok=True)
    fresh = place / f".{token_hex(8)}"
    with ThreadPoolExecutor(1) as pool:
        digest = pool.submit(_sha256, path)
        try:
            fresh.mkdir()
            try:
                _write_all(archive_members(path), fresh, path.stat().st_size, cancel)
                model_folder(fresh)
            except CheckpointError as error:
                raise CheckpointError(f"{what} was not unpacked: {error}") from None
            _rename(fresh, place / digest.result())
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return model_folder(place / digest.result()), digest.result()


def unpacked(cache: Path, digest: object) -> Path | None:
    """Return the model folder of an already unpacked archive, looked up by its sha256."""
    if not isinstance(digest, str) or len(digest) != 64 or not digest.isalnum():
        return None
    folder = cache / "archives" / digest
    try:
        return model_folder(folder) if folder.is_dir() else None
    except CheckpointError:  # files were removed from outside
        shutil.rmtree(folder, ignore_errors=True)
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


def _write_all(
    members: Iterator[Member], folder: Path, archive_bytes: int, cancel: threading.Event | None
) -> None:
    """Write members into a folder, enforcing the limits."""
    limits = Limits(archive_bytes)
    taken: set[str] = set()
    for member in members:
        target = target_of(member.name)
        if target is None:
            continue
        limits.count(member)
        if str(target).casefold() in taken:
            raise CheckpointError(f"it contains {str(target)!r} twice.")
        taken.add(str(target).casefold())
        check_space(folder, member.size, "unpacking it")
        path = folder / target
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("xb", buffering=0)
        except (FileExistsError, NotADirectoryError):
            raise CheckpointError(
                f"it contains {str(target)!r} both as a file and as a folder."
            ) from None
        with file:
            for chunk in member.chunks:
                if cancel is not None and cancel.is_set():
                    raise DownloadCancelled("Unpacking was cancelled; nothing was kept.")
                write_all(file, chunk)


def _rename(fresh: Path, folder: Path) -> None:
    """Rename the finished folder; another process may have done so first."""
    try:
        fresh.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def _known(record: Path, seen: dict[str, int], cache: Path) -> Path | None:
    """Return the unpacked folder of an archive whose file has not changed since."""
    found = read_record(record)
    same = all(found.get(name) == value for name, value in seen.items())
    return unpacked(cache, found.get("sha256")) if same else None


def _identity(path: Path) -> dict[str, int]:
    """Return the file facts that change with its contents; ctime cannot be set back."""
    found = path.stat()
    return {
        "size": found.st_size,
        "mtime": found.st_mtime_ns,
        "ctime": found.st_ctime_ns,
        "inode": found.st_ino,
    }


def _sha256(path: Path) -> str:
    with path.open("rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""Archives: unpacked once into the cache, where the sha256 of the archive names the folder.

The same archive is not unpacked twice, wherever it lies, and one that changed is seen. Nothing is
written outside a fresh folder beside, which gets its name when everything in it is complete and
every checksum was right; on any failure it is removed.
"""

import os
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
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
from bert_core.errors import CheckpointError, DownloadCancelled, DownloadError

_MARKS = (*CONFIG_NAMES, "vocab.txt")  # one of these tells a model's folder
_HASH_CHUNK = 2**20


def open_archive(path: Path, cache: Path, cancel: threading.Event | None = None) -> Path:
    """Return the folder that a local archive holds, unpacking it where that was not done yet.

    Args:
        path: a `.tar.gz`, `.tgz` or `.zip` file.
        cache: see `cache.cache_folder`.
        cancel: calls the work off when set.

    Raises:
        CheckpointError: the archive is damaged, hostile, or holds no model.
        DownloadError: there is no room for it, or the cache cannot be written.
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

    Args:
        path: the archive; its contents tell the format, not its name.
        cache: see `cache.cache_folder`.
        what: what to call it in messages.
        cancel: calls the work off when set.

    Returns:
        The model's folder, and the sha256 of the archive.

    Raises:
        CheckpointError: the archive is damaged, hostile, or holds no model.
        OSError: the cache cannot be written.
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
                raise CheckpointError(f"{what} is not unpacked: {error}") from None
            _rename(fresh, place / digest.result())
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return model_folder(place / digest.result()), digest.result()


def unpacked(cache: Path, digest: object) -> Path | None:
    """Return the model's folder of an archive that was unpacked before, by its sha256."""
    if not isinstance(digest, str) or len(digest) != 64 or not digest.isalnum():
        return None
    folder = cache / "archives" / digest
    try:
        return model_folder(folder) if folder.is_dir() else None
    except CheckpointError:  # somebody took files away
        shutil.rmtree(folder, ignore_errors=True)
        return None


def model_folder(folder: Path) -> Path:
    """Return the folder that holds the model: this one, or the only one in it that does.

    Raises:
        CheckpointError: no folder looks like a model's, or several do.
    """
    if _is_model(folder):
        return folder
    inner = [path for path in sorted(folder.iterdir()) if path.is_dir() and _is_model(path)]
    if len(inner) == 1:
        return inner[0]
    names = ", ".join(sorted(path.name for path in folder.iterdir())[:8]) or "nothing"
    found = f"{len(inner)} folders in it do" if inner else "neither its top nor a folder in it does"
    raise CheckpointError(
        f"one folder with {' or '.join(_MARKS)} is expected, and {found}. Found: {names}."
    )


def _is_model(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _MARKS)


def _write_all(
    members: Iterator[Member], folder: Path, archive_bytes: int, cancel: threading.Event | None
) -> None:
    """Write members into a folder, within the limits."""
    limits = Limits(archive_bytes)
    taken: set[str] = set()
    for member in members:
        target = target_of(member.name)
        if target is None:
            continue
        limits.count(member)
        if str(target).casefold() in taken:
            raise CheckpointError(f"it holds {str(target)!r} twice.")
        taken.add(str(target).casefold())
        check_space(folder, member.size, "unpacking it")
        path = folder / target
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("xb", buffering=0)
        except (FileExistsError, NotADirectoryError):
            raise CheckpointError(f"it holds {str(target)!r} as file and as folder.") from None
        with file:
            for chunk in member.chunks:
                if cancel is not None and cancel.is_set():
                    raise DownloadCancelled("Unpacking was called off. Nothing was kept.")
                write_all(file, chunk)


def _rename(fresh: Path, folder: Path) -> None:
    """Give the finished folder its name; another process may have been quicker."""
    try:
        fresh.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def _known(record: Path, seen: dict[str, int], cache: Path) -> Path | None:
    """Return the folder of an archive whose file is the one that was unpacked last time."""
    found = read_record(record)
    same = all(found.get(name) == value for name, value in seen.items())
    return unpacked(cache, found.get("sha256")) if same else None


def _identity(path: Path) -> dict[str, int]:
    """Return what changes when a file's contents do; the change time cannot be set back."""
    found = path.stat()
    return {
        "size": found.st_size,
        "mtime": found.st_mtime_ns,
        "ctime": found.st_ctime_ns,
        "inode": found.st_ino,
    }


def _sha256(path: Path) -> str:
    digest = sha256()
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(_HASH_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()

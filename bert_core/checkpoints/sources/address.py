"""Archives behind an http(s) address: fetched, unpacked, and asked about when loaded again.

A later load asks the server whether the archive is still the same (one short request) and takes
the unpacked copy if it is, or if the server cannot be reached. The proxies and certificates that
the environment names are used as `requests` does.
"""

import logging
import re
import threading
from dataclasses import asdict
from pathlib import Path

from bert_core.checkpoints.sources.archive import unpack, unpacked
from bert_core.checkpoints.sources.cache import (
    disk_error,
    key_of,
    locked,
    read_record,
    write_record,
)
from bert_core.checkpoints.sources.http_fetch import Fetch, Unreachable, Version, shown, version_of
from bert_core.checkpoints.sources.transfer import Progress, watched
from bert_core.errors import BertError, DownloadError

_LOG = logging.getLogger(__name__)
_PATIENCE = 60.0  # seconds for one chunk: slower than 1 kB/s is a standstill


def is_address(text: str) -> bool:
    """Tell whether a text is an address rather than a path or a name.

    >>> [is_address(text) for text in ("https://a.example/b.zip", "FTP://a", "C:/models", "a/b")]
    [True, True, False, False]
    """
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text) is not None


def fetch_archive(
    address: str,
    cache: Path,
    *,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
) -> Path:
    """Return the folder that the archive behind an address holds.

    Args:
        address: http or https.
        cache: see `cache.cache_folder`.
        progress: called with bytes and total; None draws a bar where a terminal is.
        cancel: calls the download off when set.

    Raises:
        InputError: it is no http(s) address.
        DownloadError: the server did not deliver, or there is no room.
        CheckpointError: what it delivered is no archive, or a hostile one.
    """
    what = shown(address)
    try:
        with locked(cache, key_of(address), cancel):
            return _fetch(address, cache, progress, cancel)
    except BertError:
        raise
    except OSError as error:
        raise disk_error(error, cache, what) from None


def _fetch(
    address: str, cache: Path, progress: Progress | None, cancel: threading.Event | None
) -> Path:
    """Do the work of `fetch_archive`, the lock being held."""
    record = cache / "records" / f"{key_of(address)}.json"
    part = cache / "parts" / f"{key_of(address)}.part"
    known = read_record(record)
    held = unpacked(cache, known.get("sha256"))
    part.parent.mkdir(parents=True, exist_ok=True)
    fetch = Fetch(address, part, version_of(known) if held else Version())
    what = shown(address)
    try:
        version = watched(
            fetch.run,
            what=what,
            patience=_PATIENCE,
            progress=progress,
            cancel=cancel,
            unblock=fetch.unblock,
        )
        if version is None and held is not None:
            return held
        folder, digest = unpack(part, cache, what, cancel)
        write_record(record, {**asdict(version or Version()), "sha256": digest})
    except Unreachable as error:
        if held is None:
            raise DownloadError(str(error)) from None
        _LOG.warning("%s The copy from before is used.", error)
        return held
    except Exception:
        fetch.discard()
        raise
    # Not in a `finally`: what a killed or interrupted process leaves is carried on next time.
    fetch.discard()
    return folder

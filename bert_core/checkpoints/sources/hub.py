"""Models on the Hugging Face Hub: planned first, then fetched into the cache all programs share.

The client of the Hub compares lengths only, so every file is compared here with the digest that
the Hub lists for it, and is removed where they differ.
"""

import hashlib
import os
import threading
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from bert_core.checkpoints.settings import CONFIG_NAMES, read_config
from bert_core.checkpoints.sources.cache import check_space
from bert_core.checkpoints.sources.hub_client import endpoint, explained, quiet_client
from bert_core.checkpoints.sources.hub_plan import DownloadPlan, PlannedFile, plan_download
from bert_core.checkpoints.sources.transfer import Meter, Progress, watched
from bert_core.errors import DownloadError

__all__ = ["DownloadPlan", "PlannedFile", "download", "plan_download", "remove_leftovers"]

_PATIENCE = 300.0  # seconds for one of the client's chunks of 10 MiB: less than 35 kB/s
_HASH_CHUNK = 2**20
_LOCK_SECONDS = 0.05


def download(
    plan: DownloadPlan,
    *,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
) -> Path:
    """Fetch what a plan lists and is not here yet.

    Args:
        plan: from `plan_download`.
        progress: called in this thread with bytes and total; None draws a bar on a terminal.
        cancel: calls the download off when set.

    Returns:
        The folder with the files; `from_pretrained` of models and tokenizers takes it.

    Raises:
        DownloadCancelled: it was called off.
        ConfigError: the model is of another kind than BERT; nothing large was fetched then.
        DownloadError: the Hub did not deliver, delivered something else than it lists, or there
            is no room.
    """
    if plan.cached:
        return plan.folder
    remove_leftovers(plan.storage)
    check_space(plan.cache, plan.bytes, plan.name)
    watched(
        lambda meter: _fetch(plan, meter),
        what=plan.name,
        patience=_PATIENCE,
        progress=progress,
        cancel=cancel,
    )
    return plan.folder


def remove_leftovers(storage: Path) -> None:
    """Remove the parts of files that killed downloads of a model left behind.

    The client begins every download under a new name, so it never continues one of them. Whoever
    downloads a file holds its lock; the parts of such files are kept.

    Args:
        storage: the model's folder in the cache.
    """
    for part in list(storage.glob("blobs/*.incomplete")):
        from filelock import FileLock

        blob = part.name.partition(".")[0]
        lock = storage.parent / ".locks" / storage.name / f"{blob}.lock"
        # A lock that is held ends in a TimeoutError, which is an OSError.
        with suppress(OSError), FileLock(lock, timeout=_LOCK_SECONDS):
            part.unlink(missing_ok=True)


def _fetch(plan: DownloadPlan, meter: Meter) -> None:
    """Fetch the files of a plan one after another, and note which commit the revision is."""
    meter.total = plan.bytes
    try:
        with quiet_client():
            for file in plan.files:
                if not file.cached:
                    _fetch_file(plan, file, meter)
                if file.name in CONFIG_NAMES:
                    read_config(plan.folder, {})  # another kind of model stops here
            if plan.revision != plan.commit:
                _note_commit(plan)
    except Exception as error:
        anonymous = plan.token is False
        raise explained(error, plan.name, plan.revision, plan.cache, anonymous=anonymous) from error


def _fetch_file(plan: DownloadPlan, file: PlannedFile, meter: Meter) -> None:
    """Fetch one file, and compare it with what the Hub lists."""
    from huggingface_hub import hf_hub_download

    class Bar:
        """What the client takes for its progress bar."""

        def __init__(self, **options: Any) -> None:
            pass

        def __enter__(self) -> "Bar":
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def update(self, count: int) -> None:
            meter.add(count)

    path = plan.folder / file.name
    if path.is_file():  # of another length: somebody or something damaged it
        _remove(path)
    before = meter.done
    found = hf_hub_download(
        plan.name,
        file.name,
        revision=plan.commit,
        cache_dir=plan.cache,
        endpoint=endpoint(),
        token=plan.token,
        library_name="bert_core",
        tqdm_class=Bar,  # type: ignore[arg-type]
    )
    meter.add(before + file.size - meter.done)  # small or shared files come without a bar
    if Path(found) != path:
        raise DownloadError(f"{plan.name}: the Hub gave {file.name} of another commit. Try again.")
    if not _is_listed(path, file):
        _remove(path)
        raise DownloadError(
            f"{plan.name}: {file.name} arrived with other contents than the Hub lists (their "
            "digests differ). It has been removed. Try again."
        )


def _is_listed(path: Path, file: PlannedFile) -> bool:
    """Compare length and digest of a file with the Hub's list."""
    if path.stat().st_size != file.size:
        return False
    if file.sha256:
        digest, expected = hashlib.sha256(), file.sha256
    elif file.git_sha1:
        digest, expected = hashlib.sha1(usedforsecurity=False), file.git_sha1
        digest.update(b"blob %d\0" % file.size)
    else:
        return True
    with path.open("rb", buffering=0) as opened:
        while chunk := opened.read(_HASH_CHUNK):
            digest.update(chunk)
    return digest.hexdigest() == expected


def _remove(path: Path) -> None:
    """Remove a file of the cache, and the blob that it points to."""
    blob = path.resolve()
    path.unlink(missing_ok=True)
    blob.unlink(missing_ok=True)


def _note_commit(plan: DownloadPlan) -> None:
    """Write down which commit a branch is, now that all of it is here."""
    place = plan.storage / "refs" / plan.revision
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = place.with_name(f".{place.name}.{token_hex(4)}")
    try:
        fresh.write_text(plan.commit, encoding="ascii")
        os.replace(fresh, place)
    finally:
        fresh.unlink(missing_ok=True)

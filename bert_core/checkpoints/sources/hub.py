"""Download models from the Hugging Face Hub into its shared cache, in two steps: plan, then fetch.

One request lists the files of a repository. If the Hub cannot be reached, the cached copy is used;
a commit that is complete in the cache needs no request at all. The Hub's client compares file
lengths only, so this module also compares every file with the digest that the Hub lists for it,
and removes the file if they differ.

The cache is the client's own (`HF_HOME`, `HF_HUB_CACHE`) unless a folder is given. `HF_ENDPOINT`,
`HF_TOKEN` and `HF_HUB_OFFLINE` have the same meaning as for the client.

Source: the cache layout documented by the Hub.
"""

import hashlib
import os
import re
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bert_core.checkpoints.settings import CONFIG_NAMES, read_config
from bert_core.checkpoints.sources.cache import check_space
from bert_core.checkpoints.sources.hub_client import (
    bounded_answers,
    endpoint,
    explained,
    offline,
    quiet_client,
    unreachable,
)
from bert_core.checkpoints.sources.hub_names import (
    Part,
    checked_revision,
    hub_id,
    is_complete,
    needed,
)
from bert_core.checkpoints.sources.transfer import Meter, Progress, watched
from bert_core.errors import DownloadError
from bert_core.small_files import replacing

# -- the plan -------------------------------------------------------------------------------------

_COMMIT = re.compile(r"[0-9a-f]{40}")
_TIMEOUT = 10.0  # seconds
_LISTING = 4_000_000  # bytes: 10,000 files take 2.5 MB, and reading them takes 25 times as much
_FOLDER = "models--"  # prefix of a model's folder in the cache
Token = bool | str | None


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file of a plan.

    Attributes:
        name: path within the repository.
        size: in bytes.
        sha256: digest of large files; "" if the Hub lists none.
        git_sha1: digest of small files, as git computes it; "" if the Hub lists none.
        cached: whether it is in the cache already.
    """

    name: str
    size: int
    sha256: str
    git_sha1: str
    cached: bool


@dataclass(frozen=True, slots=True)
class DownloadPlan:
    """What downloading a model involves, known before anything is fetched.

    Attributes:
        name: canonical id, `owner/name`.
        revision: the requested branch, tag or commit.
        commit: the commit that `revision` currently refers to, 40 hexadecimal digits.
        files: all files needed.
        cache: the cache folder.
        token: an access token, None to use this machine's, False to send none.
        kept_as: the name used in the cache, if it is an old one.
    """

    name: str
    revision: str
    commit: str
    files: tuple[PlannedFile, ...]
    cache: Path
    token: Token = None
    kept_as: str = ""

    @property
    def bytes(self) -> int:
        """Bytes to fetch; 0 if everything is cached."""
        return sum(file.size for file in self.files if not file.cached)

    @property
    def total_bytes(self) -> int:
        """Bytes of all files, including cached ones."""
        return sum(file.size for file in self.files)

    @property
    def cached(self) -> bool:
        """Whether everything is in the cache already."""
        return all(file.cached for file in self.files)

    @property
    def storage(self) -> Path:
        """The folder of this repository in the cache."""
        return _storage(self.cache, self.kept_as or self.name)

    @property
    def folder(self) -> Path:
        """The folder of the files once they are fetched."""
        return self.storage / "snapshots" / self.commit


def plan_download(
    name: str,
    revision: str | None = None,
    *,
    cache_dir: str | os.PathLike[str] | None = None,
    part: Part = Part.MODEL,
    token: Token = None,
) -> DownloadPlan:
    """Determine which files of a model must be fetched, and their size.

    Args:
        name: `owner/name`, or one of the old short names; untrusted input is safe.
        revision: branch, tag or commit; None for the main branch.
        cache_dir: a folder to use instead of the shared cache.
        part: the whole model, or only its tokenizer.
        token: an access token. A server should pass False (send none) for its visitors: with this
            machine's token they could read what only its owner may.

    Raises:
        InputError: the id or the revision is not valid.
        MissingFileError: the repository contains no BERT.
        CheckpointError: it contains one, but in unsupported formats.
        DownloadError: the repository or revision does not exist or is not public, or the Hub
            cannot be reached and the model is not cached.
    """
    name, revision = hub_id(name), checked_revision(revision)
    cache = _cache(cache_dir)
    held = _held(cache, name, revision, part)
    if held is not None and (offline() or _COMMIT.fullmatch(revision)):
        return _plan_of(held, name, revision, cache, token)
    if offline():
        raise DownloadError(
            f"{name} is not on this machine, and the environment forbids requests to the Hub "
            "(HF_HUB_OFFLINE)."
        )
    try:
        with quiet_client():
            found = _ask(name, revision, token)
    except Exception as error:
        if held is not None and unreachable(error):
            return _plan_of(held, name, revision, cache, token)
        anonymous = token is False
        raise explained(error, name, revision, cache, anonymous=anonymous) from error
    return _plan_from(found, name, revision, cache, part, token)


def _ask(name: str, revision: str, token: Token) -> Any:
    """Ask the Hub for the contents of a repository."""
    from huggingface_hub import HfApi

    plain = {"Accept-Encoding": "identity"}
    api = HfApi(endpoint=endpoint(), token=token, library_name="bert_core", headers=plain)
    with bounded_answers(_LISTING):
        return api.model_info(name, revision=revision, files_metadata=True, timeout=_TIMEOUT)


def _plan_from(
    found: Any, name: str, revision: str, cache: Path, part: Part, token: Token
) -> DownloadPlan:
    """Build a plan from the Hub's answer."""
    commit = found.sha
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise DownloadError(f"{name}: the server that answered is not the Hub; it gave no commit.")
    listed = {file.rfilename: file for file in found.siblings or ()}
    folder = _storage(cache, name) / "snapshots" / commit
    files = []
    for each in needed(listed.keys(), part, name):
        size, large = listed[each].size, listed[each].lfs
        if not isinstance(size, int) or size < 0:
            raise DownloadError(f"{name}: the Hub does not say how large {each} is. Try again.")
        path = folder / each
        cached = path.is_file() and path.stat().st_size == size
        sha256 = large.sha256 if large else ""
        files.append(PlannedFile(each, size, sha256, listed[each].blob_id or "", cached))
    return DownloadPlan(name, revision, commit, tuple(files), cache, token)


def _plan_of(folder: Path, name: str, revision: str, cache: Path, token: Token) -> DownloadPlan:
    """Build a plan from a cached folder, with nothing to fetch."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = tuple(
        PlannedFile(path.relative_to(folder).as_posix(), path.stat().st_size, "", "", True)
        for path in paths
    )
    kept_as = folder.parent.parent.name.removeprefix(_FOLDER).replace("--", "/")
    return DownloadPlan(name, revision, folder.name, files, cache, token, kept_as)


def _held(cache: Path, name: str, revision: str, part: Part) -> Path | None:
    """Return the cached folder of a revision if it is complete.

    Copies cached by other programs under the old name, without an owner, count too.
    """
    for each in dict.fromkeys((name, name.removeprefix("google-bert/"))):
        commit = revision
        if not _COMMIT.fullmatch(revision):
            try:
                place = _storage(cache, each) / "refs" / revision
                commit = place.read_text(encoding="ascii").strip()
            except (OSError, ValueError):
                continue
        folder = _storage(cache, each) / "snapshots" / commit
        if _COMMIT.fullmatch(commit) and is_complete(folder, part):
            return folder
    return None


def _cache(cache_dir: str | os.PathLike[str] | None) -> Path:
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE if cache_dir is None else cache_dir).expanduser().absolute()


def _storage(cache: Path, name: str) -> Path:
    return cache / (_FOLDER + name.replace("/", "--"))


# -- the download ---------------------------------------------------------------------------------

_PATIENCE = 300.0  # seconds for one of the client's chunks of 10 MiB: less than 35 kB/s
_LOCK_SECONDS = 0.05


def download(
    plan: DownloadPlan,
    *,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
) -> Path:
    """Fetch the files of a plan that are not cached yet.

    Args:
        plan: from `plan_download`.
        progress: called in this thread with bytes and total; None draws a bar on a terminal.
        cancel: event that cancels the download.

    Returns:
        The folder with the files, for `from_pretrained` of models and tokenizers.

    Raises:
        DownloadCancelled: the download was cancelled.
        ConfigError: the model is not a BERT; nothing large has been fetched.
        DownloadError: the download failed, a file differs from the Hub's listing, or there is not
            enough disk space.
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
    """Remove the partial files of a model's interrupted downloads.

    The client starts every download under a new name, so it never resumes them. Partial files
    whose lock is held are kept: another process is downloading them.
    """
    for part in list(storage.glob("blobs/*.incomplete")):
        from filelock import FileLock

        blob = part.name.partition(".")[0]
        lock = storage.parent / ".locks" / storage.name / f"{blob}.lock"
        # If the lock is held, this raises TimeoutError, which is an OSError.
        with suppress(OSError), FileLock(lock, timeout=_LOCK_SECONDS):
            part.unlink(missing_ok=True)


def _fetch(plan: DownloadPlan, meter: Meter) -> None:
    """Fetch the files of a plan in order, then record the commit of the revision."""
    meter.total = plan.bytes
    try:
        with quiet_client():
            for file in plan.files:
                if not file.cached:
                    _fetch_file(plan, file, meter)
                if file.name in CONFIG_NAMES:
                    read_config(plan.folder, {})  # rejects other kinds of models early
            if plan.revision != plan.commit:
                _note_commit(plan)
    except Exception as error:
        anonymous = plan.token is False
        raise explained(error, plan.name, plan.revision, plan.cache, anonymous=anonymous) from error


def _fetch_file(plan: DownloadPlan, file: PlannedFile, meter: Meter) -> None:
    """Fetch one file and verify it against the Hub's listing."""
    from huggingface_hub import hf_hub_download

    class Bar:
        """Stand-in for the client's progress bar that counts bytes on the meter."""

        def __init__(self, **options: Any) -> None:
            pass

        def __enter__(self) -> "Bar":
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def update(self, count: int) -> None:
            meter.add(count)

    path = plan.folder / file.name
    if path.is_file():  # its length is wrong: it is damaged
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
    meter.add(before + file.size - meter.done)  # the client shows no bar for small or shared files
    if Path(found) != path:
        raise DownloadError(
            f"{plan.name}: the Hub sent {file.name} from another commit. Try again."
        )
    if not _is_listed(path, file):
        _remove(path)
        raise DownloadError(
            f"{plan.name}: {file.name} does not match the digest that the Hub lists. It has been "
            "removed. Try again."
        )


def _is_listed(path: Path, file: PlannedFile) -> bool:
    """Return whether a file has the length and digest that the Hub lists."""
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
        hashlib.file_digest(opened, lambda: digest)
    return digest.hexdigest() == expected


def _remove(path: Path) -> None:
    """Remove a cached file and the blob that it links to."""
    blob = path.resolve()
    path.unlink(missing_ok=True)
    blob.unlink(missing_ok=True)


def _note_commit(plan: DownloadPlan) -> None:
    """Record the commit of a branch, once all its files are cached."""
    place = plan.storage / "refs" / plan.revision
    place.parent.mkdir(parents=True, exist_ok=True)
    with replacing(place) as draft:
        draft.write_text(plan.commit, encoding="ascii")

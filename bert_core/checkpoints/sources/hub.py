"""Models on the Hugging Face Hub: planned first, then fetched into the cache all programs share.

One request asks the Hub what a repository holds. Where the Hub cannot be reached, what is in the
cache serves; a commit that is complete in the cache needs no request at all. The client of the Hub
compares lengths only, so every file is compared here with the digest that the Hub lists for it,
and is removed where they differ.

The cache is the client's own (`HF_HOME`, `HF_HUB_CACHE`) unless a folder is named; `HF_ENDPOINT`,
`HF_TOKEN` and `HF_HUB_OFFLINE` mean what they mean to the client.

Source: the layout of the cache as the Hub documents it for other programs.
"""

import hashlib
import os
import re
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from bert_core.checkpoints.settings import CONFIG_NAMES, read_config
from bert_core.checkpoints.sources.cache import check_space
from bert_core.checkpoints.sources.hub_client import (
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

# -- the plan -------------------------------------------------------------------------------------

_COMMIT = re.compile(r"[0-9a-f]{40}")
_TIMEOUT = 10.0  # seconds
_FOLDER = "models--"  # begins the name of a model's folder in the cache
Token = bool | str | None


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file of a plan.

    Attributes:
        name: within the repository.
        size: in bytes.
        sha256: digest of large files; "" where the Hub lists none.
        git_sha1: digest of small files, as git computes it; "" where the Hub lists none.
        cached: whether it is here already.
    """

    name: str
    size: int
    sha256: str
    git_sha1: str
    cached: bool


@dataclass(frozen=True, slots=True)
class DownloadPlan:
    """What fetching a model means, before anything is fetched.

    Attributes:
        name: canonical id, `owner/name`.
        revision: the branch, tag or commit that was asked for.
        commit: the version that this is now, 40 hexadecimal digits.
        files: all that is needed.
        cache: the folder of the cache.
        token: what proves who asks: a token, None for the one of this machine, False for nobody's.
        kept_as: the name that the cache has it under, where that is an old one.
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
        """Bytes to fetch; 0 where all is here."""
        return sum(file.size for file in self.files if not file.cached)

    @property
    def total_bytes(self) -> int:
        """Bytes of all files, those here included."""
        return sum(file.size for file in self.files)

    @property
    def cached(self) -> bool:
        """Whether everything is here already."""
        return all(file.cached for file in self.files)

    @property
    def storage(self) -> Path:
        """The folder of all that the cache holds of the repository."""
        return _storage(self.cache, self.kept_as or self.name)

    @property
    def folder(self) -> Path:
        """Where the files are once they are fetched."""
        return self.storage / "snapshots" / self.commit


def plan_download(
    name: str,
    revision: str | None = None,
    *,
    cache_dir: str | os.PathLike[str] | None = None,
    part: Part = Part.MODEL,
    token: Token = None,
) -> DownloadPlan:
    """Find out what has to be fetched for a model, and how much that is.

    Args:
        name: `owner/name`, or one of the short names of old; safe for what strangers typed.
        revision: branch, tag or commit; None for the main branch.
        cache_dir: another folder than the cache that all programs share.
        part: all of a model, or its tokenizer.
        token: False sends none, which is what a server does for its visitors: with the token of
            this machine they could read what only its owner may.

    Raises:
        InputError: no id or no revision.
        MissingFileError: the repository holds no BERT.
        CheckpointError: it holds one in formats that are not read here.
        DownloadError: there is no such repository or revision, it is not given to everybody, or
            the Hub cannot be reached and the model is not here.
    """
    name, revision = hub_id(name), checked_revision(revision)
    cache = _cache(cache_dir)
    held = _held(cache, name, revision, part)
    if held is not None and (offline() or _COMMIT.fullmatch(revision)):
        return _plan_of(held, name, revision, cache, token)
    if offline():
        raise DownloadError(
            f"{name} is not on this machine, and the environment forbids asking the Hub "
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
    """Ask the Hub what a repository holds."""
    from huggingface_hub import HfApi

    api = HfApi(endpoint=endpoint(), token=token, library_name="bert_core")
    return api.model_info(name, revision=revision, files_metadata=True, timeout=_TIMEOUT)


def _plan_from(
    found: Any, name: str, revision: str, cache: Path, part: Part, token: Token
) -> DownloadPlan:
    """Make a plan of the Hub's answer."""
    commit = found.sha
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise DownloadError(f"{name}: what answers is not the Hub; it names no commit.")
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
    """Make a plan of what is here: nothing to fetch."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = tuple(
        PlannedFile(path.relative_to(folder).as_posix(), path.stat().st_size, "", "", True)
        for path in paths
    )
    kept_as = folder.parent.parent.name.removeprefix(_FOLDER).replace("--", "/")
    return DownloadPlan(name, revision, folder.name, files, cache, token, kept_as)


def _held(cache: Path, name: str, revision: str, part: Part) -> Path | None:
    """Return the folder of a revision that is here and complete.

    Copies of the time when a model had no owner count too: other programs left them.
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

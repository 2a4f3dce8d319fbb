"""Download models from the Hugging Face Hub into its shared cache, in two steps: plan, then fetch.

If the Hub cannot be reached, the cached copy is used; a commit that is complete in the cache needs
no request. Requests, checks and environment variables are those of the Hub's own client.
"""

import itertools
import os
import re
import threading
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

from bert_core.checkpoints.settings import CONFIG_NAMES, read_config
from bert_core.checkpoints.sources.cache import check_space, disk_error
from bert_core.checkpoints.sources.hub_names import (
    Part,
    checked_revision,
    hub_id,
    is_complete,
    needed,
)
from bert_core.checkpoints.sources.transfer import Meter, Progress
from bert_core.errors import BertError, DownloadError
from bert_core.small_files import replacing

_COMMIT = re.compile(r"[0-9a-f]{40}")
_PIECE_BYTES = 8 * 1024  # of a download
_TIMEOUT = 10.0  # seconds
_MAX_FILES = 5_000  # at the root of a repository, and in its folder of heads
_FOLDER = "models--"  # prefix of a model's folder in the cache
_HEADS = "heads"
_LOCK_SECONDS = 0.05
Token = bool | str | None


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file of a plan: its path within the repository, its bytes, and whether it is cached."""

    name: str
    size: int
    cached: bool


@dataclass(frozen=True, slots=True)
class DownloadPlan:
    """What downloading a model involves, known before anything is fetched."""

    name: Annotated[str, "canonical id, `owner/name`"]
    revision: Annotated[str, "the requested branch, tag or commit"]
    commit: Annotated[str, "the commit that `revision` currently refers to, 40 hexadecimal digits"]
    files: Annotated[tuple[PlannedFile, ...], "all files needed"]
    storage: Annotated[Path, "the folder of this repository in the cache"]
    token: Annotated[Token, "None: this machine's; False: none is sent"] = None

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
    def cache(self) -> Path:
        """The cache folder."""
        return self.storage.parent

    @property
    def folder(self) -> Path:
        """The folder of the files once they are fetched."""
        return self.storage / "snapshots" / self.commit


# -- the plan -------------------------------------------------------------------------------------


def plan_download(
    name: str,
    revision: str | None = None,
    *,
    cache_dir: str | os.PathLike[str] | None = None,
    part: Part = Part.MODEL,
    token: Token = None,
    again: bool = False,
) -> DownloadPlan:
    """Determine which files of a model must be fetched, and their size.

    Args:
        token: an access token. A server should pass False (send none) for its visitors: with this
            machine's token they could read what only its owner may.
        again: fetch what is cached, too: a copy may be damaged and have the right size.

    Raises:
        InputError: the id or the revision is not valid.
        MissingFileError: the repository contains no BERT.
        CheckpointError: it contains one, but in unsupported formats.
        DownloadError: the repository or revision does not exist or is not public, or the Hub
            cannot be reached and the model is not cached.
    """
    from huggingface_hub import constants

    name, revision = hub_id(name), checked_revision(revision)
    cache = Path(cache_dir or constants.HF_HUB_CACHE).expanduser().absolute()
    held = None if again else _held(cache, name, revision, part, token)
    offline = constants.HF_HUB_OFFLINE or os.environ.get("HF_HUB_OFFLINE", "0") not in ("", "0")
    if held is not None and (offline or _COMMIT.fullmatch(revision)):
        return held
    if offline:
        raise DownloadError(
            f"{name} cannot be fetched: the environment forbids requests (HF_HUB_OFFLINE)."
        )
    try:
        commit, sizes = _listing(name, revision, token)
    except Exception as error:
        answered = _status(error) or 503
        if held is not None and (answered == 429 or answered >= 500):
            return held
        raise _explained(error, name, revision, cache, token) from error
    wanted = needed(sizes.keys(), part, name)
    storage = _storage(cache, name)
    here = {} if again else _files(storage / "snapshots" / commit)
    files = (PlannedFile(each, sizes[each], here.get(each) == sizes[each]) for each in wanted)
    return DownloadPlan(name, revision, commit, tuple(files), storage, token)


def _listing(name: str, revision: str, token: Token) -> tuple[str, dict[str, int]]:
    """Ask the Hub for a repository's commit, and its files with their sizes.

    The files come in pages, of which only as many are read as a model needs.
    """
    from huggingface_hub import HfApi

    api = HfApi(token=token, **_client())
    commit = api.model_info(name, revision=revision, expand=["sha"], timeout=_TIMEOUT).sha
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise DownloadError(f"{name}: the server that answered is not the Hub; it gave no commit.")
    entries = list(itertools.islice(api.list_repo_tree(name, revision=commit), _MAX_FILES))
    if any(entry.path == _HEADS for entry in entries):
        inside = api.list_repo_tree(name, _HEADS, recursive=True, revision=commit)
        entries += itertools.islice(inside, _MAX_FILES)
    sizes = {entry.path: getattr(entry, "size", None) for entry in entries}
    return commit, {path: size for path, size in sizes.items() if isinstance(size, int)}


def _held(cache: Path, name: str, revision: str, part: Part, token: Token) -> DownloadPlan | None:
    """Return a plan with nothing to fetch if the cache has all of a revision.

    Copies cached by other programs under the old name, without an owner, count too.
    """
    for each in dict.fromkeys((name, name.removeprefix("google-bert/"))):
        storage, commit = _storage(cache, each), revision
        if not _COMMIT.fullmatch(revision):
            try:
                commit = (storage / "refs" / revision).read_text(encoding="ascii").strip()
            except (OSError, ValueError):
                continue
        folder = storage / "snapshots" / commit
        if _COMMIT.fullmatch(commit) and is_complete(folder, part):
            files = (PlannedFile(path, size, True) for path, size in _files(folder).items())
            return DownloadPlan(name, revision, commit, tuple(files), storage, token)
    return None


def _files(folder: Path) -> dict[str, int]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in paths}


def _storage(cache: Path, name: str) -> Path:
    return cache / (_FOLDER + name.replace("/", "--"))


# -- the download ---------------------------------------------------------------------------------


def download(
    plan: DownloadPlan, *, progress: Progress | None = None, cancel: threading.Event | None = None
) -> Path:
    """Fetch the files of a plan that are not cached yet; return their folder.

    Args:
        progress: called with bytes and total; None draws a bar on a terminal.

    Raises:
        DownloadCancelled: the download was cancelled.
        ConfigError: the model is not a BERT; nothing large has been fetched.
        DownloadError: the download failed, or there is not enough disk space.
    """
    if plan.cached:
        return plan.folder
    remove_leftovers(plan.storage)
    check_space(plan.cache, plan.bytes, plan.name)
    try:
        with Meter(plan.name, plan.bytes, progress, cancel) as meter:
            for file in plan.files:
                # A download that was cancelled since the plan was made has removed its files.
                if not (file.cached and (plan.folder / file.name).is_file()):
                    _fetch_file(plan, file, meter)
                if file.name in CONFIG_NAMES:
                    read_config(plan.folder, {})  # rejects other kinds of models early
        if plan.revision != plan.commit:  # record the commit of a branch
            place = plan.storage / "refs" / plan.revision
            place.parent.mkdir(parents=True, exist_ok=True)
            with replacing(place) as draft:
                draft.write_text(plan.commit, encoding="ascii")
    except Exception as error:
        remove_leftovers(plan.storage)
        raise _explained(error, plan.name, plan.revision, plan.cache, plan.token) from error
    return plan.folder


def remove_leftovers(storage: Path) -> None:
    """Remove the partial files of a model's interrupted downloads.

    The client starts every download under a new name, so it never resumes them. Partial files
    whose lock is held are kept: another process is downloading them.
    """
    for part in list(storage.glob("blobs/*.incomplete")):
        from filelock import FileLock

        lock = storage.parent / ".locks" / storage.name / f"{part.name.partition('.')[0]}.lock"
        # If the lock is held, this raises Timeout, which is an OSError.
        with suppress(OSError), FileLock(lock, timeout=_LOCK_SECONDS):
            part.unlink(missing_ok=True)


def _fetch_file(plan: DownloadPlan, file: PlannedFile, meter: Meter) -> None:
    from huggingface_hub import hf_hub_download

    before = meter.done
    bar: Any = lambda **_: nullcontext(SimpleNamespace(update=meter.add))  # noqa: E731
    hf_hub_download(
        plan.name,
        file.name,
        revision=plan.commit,
        cache_dir=plan.cache,
        token=plan.token,
        **_client(),
        tqdm_class=bar,
        force_download=(plan.folder / file.name).is_file(),  # of the wrong length: it is damaged
    )
    meter.add(before + file.size - meter.done)  # the client shows no bar for small or shared files


# -- the client -----------------------------------------------------------------------------------


def _client() -> dict[str, Any]:
    """Return options of every call; for the rest of the process switch off telemetry and Xet.

    Xet goes on after cancelling. Each piece of a few kB is reported, so that cancelling is quick.
    """
    from huggingface_hub import constants

    # A download is cancelled when it reports: the client's own 10 MB take minutes on a slow line.
    constants.DOWNLOAD_CHUNK_SIZE = _PIECE_BYTES
    for name in ("HF_HUB_DISABLE_TELEMETRY", "HF_HUB_DISABLE_XET"):
        setattr(constants, name, True)
    return {"endpoint": os.environ.get("HF_ENDPOINT") or None, "library_name": "bert_core"}


# Status, or a class of an error or of its causes -> what to say.
_REASONS = {
    "GatedRepoError": "{name} is only for people who accepted its terms on the Hub. {log_in}",
    "RevisionNotFoundError": "{name} is on the Hub, but has no revision {revision!r}.",
    "RepositoryNotFoundError": "There is no {name!r} on the Hub, or it is private. {log_in}",
    "404": "{name} lists a file that the Hub does not have (404). Try again later.",
    "429": "{name}: the Hub received too many requests from here (429). Try again later.",
    "401": "{name}: the Hub denies access (401). Check the token in HF_TOKEN.",
    "403": "{name}: the Hub denies access (403). Check the token in HF_TOKEN.",
    "HTTPStatusError": "{name}: the Hub returned an error ({status}). Try again later.",
    "TimeoutException": "{name}: the Hub did not answer in time. Try again later.",
    "TransportError": "{name}: the Hub cannot be reached, or the line broke. Try again later.",
    "LocalEntryNotFoundError": "{name}: the Hub cannot be reached. Try again later.",
}


def _explained(error: Exception, name: str, revision: str, folder: Path, token: Token) -> BertError:
    """Translate an exception of the client; without a token on purpose, do not suggest one."""
    if isinstance(error, BertError):
        return error
    log_in = "Log in (`hf auth login`) or set HF_TOKEN, and try again."
    if token is False:
        log_in = "Private models are not downloaded here."
    status, names = _status(error), {str(_status(error))}
    link: BaseException | None = error
    while link is not None and len(names) < 40:
        names.update(cls.__name__ for cls in type(link).__mro__)
        link = link.__cause__ or link.__context__
    if says := next((each for kind, each in _REASONS.items() if kind in names), ""):
        return DownloadError(
            says.format(name=name, log_in=log_in, revision=revision, status=status)
        )
    if isinstance(error, OSError) and error.errno is not None:
        return disk_error(error, folder, name)
    reason = "a file does not have the length that the Hub states"
    if type(error) is not OSError:
        reason = f"the answer is not one that the Hub gives ({type(error).__name__})"
    return DownloadError(f"{name} cannot be had: {reason}. Try again.")


def _status(error: Exception) -> int | None:
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None

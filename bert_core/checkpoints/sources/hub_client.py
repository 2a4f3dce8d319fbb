"""Lazy access to the Hub's client, and readable messages for its errors."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from bert_core.checkpoints.sources.cache import disk_error, size_text
from bert_core.checkpoints.sources.transfer import Stopped
from bert_core.errors import BertError, DownloadError

_ON = ("1", "on", "yes", "true")
_SWITCHES = ("HF_HUB_DISABLE_TELEMETRY", "HF_HUB_DISABLE_XET")
_most: ContextVar[int | None] = ContextVar("_most", default=None)
_lock = threading.Lock()
_before: list[Any] = []
_users = 0


def offline() -> bool:
    """Return whether the environment forbids requests to the Hub."""
    from huggingface_hub import constants

    asked = os.environ.get("HF_HUB_OFFLINE", "").lower() in _ON
    return asked or bool(constants.HF_HUB_OFFLINE)


def endpoint() -> str | None:
    """Return the address of the Hub; None for the default one."""
    return os.environ.get("HF_ENDPOINT") or None


@contextmanager
def quiet_client() -> Iterator[None]:
    """Stop the client from sending telemetry, and make it fetch files over plain HTTP.

    Its other transport (Xet) keeps running after a download is cancelled. The previous settings
    are restored when the last of several threads leaves the context.
    """
    from huggingface_hub import constants

    global _users
    with _lock:
        if not _users:
            _before[:] = [getattr(constants, name) for name in _SWITCHES]
        _users += 1
        for name in _SWITCHES:
            setattr(constants, name, True)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                for name, value in zip(_SWITCHES, _before, strict=True):
                    setattr(constants, name, value)


@contextmanager
def bounded_answers(most: int) -> Iterator[None]:
    """Limit how many bytes of each answer the client reads in this block, in this thread.

    The client reads an answer as a whole, however long. Redirects and errors are answers, too.

    Args:
        most: bytes; requests must forbid compression, which would undo the limit.

    Raises:
        DownloadError: an answer is longer, or compressed.
    """
    from huggingface_hub import get_session

    hooks = get_session().event_hooks
    if _bound not in hooks["response"]:
        get_session().event_hooks = {**hooks, "response": [_bound, *hooks["response"]]}
    before = _most.set(most)
    try:
        yield
    finally:
        _most.reset(before)


def _bound(response: Any) -> None:
    """Limit what is read of a response; called by the client before it reads the body."""
    most = _most.get()
    if most is None:
        return
    if response.headers.get("content-encoding", "identity") != "identity":
        raise DownloadError("The Hub's answer is compressed, although this was forbidden.")
    read: Callable[..., Iterator[bytes]] = response.iter_raw

    def iter_raw(chunk_size: int | None = None) -> Iterator[bytes]:
        done = 0
        for chunk in read(chunk_size):
            done += len(chunk)
            if done > most:
                raise DownloadError(
                    f"The Hub's answer is longer than {size_text(most)}; the list of a model's "
                    "files is shorter. Choose another model, or check the address of the Hub."
                )
            yield chunk

    response.iter_raw = iter_raw


def explained(
    error: Exception, name: str, revision: str, folder: Any, *, anonymous: bool = False
) -> Exception:
    """Translate an exception of the client into one of our errors.

    If no token was sent on purpose (`anonymous`), the message does not suggest one.
    """
    from huggingface_hub import errors

    if isinstance(error, BertError | Stopped):
        return error
    if anonymous and isinstance(error, errors.GatedRepoError):
        return DownloadError(
            f"{name} is available only to people who accepted its terms; this server downloads "
            "only public models."
        )
    if isinstance(error, errors.GatedRepoError):
        return DownloadError(
            f"{name} is available only to people who accepted its terms on its page on the Hub. "
            "Do so, log in (`hf auth login`) or set HF_TOKEN, and try again."
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return DownloadError(f"{name} is on the Hub, but has no revision {revision!r}.")
    if isinstance(error, errors.EntryNotFoundError) and isinstance(error, errors.HfHubHTTPError):
        return DownloadError(f"{name} lists a file that the Hub does not have. Try again later.")
    if isinstance(error, errors.RepositoryNotFoundError):
        log_in = "for a private model log in (`hf auth login`) or set HF_TOKEN."
        log_in = "private models are not downloaded here." if anonymous else log_in
        return DownloadError(
            f"There is no {name!r} on the Hub, or it is private. Check the name; {log_in}"
        )
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return DownloadError(f"{name}: {_answer(status)}")
    lost = isinstance(error, ConnectionError | TimeoutError)
    if isinstance(error, OSError) and error.errno is not None and not lost:
        return disk_error(error, folder, name)
    return DownloadError(f"{name}: {_silence(error)}")


def unreachable(error: Exception) -> bool:
    """Return whether there was no answer, or only one that does not concern the repository."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status is None or status == 429 or status >= 500


def _answer(status: int) -> str:
    if status in (401, 403):
        return (
            f"the Hub denies access ({status}). Check that the token in HF_TOKEN is valid and may "
            "read this repository."
        )
    if status == 429:
        return "the Hub received too many requests from here (429). Try again in a few minutes."
    return f"the Hub returned an error ({status}). Try again later."


def _silence(error: BaseException) -> str:
    """Return why there was no answer; the network library has many errors for this."""
    names: set[str] = set()
    link: BaseException | None = error
    while link is not None and len(names) < 20:
        names.update(cls.__name__ for cls in type(link).__mro__)
        link = link.__cause__ or link.__context__
    if "OfflineModeIsEnabled" in names:
        return "the environment forbids requests to the Hub (HF_HUB_OFFLINE)."
    if "TimeoutException" in names or "TimeoutError" in names:
        return "the Hub did not answer in time. Try again later."
    if "ProxyError" in names:
        return "the proxy did not forward the request."
    if names & {"RemoteProtocolError", "ReadError"}:
        return "the connection to the Hub broke. Try again."
    if names & {"NetworkError", "ConnectError", "ConnectionError"}:
        return "the Hub cannot be reached. Check the network; models on this machine still load."
    if "ValueError" in names or "FileMetadataError" in names:
        return "the answer is not one that the Hub gives. Check for a login page in between."
    if type(error) is OSError:
        return "a downloaded file does not have the length that the Hub lists. Try again."
    return f"the download failed ({type(error).__name__})."

"""Archives at an http(s) address: downloaded and unpacked once, and again only where asked.

Proxies and certificates come from the environment, as in `requests`. A download that is interrupted
begins anew.
"""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from bert_core.checkpoints.sources.archive import MAX_BYTES, unpack, unpacked
from bert_core.checkpoints.sources.cache import (
    check_space,
    disk_error,
    key_of,
    locked,
    size_text,
)
from bert_core.checkpoints.sources.transfer import Meter
from bert_core.errors import BertError, DownloadError, InputError

if TYPE_CHECKING:
    import requests

_TIMEOUTS = (10.0, 30.0)  # seconds to connect, and between two packets
_CHUNK = 64 * 1024


def fetch_archive(address: str, cache: Path, *, again: bool = False) -> Path:
    """Return the folder of the archive at an address, fetched if it is not here, or `again`.

    Raises:
        DownloadError: the download failed; an earlier copy stays as it was.
    """
    what, key = shown(address), key_of(address)
    part = cache / "parts" / f"{key}.part"
    try:
        with locked(cache, f"{key}.address"):
            if not again and (held := unpacked(cache, key)):
                return held
            part.parent.mkdir(parents=True, exist_ok=True)
            try:
                _fetch(address, part, what)
                if again:
                    shutil.rmtree(cache / "archives" / key, ignore_errors=True)
                return unpack(part, cache, key, what)
            finally:
                part.unlink(missing_ok=True)
    except BertError:
        raise
    except OSError as error:
        raise disk_error(error, cache, what) from None


def _fetch(address: str, target: Path, what: str) -> None:
    import requests

    headers = {"Accept-Encoding": "identity"}
    try:
        with requests.get(address, headers=headers, stream=True, timeout=_TIMEOUTS) as reply:
            hops = [each.url for each in (*reply.history, reply)]
            if hops[0].startswith("https:") and any(hop.startswith("http:") for hop in hops):
                raise DownloadError(
                    f"{what} redirects from https to http, which anyone on the way can alter."
                )
            if reply.status_code != requests.codes.ok:
                status = reply.status_code
                raise DownloadError(f"{what}: the server answered with an error ({status}).")
            _receive(reply, target, what)
    except requests.exceptions.InvalidURL:
        raise InputError(f"{what} is not an address that can be requested.") from None
    except requests.RequestException as error:
        cause = type(error).__name__
        raise DownloadError(f"{what} cannot be reached ({cause}). Try again later.") from None


def _receive(reply: "requests.Response", target: Path, what: str) -> None:
    length = reply.headers.get("Content-Length", "")
    total = int(length) if length.isascii() and length.isdigit() else None
    check_space(target.parent, 2 * min(total or 0, MAX_BYTES), what)  # for its contents, too
    # Keep the bytes as stored: do not let the content encoding decompress an archive.
    reply.raw.headers.pop("Content-Encoding", None)
    with Meter(what, total) as meter, target.open("wb") as file:
        for chunk in reply.iter_content(_CHUNK):
            meter.add(len(chunk))
            if max(meter.done, total or 0) > MAX_BYTES:
                raise DownloadError(
                    f"{what} has {size_text(max(meter.done, total or 0))} or more; expected at "
                    f"most {size_text(MAX_BYTES)}. Check that it is a model."
                )
            file.write(chunk)


def shown(address: str) -> str:
    """Return an address for use in messages, without passwords and keys.

    Raises:
        InputError: the text is not an http(s) address.
    """
    try:
        found = urlsplit(address)
        host, port = found.hostname, found.port
    except ValueError:
        host = port = None
        found = urlsplit("")
    if found.scheme.lower() not in ("http", "https") or not host:
        raise InputError(
            f"{address[:200]!r} is not the address of an archive; expected http://host/model.zip."
        )
    place = host if port is None else f"{host}:{port}"
    return urlunsplit((found.scheme, place, found.path, "", ""))

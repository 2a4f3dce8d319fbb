"""Archives at an http(s) address: download, unpack, and revalidate on later loads.

A later load asks the server whether the archive has changed (one short request). If it has not, or
if the server cannot be reached, the unpacked copy is used. Proxies and certificates come from the
environment, as in `requests`. A download that is interrupted begins anew.
"""

import logging
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from bert_core.checkpoints.sources.archive import MAX_BYTES, unpack, unpacked
from bert_core.checkpoints.sources.cache import (
    check_space,
    disk_error,
    key_of,
    locked,
    read_record,
    size_text,
    write_record,
)
from bert_core.checkpoints.sources.transfer import Meter
from bert_core.errors import BertError, DownloadError, InputError
from bert_core.small_files import file_digest

if TYPE_CHECKING:
    import requests

_LOG = logging.getLogger(__name__)
_TIMEOUTS = (10.0, 30.0)  # seconds to connect, and between two packets
_CHUNK = 64 * 1024


class Unreachable(DownloadError):
    """The server did not answer, or not to the end; an earlier copy may be used instead."""


def fetch_archive(address: str, cache: Path) -> Path:
    """Return the folder of the archive at an address, downloading it if needed."""
    what, key = shown(address), key_of(address)
    record, part = cache / "records" / f"{key}.json", cache / "parts" / f"{key}.part"
    try:
        with locked(cache, key):
            known = read_record(record)
            held = unpacked(cache, known.get("folder"))
            asks = known.get("asks") if held else None
            part.parent.mkdir(parents=True, exist_ok=True)
            try:
                version = fetch(address, part, asks)
                if version is None and held is not None:
                    return held
                name = file_digest(part)
                folder = unpack(part, cache, name, what)
                write_record(record, {"asks": version, "folder": name})
                return folder
            except Unreachable as error:
                if held is None:
                    raise
                _LOG.warning("%s The earlier copy is used.", error)
                return held
            finally:
                part.unlink(missing_ok=True)
    except BertError:
        raise
    except OSError as error:
        raise disk_error(error, cache, what) from None


def fetch(address: str, target: Path, asks: object = None) -> dict[str, str] | None:
    """Download a file; return headers that ask later whether it is still the same.

    With `asks`, such headers of an earlier download, the result is None if it is.

    Raises:
        DownloadError: the download failed; the caller removes what `target` has of it.
    """
    import requests

    what, headers = shown(address), {"Accept-Encoding": "identity"}
    if isinstance(asks, dict):
        headers |= asks
    try:
        with requests.get(address, headers=headers, stream=True, timeout=_TIMEOUTS) as reply:
            _check_reply(reply, what)
            if reply.status_code == requests.codes.not_modified:
                return None
            _receive(reply, target, what)
            if "ETag" in reply.headers:
                return {"If-None-Match": reply.headers["ETag"]}
            modified = reply.headers.get("Last-Modified")
            return {"If-Modified-Since": modified} if modified else {}
    except requests.exceptions.InvalidURL:
        raise InputError(f"{what} is not an address that can be requested.") from None
    except requests.RequestException as error:
        cause = type(error).__name__
        raise Unreachable(f"{what} cannot be reached ({cause}). Try again later.") from None


def _check_reply(reply: "requests.Response", what: str) -> None:
    hops = [each.url for each in (*reply.history, reply)]
    if hops[0].startswith("https:") and any(hop.startswith("http:") for hop in hops):
        raise DownloadError(
            f"{what} redirects from https to http, which anyone on the way can alter."
        )
    status = reply.status_code
    if status not in (200, 304):
        kind = Unreachable if status >= 500 else DownloadError
        raise kind(f"{what}: the server answered with an error ({status}).")


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

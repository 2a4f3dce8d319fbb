"""Archives at an http(s) address: download, unpack, and revalidate on later loads.

A later load asks the server whether the archive has changed (one short request). If it has not, or
if the server cannot be reached, the unpacked copy is used. Proxies and certificates come from the
environment, as in `requests`. An interrupted download is resumed.

Source for resuming: RFC 9110, sections 13.1.5 (If-Range) and 14.4 (Content-Range).
"""

import logging
import re
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from bert_core.checkpoints.sources.archive import unpack, unpacked
from bert_core.checkpoints.sources.archive_members import MAX_BYTES
from bert_core.checkpoints.sources.cache import (
    check_space,
    disk_error,
    key_of,
    locked,
    read_record,
    size_text,
    write_all,
    write_record,
)
from bert_core.checkpoints.sources.transfer import Meter, Progress, watched
from bert_core.errors import BertError, DownloadError, InputError

if TYPE_CHECKING:
    import requests

# -- one file -------------------------------------------------------------------------------------

_TIMEOUTS = (10.0, 30.0)  # seconds to connect, and between two packets
_PAUSE = 0.5  # before the second attempt; doubles each time
_TRIES = 5  # consecutive attempts without new data
_CHUNK = 64 * 1024
_MAX_REDIRECTS = 10
_REASONS = {
    401: "it requires a password (401)",
    403: "it forbids this download (403)",
    404: "there is nothing at this address (404)",
    410: "the file that was at this address has been removed (410)",
    429: "it received too many requests from this network; try again later (429)",
}


@dataclass(frozen=True, slots=True)
class Version:
    """What a server sends to identify a version of a file; "" for what it does not send."""

    etag: str = ""
    modified: str = ""
    total: int = -1

    @property
    def mark(self) -> str:
        """The value for If-Range: a strong ETag, otherwise a date."""
        return self.etag if self.etag.startswith('"') else self.modified


class _LineBroke(Exception):
    """The transfer ended early; the data received is kept, and the rest is requested."""


class Unreachable(DownloadError):
    """The server did not answer; an earlier copy may be used instead."""


class Fetch:
    """Download of one file from one address, with a record of its version next to the part.

    An existing `part` of the same version is resumed. `held` is the version in the cache, which
    allows the answer "not modified".
    """

    def __init__(self, address: str, part: Path, held: Version) -> None:
        self._address = address
        self._what = shown(address)
        self._part = part
        self._note = part.with_suffix(".json")
        self._held = held
        self._reply: requests.Response | None = None

    def run(self, meter: Meter) -> Version | None:
        """Fetch the whole file; return its version, or None if the cached one is still current."""
        import requests

        tries, pause = 0, _PAUSE
        with requests.Session() as session:
            session.max_redirects = _MAX_REDIRECTS
            while True:
                before = self._size()
                try:
                    return self._once(session, meter)
                except (_LineBroke, Unreachable) as error:
                    if isinstance(error, Unreachable) and not tries:
                        raise
                    if self._size() > before:
                        tries, pause = 0, _PAUSE
                    tries += 1
                    if tries >= _TRIES:
                        raise DownloadError(
                            f"{self._what}: the connection broke {tries} times in a row. Try again "
                            "later."
                        ) from None
                    meter.pause(pause)
                    pause *= 2

    def unblock(self) -> None:
        """Unblock a pending read by shutting the connection down."""
        shutdown = getattr(self._reply and self._reply.raw, "shutdown", None)
        if shutdown is not None:  # urllib3 >= 2.3; in older versions the timeout ends the read
            with suppress(OSError, ValueError, RuntimeError):
                shutdown()

    def discard(self) -> None:
        """Remove the partial download."""
        self._part.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def _once(self, session: "requests.Session", meter: Meter) -> Version | None:
        """Send one request for the missing bytes and write what arrives."""
        noted = version_of(read_record(self._note))
        here = self._size() if noted.mark else 0
        with self._ask(session, noted, here) as reply:
            self._reply = reply
            if reply.status_code == 304 and not here:
                return None
            version = _continued(reply, here, noted) if here else None
            if version is None:
                here = 0
            if reply.status_code in (206, 416) and not here:
                self.discard()
                raise _LineBroke  # the part does not match the file: start over
            if reply.status_code not in (200, 206):
                raise DownloadError(f"{self._what}: {_reason(reply.status_code)}.")
            version = version or _version_in(reply)
            meter.add(here - meter.done)  # raises Stopped if the caller has gone
            self._check_room(version.total, here)
            write_record(self._note, asdict(version))
            meter.total = version.total if version.total >= 0 else None
            self._receive(reply, meter, here)
        if version.total not in (-1, self._size()):
            raise _LineBroke
        return version

    def _ask(self, session: "requests.Session", noted: Version, here: int) -> "requests.Response":
        """Send the request; reject redirects from https to http or to other schemes."""
        import requests

        headers = {"Accept-Encoding": "identity"}
        if here:
            headers |= {"Range": f"bytes={here}-", "If-Range": noted.mark}
        elif self._held.etag:
            headers["If-None-Match"] = self._held.etag
        elif self._held.modified:
            headers["If-Modified-Since"] = self._held.modified
        try:
            reply = session.get(self._address, headers=headers, stream=True, timeout=_TIMEOUTS)
        except requests.TooManyRedirects:
            raise DownloadError(
                f"{self._what}: more than {_MAX_REDIRECTS} redirects; they form a loop."
            ) from None
        except requests.exceptions.InvalidSchema:
            raise DownloadError(
                f"{self._what} redirects to something that is neither http nor https."
            ) from None
        except requests.exceptions.InvalidURL:
            raise InputError(f"{self._what} is not an address that can be requested.") from None
        except requests.RequestException as error:
            raise Unreachable(f"{self._what} cannot be reached: {_cause(error)}.") from None
        hops = [each.url for each in (*reply.history, reply)]
        if hops[0].startswith("https:") and any(hop.startswith("http:") for hop in hops):
            reply.close()
            raise DownloadError(
                f"{self._what} redirects from https to http, which anyone on the way can alter."
            )
        if reply.status_code in (500, 502, 503, 504):
            reply.close()
            raise Unreachable(f"{self._what}: {_reason(reply.status_code)}.")
        return reply

    def _receive(self, reply: "requests.Response", meter: Meter, here: int) -> None:
        """Append the body to the part."""
        import requests

        # Keep the bytes as stored: do not let the content encoding decompress an archive.
        reply.raw.headers.pop("Content-Encoding", None)
        received = here
        with self._part.open("r+b" if here else "wb", buffering=0) as file:
            file.seek(here)
            try:
                for chunk in reply.iter_content(_CHUNK):
                    received += len(chunk)
                    if received > MAX_BYTES:
                        raise DownloadError(self._too_large(received))
                    meter.add(len(chunk))
                    write_all(file, chunk)
            except requests.RequestException:
                raise _LineBroke from None

    def _check_room(self, total: int, here: int) -> None:
        if total > MAX_BYTES:
            raise DownloadError(self._too_large(total))
        if total >= 0:  # room for the archive and for its contents
            check_space(self._part.parent, 2 * total - here, self._what)

    def _too_large(self, size: int) -> str:
        return (
            f"{self._what} has {size_text(size)} or more; expected at most {size_text(MAX_BYTES)}. "
            "Check that it is a model."
        )

    def _size(self) -> int:
        return self._part.stat().st_size if self._part.exists() else 0


def _continued(reply: "requests.Response", here: int, noted: Version) -> Version | None:
    """Return the version that a partial answer continues; None if it does not match the part.

    The first answer may have omitted the length of the file; a partial answer states it.
    """
    match = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", reply.headers.get("Content-Range", ""))
    if reply.status_code != 206 or match is None:
        return None
    total = int(match[2])
    same = int(match[1]) == here and noted.total in (-1, total)
    now = reply.headers.get("ETag", noted.etag)
    return replace(noted, total=total) if same and now == noted.etag else None


def _version_in(reply: "requests.Response") -> Version:
    length = reply.headers.get("Content-Length", "")
    return Version(
        reply.headers.get("ETag", ""),
        reply.headers.get("Last-Modified", ""),
        int(length) if length.isascii() and length.isdigit() else -1,
    )


def version_of(record: dict[str, object]) -> Version:
    """Read a version from a record; an empty one if the record has none."""
    etag, modified, total = (record.get(name) for name in ("etag", "modified", "total"))
    if not isinstance(etag, str) or not isinstance(modified, str) or not isinstance(total, int):
        return Version()
    return Version(etag, modified, total)


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
            f"{address[:200]!r} is not the address of an archive; expected "
            "http://host/model.tar.gz or https://host/model.zip."
        )
    place = host if port is None else f"{host}:{port}"
    return urlunsplit((found.scheme, place, found.path, "", ""))


def _reason(status: int) -> str:
    default = f"the server returned an error ({status}); try again later"
    return _REASONS.get(status, default)


def _cause(error: Exception) -> str:
    """Describe in a word or two why there was no answer."""
    name = type(error).__name__
    known = {
        "SSLError": "its certificate is not accepted",
        "ProxyError": "the proxy did not forward the request",
        "ConnectTimeout": "it did not answer",
        "ReadTimeout": "it did not answer in time",
        "ConnectionError": "there is no connection",
    }
    return known.get(name, f"the request failed ({name})")


# -- one archive ----------------------------------------------------------------------------------

_LOG = logging.getLogger(__name__)
_PATIENCE = 60.0  # seconds for one chunk; slower than 1 kB/s counts as stalled


def fetch_archive(
    address: str,
    cache: Path,
    *,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
) -> Path:
    """Return the folder of the archive at an address, downloading it if needed.

    `progress` and `cancel` are those of `resolve`.

    Raises:
        InputError: `address` is not an http(s) address.
        DownloadError: the download failed, or there is not enough disk space.
        CheckpointError: the downloaded file is not an archive, or is malicious.
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
    """Do the work of `fetch_archive`; the caller holds the lock."""
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
        _LOG.warning("%s The earlier copy is used.", error)
        return held
    except Exception:
        fetch.discard()
        raise
    # Not in a `finally`: the part of an interrupted process is resumed next time.
    fetch.discard()
    return folder
